"""``--authorization-mode=RBAC``: roles, bound to users and groups, say who may do what.

The roles that every cluster has are objects like others: the post-start hook ``rbac/bootstrap-roles`` makes them.

COMPAT: kubernetes/plugin/pkg/auth/authorizer/rbac
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from apiserver import hookimpl
from apiserver.api.auth import Attributes, Authorizer, Decision, Rules, User
from apiserver.api.server import Server
from apiserver_plugins.authorization.rules import Policy
from apiserver_plugins.authorization.stored import StoredPolicy

NO_OPINION = (Decision.NO_OPINION, "")


class Rbac:
    """The authorizer. It allows or has no opinion.

    :param policy: called for each question: what holds at that moment.
    """

    def __init__(self, policy: Callable[[], Policy]) -> None:
        self._policy = policy

    def authorize(self, attributes: Attributes) -> tuple[Decision, str]:
        """Allowed by whose binding, or no opinion and what was wrong with the roles, if anything."""
        index = self._policy().rules(attributes.user, attributes.namespace)
        source = index.allows(attributes)
        if source is not None:
            return Decision.ALLOW, f"RBAC: allowed by {source}"
        if not index.problems:
            return NO_OPINION
        problems = index.problems[0] if len(index.problems) == 1 else f"[{', '.join(index.problems)}]"
        return Decision.NO_OPINION, f"RBAC: {problems}"

    def rules_for(self, user: User, namespace: str) -> Rules:
        """Each rule in the part or parts that it speaks of. COMPAT: RBACAuthorizer.RulesFor"""
        index = self._policy().rules(user, namespace)
        return Rules(
            [_only(rule, _RESOURCE) for rule in index.rules if rule.get("resources")],
            [_only(rule, _NON_RESOURCE) for rule in index.rules if rule.get("nonResourceURLs")],
            problem=", ".join(index.problems),
        )


_RESOURCE = ("verbs", "apiGroups", "resources", "resourceNames")
_NON_RESOURCE = ("verbs", "nonResourceURLs")


def _only(rule: Mapping[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    return {field: rule[field] for field in fields if rule.get(field)}


@hookimpl(priority=600, after=["masters", "always-allow"])
def apiserver_authorizer(server: Server) -> Authorizer | None:
    """On when the mode asks for it."""
    return Rbac(StoredPolicy(server).newest) if "RBAC" in server.config.get("authorization-mode", ()) else None
