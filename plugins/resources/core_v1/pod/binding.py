"""Binding a pod to a node, through ``pods/x/binding`` and through ``bindings``.

COMPAT: pkg/registry/core/pod/storage BindingREST, LegacyBindingREST
"""

from __future__ import annotations

from typing import Any

from apiserver.api.durations import now
from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import ApiError, BadRequest, Conflict, UnknownError
from apiserver.api.fields import FieldError, Path
from apiserver.api.names import GroupResource
from apiserver.api.resource import Resource
from apiserver.api.rest import Context, Validator, WriteOptions
from apiserver.api.server import Server
from apiserver.api.strategy import Strategy

PODS = GroupResource("", "pods")
_WHERE = GroupResource("", "pods/binding")


class PodBindingStrategy(Strategy):
    """Rules of the change that a Binding makes: the node may be set, and that is no new generation."""

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        return

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        return []


SUCCESS: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
"""What a subresource answers that makes nothing of its own."""


class PodBinding:
    """Storage of ``pods/x/binding``."""

    def __init__(self, server: Server, resource: Resource) -> None:
        self._server = server
        self._strategy = PodBindingStrategy()

    def create_named(
        self, ctx: Context, name: str, obj: dict[str, Any], options: WriteOptions, validate: Validator
    ) -> EncodedObject:
        """Assign the pod to the node the Binding names.

        :raises Conflict: it has a node, is being deleted, or is another pod than the one meant.
        """
        if (obj.get("metadata") or {}).get("name") != name:
            raise BadRequest("name in URL does not match name in Binding object")
        errors = binding_errors(obj)
        if errors:
            # COMPAT: the list of errors is returned as it is, so it is no 422
            texts = [str(error) for error in errors]
            raise UnknownError(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")
        validate(obj, None)
        store = self._server.store(PODS).with_strategy(self._strategy)
        store.update(ctx, name, lambda _old, stored: bound(stored, obj), options, lambda _obj, _old: None)
        return EncodedObject.of(SUCCESS)


class Bindings:
    """Storage of ``bindings``: create only."""

    def __init__(self, server: Server, resource: Resource) -> None:
        self._binding = PodBinding(server, resource)

    def create(self, ctx: Context, obj: dict[str, Any], options: WriteOptions, validate: Validator) -> EncodedObject:
        """Assign the pod that has the Binding's own name."""
        name = (obj.get("metadata") or {}).get("name")
        if not name:
            raise BadRequest("name is required")
        return self._binding.create_named(ctx, name, obj, options, validate)


def binding_errors(binding: dict[str, Any]) -> list[FieldError]:
    """COMPAT: ValidatePodBinding."""
    target, path = binding.get("target") or {}, Path("target")
    errors = []
    if target.get("kind") not in (None, "", "Node"):
        errors.append(FieldError.not_supported(path / "kind", target["kind"], ("Node", "<empty>")))
    if not target.get("name"):
        errors.append(FieldError.required(path / "name"))
    return errors


def bound(stored: EncodedObject | None, binding: dict[str, Any]) -> dict[str, Any]:
    """The pod with its node, and with the labels and annotations of the Binding.

    :raises Conflict: it can't be bound. COMPAT: setPodNodeAndMetadata
    """
    if stored is None:
        raise AssertionError("an update without a create is never asked for a missing object")
    pod = stored.decode()
    meta, given = pod["metadata"], binding.get("metadata") or {}
    refusal = _refusal(pod, given)
    if refusal is not None:
        raise refusal
    pod["spec"]["nodeName"] = binding["target"]["name"]
    for field in ("annotations", "labels"):
        if given.get(field):
            meta[field] = {**(meta.get(field) or {}), **given[field]}
    status = pod.setdefault("status", {})
    others = [c for c in status.get("conditions") or () if c.get("type") != "PodScheduled"]
    scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now()}
    status["conditions"] = [*others, scheduled]
    return pod


def _refusal(pod: dict[str, Any], given: dict[str, Any]) -> ApiError | None:
    meta = pod["metadata"]
    name = meta["name"]
    texts = (
        (
            bool(given.get("uid")) and given["uid"] != meta.get("uid"),
            f"Precondition failed: UID in precondition: {given.get('uid')}, UID in object meta: {meta.get('uid')}",
        ),
        (bool(meta.get("deletionTimestamp")), f"pod {name} is being deleted, cannot be assigned to a host"),
        (
            bool(pod["spec"].get("nodeName")),
            f'pod {name} is already assigned to node "{pod["spec"].get("nodeName")}"',
        ),
        (bool(pod["spec"].get("schedulingGates")), f"pod {name} has non-empty .spec.schedulingGates"),
    )
    return next((Conflict.for_object(_WHERE, name, text) for wrong, text in texts if wrong), None)
