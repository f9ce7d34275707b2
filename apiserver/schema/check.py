"""Whether an object fits the OpenAPI schema that its kind brings, and if not why, in upstream's words.

Made by :mod:`apiserver.registry.kinds`, asked by the store before a kind's strategy. ``jsonschema-rs`` decides in
microseconds; only for an object that it refuses ``jsonschema`` is asked what is wrong. Types and unknown fields were
seen to when the object was decoded.

COMPAT: k8s.io/apiextensions-apiserver/pkg/apiserver/validation ValidateCustomResource; kube-openapi/pkg/validation
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from apiserver.api.fields import FieldError, Path, go_value
from apiserver.schema import formats

_NAMES = {"properties", "patternProperties", "definitions"}
"""Keywords whose values map names to schemas."""
_TYPES = (
    (bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (list, "array"), (dict, "object"),
)  # fmt: skip


class PartCheck:
    """The check of one field of an object, as if it were the whole; paths in the texts begin in the field.

    COMPAT: customResourceValidator.ValidateStatusUpdate
    """

    def __init__(self, schema: Mapping[str, Any], field: str) -> None:
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

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema

    def errors(self, obj: Mapping[str, Any], old: Mapping[str, Any] | None = None) -> list[FieldError]:
        """What is wrong with ``obj``; each thing once.

        :param old: what it was before a change: a value that was wrong before and is as it was does not count.
            COMPAT: CRDValidationRatcheting
        """
        if self._decides.is_valid(obj):
            return []
        problems = _first_of_strings(self._explains.iter_errors(obj))
        if old is not None:
            problems = (problem for problem in problems if not _unchanged(problem.absolute_path, obj, old))
        return list(dict.fromkeys(error for problem in problems for error in _explained(problem)))

    def fault(self) -> str:
        """Why this is no schema at all, with the path to what is wrong in it; "" when it is one."""
        try:
            _validator(_json_schema(self._schema, every_pattern=True), False)
        except ValueError as ex:
            path, text = getattr(ex, "instance_path", ()), getattr(ex, "message", "") or str(ex)
            return ": ".join([".".join(map(str, path)), text] if path else [text])
        return ""

    @functools.cached_property
    def _plain(self) -> Any:
        return _json_schema(self._schema)

    @functools.cached_property
    def _decides(self) -> Any:
        return _validator(self._plain, any(True for _ in _formats(self._schema)))

    @functools.cached_property
    def _explains(self) -> Any:
        from jsonschema import Draft4Validator
        from jsonschema.validators import extend

        explaining = extend(Draft4Validator, {"pattern": _pattern_problems})  # type: ignore[no-untyped-call]
        return explaining(self._plain, format_checker=formats.checker())


def _validator(schema: Any, with_formats: bool) -> Any:
    from jsonschema_rs import Draft4Validator

    if not with_formats:
        return Draft4Validator(schema, validate_formats=False)
    return Draft4Validator(schema, validate_formats=True, formats=dict(formats.KNOWN), ignore_unknown_formats=True)


@functools.lru_cache(maxsize=1000)
def _pattern(text: str) -> Any:
    """The check of one pattern; None for one that the library can't read although Go can: such a one counts as met."""
    try:
        return _validator({"pattern": text}, False)
    except ValueError:
        return None


def _pattern_problems(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
    """jsonschema's check of ``pattern``, by the library that decides, so that the two agree."""
    if isinstance(instance, str) and not _pattern(pattern).is_valid(instance):
        from jsonschema import ValidationError

        yield ValidationError("")


_OF_STRINGS = ("maxLength", "minLength", "pattern")


def _first_of_strings(problems: Iterable[Any]) -> Iterable[Any]:
    """Of several rules that a string breaks only the first is told. COMPAT: stringValidator.Validate"""
    found = list(problems)
    broken: dict[tuple[Any, ...], str] = {}
    for keyword in reversed(_OF_STRINGS):
        broken |= {tuple(one.absolute_path): keyword for one in found if one.validator == keyword}
    return [
        one for one in found if one.validator not in _OF_STRINGS or broken[tuple(one.absolute_path)] == one.validator
    ]


def _formats(schema: Any) -> Iterator[str]:
    """The formats that a schema asks for and that are known."""
    if isinstance(schema, Mapping):
        found = schema.get("format")
        if isinstance(found, str) and found in formats.KNOWN:
            yield found
        schema = list(schema.values())
    if isinstance(schema, list):
        for inner in schema:
            yield from _formats(inner)


def _unchanged(path: Iterable[str | int], obj: Any, old: Any) -> bool:
    """Whether what a problem is about is as it was. Items of lists are not told apart: the whole list counts."""
    for step in path:
        if not isinstance(step, str) or not isinstance(obj, Mapping) or not isinstance(old, Mapping):
            break
        if step not in obj or step not in old:
            return False
        obj, old = obj[step], old[step]
    return bool(obj == old)


def _json_schema(schema: Any, every_pattern: bool = False) -> Any:
    """OpenAPI v3 as JSON Schema draft 4, from which it differs in ``nullable`` alone.

    :param every_pattern: keep patterns that only Go can read, too.
    """
    if isinstance(schema, (list, tuple)):
        return [_json_schema(item, every_pattern) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    made: dict[str, Any] = {
        key: {name: _json_schema(inner, every_pattern) for name, inner in value.items()}
        if key in _NAMES and isinstance(value, Mapping)
        else _json_schema(value, every_pattern)
        for key, value in schema.items()
        if key not in ("default", "enum", "required")
    }
    if not every_pattern and isinstance(made.get("pattern"), str) and _pattern(made["pattern"]) is None:
        del made["pattern"]
    made |= {key: list(schema[key]) for key in ("enum", "required") if schema.get(key)}
    if schema.get("x-kubernetes-int-or-string") and "type" not in made:
        made["type"] = ["integer", "string"]
    if schema.get("nullable"):
        if "type" in made:
            types = made["type"]
            made["type"] = [*([types] if isinstance(types, str) else types), "null"]
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
    wanted, value = problem.validator_value, problem.instance
    names = [wanted] if isinstance(wanted, str) else [name for name in wanted if name != "null"]
    given = next((name for kind, name in _TYPES if isinstance(value, kind)), "null")
    errors = [FieldError.type_invalid(path, given, f'{path} in body must be of type {",".join(names)}: "{given}"')]
    if names == ["integer"] and given == "number":
        # COMPAT: kube-openapi IsValueValidAgainstRange, whose error is none of a field
        format_ = problem.schema.get("format")
        which = f"with format {format_}" if format_ else "(default format)"
        text = f"Checked value must be of type integer {which} in {path}"
        errors.insert(0, FieldError.invalid("", "", text))
    return errors


def _format(path: Path, problem: Any) -> Iterable[FieldError]:
    text = f"{path} in body must be of type {problem.validator_value}: {go_value(problem.instance)}"
    return [FieldError.type_invalid(path, problem.instance, text)]


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
    "format": _format,
    "uniqueItems": _says("shouldn't contain duplicates"),
    "minProperties": _too_few("properties"),
    "maxProperties": _too_many,
    "anyOf": _composed("must validate at least one schema (anyOf)"),
    "oneOf": _composed("must validate one and only one schema (oneOf)"),
    "not": _composed("must not validate the schema (not)"),
}
