"""ClusterRoleBindings. COMPAT: pkg/apis/rbac/validation ValidateClusterRoleBinding."""

from __future__ import annotations

from apiserver_plugins.resources.rbac_v1.rules import BindingStrategyBase, binding_columns

STRATEGY = BindingStrategyBase(namespaced=False)
COLUMNS = binding_columns("clusterRoleBinding", "only reference a ClusterRole in the global namespace")
