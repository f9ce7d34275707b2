"""The annotation of ``kubectl apply`` on the client's side, which server-side apply by kubectl takes over and keeps.

Called by :mod:`apiserver.registry.managedfields.apply`.

COMPAT: managedfields/internal lastAppliedManager, lastAppliedUpdater
"""

from __future__ import annotations

from typing import Any, Final

import orjson

from apiserver.api.names import GroupVersionKind
from apiserver.registry.managedfields import elements, typed, validate
from apiserver.registry.managedfields.fieldset import EMPTY, Fields, difference
from apiserver.registry.managedfields.versions import Object, record_of
from apiserver.schema.types import Struct

ANNOTATION: Final = "kubectl.kubernetes.io/last-applied-configuration"
MAX_ANNOTATION_BYTES: Final = 256 * 1024
"""Bytes of keys and values of all annotations of an object."""


def owned_by_annotation(live: Object, gvk: GroupVersionKind, type_: Struct) -> Fields:
    """The fields that client-side apply set and that still have the value it gave them; none if it cannot be told."""
    text = (live["metadata"].get("annotations") or {}).get(ANNOTATION)
    if not text:
        return EMPTY
    try:
        configuration = orjson.loads(text)
    except orjson.JSONDecodeError:
        return EMPTY
    if not isinstance(configuration, dict) or configuration.get("apiVersion") != str(gvk.group_version):
        return EMPTY
    if validate.explain(configuration, type_):
        return EMPTY
    shape = record_of(type_)
    taken, removed = shape.compare_entries(configuration, live, frozenset())
    fields = typed.applied(shape, configuration)
    return difference(difference(fields, taken or EMPTY), removed or EMPTY)


def refresh(obj: Object, patch: Object) -> None:
    """Set the annotation of ``obj``, if it has one, to what kubectl has just applied."""
    annotations = obj["metadata"].get("annotations") or {}
    if not annotations.get(ANNOTATION):
        return
    refreshed = {**annotations, ANNOTATION: _encoded(patch)}
    if sum(len(name.encode()) + len(value.encode()) for name, value in refreshed.items()) > MAX_ANNOTATION_BYTES:
        del refreshed[ANNOTATION]
    obj["metadata"]["annotations"] = refreshed


def _encoded(patch: Object) -> str:
    """The configuration without the annotation itself, as Go encodes unstructured objects: sorted, with a newline."""
    metadata: dict[str, Any] = dict(patch.get("metadata") or {})
    if metadata.get("annotations") is not None:
        metadata["annotations"] = {k: v for k, v in metadata["annotations"].items() if k != ANNOTATION}
    return elements.encode({**patch, "metadata": metadata}) + "\n"
