"""The ``scale`` subresource: the number of replicas of a workload, seen as an ``autoscaling/v1`` Scale.

Used in the declarations of workloads.

COMPAT: pkg/registry/apps/deployment/storage ScaleREST
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import Conflict, Invalid
from apiserver.api.fields import FieldError
from apiserver.api.names import GroupVersionKind
from apiserver.api.resource import Resource, Subresource
from apiserver.api.rest import Context, GetOptions, Transform, Validator, WriteOptions
from apiserver.api.server import Server
from apiserver_plugins.resources.common.columns import value_at
from apiserver_plugins.resources.common.selectors import Selector, query_selector
from apiserver_plugins.resources.common.values import nonnegative

Object = dict[str, Any]
SCALE = GroupVersionKind("autoscaling", "v1", "Scale")

_SHOWN_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def label_selector(obj: Object) -> Selector | None:
    """The selector of a workload that has a LabelSelector."""
    selector: Selector | None = value_at(obj, "spec", "selector")
    return selector


class ScaleStorage:
    """Storage of ``scale``: reads and changes the parent's object."""

    def __init__(self, server: Server, resource: Resource, selector: Callable[[Object], Selector | None]) -> None:
        self._server = server
        self._resource = resource.group_resource
        self._selector = selector

    def get(self, ctx: Context, name: str, options: GetOptions) -> EncodedObject:
        """The Scale of one object. :raises NotFound:"""
        found: EncodedObject = self._server.store(self._resource).get(ctx, name, options)
        return EncodedObject.of(self._scale(found.decode()))

    def update(
        self,
        ctx: Context,
        name: str,
        transform: Transform,
        options: WriteOptions,
        validate: Validator,
        create: Validator | None = None,
    ) -> tuple[EncodedObject, bool]:
        """Change the number of replicas. :raises NotFound: / :raises Conflict: / :raises Invalid:"""

        def change(_old: Object | None, stored: EncodedObject | None) -> Object:
            if stored is None:
                raise AssertionError("an update without a create is never asked for a missing object")
            obj = stored.decode()
            before = self._scale(obj)
            scale = transform(before, EncodedObject.of(before))
            self._check(scale, obj, name)
            obj["spec"]["replicas"] = value_at(scale, "spec", "replicas") or 0
            # COMPAT: without a version in the body the change is unconditional
            obj["metadata"]["resourceVersion"] = scale["metadata"].get("resourceVersion") or ""
            return obj

        def validate_scale(new: Object, old: Object | None) -> None:
            validate(self._scale(new), self._scale(old) if old else None)

        store = self._server.store(self._resource)
        stored, _created = store.update(ctx, name, change, options, validate_scale)
        return EncodedObject.of(self._scale(stored.decode())), False

    def _check(self, scale: Object, obj: Object, name: str) -> None:
        meta = scale["metadata"]
        errors: list[FieldError] = nonnegative("spec.replicas", value_at(scale, "spec", "replicas"))
        if errors:
            raise Invalid(SCALE.group_kind, meta.get("name", ""), errors)
        uid = obj["metadata"].get("uid")
        if meta.get("uid") and meta["uid"] != uid:
            text = f"Precondition failed: UID in precondition: {meta['uid']}, UID in object meta: {uid}"
            raise Conflict.for_object(self._resource, name, text)

    def _scale(self, obj: Object) -> Object:
        """COMPAT: scaleFromDeployment and its like: zero replicas are left out of spec, not of status."""
        replicas = value_at(obj, "spec", "replicas") or 0
        status: Object = {"replicas": value_at(obj, "status", "replicas") or 0}
        selector = query_selector(self._selector(obj))
        if selector:
            status["selector"] = selector
        return {
            "kind": SCALE.kind,
            "apiVersion": str(SCALE.group_version),
            "metadata": {f: obj["metadata"][f] for f in _SHOWN_METADATA if f in obj["metadata"]},
            "spec": {"replicas": replicas} if replicas else {},
            "status": status,
        }


def scale_subresource(selector: Callable[[Object], Selector | None] = label_selector) -> Subresource:
    """The declaration of ``scale``.

    :param selector: takes the LabelSelector out of an object.
    """
    return Subresource("scale", kind=SCALE, storage=lambda server, resource: ScaleStorage(server, resource, selector))
