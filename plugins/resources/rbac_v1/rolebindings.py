"""RoleBindings. COMPAT: pkg/apis/rbac/validation ValidateRoleBinding."""

from __future__ import annotations

from apiserver.api.server import Server
from apiserver.api.strategy import Strategy
from apiserver_plugins.resources.rbac_v1.escalation import Guard
from apiserver_plugins.resources.rbac_v1.rules import BindingStrategyBase, binding_columns


def strategy(server: Server) -> Strategy:
    """The rules of this kind."""
    return BindingStrategyBase(Guard(server), namespaced=True)


COLUMNS = binding_columns(
    "roleBinding", "reference a Role in the current namespace or a ClusterRole in the global namespace"
)
