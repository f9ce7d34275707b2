"""Message classes of the Kubernetes API, on the protobuf library.

The field numbers come from ``data/protobuf.json``: message -> [number, field, label, type]. A message and all that it
refers to become descriptors when it is first asked for: the whole set would cost memory that few servers need.
"""

from __future__ import annotations

import threading
from functools import cache
from importlib.resources import files
from typing import Any

import orjson
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

Field = tuple[int, str, str, str]
_SCALARS = {
    "bool": descriptor_pb2.FieldDescriptorProto.TYPE_BOOL,
    "bytes": descriptor_pb2.FieldDescriptorProto.TYPE_BYTES,
    "double": descriptor_pb2.FieldDescriptorProto.TYPE_DOUBLE,
    "int32": descriptor_pb2.FieldDescriptorProto.TYPE_INT32,
    "int64": descriptor_pb2.FieldDescriptorProto.TYPE_INT64,
    "string": descriptor_pb2.FieldDescriptorProto.TYPE_STRING,
}
_MESSAGE = descriptor_pb2.FieldDescriptorProto.TYPE_MESSAGE
_OPTIONAL = descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL
_REPEATED = descriptor_pb2.FieldDescriptorProto.LABEL_REPEATED


@cache
def definitions() -> dict[str, list[Field]]:
    """All messages by full name."""
    data = files("apiserver.schema").joinpath("data/protobuf.json").read_bytes()
    found: dict[str, list[Field]] = orjson.loads(data)
    return found


def full_name(text: str, message: str) -> str:
    """The full name of a type that ``message`` mentions: with a dot in front, bare, or of the same package."""
    text = text.lstrip(".")
    return text if text in _SCALARS or "." in text else f"{message.rpartition('.')[0]}.{text}"


def value_types(field: Field, message: str) -> tuple[str, str]:
    """(key type, value type) of a map field; ("", type) of any other."""
    key, comma, value = field[3].partition(",")
    return (key, full_name(value, message)) if comma else ("", full_name(key, message))


class Messages:
    """Message classes, added to one descriptor pool as they are needed."""

    def __init__(self) -> None:
        self._pool = descriptor_pool.DescriptorPool()
        self._known: set[str] = set()
        self._files: list[str] = []
        self._lock = threading.Lock()
        self._classes: dict[str, type[Any]] = {}

    def get(self, name: str) -> type[Any]:
        """The class of a message. :raises KeyError: there is no such message."""
        found = self._classes.get(name)
        if found is None:
            with self._lock:
                self._add(name)
                descriptor = self._pool.FindMessageTypeByName(name)
                found = self._classes[name] = message_factory.GetMessageClass(descriptor)
        return found

    def _add(self, name: str) -> None:
        wanted = self._missing(name)
        if not wanted:
            return
        # One file for all packages: names are full, so the file itself needs none.
        by_package: dict[str, list[str]] = {}
        for message in sorted(wanted):
            by_package.setdefault(message.rpartition(".")[0], []).append(message)
        for package, messages in _in_order(by_package):
            file = descriptor_pb2.FileDescriptorProto(
                name=f"{package}.{len(self._files)}.proto", package=package, syntax="proto2"
            )
            file.dependency.extend(self._files)
            for message in messages:
                _describe(file.message_type.add(), message)
            self._pool.Add(file)
            self._files.append(file.name)
        self._known |= wanted

    def _missing(self, name: str) -> set[str]:
        """``name`` and all messages below it that the pool doesn't have."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            message = waiting.pop()
            if message in found or message in self._known:
                continue
            found.add(message)
            for field in definitions()[message]:
                _, value = value_types(field, message)
                if value not in _SCALARS:
                    waiting.append(value)
        return found


def _in_order(by_package: dict[str, list[str]]) -> list[tuple[str, list[str]]]:
    """Packages so that each comes after those its messages refer to (they have no cycles)."""
    done: list[tuple[str, list[str]]] = []
    names = dict(by_package)
    while names:
        for package, messages in names.items():
            used = {value_types(f, m)[1].rpartition(".")[0] for m in messages for f in definitions()[m]} - {package, ""}
            if not used & names.keys():
                done.append((package, messages))
                del names[package]
                break
        else:
            raise ValueError(f"packages refer to each other: {sorted(names)}")
    return done


def _describe(descriptor: descriptor_pb2.DescriptorProto, message: str) -> None:
    descriptor.name = message.rpartition(".")[2]
    for number, name, label, _type in definitions()[message]:
        key, value = value_types((number, name, label, _type), message)
        field = descriptor.field.add(name=name, number=number)
        field.label = _REPEATED if label in ("repeated", "map") else _OPTIONAL
        if key:
            entry = descriptor.nested_type.add(name=f"{name[:1].upper()}{name[1:]}Entry")
            # A map is left a list of entries: the library's own maps are not written in the order of their keys.
            _typed(entry.field.add(name="key", number=1, label=_OPTIONAL), key)
            _typed(entry.field.add(name="value", number=2, label=_OPTIONAL), value)
            field.type, field.type_name = _MESSAGE, f".{message}.{entry.name}"
        else:
            _typed(field, value)


def _typed(field: descriptor_pb2.FieldDescriptorProto, name: str) -> None:
    if name in _SCALARS:
        field.type = _SCALARS[name]
    else:
        field.type, field.type_name = _MESSAGE, f".{name}"


@cache
def messages() -> Messages:
    """The message classes of this process."""
    return Messages()
