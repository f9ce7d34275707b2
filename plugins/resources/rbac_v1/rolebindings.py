"""RoleBindings. COMPAT: pkg/apis/rbac/validation ValidateRoleBinding."""

from __future__ import annotations

from apiserver_plugins.resources.rbac_v1.rules import BindingStrategyBase, binding_columns

STRATEGY = BindingStrategyBase(namespaced=True)
COLUMNS = binding_columns(
    "roleBinding", "reference a Role in the current namespace or a ClusterRole in the global namespace"
)
