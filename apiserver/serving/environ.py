"""The WSGI environ: one template per worker, one per connection, one copy per request.

The mapping of header fields is gunicorn's (``gunicorn.http.wsgi.create``): which fields get here at all has been
decided by gunicorn's header policy in the request object.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gunicorn.http.errors import ConfigurationProblem
from gunicorn.http.wsgi import base_environ
from gunicorn.util import unquote_to_wsgi_str

from apiserver.api.serving import LINGERS, PEER_CERTIFICATE, verified_certificate

if TYPE_CHECKING:
    from apiserver.serving.connection import Connection

_KEYS: dict[str, str] = {"CONTENT-TYPE": "CONTENT_TYPE", "CONTENT-LENGTH": "CONTENT_LENGTH"}
_MOST_KEYS = 1000
_PROTOCOLS = {(1, 0): "HTTP/1.0", (1, 1): "HTTP/1.1"}


def worker_template(cfg: Any, script_name: str) -> dict[str, Any]:
    """What all requests of a worker have in common.

    :param cfg: gunicorn's configuration.
    :param script_name: where the application is mounted ("" at the root), as gunicorn takes it from its environment.
    """
    template: dict[str, Any] = base_environ(cfg)
    template["wsgi.multithread"] = True
    template["SCRIPT_NAME"] = script_name
    return template


def connection_template(worker: dict[str, Any], conn: Connection) -> dict[str, Any]:
    """What all requests of a connection have in common: addresses, scheme, the verified client certificate."""
    template = worker.copy()
    tls = isinstance(conn.sock, ssl.SSLSocket)
    template[LINGERS] = True
    template["wsgi.url_scheme"] = "https" if tls else "http"
    template[PEER_CERTIFICATE] = verified_certificate(conn.sock)
    template["gunicorn.socket"] = conn.sock
    if isinstance(conn.peer, tuple):
        template["REMOTE_ADDR"], template["REMOTE_PORT"] = conn.peer[0], str(conn.peer[1])
    else:
        template["REMOTE_ADDR"] = conn.peer.decode() if isinstance(conn.peer, bytes) else conn.peer
    if isinstance(conn.server, tuple):
        template["SERVER_NAME"], template["SERVER_PORT"] = conn.server[0], str(conn.server[1])
    else:
        template["SERVER_NAME"], template["SERVER_PORT"] = "localhost", "443" if tls else "80"
    return template


def key(name: str) -> str:
    """The environ's key of a header field, whose name is in capitals."""
    found = _KEYS.get(name)
    if found is None:
        found = "HTTP_" + name.replace("-", "_")
        if len(_KEYS) < _MOST_KEYS:
            _KEYS[name] = found
    return found


def fields(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Header fields as the environ has them; those that came several times are joined by commas."""
    found: dict[str, str] = {}
    for name, value in headers:
        its = key(name)
        found[its] = f"{found[its]},{value}" if its in found else value
    return found


def request_environ(template: dict[str, Any], request: Any, body: Any) -> dict[str, Any]:
    """The environ of one request.

    :param template: the connection's.
    :param request: gunicorn's request object.
    :param body: the ``wsgi.input``.
    :raises ConfigurationProblem: the path is not under SCRIPT_NAME.
    """
    env = template.copy()
    env.update(getattr(request, "fields", None) or fields(request.headers))
    env["REQUEST_METHOD"] = request.method
    env["QUERY_STRING"] = request.query
    env["RAW_URI"] = request.uri
    env["SERVER_PROTOCOL"] = _PROTOCOLS.get(request.version) or "HTTP/{}.{}".format(*request.version)
    env["wsgi.input"] = body
    path = request.path
    if request.scheme != env["wsgi.url_scheme"]:
        env["wsgi.url_scheme"] = request.scheme
    mounted = env.get("HTTP_SCRIPT_NAME") or env["SCRIPT_NAME"]
    if mounted:
        path = _below(path, mounted)
        env["SCRIPT_NAME"] = mounted
    env["PATH_INFO"] = unquote_to_wsgi_str(path) if "%" in path else path
    return env


def _below(path: str, mounted: str) -> str:
    if not path.startswith(mounted):
        raise ConfigurationProblem(f"Request path {path!r} does not start with SCRIPT_NAME {mounted!r}")
    return path[len(mounted) :]


def proxy_environ(info: dict[str, Any]) -> dict[str, str]:
    """What the PROXY protocol's first line told of the connection, for its template."""
    if info["client_addr"] is None:
        return {"PROXY_PROTOCOL": info["proxy_protocol"]}
    return {
        "PROXY_PROTOCOL": info["proxy_protocol"],
        "REMOTE_ADDR": info["client_addr"],
        "REMOTE_PORT": str(info["client_port"]),
        "PROXY_ADDR": info["proxy_addr"],
        "PROXY_PORT": str(info["proxy_port"]),
    }
