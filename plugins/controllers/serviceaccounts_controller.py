"""Every namespace has a service account ``default``.

COMPAT: pkg/controller/serviceaccount ServiceAccountsController
"""

from __future__ import annotations

from apiserver import hookimpl
from apiserver.api.names import GroupResource
from apiserver.api.server import Server
from apiserver_plugins.controllers.controllers import enabled
from apiserver_plugins.controllers.default_objects import run_everywhere

NAME = "serviceaccount-controller"
ACCOUNTS = GroupResource("", "serviceaccounts")


@hookimpl
def apiserver_started(server: Server) -> None:
    if enabled(server.config, NAME):
        run_everywhere(server, NAME, ACCOUNTS, "default", lambda: {"kind": "ServiceAccount", "apiVersion": "v1"})
