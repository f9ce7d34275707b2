"""What a definition says of the subresource ``scale``: where the numbers are, and what they may be.

Used by :mod:`.definitions`, which declares the subresource, and :mod:`.strategy`, which checks objects.

COMPAT: customresource ValidateScaleSpec, ValidateScaleStatus, ScaleREST
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apiserver.api.fields import FieldError
from apiserver.api.numbers import go_float
from apiserver.api.resource import ScalePaths

Object = Mapping[str, Any]
_INT32 = (1 << 31) - 1
_GO_TYPES = ((bool, "bool"), (int, "int64"), (float, "float64"), (str, "string"), (dict, "map[string]interface {}"))


class AccessError(ValueError):
    """A value is not of the type that is asked for; the text is upstream's."""


def steps(path: str) -> tuple[str, ...]:
    """The names of the fields in a path such as ``.spec.replicas``."""
    return tuple(path.removeprefix(".").split("."))


def paths_of(declared: Object, other_versions: Mapping[str, tuple[str, ...] | None]) -> ScalePaths:
    """The declaration.

    :param declared: ``subresources.scale`` of a version.
    :param other_versions: where the replicas are in every version, by apiVersion; None where there is no scale.
    """
    where = declared.get("labelSelectorPath")

    def selector(obj: dict[str, Any]) -> str:
        try:
            return str(_nested(obj, where, str, "string")) if where else ""
        except AccessError:
            return ""

    return ScalePaths(
        steps(declared["specReplicasPath"]), steps(declared["statusReplicasPath"]), selector, other_versions
    )


def scale_errors(declared: Object, obj: Object, *, spec: bool = True) -> list[FieldError]:
    """What is wrong with the numbers and the selector of an object.

    :param declared: empty when there is no such subresource.
    :param spec: whether those of its spec are asked about.
    """
    if not declared:
        return []
    errors = []
    for path in (declared["specReplicasPath"], declared["statusReplicasPath"])[not spec :]:
        try:
            value = _nested(obj, path, int, "int64")
        except AccessError as ex:
            errors.append(FieldError.invalid(path, 0, str(ex)))
            continue
        if value < 0:
            errors.append(FieldError.invalid(path, value, "should be a non-negative integer"))
        elif value > _INT32:
            errors.append(FieldError.invalid(path, value, f"should be less than or equal to {_INT32}"))
    where = declared.get("labelSelectorPath")
    if where:
        try:
            _nested(obj, where, str, "string")
        except AccessError as ex:
            errors.append(FieldError.invalid(where, "", str(ex)))
    return errors


def _nested(obj: Any, path: str, cls: type, wanted: str) -> Any:
    """The value at a path, the zero value of its type where nothing is.

    :raises AccessError: it, or what it should be in, has another type. COMPAT: unstructured.NestedInt64, NestedString
    """
    names = steps(path)
    value = obj
    for i, name in enumerate(names):
        if value is None:
            return cls()
        if not isinstance(value, Mapping):
            raise AccessError(_text(names[: i + 1], value, "map[string]interface{}"))
        if name not in value:
            return cls()
        value = value[name]
    if not isinstance(value, cls) or isinstance(value, bool):
        raise AccessError(_text(names, value, wanted))
    return value


def _text(names: tuple[str, ...], value: Any, wanted: str) -> str:
    go_type = next((name for kind, name in _GO_TYPES if isinstance(value, kind)), "[]interface {}")
    go_type = "<nil>" if value is None else go_type
    return f".{'.'.join(names)} accessor error: {go_text(value)} is of the type {go_type}, expected {wanted}"


def go_text(value: Any) -> str:
    """A value as Go's ``%v`` shows it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return go_float(value)
    if isinstance(value, Mapping):
        return f"map[{' '.join(f'{key}:{go_text(inner)}' for key, inner in sorted(value.items()))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(go_text, value))}]"
    return "<nil>" if value is None else str(value)
