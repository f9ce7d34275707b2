"""Whether rules cover other rules, and which they do not.

COMPAT: k8s.io/component-helpers/auth/rbac/validation; pkg/registry/rbac/validation CompactRules;
pkg/apis/rbac/v1 CompactString
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from apiserver.api.logs import quote

Rule: TypeAlias = Mapping[str, Any]
ALL = "*"
_FIELDS = (
    ("apiGroups", "APIGroups"),
    ("resources", "Resources"),
    ("nonResourceURLs", "NonResourceURLs"),
    ("resourceNames", "ResourceNames"),
    ("verbs", "Verbs"),
)


def missing(held: Sequence[Rule], wanted: Iterable[Rule]) -> list[Rule]:
    """What of ``wanted`` no single rule of ``held`` covers: rules that allow one thing each. COMPAT: Covers"""
    parts = (part for rule in wanted for part in _atoms(rule))
    return [part for part in parts if not any(_covers(rule, part) for rule in held)]


def _atoms(rule: Rule) -> Iterator[Rule]:
    """A rule as rules that allow one thing each. COMPAT: BreakdownRule"""
    verbs = rule.get("verbs") or ()
    names = rule.get("resourceNames") or ()
    for group in rule.get("apiGroups") or ():
        for resource in rule.get("resources") or ():
            for verb in verbs:
                atom = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
                if names:
                    yield from ({**atom, "resourceNames": [name]} for name in names)
                else:
                    yield atom
    for url in rule.get("nonResourceURLs") or ():
        yield from ({"nonResourceURLs": [url], "verbs": [verb]} for verb in verbs)


def _covers(rule: Rule, atom: Rule) -> bool:
    """COMPAT: ruleCovers"""
    if not _has(rule.get("verbs") or (), atom["verbs"][0]):
        return False
    if "nonResourceURLs" in atom:
        return any(_path_covers(url, atom["nonResourceURLs"][0]) for url in rule.get("nonResourceURLs") or ())
    names, wanted = rule.get("resourceNames") or (), atom.get("resourceNames")
    if names and (not wanted or wanted[0] not in names):
        return False
    groups, resources = rule.get("apiGroups") or (), rule.get("resources") or ()
    return _has(groups, atom["apiGroups"][0]) and _resource_covers(resources, atom["resources"][0])


def _has(values: Collection[str], value: str) -> bool:
    return ALL in values or value in values


def _resource_covers(resources: Collection[str], resource: str) -> bool:
    """COMPAT: resourceCoversAll: ``*/scale`` covers the subresource of anything"""
    if _has(resources, resource):
        return True
    _, slash, subresource = resource.partition("/")
    return bool(slash) and f"{ALL}/{subresource}" in resources


def _path_covers(held: str, path: str) -> bool:
    """COMPAT: nonResourceURLCovers"""
    return held == path or (held.endswith(ALL) and path.startswith(held.rstrip(ALL)))


def compact(rules: Iterable[Rule]) -> list[Rule]:
    """Rules about one resource, and one name of it at most, taken together. COMPAT: CompactRules"""
    others: list[Rule] = []
    simple: dict[tuple[str, str, str | None], dict[str, Any]] = {}
    for rule in rules:
        key = _simple(rule)
        if key is None:
            others.append(rule)
        elif key in simple:
            simple[key]["verbs"] = [*simple[key]["verbs"], *rule["verbs"]]
        else:
            simple[key] = dict(rule)
    return [*others, *simple.values()]


def _simple(rule: Rule) -> tuple[str, str, str | None] | None:
    lists: Iterator[Sequence[str]] = (rule.get(field) or () for field in ("apiGroups", "resources", "resourceNames"))
    groups, resources, names = lists
    if rule.get("nonResourceURLs") or len(groups) != 1 or len(resources) != 1 or len(names) > 1:
        return None
    return groups[0], resources[0], names[0] if names else None


def shown(rule: Rule) -> str:
    """``{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}``. COMPAT: CompactString"""
    parts = (f"{name}:{listed(rule[field])}" for field, name in _FIELDS if rule.get(field))
    return f"{{{', '.join(parts)}}}"


def listed(texts: Iterable[str]) -> str:
    """``["a" "b"]``, as Go writes it."""
    return f"[{' '.join(map(quote, texts))}]"
