"""What a terminating namespace says about how far it has got.

Called by :mod:`apiserver_plugins.controllers.namespace_controller` after each pass.

COMPAT: pkg/controller/namespace/deletion namespaceConditionUpdater
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from apiserver.api.durations import now
from apiserver.api.names import GroupResource

Condition = dict[str, Any]

_GOOD = (
    ("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    ("NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"),
    (
        "NamespaceDeletionContentFailure",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    ("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"),
    ("NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
)


def conditions_of(
    old: Sequence[Condition],
    remaining: Mapping[GroupResource, int],
    finalizers: Mapping[str, int],
    failures: Sequence[str],
) -> list[Condition]:
    """The conditions after a pass; one whose status did not change keeps the time of its last change.

    :param remaining: objects left, by resource.
    :param finalizers: objects left, by finalizer.
    :param failures: what could not be deleted, a sentence each.
    """
    bad: dict[str, tuple[str, str]] = {}
    if failures:
        texts = ", ".join(sorted(failures))
        bad["NamespaceDeletionContentFailure"] = (
            "ContentDeletionFailed",
            f"Failed to delete all resource types, {len(failures)} remaining: {texts}",
        )
    if remaining:
        # COMPAT: the dot stands even where there is no group
        texts = ", ".join(sorted(f"{r.resource}.{r.group} has {n} resource instances" for r, n in remaining.items()))
        bad["NamespaceContentRemaining"] = ("SomeResourcesRemain", f"Some resources are remaining: {texts}")
    if finalizers:
        texts = ", ".join(sorted(f"{name} in {n} resource instances" for name, n in finalizers.items()))
        bad["NamespaceFinalizersRemaining"] = (
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {texts}",
        )
    before = {condition["type"]: condition for condition in old}
    made = [
        _condition(kind, "True", *bad[kind]) if kind in bad else _condition(kind, "False", reason, message)
        for kind, reason, message in _GOOD
    ]
    for condition in made:
        last = before.pop(condition["type"], None)
        if last is not None and last.get("status") == condition["status"]:
            condition["lastTransitionTime"] = last.get("lastTransitionTime")
    return [*before.values(), *made]


def _condition(kind: str, status: str, reason: str, message: str) -> Condition:
    return {"type": kind, "status": status, "lastTransitionTime": now(), "reason": reason, "message": message}
