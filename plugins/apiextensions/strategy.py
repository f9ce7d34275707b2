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
from apiserver_plugins.apiextensions.embedded import meta_errors
from apiserver_plugins.apiextensions.finalizers import finalizer_warnings
from apiserver_plugins.apiextensions.jsonpath import parse
from apiserver_plugins.apiextensions.lists import list_errors
from apiserver_plugins.apiextensions.scale import go_text, scale_errors
from apiserver_plugins.apiextensions.schemas import has

if TYPE_CHECKING:
    from apiserver.cel.rules import Rules

Object = dict[str, Any]


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
        self._scale = scale or {}
        self._embeds = has(schema, "x-kubernetes-embedded-resource")

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
        return [*scale_errors(self._scale, obj), *self._embedded_errors(obj), *list_errors(obj, self._schema, Path())]

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        return [*scale_errors(self._scale, obj), *self._embedded_errors(obj), *self._list_errors(obj, old)]

    def validate_status(self, obj: Object, old: Object) -> list[FieldError]:
        """Problems of a changed status. COMPAT: statusStrategy.ValidateUpdate"""
        return [*scale_errors(self._scale, obj, spec=False), *self._list_errors(obj, old)]

    def _embedded_errors(self, obj: Object) -> list[FieldError]:
        return meta_errors(obj, self._schema, Path()) if self._embeds else []

    def _list_errors(self, obj: Object, old: Object) -> list[FieldError]:
        """COMPAT: lists that were wrong before may stay so, and become worse"""
        errors = list_errors(obj, self._schema, Path())
        return errors if errors and not list_errors(old, self._schema, Path()) else []

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        return finalizer_warnings(obj["metadata"].get("finalizers") or ())

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        before = old["metadata"].get("finalizers") or ()
        return finalizer_warnings({*(obj["metadata"].get("finalizers") or ())}.difference(before))

    @functools.cached_property
    def _rules(self) -> Rules | None:
        """The rules in the schema, compiled when the first object is written; None when there are none."""
        if not has(self._schema, "x-kubernetes-validations"):
            return None
        # Loading CEL costs time and memory, and few definitions need it.
        from apiserver.cel.rules import Rules

        return Rules(self._schema)

    @property
    def has_rules(self) -> bool:
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


def _shown(found: Sequence[Any]) -> str:
    value = found[0] if found else None
    return "" if value is None else go_text(value)


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
        has_status, status, owners = "status" in obj, obj.get("status"), obj["metadata"].get("managedFields")
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
        if has_status:
            obj["status"] = status

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        return self.parent.validate_status(obj, old)

    @property
    def has_rules(self) -> bool:
        return self.parent.has_rules

    def check_rules(self, ctx: Context, obj: Object, old: Object | None) -> list[FieldError]:
        return self.parent.check_rules(ctx, obj, old)

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        return self.parent.selectable_fields(obj)
