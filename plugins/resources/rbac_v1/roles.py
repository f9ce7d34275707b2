"""Roles. COMPAT: pkg/apis/rbac/validation ValidateRole."""

from __future__ import annotations

from apiserver.api.server import Server
from apiserver.api.strategy import Strategy
from apiserver_plugins.resources.rbac_v1.escalation import Guard
from apiserver_plugins.resources.rbac_v1.rules import RoleStrategyBase


def strategy(server: Server) -> Strategy:
    """The rules of this kind."""
    return RoleStrategyBase(Guard(server), namespaced=True)
