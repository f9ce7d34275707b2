"""What the subresources of pods that change one part of the pod have in common: all else stays as it is.

COMPAT: metav1.ResetObjectMetaForStatus
"""

from __future__ import annotations

from typing import Any

from apiserver.api.strategy import StatusStrategy

MIRROR = "kubernetes.io/config.mirror"
"""The annotation of pods that a kubelet runs from a file of its own."""

_KEPT = ("deletionTimestamp", "generation", "labels", "annotations", "finalizers", "ownerReferences")


class PartStrategy(StatusStrategy):
    """Rules of a subresource that changes a part of the spec."""

    def keep_rest(self, obj: dict[str, Any], old: dict[str, Any]) -> None:
        """Bring spec, status and what users may change of metadata back to what is stored, in place."""
        for field in ("spec", "status"):
            _keep(obj, old, field)
        for field in _KEPT:
            _keep(obj["metadata"], old["metadata"], field)


def _keep(obj: dict[str, Any], old: dict[str, Any], field: str) -> None:
    if field in old:
        obj[field] = old[field]
    else:
        obj.pop(field, None)


def is_mirror(pod: dict[str, Any]) -> bool:
    """Whether the pod only shows one that a kubelet runs by itself."""
    return MIRROR in (pod["metadata"].get("annotations") or {})
