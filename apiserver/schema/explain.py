"""Why a value does not fit an OpenAPI v3 schema, in upstream's words and by upstream's rules.

Asked by :mod:`apiserver.schema.check` about values that ``jsonschema-rs`` has refused. It walks the schema as
upstream's validator does and not as JSON Schema says: that one compares whole numbers as whole numbers (with the bounds
cut to whole ones), of the branches of ``anyOf`` it tells the one with the most matches, and an error in a value that an
update left alone is dropped where it arises, inside ``anyOf`` and ``oneOf``, too.

COMPAT: k8s.io/kube-openapi/pkg/validation/validate SchemaValidator; apiextensions-apiserver/pkg/apiserver/validation
kubeOpenAPIResultToFieldErrors, ratchetingValueValidator
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from apiserver.api.fields import FieldError, go_value
from apiserver.api.numbers import go_float
from apiserver.cel.correlation import Correlated, same
from apiserver.schema import formats

Schema = Mapping[str, Any]

_WORDS = (
    (bool, "boolean", ""), (int, "integer", "int64"), (float, "number", "float64"), (str, "string", ""),
    (list, "array", ""), (dict, "object", ""),
)  # fmt: skip
_FLOAT32 = 3.4028234663852886e38
_RANGES: Mapping[str, tuple[float, float]] = {
    "int32": (-(1 << 31), (1 << 31) - 1),
    "integer": (-(1 << 63), (1 << 63) - 1),
    "float": (-_FLOAT32, _FLOAT32),
}
_UNSET: Any = object()


def explain(schema: Schema, value: Any, old: Any = _UNSET) -> list[FieldError]:
    """What is wrong with a value; each thing once.

    :param old: what it was before an update: what was wrong in it and is as it was does not count.
    """
    correlated = Correlated(schema, value, old) if old is not _UNSET else None
    return list(_ratcheted(schema, value, "", correlated).errors)


class _Result:
    """Errors, in order, and how much was right: what tells the best of several failures."""

    __slots__ = ("errors", "matches")

    def __init__(self, *errors: FieldError, matches: int = 0) -> None:
        self.errors = dict.fromkeys(errors)
        self.matches = matches

    def merge(self, other: _Result) -> None:
        self.errors |= other.errors
        self.matches += other.matches

    def add(self, *errors: FieldError) -> None:
        self.errors |= dict.fromkeys(errors)


def _ratcheted(schema: Schema, value: Any, path: str, correlated: Correlated | None) -> _Result:
    result = _validate(schema, value, path, correlated)
    if result.errors and correlated is not None and correlated.unchanged:
        return _Result(matches=result.matches)
    return result


def _validate(schema: Schema, value: Any, path: str, correlated: Correlated | None) -> _Result:
    types = types_of(schema)
    result = _typed(schema, types, value, path)
    result.merge(_enum(schema, value, path))
    if value is None:
        return result
    result.merge(_composed(schema, value, path, correlated))
    if isinstance(value, str):
        result.merge(_string(schema, value, path))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        result.merge(_number(schema, types, value, path))
    elif isinstance(value, list):
        result.merge(_list(schema, value, path, correlated))
    elif isinstance(value, dict):
        result.merge(_object(schema, value, path, correlated))
    # One for each group of rules that applies, one for the whole: only differences between branches matter.
    result.matches += 3 + bool(types or format_of(schema, types)) + (2 if isinstance(value, str) else 1)
    return result


# -- types -------------------------------------------------------------------------------------------------------------


def types_of(schema: Schema) -> tuple[str, ...]:
    """The types that a schema allows, null excepted; none for any."""
    if schema.get("x-kubernetes-int-or-string"):
        return ("integer", "string")
    given = schema.get("type")
    return ((given,) if isinstance(given, str) else tuple(given)) if given else ()


def format_of(schema: Schema, types: tuple[str, ...]) -> str:
    """The format of a schema, "" if it is none that is checked. COMPAT: StripUnsupportedFormatsPostProcess"""
    given = schema.get("format") or ""
    if not given:
        return ""
    if len(types) != 1 or types == ("string",):
        return given if formats.known(given) else ""
    return given if given in _NUMERIC_FORMATS.get(types[0], ()) else ""


_NUMERIC_FORMATS = {"integer": ("int32", "int64"), "number": ("float", "double")}


def _word(value: Any) -> tuple[str, str]:
    return next(((word, form) for cls, word, form in _WORDS if isinstance(value, cls)), ("null", ""))


def _typed(schema: Schema, types: tuple[str, ...], value: Any, path: str) -> _Result:
    """COMPAT: typeValidator.Validate"""
    wanted = ",".join(types)
    if value is None:
        wrong = types and not schema.get("nullable") and "null" not in types
        return _Result(_mistyped(path, wanted, "null")) if wrong else _Result(matches=1)
    form = format_of(schema, types)
    if not types and not form:
        return _Result()
    word, own = _word(value)
    fits = word in types or (word == "integer" and "number" in types)
    fits = fits or (word == "number" and "integer" in types and value.is_integer())
    if form and word not in ("string", "array") and not fits and own != form:
        return _Result(_mistyped(path, form, own))
    if form and word in ("string", "array") and not {"number", "integer"} & {*types}:
        return _Result(matches=1)
    return _Result(matches=1) if fits else _Result(_mistyped(path, wanted, word))


def _mistyped(path: str, wanted: str, shown: str) -> FieldError:
    text = f"{path} in body must be of type {wanted}: {go_value(shown)}"
    return FieldError.type_invalid(_field(path), shown, text)


def _enum(schema: Schema, value: Any, path: str) -> _Result:
    """COMPAT: basicCommonValidator.Validate, where null is never one of the values"""
    allowed = schema.get("enum")
    if not allowed or any(_is(value, one) for one in allowed):
        return _Result()
    shown = [one if isinstance(one, str) else json.dumps(one) for one in allowed]
    return _Result(FieldError.not_supported(_field(path), value, shown))


def _is(value: Any, one: Any) -> bool:
    """Whether a value is one of an enumeration: a number is first made one of the same Go type."""
    if value is None:
        return False
    plain = type(value) in (int, float) and type(one) in (int, float)
    return same(type(one)(value) if plain else value, one)


# -- strings and numbers -----------------------------------------------------------------------------------------------


def _string(schema: Schema, value: str, path: str) -> _Result:
    """COMPAT: stringValidator.Validate, which tells the first thing; formatValidator.Validate"""
    result = _Result()
    longest, shortest, pattern = (schema.get(key) for key in ("maxLength", "minLength", "pattern"))
    if longest is not None and len(value) > longest:
        result.add(FieldError.too_long(_field(path), longest))
    elif shortest is not None and len(value) < shortest:
        result.add(_invalid(path, value, f"should be at least {shortest} chars long"))
    elif pattern and not formats.matches(pattern, value):
        result.add(_invalid(path, value, f"should match '{pattern}'"))
    form = format_of(schema, types_of(schema))
    if form and formats.known(form) and not formats.fits(form, value):
        text = f"{path} in body must be of type {form}: {go_value(value)}"
        result.add(FieldError.type_invalid(_field(path), value, text))
    return result


def _number(schema: Schema, types: tuple[str, ...], value: float, path: str) -> _Result:
    """COMPAT: numberValidator.Validate"""
    kind = types[0] if types in (("integer",), ("number",)) else ""
    form = format_of(schema, types) if kind else ""
    result = _Result(matches=1)
    result.add(*_beyond("Checked", value, kind, form, path))
    for keyword, prefix, check in _NUMBER_RULES:
        limit = schema.get(keyword)
        if limit is None:
            continue
        beyond = list(_beyond(prefix, limit, kind, form, path))
        # COMPAT: of a whole number, only the whole part of the limit counts, unless that limit is none of the type
        whole = isinstance(value, int) and not beyond
        text = check(value, int(limit) if whole else limit, schema)
        result.add(*beyond)
        if text is None:
            continue
        shown = int(limit) if whole else go_float(float(limit))
        if keyword == "multipleOf" and float(shown) <= 0:
            text = f"factor MultipleOf declared for {path} must be positive: {shown}"
            result.add(FieldError.invalid(_field(path), int(limit) if whole else float(limit), text))
        else:
            result.add(_invalid(path, value, f"{text} {shown}"))
    return result


def _beyond(prefix: str, value: float, kind: str, form: str, path: str) -> Iterator[FieldError]:
    """COMPAT: IsValueValidAgainstRange, whose error is none of a field"""
    low, high = _RANGES.get(form) or _RANGES.get(kind) or (value, value)
    whole = kind != "integer" or isinstance(value, int) or value.is_integer()
    if not whole or not low <= value <= high:
        which = f"with format {form}" if form else "(default format)"
        yield FieldError.invalid("", "", f"{prefix} value must be of type {kind} {which} in {path}")


def _not_multiple(value: float, factor: float, _schema: Schema) -> str | None:
    if factor > 0:
        if isinstance(value, int) and isinstance(factor, int):
            fits = value % factor == 0
        else:
            fits = _is_whole(1 / factor * value if factor < 1 else value / factor)
        if fits:
            return None
    return "should be a multiple of"


def _is_whole(value: float) -> bool:
    """COMPAT: swag.IsFloat64AJSONInteger: as good as whole"""
    if value != value or abs(value) >= 1 << 53:
        return False
    nearest = float(int(value))
    difference, size = abs(value - nearest), abs(value) + abs(nearest)
    return value == nearest or (difference / size < 1e-9 if size else True)


def _above(value: float, limit: float, schema: Schema) -> str | None:
    exclusive = schema.get("exclusiveMaximum")
    if value < limit or (value == limit and not exclusive):
        return None
    return "should be less than" if exclusive else "should be less than or equal to"


def _below(value: float, limit: float, schema: Schema) -> str | None:
    exclusive = schema.get("exclusiveMinimum")
    if value > limit or (value == limit and not exclusive):
        return None
    return "should be greater than" if exclusive else "should be greater than or equal to"


_NUMBER_RULES: tuple[tuple[str, str, Callable[[float, float, Schema], str | None]], ...] = (
    ("multipleOf", "MultipleOf", _not_multiple),
    ("minimum", "Minimum boundary", _below),
    ("maximum", "Maximum boundary", _above),
)


# -- lists and objects -------------------------------------------------------------------------------------------------


def _list(schema: Schema, value: list[Any], path: str, correlated: Correlated | None) -> _Result:
    """COMPAT: schemaSliceValidator.Validate"""
    result = _Result(matches=1)
    items, more, size = schema.get("items"), schema.get("additionalItems"), len(value)
    first = items if isinstance(items, list) else []
    for i, item in enumerate(value):
        own = first[i] if i < len(first) else more if isinstance(items, list) else items
        if isinstance(own, Mapping):
            result.merge(_ratcheted(own, item, f"{path}[{i}]", correlated.item(i) if correlated else None))
    if first and more is False and size > len(first):
        result.add(FieldError.invalid("", "", "array doesn't allow for additional items"))
    if schema.get("minItems") is not None and size < schema["minItems"]:
        result.add(_invalid(path, size, f"should have at least {schema['minItems']} items"))
    if schema.get("maxItems") is not None and size > schema["maxItems"]:
        result.add(FieldError.too_many(_field(path), size, schema["maxItems"]))
    if schema.get("uniqueItems") and any(same(a, b) for i, a in enumerate(value) for b in value[:i]):
        result.add(_invalid(path, "", "shouldn't contain duplicates"))
    return result


def _object(schema: Schema, value: Mapping[str, Any], path: str, correlated: Correlated | None) -> _Result:
    """COMPAT: objectValidator.Validate"""
    result = _Result()
    declared, more = schema.get("properties") or {}, schema.get("additionalProperties")
    patterns = schema.get("patternProperties") or {}
    size = len(value)
    if schema.get("minProperties") is not None and size < schema["minProperties"]:
        result.add(_invalid(path, size, f"should have at least {schema['minProperties']} properties"))
    if schema.get("maxProperties") is not None and size > schema["maxProperties"]:
        result.add(FieldError.too_many(_field(path), size, schema["maxProperties"]))
    for name, inner in value.items():
        at = f"{path}.{name}"
        named = [one for pattern, one in patterns.items() if formats.matches(pattern, name)]
        if name in declared:
            named.append(declared[name])
            at = at if path else name
        elif not named and more is False:
            result.add(FieldError.invalid(_field(path), name, f"{at} in body is a forbidden property"))
        elif not named and isinstance(more, Mapping):
            named.append(more)
        for one in named:
            result.merge(_ratcheted(one, inner, at, _child(correlated, name, path)))
    missing = [name for name in schema.get("required") or () if name not in value]
    result.add(*(FieldError.required(_field(f"{path}.{name}")) for name in missing))
    return result


def _child(correlated: Correlated | None, name: str, path: str) -> Correlated | None:
    if correlated is None or (not path and name in ("kind", "apiVersion")):
        # Both objects have been brought to one version: a change does not show.
        return None
    return correlated.key(name)


# -- composition -------------------------------------------------------------------------------------------------------


def _composed(schema: Schema, value: Any, path: str, correlated: Correlated | None) -> _Result:
    """COMPAT: schemaPropsValidator.Validate"""
    result = _Result(matches=1)

    def of(branches: Any) -> list[_Result]:
        return [_validate(one, value, path, correlated) for one in branches or ()]

    if any_of := of(schema.get("anyOf")):
        found = next((one for one in any_of if not one.errors), None)
        if found is None:
            result.add(_failure(path, "must validate at least one schema (anyOf)"))
        result.merge(found if found is not None else _best(any_of))
    if one_of := of(schema.get("oneOf")):
        fitting = [one for one in one_of if not one.errors]
        if len(fitting) != 1:
            how = f"Found {len(fitting)} valid alternatives" if fitting else "Found none valid"
            result.add(_failure(path, f"must validate one and only one schema (oneOf). {how}"))
        if len(fitting) < 2:
            result.merge(fitting[0] if fitting else _best(one_of))
    if all_of := of(schema.get("allOf")):
        for one in all_of:
            result.merge(one)
        failed = [one for one in all_of if one.errors]
        if failed:
            none = ". None validated" if len(failed) == len(all_of) else ""
            result.add(_failure(path, f"must validate all the schemas (allOf){none}"))
    refused = schema.get("not")
    if isinstance(refused, Mapping) and not _validate(refused, value, path, correlated).errors:
        result.add(_failure(path, "must not validate the schema (not)"))
    if schema.get("dependencies") and isinstance(value, dict):
        result.merge(_dependencies(schema["dependencies"], value, path, correlated))
    return result


def _best(results: list[_Result]) -> _Result:
    return max(results, key=lambda one: one.matches)


def _dependencies(declared: Schema, value: Mapping[str, Any], path: str, correlated: Correlated | None) -> _Result:
    result = _Result()
    for name in value:
        needed = declared.get(name) or ()
        if isinstance(needed, Mapping):
            result.merge(_validate(needed, value, f"{path}.{name}", correlated))
        else:
            result.add(*(_failure(path, f"has a dependency on {one}") for one in needed if one not in value))
    return result


# -- words -------------------------------------------------------------------------------------------------------------


def _field(path: str) -> str:
    return path.removeprefix(".")


def _invalid(path: str, value: Any, text: str) -> FieldError:
    return FieldError.invalid(_field(path), value, f"{path} in body {text}")


def _failure(path: str, text: str) -> FieldError:
    # COMPAT: an error that is none of a field
    return FieldError.invalid("", "", f"{go_value(path)} {text}")
