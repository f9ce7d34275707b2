"""``--authorization-mode=AlwaysDeny``: nobody may do anything. COMPAT: authorizerfactory alwaysDenyAuthorizer"""

from __future__ import annotations

from apiserver import hookimpl
from apiserver.api.auth import Attributes, Authorizer, Decision
from apiserver.api.server import Server

REFUSED = (Decision.NO_OPINION, "Everything is forbidden.")


class AlwaysDeny:
    """The authorizer. It has no opinion, so that others may still allow, and a reason."""

    def authorize(self, _attributes: Attributes) -> tuple[Decision, str]:
        """Not by me."""
        return REFUSED


@hookimpl(priority=900)
def apiserver_authorizer(server: Server) -> Authorizer | None:
    """On when the mode asks for it."""
    return AlwaysDeny() if "AlwaysDeny" in server.config.get("authorization-mode", ()) else None
