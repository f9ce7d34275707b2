"""``apiserver serve``: prepare the data folder, listen, and run gunicorn in this process.

The socket is bound here, before anything else: a port that is taken is said at once, and with port 0 the port is
known when the kubeconfig is written. gunicorn inherits the listening socket.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Mapping
from typing import Any

from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter

from apiserver import configure
from apiserver.api.settings import Config
from apiserver.serving import preparation

BACKLOG = 2048
REFUSED = 2
"""The exit status for settings and plugins that do not fit together; why has been told."""


class _Server(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn with settings from a mapping; no command line, no configuration file.

    :param loader: where the WSGI application is, ``module:name``; imported in the workers only.
    """

    def __init__(self, settings: Mapping[str, Any], loader: str) -> None:
        self._settings, self._loader = settings, loader
        super().__init__(prog="apiserver")

    def load_config(self) -> None:
        for name, value in self._settings.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        from gunicorn.util import import_app

        return import_app(self._loader)


def listen(config: Config) -> socket.socket:
    """Listen on the address that the settings name.

    :raises OSError: it cannot be had.
    """
    host, port = config.text("bind-address"), config.integer("secure-port")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=BACKLOG, dualstack_ipv6=host == "::")


def _port(descriptor: int) -> int:
    with socket.socket(fileno=descriptor) as listener:
        return int(listener.getsockname()[1])


def serve(config: Config, app: str = "apiserver.wsgi:app") -> int:
    """Serve until a signal ends it: SIGTERM gracefully, SIGINT at once; SIGHUP starts new workers.

    :param app: the WSGI application, ``module:name``.
    :return: the exit status.
    """
    preparation.set_up_logs(config)
    settings: dict[str, Any] = {}
    inherited = os.environ.get("GUNICORN_FD")  # gunicorn started itself anew and hands us its sockets
    if inherited:
        configure.listening(_port(os.dup(int(inherited.split(",")[0]))))
    else:
        try:
            listener = listen(config)
            configure.listening(listener.getsockname()[1])
            settings["bind"] = f"fd://{listener.detach()}"
        except OSError as ex:
            where, why = preparation.address(config), os.strerror(ex.errno or 0)
            hint = "; --secure-port=0 takes any free port" if ex.errno == errno.EADDRINUSE else ""
            sys.stderr.write(f"apiserver: cannot listen on {where}: {why}{hint}\n")
            return 1
    try:
        settings |= preparation.gunicorn_settings(preparation.prepare(config))
    except OSError as ex:
        sys.stderr.write(f"apiserver: {ex}\n")
        return 1
    master = os.getpid()  # workers come out of the call below, too, when they end
    try:
        _Server(settings, app).run()
    except SystemExit as ex:
        if ex.code == Arbiter.APP_LOAD_ERROR and os.getpid() == master:
            return REFUSED
        return ex.code if isinstance(ex.code, int) else int(ex.code is not None)
    return 0
