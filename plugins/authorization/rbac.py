"""``--authorization-mode=RBAC``: roles, bound to users and groups, say who may do what.

The roles that every cluster has for discovery, health and one's own rights come with the plugin.

COMPAT: kubernetes/plugin/pkg/auth/authorizer/rbac
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

import orjson

from apiserver import hookimpl
from apiserver.api.auth import Attributes, Authorizer, Decision, Rules, User
from apiserver.api.server import Server
from apiserver_plugins.authorization.rules import Policy

NO_OPINION = (Decision.NO_OPINION, "")


class Rbac:
    """The authorizer. It allows or has no opinion."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def authorize(self, attributes: Attributes) -> tuple[Decision, str]:
        """Allowed by whose binding, or no opinion and what was wrong with the roles, if anything."""
        index = self.policy.rules(attributes.user, attributes.namespace)
        source = index.allows(attributes)
        if source is not None:
            return Decision.ALLOW, f"RBAC: allowed by {source}"
        if not index.problems:
            return NO_OPINION
        problems = index.problems[0] if len(index.problems) == 1 else f"[{', '.join(index.problems)}]"
        return Decision.NO_OPINION, f"RBAC: {problems}"

    def rules_for(self, user: User, namespace: str) -> Rules:
        """Each rule in the part or parts that it speaks of. COMPAT: RBACAuthorizer.RulesFor"""
        index = self.policy.rules(user, namespace)
        return Rules(
            [_only(rule, _RESOURCE) for rule in index.rules if rule.get("resources")],
            [_only(rule, _NON_RESOURCE) for rule in index.rules if rule.get("nonResourceURLs")],
            problem=", ".join(index.problems),
        )


_RESOURCE = ("verbs", "apiGroups", "resources", "resourceNames")
_NON_RESOURCE = ("verbs", "nonResourceURLs")


def _only(rule: Mapping[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    return {field: rule[field] for field in fields if rule.get(field)}


def bootstrap_policy() -> Policy:
    """A policy of the roles and bindings that exist from the start."""
    data = resources.files("apiserver_plugins.authorization") / "data" / "bootstrap_policy.json"
    return Policy(orjson.loads(data.read_bytes()))


@hookimpl(priority=600, after=["masters", "always-allow"])
def apiserver_authorizer(server: Server) -> Authorizer | None:
    """On when the mode asks for it."""
    return Rbac(bootstrap_policy()) if "RBAC" in server.config.get("authorization-mode", ()) else None
