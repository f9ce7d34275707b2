"""Whether an object fits the OpenAPI schema that its kind brings, and if not why.

Made by :mod:`apiserver.registry.kinds`, asked by the store before a kind's strategy. ``jsonschema-rs`` decides in
microseconds; only for an object that it refuses :mod:`apiserver.schema.explain` is asked what is wrong, and has the
last word: what is handed to ``jsonschema-rs`` may refuse more than upstream does, never less.

COMPAT: k8s.io/apiextensions-apiserver/pkg/apiserver/validation ValidateCustomResource
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from apiserver.api import regexp
from apiserver.api.fields import FieldError, Path
from apiserver.schema import formats
from apiserver.schema.explain import explain, format_of, types_of

Schema = Mapping[str, Any]


class PartCheck:
    """The check of one field of an object, as if it were the whole; paths in the texts begin in the field.

    COMPAT: customResourceValidator.ValidateStatusUpdate
    """

    def __init__(self, schema: Schema, field: str) -> None:
        self._field = field
        self._check = SchemaCheck(schema)

    def errors(self, obj: Mapping[str, Any], old: Mapping[str, Any] | None = None) -> list[FieldError]:
        """What is wrong with the field of ``obj``; see :meth:`SchemaCheck.errors`."""
        if self._field not in obj:
            return []
        before = old.get(self._field) if old is not None else None
        found = self._check.errors(obj[self._field], before)
        path = Path(self._field)
        return [replace(one, field=path / one.field if one.field else path) for one in found]


class SchemaCheck:
    """The check of one schema. Compiled when first used; may be used by many threads.

    :param schema: OpenAPI v3.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def errors(self, obj: Any, old: Any = None) -> list[FieldError]:
        """What is wrong with ``obj``; each thing once.

        :param old: what it was before a change: a value that was wrong before and is as it was does not count.
            COMPAT: CRDValidationRatcheting
        """
        if self._decides is not None and self._decides.is_valid(obj):
            return []
        return explain(self._schema, obj) if old is None else explain(self._schema, obj, old)

    def fault(self) -> str:
        """Why this is no schema at all, with the path to what is wrong in it; "" when it is one."""
        for path, pattern in _patterns(self._schema, ()):
            if problem := regexp.problem(pattern):
                return f'{".".join((*path, "pattern"))}: "{pattern}" is not a regular expression: {problem}'
        try:
            _validator(_as_written(self._schema))
        except ValueError as ex:
            where, text = getattr(ex, "instance_path", ()), getattr(ex, "message", "") or str(ex)
            return ": ".join([".".join(map(str, where)), text] if where else [text])
        return ""

    @functools.cached_property
    def _decides(self) -> Any:
        """None when nothing but the explanation can decide."""
        plain = _Plain()
        schema = plain.schema(self._schema)
        return None if plain.undecided else _validator(schema, plain.formats)


def _as_written(schema: Any) -> Any:
    """A schema for the question whether it is one: without what OpenAPI allows and JSON Schema draft 4 does not."""
    if isinstance(schema, (list, tuple)):
        return [_as_written(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        key: {name: _as_written(inner) for name, inner in value.items()}
        if key in _NAMES and isinstance(value, Mapping)
        else value
        if key in ("default", "enum", "example", "required")
        else _as_written(value)
        for key, value in schema.items()
        # Patterns are Go's and are looked at before; an empty list of names or values means none.
        if key != "pattern" and not (key in ("enum", "required") and value in ([], ()))
    }


def _validator(schema: Any, checks: Mapping[str, Any] | None = None) -> Any:
    from jsonschema_rs import Draft4Validator

    if not checks:
        return Draft4Validator(schema, validate_formats=False)
    return Draft4Validator(schema, validate_formats=True, formats=dict(checks), ignore_unknown_formats=True)


def _patterns(schema: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The patterns in a schema, with their places."""
    if not isinstance(schema, Mapping):
        return
    if isinstance(schema.get("pattern"), str):
        yield path, schema["pattern"]
    for keyword, value in schema.items():
        at = (*path, keyword)
        if keyword in _NAMES and isinstance(value, Mapping):
            for name, inner in value.items():
                yield from _patterns(inner, (*at, name))
        elif keyword in _LISTS and isinstance(value, (list, tuple)):
            for i, inner in enumerate(value):
                yield from _patterns(inner, (*at, str(i)))
        elif keyword in _SCHEMAS:
            yield from _patterns(value, at)


_NAMES = ("properties", "patternProperties", "definitions", "dependencies")
_LISTS = ("allOf", "anyOf", "oneOf", "items")
_SCHEMAS = ("items", "additionalProperties", "additionalItems", "not")
_KEPT = (
    "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
)  # fmt: skip
_NOTHING = "\0\0"
"""What no object has: the only value of an enumeration without values."""
_BOUNDS = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
_SAME_IN_RUST = re.compile(
    r"""(?:[A-Za-z0-9_ :;,/@%='"<>!-]|\\[d./+*?(){}\[\]^$|\\-]|\(\?:|[()|*+?^$]|\{\d+(?:,\d*)?\}
    |\[\^?(?:[A-Za-z0-9_ .,:;/@%=+*!?'"<>-]|\\[d./\[\]\\^-])+\])*""",
    re.VERBOSE | re.ASCII,
)
"""Patterns that mean the same to Go and to the library that decides; others are left to Go's engine."""


class _Plain:
    """Makes JSON Schema draft 4 of OpenAPI v3, as strict as upstream's validator or stricter.

    ``formats`` are the checks of strings that the schema asks for; ``undecided``: being stricter somewhere inside would
    make it laxer as a whole.
    """

    def __init__(self) -> None:
        self.formats: dict[str, Any] = {}
        self.undecided = False
        self._inverted = False

    def schema(self, schema: Any) -> Any:
        """The schema, or True and False as they are."""
        if not isinstance(schema, Mapping):
            return schema
        types = types_of(schema)
        made: dict[str, Any] = {key: schema[key] for key in _KEPT if schema.get(key) is not None}
        if schema.get("required"):
            made["required"] = list(schema["required"])
        if schema.get("enum"):
            # COMPAT: null is never one of the values
            made["enum"] = [value for value in schema["enum"] if value is not None] or [_NOTHING]
        if types:
            made["type"] = [*types, "null"] if schema.get("nullable") and "null" not in types else [*types]
        more = [*self._numbers(schema, types), *self._strings(schema, types)]
        self._below(schema, made)
        if more:
            made["allOf"] = [*made.get("allOf", ()), *more]
        return made

    def _below(self, schema: Schema, made: dict[str, Any]) -> None:
        for key in _NAMES:
            if isinstance(schema.get(key), Mapping):
                made[key] = {name: self._inner(one) for name, one in schema[key].items()}
        for key in _LISTS:
            if isinstance(schema.get(key), (list, tuple)) and schema[key]:
                made[key] = [self._inner(one, inverted=key == "oneOf") for one in schema[key]]
        for key in _SCHEMAS:
            if isinstance(schema.get(key), (Mapping, bool)):
                made[key] = self._inner(schema[key], inverted=key == "not")

    def _inner(self, schema: Any, *, inverted: bool = False) -> Any:
        if isinstance(schema, (list, tuple)):
            return list(schema)
        before, self._inverted = self._inverted, self._inverted or inverted
        try:
            return self.schema(schema)
        finally:
            self._inverted = before

    def _stricter(self, rule: dict[str, Any]) -> dict[str, Any]:
        self.undecided = self.undecided or self._inverted
        return rule

    def _numbers(self, schema: Schema, types: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        factor = schema.get("multipleOf")
        given = [schema[key] for key in ("minimum", "maximum", "multipleOf") if schema.get(key) is not None]
        if any(value != int(value) for value in given):
            # COMPAT: of such a limit only the whole part counts for whole numbers
            yield self._stricter({"not": {"type": "integer"}})
        if factor is not None:
            yield {"multipleOf": factor} if factor > 0 else self._stricter({"not": {"type": "number"}})
        for key, exclusive in _BOUNDS:
            if schema.get(key) is not None:
                yield {key: schema[key], exclusive: bool(schema.get(exclusive))}
        form = format_of(schema, types)
        if form == "int32":
            yield {"minimum": -(1 << 31), "maximum": (1 << 31) - 1}
        elif form == "float":
            yield self._stricter({"minimum": -(1 << 24), "maximum": 1 << 24})

    def _strings(self, schema: Schema, types: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        form, pattern = format_of(schema, types), schema.get("pattern")
        if form and formats.known(form):
            self.formats[form] = functools.partial(formats.fits, form)
            yield self._stricter({"format": form})
            if not types:
                # COMPAT: typeValidator.Validate: a format alone asks for a string, or lets a list pass
                yield {"type": ["string", "array", "null"]}
        if not pattern:
            return
        plain = _SAME_IN_RUST.fullmatch(pattern) and not any(two in pattern for two in ("--", "&&", "~~"))
        if plain:
            yield {"pattern": pattern}
        else:
            name = f"pattern {pattern}"
            self.formats[name] = functools.partial(formats.matches, pattern)
            yield {"format": name}
