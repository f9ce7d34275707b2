"""``--authorization-mode=AlwaysAllow``: everybody who was authenticated may do everything."""

from __future__ import annotations

from apiserver import hookimpl
from apiserver.api.auth import Attributes, Authorizer, Decision, Rules, User
from apiserver.api.server import Server

ALLOWED = (Decision.ALLOW, "")


class AlwaysAllow:
    """The authorizer."""

    def authorize(self, _attributes: Attributes) -> tuple[Decision, str]:
        """Yes."""
        return ALLOWED

    def rules_for(self, user: User, namespace: str) -> Rules:
        """Everything. COMPAT: alwaysAllowAuthorizer.RulesFor"""
        return Rules(
            [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
            [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
        )


@hookimpl(priority=200)
def apiserver_authorizer(server: Server) -> Authorizer | None:
    """On when the mode asks for it."""
    return AlwaysAllow() if "AlwaysAllow" in server.config.get("authorization-mode", ()) else None
