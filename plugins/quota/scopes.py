"""Which objects a ResourceQuota is about, and what they use together.

COMPAT: pkg/quota/v1/evaluator/core CalculateUsageStats, getScopeSelectorsFromQuota
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from apiserver.api.quantity import Amount, total
from apiserver_plugins.quota.usage import Measured

Object = dict[str, Any]


def requirements(spec: Mapping[str, Any]) -> list[Object]:
    """All that a quota's spec says about scopes, as expressions of a scope selector."""
    asked = [{"scopeName": scope, "operator": "Exists"} for scope in spec.get("scopes") or ()]
    return [*asked, *((spec.get("scopeSelector") or {}).get("matchExpressions") or ())]


def matches(measured: Measured, asked: Iterable[Object]) -> bool:
    """Whether a quota with these requirements is about an object."""
    return all(_fits(measured.scopes.get(term.get("scopeName", "")), term) for term in asked)


def _fits(values: frozenset[str] | None, term: Object) -> bool:
    """:param values: what the object has for the scope; None: it is out of it."""
    operator, wanted = term.get("operator"), set(term.get("values") or ())
    if operator == "Exists":
        return values is not None
    if operator == "DoesNotExist":
        return values is None
    if operator == "In":
        return values is not None and not wanted.isdisjoint(values)
    return values is None or wanted.isdisjoint(values)  # NotIn


def used(names: Iterable[str], spec: Mapping[str, Any], objects: Iterable[Measured]) -> dict[str, Amount]:
    """How much of ``names`` is used by the objects that a quota is about.

    :param names: those that somebody's objects use; what nobody uses now is zero.
    """
    asked = requirements(spec)
    parts: dict[str, list[Amount]] = {name: [] for name in names}
    for measured in objects:
        if matches(measured, asked):
            for name, part in measured.now().items():
                if name in parts:
                    parts[name].append(part)
    return {name: total(amounts) for name, amounts in parts.items()}
