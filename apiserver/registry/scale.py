"""The ``scale`` subresource: the number of replicas of a workload, seen as an ``autoscaling/v1`` Scale.

Made by :mod:`apiserver.installation` for subresources that declare where their replicas are.

COMPAT: pkg/registry/apps/deployment/storage ScaleREST and its siblings; customresource ScaleREST
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import BadRequest, Conflict, InternalError, Invalid
from apiserver.api.fields import FieldError
from apiserver.api.names import GroupVersionKind
from apiserver.api.resource import ScalePaths
from apiserver.api.rest import Context, GetOptions, Transform, Validator, WriteOptions
from apiserver.registry.managedfields.scale import to_parent, to_scale
from apiserver.registry.store import Store

Object = dict[str, Any]
SCALE = GroupVersionKind("autoscaling", "v1", "Scale")

_UNSET = -(1 << 31)
"""COMPAT: invalidSpecReplicas: what a patch of nothing must change"""
_SHOWN_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


class ScaleStore:
    """Reads and changes the replicas of the parent's objects.

    :param parent: the store of the scaled resource.
    :param paths: where its replicas are.
    """

    def __init__(self, parent: Store, paths: ScalePaths) -> None:
        self._parent = parent
        self._paths = paths
        resource = parent.resource
        # COMPAT: a custom resource has owners in the version that was written, here as everywhere
        own = resource.gvk if resource.unstructured else resource.storage_gvk
        self._version = str(own.group_version)
        self._replicas: Mapping[str, tuple[str, ...] | None] = {**paths.versions, self._version: paths.replicas}
        self._text = f'the spec replicas field ".{".".join(paths.replicas)}"'

    def key(self, ctx: Context, name: str) -> str:
        """The storage key of the parent."""
        return self._parent.key(ctx, name)

    def get(self, ctx: Context, name: str, options: GetOptions) -> EncodedObject:
        """The Scale of one object. :raises NotFound:"""
        obj = self._parent.seen(self._parent.get(ctx, name, options).decode())
        if self._unset(obj):
            raise InternalError(f"{self._text} does not exist")
        return EncodedObject.of(self._scale(obj))

    def _unset(self, obj: Object) -> bool:
        """Whether an object says nothing of its replicas, which only those without a Go type can."""
        return self._parent.resource.unstructured and _take(obj, self._paths.replicas) is None

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
            assert stored is not None, "an update without a create is never asked for a missing object"
            obj = self._parent.seen(stored.decode())
            before = self._with_owners(obj)
            if self._unset(obj):
                before["spec"]["replicas"] = _UNSET
            scale = transform(before, EncodedObject.of(before))
            if (scale.get("spec") or {}).get("replicas") == _UNSET:
                raise BadRequest(f"{self._text} cannot be empty")
            self._check(scale, obj, name)
            _put(obj, self._paths.replicas, (scale.get("spec") or {}).get("replicas") or 0)
            # COMPAT: without a version in the body the change is unconditional
            obj["metadata"]["resourceVersion"] = scale["metadata"].get("resourceVersion") or ""
            self._own(obj, scale)
            return obj

        def validate_scale(new: Object, old: Object | None) -> None:
            validate(self._scale(new), self._scale(old) if old else None)

        stored, _created = self._parent.update(ctx, name, change, options, validate_scale)
        return EncodedObject.of(self._scale(stored.decode())), False

    def _own(self, obj: Object, scale: Object) -> None:
        """Carry the owners of the Scale's replicas over to the parent."""
        owners = to_parent(
            obj["metadata"].get("managedFields"), scale["metadata"].get("managedFields"), self._version, self._replicas
        )
        if owners:
            obj["metadata"]["managedFields"] = owners
        else:
            obj["metadata"].pop("managedFields", None)

    def _check(self, scale: Object, obj: Object, name: str) -> None:
        meta = scale["metadata"]
        replicas = (scale.get("spec") or {}).get("replicas") or 0
        # COMPAT: the replicas of a custom resource are checked as part of the whole object
        if replicas < 0 and not self._parent.resource.unstructured:
            error = FieldError.invalid("spec.replicas", replicas, "must be greater than or equal to 0")
            raise Invalid(SCALE.group_kind, meta.get("name", ""), [error])
        uid = obj["metadata"].get("uid")
        if meta.get("uid") and meta["uid"] != uid:
            text = f"Precondition failed: UID in precondition: {meta['uid']}, UID in object meta: {uid}"
            raise Conflict.for_object(self._parent.resource.group_resource, name, text)

    def _with_owners(self, obj: Object) -> Object:
        """The Scale with the owners of its replicas, which answers don't show."""
        scale = self._scale(obj)
        owners = to_scale(obj["metadata"].get("managedFields"), self._replicas)
        if owners:
            scale["metadata"]["managedFields"] = owners
        return scale

    def _scale(self, obj: Object) -> Object:
        """COMPAT: scaleFromDeployment and its like: zero replicas are left out of spec, not of status."""
        meta = {f: obj["metadata"][f] for f in _SHOWN_METADATA if f in obj["metadata"]}
        replicas = _take(obj, self._paths.replicas) or 0
        status: Object = {"replicas": _take(obj, self._paths.status_replicas) or 0}
        selector = self._paths.selector(obj)
        if selector:
            status["selector"] = selector
        return {
            "kind": SCALE.kind,
            "apiVersion": str(SCALE.group_version),
            "metadata": meta,
            "spec": {"replicas": replicas} if replicas else {},
            "status": status,
        }


def _take(obj: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        obj = obj.get(step) if isinstance(obj, dict) else None
    return obj


def _put(obj: Object, path: tuple[str, ...], value: Any) -> None:
    *parents, last = path
    for step in parents:
        obj = obj.setdefault(step, {})
    obj[last] = value
