"""Objects inside objects: what is wrong with their apiVersion, kind and metadata.

Asked by :mod:`.strategy` for custom resources, and for defaults in the schemas of their definitions.

COMPAT: pkg/apiserver/schema/objectmeta Coerce, Validate
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.validation import dns_1035_label, dns_label, label_value, path_segment, qualified_name

Object = Mapping[str, Any]

_TEXTS = ("name", "generateName", "namespace")
_MAPS = ("labels", "annotations")
_MIXED = "may have mixed case, but should otherwise match: "
_WORDS = ((bool, "bool"), ((int, float), "number"), (str, "string"), (list, "array"), (dict, "object"))


def meta_errors(value: Any, schema: Object | None, path: Path, *, embedded: bool = False) -> list[FieldError]:
    """Problems of the metadata of a value and of all embedded objects in it.

    :param embedded: whether the value itself is an object with metadata, even if its schema does not say so.
    """
    # COMPAT: wrong types end the search
    wrong = next(_each(_type_errors, value, schema, path, embedded), None)
    return [wrong] if wrong is not None else list(_each(_object_errors, value, schema, path, embedded))


def _each(check: Any, value: Any, schema: Object | None, path: Path, embedded: bool = False) -> Iterator[FieldError]:
    if schema is None:
        return
    if isinstance(value, list):
        items = schema.get("items")
        for i, item in enumerate(value):
            yield from _each(check, item, items if isinstance(items, Mapping) else None, path / i)
    elif isinstance(value, Mapping):
        if embedded or schema.get("x-kubernetes-embedded-resource"):
            yield from check(value, path)
        properties, additional = schema.get("properties") or {}, schema.get("additionalProperties")
        for name, inner in value.items():
            if name in properties:
                yield from _each(check, inner, properties[name], path / name)
            elif isinstance(additional, Mapping):
                yield from _each(check, inner, additional, path.key(name))


def _type_errors(value: Object, path: Path) -> Iterator[FieldError]:
    for field in ("apiVersion", "kind"):
        if field in value and not isinstance(value[field], str):
            yield FieldError.invalid(path / field, value[field], "must be a string")
    problem = _metadata_problem(value["metadata"]) if value.get("metadata") is not None else ""
    if problem:
        yield FieldError.invalid(path / "metadata", value["metadata"], problem)


def _metadata_problem(metadata: Any) -> str:
    if not isinstance(metadata, Mapping):
        return f"json: cannot unmarshal {_word(metadata)} into Go value of type v1.ObjectMeta"
    for field in _TEXTS:
        if not isinstance(metadata.get(field, ""), (str, type(None))):
            return _misfit(metadata[field], field, "string")
    for field in _MAPS:
        value = metadata.get(field) or {}
        if not isinstance(value, Mapping):
            return _misfit(value, field, "map[string]string")
        wrong = next((inner for inner in value.values() if not isinstance(inner, (str, type(None)))), None)
        if wrong is not None:
            return _misfit(wrong, field, "string")
    return ""


def _misfit(value: Any, field: str, wanted: str) -> str:
    return f"json: cannot unmarshal {_word(value)} into Go struct field ObjectMeta.{field} of type {wanted}"


def _word(value: Any) -> str:
    return next((word for cls, word in _WORDS if isinstance(value, cls)), "null")


def _object_errors(value: Object, path: Path) -> Iterator[FieldError]:
    for field in ("apiVersion", "kind"):
        if field not in value:
            yield FieldError.required(path / field)
        elif not value[field]:
            yield FieldError.invalid(path / field, value[field], "must not be empty")
    version, kind = value.get("apiVersion") or "", value.get("kind") or ""
    if version.count("/") > 1:
        yield FieldError.invalid(path / "apiVersion", version, f"unexpected GroupVersion string: {version}")
    texts = dns_1035_label(kind.lower()) if kind else []
    if texts:
        yield FieldError.invalid(path / "kind", kind, _MIXED + ",".join(texts))
    if value.get("metadata"):
        yield from _metadata_errors(value["metadata"], path / "metadata")


def _metadata_errors(metadata: Object, path: Path) -> Iterator[FieldError]:
    checks = (
        ("generateName", lambda text: path_segment(text, prefix=True)), ("name", path_segment), ("namespace", dns_label)
    )  # fmt: skip
    for field, check in checks:
        if metadata.get(field):
            yield from (FieldError.invalid(path / field, metadata[field], text) for text in check(metadata[field]))
    for key, value in (metadata.get("labels") or {}).items():
        yield from (FieldError.invalid(path / "labels", key, text) for text in qualified_name(key))
        yield from (FieldError.invalid(path / "labels", value, text) for text in label_value(value or ""))
    for key in metadata.get("annotations") or {}:
        yield from (FieldError.invalid(path / "annotations", key, text) for text in qualified_name(key.lower()))
