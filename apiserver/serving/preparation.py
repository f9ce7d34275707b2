"""From settings to what gunicorn needs: the data folder, certificates, gunicorn's settings, the kubeconfig.

Shared by :mod:`apiserver.serving.launcher` (``apiserver serve``) and :mod:`apiserver.serving.gunicorn_conf` (people
who run gunicorn themselves), so that both serve in the same way.
"""

from __future__ import annotations

import contextlib
import dataclasses
import ipaddress
import logging
import os
import resource
import shlex
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from wsgiref.util import setup_testing_defaults

from apiserver import configure, logs
from apiserver.api.files import locked, write_atomic
from apiserver.api.serving import PEER_CERTIFICATE
from apiserver.api.settings import Config
from apiserver.serving import certs, kubeconfig
from apiserver.serving.limits import Limits

KEEP_ALIVE = 75
"""Seconds after which an idle connection is closed."""
READY_POLL = 0.02
"""Seconds between the first two looks whether the application is ready; later ones are further apart."""
RESERVED_FILES = 256
"""File descriptors that are kept for other things than client connections."""
SERVICE_NAMES = (
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)


@dataclasses.dataclass(frozen=True, slots=True)
class Prepared:
    """A data folder with all that serving needs. Paths are absolute.

    ``authority`` verifies the server's certificate, ``client_authorities`` the clients'.
    """

    config: Config
    folder: Path
    serving: certs.Pair
    admin: certs.Pair
    authority: Path
    client_authorities: Path

    @property
    def kubeconfig(self) -> Path:
        """Where the administrator's kubeconfig is."""
        return self.folder / "admin.kubeconfig"


def prepare(config: Config) -> Prepared:
    """Make the data folder and the certificates.

    :raises OSError: a folder or file cannot be made or read, or a certificate that was given is none.
    """
    folder = Path(config.text("data-dir")).absolute()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    pki = Path(config.text("cert-dir") or folder / "pki").absolute()
    made = certs.ensure(pki, server_names(config))
    given = config.text("tls-cert-file")
    serving = made.serving
    if given:
        serving = certs.Pair(Path(given).absolute(), Path(config.text("tls-private-key-file")).absolute())
        certs.check(serving)
    return Prepared(
        config,
        folder,
        serving,
        made.admin,
        serving.certificate if given else made.ca.certificate,
        _client_authorities(pki, made.ca.certificate, config.text("client-ca-file")),
    )


def _client_authorities(pki: Path, own: Path, given: str) -> Path:
    """One file with our CA and the operator's: the TLS library takes one file."""
    if not given:
        return own
    certs.check_authorities(Path(given))
    bundle = pki / "client-ca.crt"
    with locked(pki):
        write_atomic(bundle, own.read_bytes() + b"\n" + Path(given).read_bytes(), mode=0o644)
    return bundle


def _wildcard(address: str) -> bool:
    return ipaddress.ip_address(address).is_unspecified


def server_names(config: Config) -> list[str]:
    """The names and addresses under which clients may reach the server, for its certificate.

    COMPAT: DefaultAPIServerServiceIP and the alternate names of SecureServingOptions.MaybeDefaultWithSelfSignedCerts
    """
    names = ["localhost", "127.0.0.1", "::1", *SERVICE_NAMES, socket.gethostname()]
    bind = config.text("bind-address")
    names.append(outward_address() if _wildcard(bind) else bind)
    names.append(config.text("advertise-address"))
    names += (str(ipaddress.ip_network(net)[1]) for net in config.strings("service-cluster-ip-range"))
    return [name for name in names if name and len(name) < 254]


def outward_address() -> str:
    """The address of the interface with the default route, or loopback. Nothing is sent."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("203.0.113.1", 9))
        return str(probe.getsockname()[0])
    return "127.0.0.1"


def url(config: Config, port: int) -> str:
    """Where a client on this machine finds the server."""
    bind = config.text("bind-address")
    if _wildcard(bind):
        bind = "::1" if ":" in bind else "127.0.0.1"
    return f"https://[{bind}]:{port}" if ":" in bind else f"https://{bind}:{port}"


def address(config: Config) -> str:
    """The address to listen on, in gunicorn's notation."""
    bind = config.text("bind-address")
    return f"[{bind}]:{config.integer('secure-port')}" if ":" in bind else f"{bind}:{config.integer('secure-port')}"


# -- gunicorn --------------------------------------------------------------------------------------------------------


def _most_connections() -> int:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return 65536 if hard == resource.RLIM_INFINITY else max(min(hard - RESERVED_FILES, 65536), 64)


def gunicorn_settings(prepared: Prepared) -> dict[str, Any]:
    """gunicorn's settings for these of ours, without ``bind``."""
    from apiserver.serving.worker import configured

    config = prepared.config
    request_timeout = config.seconds("request-timeout")
    grace = config.seconds("shutdown-delay-duration") + config.seconds("shutdown-watch-termination-grace-period")
    return {
        "worker_class": configured(
            pinned=config.boolean("pin-workers"), limits=dataclasses.replace(Limits(), body=request_timeout)
        ),
        "workers": config.integer("workers"),
        "threads": config.integer("threads"),
        "worker_connections": _most_connections(),
        "keepalive": KEEP_ALIVE,
        "timeout": 30,
        # Upstream waits for requests at most as long as a request may take.
        "graceful_timeout": int(grace + min(request_timeout, 60.0)) + 5,
        "preload_app": False,
        "control_socket_disable": True,
        "forwarded_allow_ips": "",
        "accesslog": None,
        "errorlog": "-",
        "loglevel": "info" if config.integer("v") > 0 else "warning",
        "logger_class": "apiserver.serving.log.Log",
        # COMPAT: net/http.DefaultMaxHeaderBytes is 1 MiB for the whole head: long selectors and tokens pass.
        "limit_request_line": 0,
        "limit_request_field_size": 32 << 10,
        "certfile": str(prepared.serving.certificate),
        "keyfile": str(prepared.serving.key),
        "ca_certs": str(prepared.client_authorities),
        # COMPAT: kube-apiserver asks for a certificate and does without.
        "cert_reqs": ssl.CERT_OPTIONAL,
        "when_ready": lambda server: listening(prepared, server.LISTENERS),
        "on_reload": lambda server: renew(prepared, server.LISTENERS),
        "post_worker_init": lambda worker: announce(prepared, worker),
    }


def set_up_logs(config: Config) -> None:
    """Logging of this process and of the workers forked from it."""
    logs.set_up(config.integer("v"), config.text("logging-format"))
    configure.report()


def listening(prepared: Prepared, listeners: Sequence[Any]) -> None:
    """Tell the workers to come, and in the kubeconfig the clients, the port that gunicorn listens on."""
    port = listeners[0].getsockname()[1]
    configure.listening(port)
    kubeconfig.write(prepared.kubeconfig, url(prepared.config, port), prepared.authority, prepared.admin)


def renew(prepared: Prepared, listeners: Sequence[Any]) -> None:
    """At SIGHUP: make certificates anew that will end soon, before new workers read them."""
    try:
        prepare(prepared.config)
        listening(prepared, listeners)
    except OSError as ex:  # raised from here, it would end gunicorn
        logging.getLogger(__name__).error("Certificates were not renewed: %s", ex)


def announce(prepared: Prepared, worker: Any) -> None:
    """Print the one line for people, when the first worker of this start is ready. Does not wait for that."""
    if worker.age == 1:
        threading.Thread(target=_announce, args=(prepared, worker), name="announce", daemon=True).start()


def _announce(prepared: Prepared, worker: Any) -> None:
    certificate = ssl.PEM_cert_to_DER_cert(prepared.admin.certificate.read_text())
    pause = READY_POLL
    while worker.alive and not is_ready(worker.wsgi, certificate):
        time.sleep(pause)
        pause = min(pause * 1.2, 1.0)
    if not worker.alive:
        return
    where = url(prepared.config, worker.sockets[0].getsockname()[1])
    export = f"export KUBECONFIG={shlex.quote(str(prepared.kubeconfig))}"
    sys.stdout.write(f"Serving the Kubernetes API on {where}, for kubectl type: {export}{os.linesep}")
    sys.stdout.flush()


def is_ready(app: Callable[..., Any], certificate: bytes) -> bool:
    """Whether the application says so under ``/readyz``, or has no such path.

    :param certificate: of the administrator, in DER: the question goes through the whole filter chain.
    """
    status = []
    environ = {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": "/readyz",
        "QUERY_STRING": "",
        "RAW_URI": "/readyz",
        "HTTP_HOST": "localhost",
        "REMOTE_ADDR": "127.0.0.1",
        PEER_CERTIFICATE: certificate,
    }
    setup_testing_defaults(environ)

    def start_response(line: str, _headers: Any, _exc_info: Any = None) -> Callable[[bytes], object]:
        status.append(line)
        return len

    answer = app(environ, start_response)
    for _ in answer:
        pass
    getattr(answer, "close", lambda: None)()
    return status[-1][:3] in ("200", "404")
