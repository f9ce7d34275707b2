"""ClusterRoles; they may be made of others. COMPAT: pkg/apis/rbac/validation ValidateClusterRole."""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.rest import Context
from apiserver.api.server import Server
from apiserver.api.strategy import Strategy
from apiserver_plugins.resources.common.selectors import selector_errors
from apiserver_plugins.resources.common.workloads import unusable_selector
from apiserver_plugins.resources.rbac_v1.escalation import Guard
from apiserver_plugins.resources.rbac_v1.rules import RoleStrategyBase


class ClusterRoleStrategy(RoleStrategyBase):
    """Rules of ClusterRoles."""

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        errors = super().validate(ctx, obj)
        rule = obj.get("aggregationRule")
        if rule is None:
            return errors
        path, selectors = Path("aggregationRule.clusterRoleSelectors"), rule.get("clusterRoleSelectors") or ()
        if not selectors:
            text = "at least one clusterRoleSelector required if aggregationRule is non-nil"
            errors.append(FieldError.required(path, text))
        for i, selector in enumerate(selectors):
            errors += selector_errors(path / i, selector)
            if unusable_selector(selector):
                errors.append(FieldError.invalid(path / i, selector, "invalid label selector."))
        return errors


def strategy(server: Server) -> Strategy:
    """The rules of this kind."""
    return ClusterRoleStrategy(Guard(server), namespaced=False)
