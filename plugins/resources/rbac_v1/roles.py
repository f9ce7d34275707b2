"""Roles. COMPAT: pkg/apis/rbac/validation ValidateRole."""

from __future__ import annotations

from apiserver_plugins.resources.rbac_v1.rules import RoleStrategyBase

STRATEGY = RoleStrategyBase(namespaced=True)
