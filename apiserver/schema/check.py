"""Whether an object fits the OpenAPI schema that its kind brings, and if not why, in upstream's words.

Made by :mod:`apiserver.registry.kinds`, asked by the store before a kind's strategy. ``jsonschema-rs`` decides in
microseconds; only for an object that it refuses ``jsonschema`` is asked what is wrong. Types and unknown fields were
seen to when the object was decoded. ``format`` is not checked.

COMPAT: k8s.io/apiextensions-apiserver/pkg/apiserver/validation ValidateCustomResource; kube-openapi/pkg/validation
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from apiserver.api.fields import FieldError, Path

_NAMES = {"properties", "patternProperties", "definitions"}
"""Keywords whose values map names to schemas."""
_TYPES = (
    (bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (list, "array"), (dict, "object"),
)  # fmt: skip


class SchemaCheck:
    """The check of one schema. Compiled when first used; may be used by many threads.

    :param schema: OpenAPI v3.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema

    def errors(self, obj: Mapping[str, Any]) -> list[FieldError]:
        """What is wrong with ``obj``; each thing once."""
        if self._decides.is_valid(obj):
            return []
        found = (error for problem in self._explains.iter_errors(obj) for error in _explained(problem))
        return list(dict.fromkeys(found))

    def fault(self) -> str:
        """Why this is no schema at all, with the path to what is wrong in it; "" when it is one."""
        try:
            _ = self._decides
        except ValueError as ex:
            path, text = getattr(ex, "instance_path", ()), getattr(ex, "message", "") or str(ex)
            return ": ".join([".".join(map(str, path)), text] if path else [text])
        return ""

    @functools.cached_property
    def _plain(self) -> Any:
        return _json_schema(self._schema)

    @functools.cached_property
    def _decides(self) -> Any:
        from jsonschema_rs import Draft4Validator

        return Draft4Validator(self._plain, validate_formats=False)

    @functools.cached_property
    def _explains(self) -> Any:
        from jsonschema import Draft4Validator

        return Draft4Validator(self._plain)


def _json_schema(schema: Any) -> Any:
    """OpenAPI v3 as JSON Schema draft 4, from which it differs in ``nullable`` alone."""
    if isinstance(schema, (list, tuple)):
        return [_json_schema(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    made: dict[str, Any] = {
        key: {name: _json_schema(inner) for name, inner in value.items()}
        if key in _NAMES and isinstance(value, Mapping)
        else _json_schema(value)
        for key, value in schema.items()
        if key not in ("default", "enum", "required")
    }
    made |= {key: list(schema[key]) for key in ("enum", "required") if schema.get(key)}
    if schema.get("nullable"):
        if "type" in made:
            made["type"] = [made["type"], "null"]
        if "enum" in made and None not in made["enum"]:
            made["enum"].append(None)
    return made


def _explained(problem: Any) -> Iterator[FieldError]:
    """The field errors of one of jsonschema's errors."""
    path = Path()
    for step in problem.absolute_path:
        path = path / step
    explain = _EXPLANATIONS.get(problem.validator)
    if explain is not None:
        yield from explain(path, problem)
    else:
        yield FieldError.invalid(path, problem.instance, problem.message)


def _required(path: Path, problem: Any) -> Iterable[FieldError]:
    return [FieldError.required(path / name) for name in problem.validator_value if name not in problem.instance]


def _enum(path: Path, problem: Any) -> Iterable[FieldError]:
    values = (value for value in problem.validator_value if value is not None)
    supported = [value if isinstance(value, str) else json.dumps(value) for value in values]
    return [FieldError.not_supported(path, problem.instance, supported)]


def _type(path: Path, problem: Any) -> Iterable[FieldError]:
    wanted = problem.validator_value
    names = [wanted] if isinstance(wanted, str) else [name for name in wanted if name != "null"]
    given = next((name for kind, name in _TYPES if isinstance(problem.instance, kind)), "null")
    return [FieldError.type_invalid(path, given, f'{path} in body must be of type {",".join(names)}: "{given}"')]


def _bound(word: str, exclusive: str) -> Callable[[Path, Any], Iterable[FieldError]]:
    def explain(path: Path, problem: Any) -> Iterable[FieldError]:
        words = f"{word} than" if problem.schema.get(exclusive) else f"{word} than or equal to"
        return [_in_body(path, problem.instance, f"should be {words} {problem.validator_value}")]

    return explain


def _too_many(path: Path, problem: Any) -> Iterable[FieldError]:
    return [FieldError.too_many(path, len(problem.instance), problem.validator_value)]


def _too_few(what: str) -> Callable[[Path, Any], Iterable[FieldError]]:
    def explain(path: Path, problem: Any) -> Iterable[FieldError]:
        return [_in_body(path, len(problem.instance), f"should have at least {problem.validator_value} {what}")]

    return explain


def _says(text: str) -> Callable[[Path, Any], Iterable[FieldError]]:
    def explain(path: Path, problem: Any) -> Iterable[FieldError]:
        return [_in_body(path, problem.instance, text.format(problem.validator_value))]

    return explain


def _composed(text: str) -> Callable[[Path, Any], Iterable[FieldError]]:
    return lambda path, _problem: [FieldError.invalid(path, "", f'"{path}" {text}')]


def _in_body(path: Path, value: Any, text: str) -> FieldError:
    return FieldError.invalid(path, value, f"{path} in body {text}")


_EXPLANATIONS: Mapping[str, Callable[[Path, Any], Iterable[FieldError]]] = {
    "required": _required,
    "enum": _enum,
    "type": _type,
    "minimum": _bound("greater", "exclusiveMinimum"),
    "maximum": _bound("less", "exclusiveMaximum"),
    "multipleOf": _says("should be a multiple of {}"),
    "minLength": _says("should be at least {} chars long"),
    "maxLength": lambda path, problem: [FieldError.too_long(path, problem.validator_value)],
    "pattern": _says("should match '{}'"),
    "minItems": _too_few("items"),
    "maxItems": _too_many,
    "uniqueItems": _says("shouldn't contain duplicates"),
    "minProperties": _too_few("properties"),
    "maxProperties": _too_many,
    "anyOf": _composed("must validate at least one schema (anyOf)"),
    "oneOf": _composed("must validate one and only one schema (oneOf)"),
    "not": _composed("must not validate the schema (not)"),
}
