"""Nobody in particular: who brings no credential is ``system:anonymous``. A bad credential is never anonymous.

COMPAT: authentication/request/anonymous, and kubeapiserver's switching it off with AlwaysAllow
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from apiserver import hookimpl
from apiserver.api import logs
from apiserver.api.auth import ANONYMOUS, UNAUTHENTICATED, Authenticator, User, bearer_token
from apiserver.api.errors import Unauthorized
from apiserver.api.request import Request
from apiserver.api.server import Server
from apiserver.api.settings import Config, Setting

LOG = logging.getLogger(__name__)
SETTING = "anonymous-auth"
NOBODY = User(ANONYMOUS, groups=(UNAUTHENTICATED,))


class Anonymous:
    """The authenticator, the last to be asked."""

    def authenticate(self, request: Request) -> User | None:
        """The anonymous user. :raises Unauthorized: there is a bearer token, and nobody before knew it."""
        if bearer_token(request.environ):
            raise Unauthorized("invalid bearer token")
        return NOBODY


def wanted(config: Config) -> bool:
    """Whether anonymous requests are let in: with AlwaysAllow only when somebody says so."""
    if not config.boolean(SETTING):
        return False
    if "AlwaysAllow" in config.get("authorization-mode", ()) and not config.given(SETTING):
        # Who chose neither need not be told what was chosen for them.
        if config.given("authorization-mode"):
            logs.warning(
                LOG,
                "AnonymousAuth is not allowed with the AlwaysAllow authorizer. Resetting AnonymousAuth to false. "
                "You should use a different authorizer",
            )
        return False
    return True


@hookimpl
def apiserver_settings() -> Iterator[Setting]:
    """Whether requests without credentials are let in."""
    yield Setting(
        SETTING, "bool", True, group="Authentication",
        help="Let requests without credentials in as user system:anonymous, group system:unauthenticated. Off with "
        "--authorization-mode=AlwaysAllow unless given.",
    )  # fmt: skip


@hookimpl(priority=900, after=["client-certificate", "token-file", "service-account-tokens"])
def apiserver_authenticator(server: Server) -> Authenticator | None:
    """On unless switched off."""
    return Anonymous() if wanted(server.config) else None
