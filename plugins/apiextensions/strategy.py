"""The rules of custom resources beyond their schema.

Made for each version by :mod:`.definitions`. What the schema says is checked before, by the registry.

COMPAT: apiextensions-apiserver/pkg/registry/customresource strategy.go, status_strategy.go, validator.go
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy, bump_generation, keep_status
from apiserver_plugins.apiextensions.jsonpath import parse
from apiserver_plugins.apiextensions.lists import list_errors

if TYPE_CHECKING:
    from apiserver.cel.rules import Rules

Object = dict[str, Any]
_INT32 = (1 << 31) - 1


class CustomResourceStrategy(Strategy):
    """Rules of one version.

    :param kind: that objects must say they are.
    :param has_status: whether there is a subresource ``status``.
    :param selectable: paths of selectable fields, as ``.spec.colour``.
    :param scale: what the definition says of the subresource ``scale``, if there is one.
    """

    allow_unconditional_update = False
    any_finalizer = True

    def __init__(
        self,
        kind: str,
        schema: Mapping[str, Any],
        *,
        has_status: bool,
        selectable: Sequence[str] = (),
        scale: Mapping[str, Any] | None = None,
    ) -> None:
        self.kind = kind
        self._schema = schema
        self._has_status = has_status
        self._selectable: dict[str, Callable[[Any], list[Any]]] = {path[1:]: parse(path) for path in selectable}
        self._replicas = [parse(scale[key]) for key in ("specReplicasPath", "statusReplicasPath")] if scale else []
        self._replicas_paths = [scale["specReplicasPath"], scale["statusReplicasPath"]] if scale else []

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        if self._has_status:
            obj.pop("status", None)
        obj["metadata"]["generation"] = 1

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        if self._has_status:
            keep_status(obj, old)
        names = ({*obj, *old}) - {"metadata"}
        bump_generation(obj, old, *sorted(names))

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        return [*self._scale_errors(obj), *list_errors(obj, self._schema, Path())]

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        errors = self._scale_errors(obj)
        if not list_errors(old, self._schema, Path()):
            errors += list_errors(obj, self._schema, Path())
        return errors

    def _scale_errors(self, obj: Object) -> list[FieldError]:
        """COMPAT: ValidateScaleSpec, ValidateScaleStatus"""
        errors = []
        for path, find in zip(self._replicas_paths, self._replicas, strict=True):
            found = find(obj)
            value = found[0] if found else 0
            if not isinstance(value, int) or isinstance(value, bool):
                text = f"{path} accessor error: {_go_text(value)} is of the type {_go_type(value)}, expected int64"
                errors.append(FieldError.invalid(path, 0, text))
            elif value < 0:
                errors.append(FieldError.invalid(path, value, "should be a non-negative integer"))
            elif value > _INT32:
                text = f"should be less than or equal to {_INT32}"
                errors.append(FieldError.invalid(path, value, text))
        return errors

    @functools.cached_property
    def _rules(self) -> Rules | None:
        """The rules in the schema, compiled when the first object is written; None when there are none."""
        if not _has_rules(self._schema):
            return None
        # Loading CEL costs time and memory, and few definitions need it.
        from apiserver.cel.rules import Rules

        return Rules(self._schema)

    @property
    def has_rules(self) -> bool:  # type: ignore[override]  # read-only here
        return self._rules is not None

    def check_rules(self, ctx: Context, obj: Object, old: Object | None) -> list[FieldError]:
        if self._rules is None:
            return []
        outcome = self._rules.check(obj, old)
        for text in outcome.warnings:
            ctx.request.warn(text)
        return outcome.errors

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        return {name: _shown(find(obj)) for name, find in self._selectable.items()}


_GO_TYPES = ((bool, "bool"), (float, "float64"), (str, "string"), (dict, "map[string]interface {}"))


def _go_type(value: Any) -> str:
    return next((name for type_, name in _GO_TYPES if isinstance(value, type_)), "[]interface {}")


def _go_text(value: Any) -> str:
    """A value as Go's ``%v`` shows it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{_go_text(inner)}' for key, inner in sorted(value.items()))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(_go_text, value))}]"
    return "<nil>" if value is None else str(value)


def _has_rules(schema: Any) -> bool:
    if isinstance(schema, Mapping):
        return "x-kubernetes-validations" in schema or any(map(_has_rules, schema.values()))
    return isinstance(schema, list) and any(map(_has_rules, schema))


def _shown(found: Sequence[Any]) -> str:
    value = found[0] if found else None
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


class CustomResourceStatusStrategy(Strategy):
    """The rules of ``/status``: everything but the status, and who owns what, is as it was.

    :param parent: the rules of the version.
    """

    allow_unconditional_update = False
    any_finalizer = True
    unowned_fields = ("metadata",)

    def __init__(self, parent: CustomResourceStrategy) -> None:
        self.parent = parent

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        status, owners = obj.get("status"), obj["metadata"].get("managedFields")
        version = obj["metadata"].get("resourceVersion")
        for key in [key for key in obj if key not in ("apiVersion", "kind")]:
            del obj[key]
        obj.update({key: value for key, value in old.items() if key not in ("apiVersion", "kind", "status")})
        obj["metadata"] = {**old["metadata"]}
        for key, value in (("managedFields", owners), ("resourceVersion", version)):
            if value is None:
                obj["metadata"].pop(key, None)
            else:
                obj["metadata"][key] = value
        if status is not None:
            obj["status"] = status

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        return self.parent.validate_update(ctx, obj, old)

    @property
    def has_rules(self) -> bool:  # type: ignore[override]  # read-only here
        return self.parent.has_rules

    def check_rules(self, ctx: Context, obj: Object, old: Object | None) -> list[FieldError]:
        return self.parent.check_rules(ctx, obj, old)

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        return self.parent.selectable_fields(obj)
