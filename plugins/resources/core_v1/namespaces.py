"""Namespaces: their phase, their own kind of finalizers, and an end that somebody else brings about.

A deleted namespace becomes Terminating and stays until ``spec.finalizers`` is emptied through ``/finalize``, which the
namespace controller does when nothing is left in it.

COMPAT: pkg/registry/core/namespace
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.durations import now
from apiserver.api.fields import FieldError
from apiserver.api.resource import Column, Resource, Subresource
from apiserver.api.rest import Context
from apiserver.api.server import Server
from apiserver.api.strategy import StatusStrategy, Strategy
from apiserver.api.validation import dns_label, qualified_name
from apiserver_plugins.resources.common.columns import AGE, cell
from apiserver_plugins.resources.common.values import invalid

FINALIZER = "kubernetes"
NAME_LABEL = "kubernetes.io/metadata.name"
ACTIVE = "Active"
TERMINATING = "Terminating"

_STANDARD_FINALIZERS = {FINALIZER, "orphan", "foregroundDeletion"}


def _finalizers(obj: dict[str, Any]) -> list[str]:
    return (obj.get("spec") or {}).get("finalizers") or []


def _finalizer_errors(path: str, name: str) -> list[FieldError]:
    errors = invalid(path, name, qualified_name(name))
    if "/" not in name and name not in _STANDARD_FINALIZERS:
        text = "name is neither a standard finalizer name nor is it fully qualified"
        errors.append(FieldError.invalid(path, name, text))
    return errors


def _keep(obj: dict[str, Any], old: dict[str, Any], *fields: str) -> None:
    for field in fields:
        if field in old:
            obj[field] = old[field]
        else:
            obj.pop(field, None)


class NamespaceStrategy(Strategy):
    """Rules of Namespaces."""

    returns_deleted_object = True

    def default(self, obj: dict[str, Any]) -> None:
        name = obj["metadata"].get("name")
        if name:
            obj["metadata"]["labels"] = {**(obj["metadata"].get("labels") or {}), NAME_LABEL: name}

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        obj["status"] = {"phase": ACTIVE}
        finalizers = _finalizers(obj)
        if FINALIZER not in finalizers:
            obj["spec"] = {**(obj.get("spec") or {}), "finalizers": [*finalizers, FINALIZER]}

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        _keep(obj, old, "spec", "status")

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        return [error for name in _finalizers(obj) for error in _finalizer_errors("spec.finalizers", name)]

    def validate_name(self, name: str, prefix: bool) -> list[str]:
        return dns_label(name, prefix=prefix)

    def canonicalize(self, obj: dict[str, Any]) -> None:
        # COMPAT: a generated name was not known when the defaults were set
        self.default(obj)

    def begin_delete(self, ctx: Context, obj: dict[str, Any]) -> bool:
        if obj["metadata"].get("deletionTimestamp") and not _finalizers(obj):
            return False
        # COMPAT: a namespace has a deletionTimestamp but no grace period
        obj["metadata"].setdefault("deletionTimestamp", now())
        obj["status"] = {**(obj.get("status") or {}), "phase": TERMINATING}
        return True

    def finished(self, obj: dict[str, Any]) -> bool:
        return not _finalizers(obj)

    def selectable_fields(self, obj: dict[str, Any]) -> dict[str, str]:
        return {"status.phase": (obj.get("status") or {}).get("phase", ""), "name": obj["metadata"].get("name", "")}


class NamespaceStatusStrategy(StatusStrategy):
    """Rules of ``/status``: the phase follows from the deletion."""

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        phase = (obj.get("status") or {}).get("phase", "")
        deleting = bool(obj["metadata"].get("deletionTimestamp"))
        if phase == (TERMINATING if deleting else ACTIVE):
            return []
        text = (
            "may only be 'Terminating' if `deletionTimestamp` is not empty"
            if deleting
            else "may only be 'Active' if `deletionTimestamp` is empty"
        )
        return [FieldError.invalid("status.Phase", phase, text)]

    def finished(self, obj: dict[str, Any]) -> bool:
        return self.parent.finished(obj)


class NamespaceFinalizeStrategy(StatusStrategy):
    """Rules of ``/finalize``: ``spec.finalizers`` may change, and only there."""

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        _keep(obj, old, "status")

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        names = _finalizers(obj)
        return [error for i, name in enumerate(names) for error in _finalizer_errors(f"spec.finalizers[{i}]", name)]

    def finished(self, obj: dict[str, Any]) -> bool:
        return self.parent.finished(obj)


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    strategy = NamespaceStrategy()
    return [
        Resource(
            group="",
            version="v1",
            kind="Namespace",
            plural="namespaces",
            namespaced=False,
            short_names=("ns",),
            strategy=strategy,
            # COMPAT: namespaces can't be deleted as a collection
            verbs=("create", "delete", "get", "list", "patch", "update", "watch"),
            selectable_fields=("status.phase", "name"),
            subresources=(
                Subresource("finalize", NamespaceFinalizeStrategy(strategy), verbs=("update",)),
                Subresource("status", NamespaceStatusStrategy(strategy)),
            ),
            columns=(Column("Status", cell("status", "phase"), description="The status of the namespace"), AGE),
        )
    ]
