"""Group ``system:masters`` may do everything, whatever the mode. COMPAT: authorizerfactory.NewPrivilegedGroups"""

from __future__ import annotations

from apiserver import hookimpl
from apiserver.api.auth import MASTERS, Attributes, Authorizer, Decision

ALLOWED = (Decision.ALLOW, "")
NO_OPINION = (Decision.NO_OPINION, "")


class Masters:
    """The authorizer."""

    def authorize(self, attributes: Attributes) -> tuple[Decision, str]:
        """Yes, or no opinion."""
        return ALLOWED if MASTERS in attributes.user.groups else NO_OPINION


@hookimpl(priority=100)
def apiserver_authorizer() -> Authorizer:
    """Always on."""
    return Masters()
