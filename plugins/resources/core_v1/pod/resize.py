"""More or less CPU and memory for a pod that exists: ``pods/x/resize``.

COMPAT: pkg/registry/core/pod podResizeStrategy; pkg/apis/core/validation ValidatePodResize
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.rest import Context
from apiserver.api.strategy import bump_generation
from apiserver_plugins.resources.common.pod_qos import qos_class
from apiserver_plugins.resources.common.pod_validation import pod_errors
from apiserver_plugins.resources.common.quantities import amount
from apiserver_plugins.resources.core_v1.pod.parts import PartStrategy, is_mirror

Object = dict[str, Any]

LISTS = ("containers", "initContainers")
CHANGEABLE = ("resources", "resizePolicy")
RESIZABLE = ("cpu", "memory")
_KINDS = ("requests", "limits")
_SPEC = Path("spec")
_ONLY = "only cpu and memory resources are mutable"
_ONLY_INIT = "only cpu and memory resources for init or sidecar containers are mutable"


class ResizeStrategy(PartStrategy):
    """Rules of ``pods/x/resize``."""

    owned_fields = ("spec.resources", *(f"spec.{name}.*.{field}" for name in LISTS for field in CHANGEABLE))

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        spec, before = obj.get("spec") or {}, old["spec"]
        if all(len(spec.get(name) or ()) == len(before.get(name) or ()) for name in LISTS):
            # Otherwise validation sees what came, and refuses it.
            self.keep_rest(obj, old)
            obj["spec"] = _merged(spec, before)
        bump_generation(obj, old)

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        return [*pod_errors(obj), *resize_errors(obj, old)]


def _merged(spec: Object, before: Object) -> Object:
    """The old spec with the new resources."""
    merged = {name: value for name, value in before.items() if name != "resources"}
    if spec.get("resources") is not None:
        merged["resources"] = spec["resources"]
    for name in LISTS:
        new, old = spec.get(name) or (), before.get(name) or ()
        if [c.get("name") for c in new] != [c.get("name") for c in old]:
            merged[name] = new
        elif old:
            merged[name] = [_resized(*pair) for pair in zip(new, old, strict=True)]
    return merged


def _resized(container: Object, old: Object) -> Object:
    resized = {name: value for name, value in old.items() if name not in CHANGEABLE}
    return resized | {name: container[name] for name in CHANGEABLE if container.get(name) is not None}


def resize_errors(obj: Object, old: Object) -> list[FieldError]:
    """Changes of a pod that are no resize, or one that can't be made."""
    spec, before = obj["spec"], old["spec"]
    if is_mirror(old):
        return [FieldError.forbidden("", "static pods cannot be resized")]
    if (before.get("os") or {}).get("name") == "windows":
        return [FieldError.forbidden("", "windows pods cannot be resized")]
    errors = []
    status = old.get("status") or {}
    quality = qos_class(spec)
    if quality != (status.get("qosClass") or qos_class(before)):
        text = "Pod QOS Class may not change as a result of resizing"
        errors.append(FieldError.invalid(_SPEC, (obj.get("status") or {}).get("qosClass") or quality, text))
    if not _supported(status):
        errors.append(FieldError.forbidden(_SPEC, "Pod running on node without support for resize"))
    errors += _pod_level_errors(spec.get("resources"), before.get("resources"))
    reordered = list(_reordered(spec, before))
    if reordered:
        return errors + reordered
    for name in ("initContainers", "containers"):
        for i, (container, then) in enumerate(zip(spec.get(name) or (), before.get(name) or (), strict=True)):
            errors += _removed(container.get("resources"), then.get("resources"), _SPEC / name / i / "resources")
    return errors + list(_immutable(spec, before))


def _supported(status: Mapping[str, Any]) -> bool:
    """Whether the node shows what containers have. COMPAT: isPodResizeRequestSupported"""
    running = (c for c in status.get("containerStatuses") or () if (c.get("state") or {}).get("running") is not None)
    first = next(running, None)
    return first is None or first.get("resources") is not None


def _reordered(spec: Object, before: Object) -> Iterator[FieldError]:
    for name in LISTS:
        new, old = spec.get(name) or (), before.get(name) or ()
        if len(new) != len(old):
            yield FieldError.forbidden(_SPEC / name, f"{name} may not be added or removed on resize")
            continue
        for i, (container, then) in enumerate(zip(new, old, strict=True)):
            if container.get("name") != then.get("name"):
                text = f"{name} may not be renamed or reordered on resize"
                yield FieldError.forbidden(_SPEC / name / i / "name", text)


def _removed(new: Object | None, old: Object | None, path: Path, prefix: str = "resource") -> list[FieldError]:
    new, old = new or {}, old or {}
    gone = [kind for kind in _KINDS if set(old.get(kind) or ()) - set(new.get(kind) or ())]
    return [FieldError.forbidden(path / kind, f"{prefix} {kind} cannot be removed") for kind in gone]


def _pod_level_errors(new: Object | None, old: Object | None) -> list[FieldError]:
    if not any((resources or {}).get(kind) for resources in (new, old) for kind in _KINDS):
        return []
    path = _SPEC / "resources"
    if old is not None and new is None:
        return [FieldError.forbidden(path, "pod-level resources cannot be removed")]
    errors = _removed(new, old, path, "pod-level resource")
    if _fixed(new) != _fixed(old):
        errors.append(FieldError.forbidden(_SPEC, f"{_ONLY} at pod-level"))
    return errors


def _immutable(spec: Object, before: Object) -> Iterator[FieldError]:
    """Changes of containers beyond CPU and memory."""
    for container, then in zip(spec.get("containers") or (), before.get("containers") or (), strict=True):
        if _without_resizable(container) != _without_resizable(then):
            yield FieldError.forbidden(_SPEC, _ONLY)
    pairs = zip(spec.get("initContainers") or (), before.get("initContainers") or (), strict=True)
    for i, (container, then) in enumerate(pairs):
        path = _SPEC / "initContainers" / i
        if _without_resizable(container) != _without_resizable(then):
            yield FieldError.forbidden(path, _ONLY_INIT)
        if container != then and container.get("restartPolicy") != "Always" and _restarts(container):
            text = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
            yield FieldError.forbidden(path, text)


def _restarts(container: Object) -> bool:
    return any(policy.get("restartPolicy") == "RestartContainer" for policy in container.get("resizePolicy") or ())


def _without_resizable(container: Object) -> Object:
    rest = {name: value for name, value in container.items() if name != "resources" and value not in (None, [], {})}
    return {**rest, "resources": _fixed(container.get("resources"))}


def _fixed(resources: Object | None) -> Object:
    """Resources that can't be resized, as amounts."""
    resources = resources or {}
    fixed: Object = {
        kind: {name: amount(value) for name, value in (resources.get(kind) or {}).items() if name not in RESIZABLE}
        for kind in _KINDS
    }
    return {**fixed, "claims": resources.get("claims") or []}
