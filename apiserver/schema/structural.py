"""Objects of kinds without a Go type, brought into the form of their structural schema.

What the schema does not have is taken away and reported, null goes where the schema does not allow it, defaults are
set; values of the wrong type stay, for the schema check to complain about. Metadata, that of objects inside objects
included, is read as the type ObjectMeta. :func:`decoder` makes one closure per schema in a schema, once per kind; the
closures are called when an object is read from a client (:mod:`apiserver.schema.custom`) or from the store
(:mod:`apiserver.registry.kinds`).

COMPAT: apiextensions-apiserver unstructuredSchemaCoercer; pkg/apiserver/schema pruning, defaulting, objectmeta
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from apiserver.api.fields import FieldError
from apiserver.schema import decode
from apiserver.schema.failures import DecodeError, Path, path_text
from apiserver.schema.scalars import plain_number
from apiserver.schema.types import Node

Schema = Mapping[str, Any]
Unknown = list[Path] | None
"""Collects the paths of fields that are taken away; None: nobody asks, and malformed metadata is dropped, not refused.

COMPAT: a stored object that no longer fits is read all the same
"""
Read = Callable[[Any, Path, Unknown], Any]
Child = tuple[Read, bool, bool, bytes]
"""How a value is read, whether it may be null, whether it has a default, and the default, encoded; b"" = not set."""

_META = ("apiVersion", "kind", "metadata")
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_SIMPLE = frozenset((str, int, bool))


def decoder(schema: Schema, meta: Node, *, defaults: bool = True) -> Read:
    """What brings a whole object into form, in place. It is made when it is first used.

    :param meta: the type of ObjectMeta.
    :param defaults: whether fields that are not there get the schema's defaults. COMPAT: a conversion sets none
    """
    made: list[Read] = []

    def read(value: Any, path: Path, unknown: Unknown) -> Any:
        if not made:
            made.append(_Compiler(meta, defaults).node(schema, root=True))
        if unknown is None:
            return made[0](value, path, None)
        found: list[Path] = []
        result = made[0](value, path, found)
        unknown += sorted(found, key=_order)
        return result

    return read


def _order(path: Path) -> tuple[int, str]:
    """COMPAT: the object's own metadata comes first, that of objects in it last"""
    text = path_text(path)
    return (0 if text.startswith("metadata.") else 2 if ".metadata." in text else 1), text


class _Compiler:
    def __init__(self, meta: Node, defaults: bool) -> None:
        self._meta = _metadata(meta)
        self._defaults = defaults

    def node(self, schema: Schema, *, root: bool = False, preserve: bool = False) -> Read:
        """How a value with this schema is read.

        :param preserve: unknown fields are kept, whatever the schema says.
        """
        preserve = preserve or bool(schema.get(_PRESERVE))
        read_list = self._list(schema, preserve)
        read_dict = self._dict(schema, preserve, root or bool(schema.get("x-kubernetes-embedded-resource")), root)

        def read(value: Any, path: Path, unknown: Unknown) -> Any:
            cls = value.__class__
            if cls in _SIMPLE:
                return value
            if cls is dict:
                return read_dict(value, path, unknown)
            if cls is list:
                return read_list(value, path, unknown)
            return plain_number(value) if cls is float else value

        return read

    def _child(self, schema: Any, *, preserve: bool = False) -> Child:
        if not isinstance(schema, Mapping):
            # COMPAT: additionalProperties: true knows nothing of what is in the values
            return _strip, True, False, b""
        default, read = schema.get("default"), self.node(schema, preserve=preserve)
        text = b""
        if default is not None and self._defaults:
            # A default may lack defaults of its own, and may have more than the schema has.
            text = orjson.dumps(read(orjson.loads(orjson.dumps(default)), None, None))
        return read, bool(schema.get("nullable")), default is not None, text

    def _list(self, schema: Schema, preserve: bool) -> Read:
        items = schema.get("items")
        if isinstance(items, Mapping):
            convert, nullable, _, default = self._child(items, preserve=preserve)
        else:
            convert, nullable, default = (_keep if preserve else _strip), True, b""

        def read(value: list[Any], path: Path, unknown: Unknown) -> Any:
            for index, item in enumerate(value):
                if item is None:
                    if default and not nullable:
                        value[index] = orjson.loads(default)
                elif item.__class__ not in _SIMPLE:
                    value[index] = convert(item, (path, index), unknown)
            return value

        return read

    def _dict(self, schema: Schema, preserve: bool, embedded: bool, root: bool) -> Read:  # noqa: C901
        declared = schema.get("properties") or {}
        children = {name: self._child(inner, preserve=embedded and name in _META) for name, inner in declared.items()}
        additional = schema.get("additionalProperties")
        others: Child | None = self._child(additional) if additional is not None else None
        if others is None and preserve:
            others = _keep, True, False, b""
        missing = tuple((name, child[3]) for name, child in children.items() if child[3])
        known = {name: children.get(name, (_keep, True, False, b"")) for name in _META} if embedded else {}
        known = {**children, **known}
        meta = self._meta

        # The hot loop of every write: in pieces it costs more.
        def read(value: dict[str, Any], path: Path, unknown: Unknown) -> Any:  # noqa: C901
            drop: list[str] = []
            for key, item in value.items():
                child = known.get(key, others)
                if child is None:
                    drop.append(key)
                    if unknown is not None:
                        unknown.append((path, key))
                elif item is None:
                    _, nullable, defaulted, default = child
                    if nullable:
                        continue
                    if default:
                        value[key] = orjson.loads(default)
                    elif not defaulted:
                        drop.append(key)
                elif item.__class__ not in _SIMPLE:
                    value[key] = child[0](item, (path, key), unknown)
            for key in drop:
                del value[key]
            if embedded:
                _check_type(value, path, unknown)
                if root or "metadata" in value:
                    value["metadata"] = meta(value.get("metadata"), path, unknown)
            for name, text in missing:
                if name not in value:
                    value[name] = orjson.loads(text)
            return value

        return read


def _strip(value: Any, path: Path, unknown: Unknown) -> Any:
    """Take every field away. COMPAT: prune without a schema"""
    if isinstance(value, dict):
        if unknown is not None:
            unknown += [(path, key) for key in value]
        value.clear()
    elif isinstance(value, list):
        for index, item in enumerate(value):
            value[index] = _strip(item, (path, index), unknown)
    return plain_number(value) if value.__class__ is float else value


def _keep(value: Any, path: Path, unknown: Unknown) -> Any:
    """Leave everything as it is, numbers in the form Go writes them in."""
    cls = value.__class__
    if cls is dict or cls is list:
        for key, item in value.items() if cls is dict else enumerate(value):
            if item.__class__ not in _SIMPLE and item is not None:
                value[key] = _keep(item, path, unknown)
        return value
    return plain_number(value) if cls is float else value


def _check_type(value: dict[str, Any], path: Path, unknown: Unknown) -> None:
    """COMPAT: objectmeta.CoerceWithOptions"""
    for field in _META[:2]:
        if field in value and not isinstance(value[field], str):
            if unknown is not None:
                raise DecodeError(_refused((path, field), value[field], "must be a string"))
            del value[field]


def _refused(path: Path, value: Any, text: str) -> str:
    return str(FieldError.invalid(path_text(path), value, text))


def _metadata(node: Node) -> Read:
    """How metadata at ``path`` (of the object that has it) is read."""

    def read(value: Any, path: Path, unknown: Unknown) -> Any:
        found: list[Path] = []
        shown = orjson.dumps(value) if path is not None and unknown is not None else b""
        try:
            made = decode.decoder(node)({} if value is None else value, None, found)
        except DecodeError as ex:
            if unknown is None:
                return _salvaged(node, value)
            if path is None:
                raise
            raise DecodeError(_refused((path, "metadata"), orjson.loads(shown), ex.message)) from None
        if unknown is not None:
            unknown += [_below((path, "metadata"), one) for one in found]
        return made

    return read


def _salvaged(node: Node, value: Any) -> Any:
    """What can be read of malformed metadata. COMPAT: GetObjectMetaWithOptions, DropMalformedFields"""
    made: dict[str, Any] = {}
    for name, item in value.items() if isinstance(value, dict) else ():
        try:
            made |= decode.decoder(node)({name: item}, None, [])
        except DecodeError:
            continue
    return made


def _below(above: Path, path: Path) -> Path:
    return above if path is None else (_below(above, path[0]), path[1])
