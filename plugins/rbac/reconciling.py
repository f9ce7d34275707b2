"""What a role or binding that every cluster has is to become when it is there in another form.

Rules and subjects that are missing are added; what somebody has added stays. Who wants to keep an object as it is says
so by an annotation.

COMPAT: pkg/registry/rbac/reconciliation
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apiserver_plugins.rbac.coverage import missing

Object = dict[str, Any]
AUTOUPDATE = "rbac.authorization.kubernetes.io/autoupdate"


def protected(existing: Mapping[str, Any]) -> bool:
    """Whether an object says that it is not to be changed."""
    return bool((existing["metadata"].get("annotations") or {}).get(AUTOUPDATE) == "false")


def recreated(existing: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a binding is to another role and has to be made anew, as that can't be changed."""
    return existing.get("roleRef") != wanted.get("roleRef")


def reconcile(existing: Object, wanted: Mapping[str, Any]) -> None:
    """Add to an object what it lacks, in place; parts of ``wanted`` become parts of it.

    COMPAT: computeReconciledRole, computeReconciledRoleBinding
    """
    for field in ("labels", "annotations"):
        merged = {**(wanted["metadata"].get(field) or {}), **(existing["metadata"].get(field) or {})}
        if merged:
            existing["metadata"][field] = merged
    if "subjects" in wanted:
        _subjects(existing, wanted)
    elif wanted.get("aggregationRule") is not None:
        _selectors(existing, wanted)
    elif lacking := missing(existing.get("rules") or (), wanted.get("rules") or ()):
        existing["rules"] = [*(existing.get("rules") or ()), *map(dict, lacking)]


def _subjects(existing: Object, wanted: Mapping[str, Any]) -> None:
    """COMPAT: diffSubjectLists"""
    present = existing.get("subjects") or []
    lacking = [subject for subject in wanted["subjects"] if subject not in present]
    if lacking:
        existing["subjects"] = [*present, *lacking]


def _selectors(existing: Object, wanted: Mapping[str, Any]) -> None:
    """COMPAT: aggregationRuleCovers; the rules of such a role are its selectors' matter."""
    rule = existing.get("aggregationRule") or {}
    present = rule.get("clusterRoleSelectors") or []
    lacking = [s for s in wanted["aggregationRule"].get("clusterRoleSelectors") or () if s not in present]
    if lacking:
        existing["aggregationRule"] = {**rule, "clusterRoleSelectors": [*present, *lacking]}
