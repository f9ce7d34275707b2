"""How a message and a type of the type graph correspond: functions both ways, compiled once per pair.

Messages differ from JSON in a few shapes: embedded structs are messages of their own, times and quantities are
messages, lists may be wrapped. The type graph says what the JSON has; what it has not must be embedded.
"""

from __future__ import annotations

import base64
import calendar
import time
from collections.abc import Callable
from typing import Any

import orjson

from apiserver.schema import depth, types
from apiserver.schema.failures import DecodeError
from apiserver.schema.goscan import syntax_error
from apiserver.schema.protobuf.messages import Field, definitions, value_types
from apiserver.schema.times import canonical, canonical_micro

Json = Any
Reader = Callable[[Any], Json]
"""A protobuf value (scalar or message) to JSON."""
Writer = Callable[[Json, Callable[[], Any]], Any]
"""JSON to a protobuf scalar, which is returned; or into the message that the second argument gives, returning None."""

_YEAR_0, _YEAR_10000 = -62_167_219_200, 253_402_300_800
"""Seconds since 1970."""

_RAW = {"RawExtension": "raw", "FieldsV1": "Raw", "JSON": "raw"}


class Unencodable(ValueError):
    """The object has no place in the message; the text says which field."""


class Plan:
    """The correspondence of one message with one struct.

    ``read(message)`` gives a new dict, ``write(obj, message)`` fills a message.
    """

    def __init__(self, message: str, struct: types.Struct) -> None:
        self._message = message
        self._struct = struct
        self._readers: dict[int, tuple[str, Reader]] | None = None
        self._writers: dict[str, tuple[str, Writer, tuple[str, ...]]] = {}

    def _compile(self) -> dict[int, tuple[str, Reader]]:
        readers: dict[int, tuple[str, Reader]] = {}
        fields = self._struct.fields
        folded = {_folded(name): name for name in fields}
        for field in map(_field, definitions()[self._message]):
            number, name, _label, _type = field
            json_name = folded.get(_folded(name))
            if json_name is not None:
                reader, writer = _codec(field, self._message, fields[json_name].node)
                readers[number] = json_name, reader
                self._writers[json_name] = name, writer, ()
            elif (inner := value_types(field, self._message)[1]) in definitions():
                embedded = plan(inner, self._struct)
                readers[number] = "", embedded.read
                for key, (inner_name, writer, path) in embedded.writers().items():
                    self._writers.setdefault(key, (inner_name, writer, (name, *path)))
        self._readers = readers
        return readers

    def writers(self) -> dict[str, tuple[str, Writer, tuple[str, ...]]]:
        """JSON field -> (message field, writer, path of embedded messages that lead to it)."""
        if self._readers is None:
            self._compile()
        return self._writers

    def read(self, message: Any) -> dict[str, Json]:
        """The JSON form of ``message``: what is set in it."""
        readers = self._readers if self._readers is not None else self._compile()
        found: dict[str, Json] = {}
        for descriptor, value in message.ListFields():
            known = readers.get(descriptor.number)
            if known is None:
                continue
            name, reader = known
            if name:
                found[name] = reader(value)
            else:
                found.update(reader(value))
        return found

    def write(self, obj: dict[str, Json], message: Any) -> None:
        """Fill ``message`` from ``obj``. Fields that the message lacks (apiVersion, kind) are left out."""
        writers = self.writers()
        for name, value in obj.items():
            known = writers.get(name)
            if known is None or value is None:
                continue
            field, writer, path = known
            target = message
            for step in path:
                target = getattr(target, step)
                target.SetInParent()
            _assign(target, field, writer, value)


def _folded(name: str) -> str:
    """How the names of a field in JSON and in the message are compared: ``x-kubernetes-map-type``, ``$ref``."""
    return name.replace("-", "").lstrip("$").lower()


def _field(raw: Any) -> Field:
    number, name, label, type_name = raw
    return number, name, label, type_name


def _assign(target: Any, field: str, writer: Writer, value: Json) -> None:
    def get() -> Any:
        return getattr(target, field)

    scalar = writer(value, get)
    if scalar is not None:
        setattr(target, field, scalar)


_plans: dict[tuple[str, int], Plan] = {}


def plan(message: str, struct: types.Struct) -> Plan:
    """The plan of a pair; its fields are compiled when first used, since types refer to themselves."""
    key = message, id(struct)
    found = _plans.get(key)
    if found is None:
        found = _plans[key] = Plan(message, struct)
    return found


def _codec(field: Field, message: str, node: types.Node) -> tuple[Reader, Writer]:
    key, value = value_types(field, message)
    if key:
        return _map(value, node)
    if field[2] == "repeated":
        return _list(value, node)
    return _single(value, node)


def _single(value: str, node: types.Node) -> tuple[Reader, Writer]:
    """One value: a scalar, or a message in one of its special shapes."""
    if value not in definitions():
        if isinstance(node, types.Bytes):
            return _read_base64, _write_base64
        return (text if value == "string" else _same), _write_same
    short = value.rpartition(".")[2]
    if isinstance(node, types.Time):
        return (lambda m: _read_time(m, node.micro)), _write_time
    if isinstance(node, types.Quantity):
        return (lambda m: text(m.string)), _write_attribute("string", str)
    if isinstance(node, types.Duration):
        return _read_duration, _write_duration
    if isinstance(node, types.IntOrString):
        return (lambda m: text(m.strVal) if m.type == 1 else m.intVal), _write_int_or_string
    if short in _RAW:
        return _raw(_RAW[short])
    if isinstance(node, types.Variant):
        return _variant(value, node)
    if isinstance(node, types.Struct):
        inner = plan(value, node)
        return inner.read, _write_message(inner)
    if isinstance(node, types.List):
        return _wrapped(value, node)
    if isinstance(node, types.Map):
        return _wrapped(value, node)
    raise Unencodable(f"{value} does not fit {node!r}")


def _same(value: Any) -> Json:
    return value


def _write_same(value: Json, _get: Callable[[], Any]) -> Any:
    return value


def text(value: str | bytes) -> str:
    """A string of a message: the library hands on bytes when it is no UTF-8. COMPAT: as Go encodes such a string."""
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


def _read_base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _write_base64(value: str, _get: Callable[[], Any]) -> bytes:
    return base64.b64decode(value)


def _write_message(inner: Plan) -> Writer:
    def write(value: Json, get: Callable[[], Any]) -> None:
        message = get()
        message.SetInParent()
        inner.write(value, message)

    return write


def _write_attribute(name: str, convert: Callable[[Any], Any]) -> Writer:
    def write(value: Json, get: Callable[[], Any]) -> None:
        setattr(get(), name, convert(value))

    return write


def _read_time(message: Any, micro: bool) -> str | None:
    # COMPAT: metav1.Time is null for the zero time, which is what an empty message means
    if not message.HasField("seconds") and not message.nanos:
        return None
    more, nanos = divmod(message.nanos, 10**9)
    seconds = message.seconds + more
    if not _YEAR_0 <= seconds < _YEAR_10000:
        raise DecodeError("Time.MarshalJSON: year outside of range [0,9999]")
    year, month, day, hour, minute, second, *_ = time.gmtime(seconds)
    whole = f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}"
    return f"{whole}.{nanos // 1000:06d}Z" if micro else f"{whole}Z"


def _write_time(value: str, get: Callable[[], Any]) -> None:
    message = get()
    moment = canonical_micro(value) if "." in value else canonical(value)
    whole, _, fraction = moment.rstrip("Z").partition(".")
    message.seconds = calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S"))
    message.nanos = int(fraction.ljust(9, "0")) if fraction else 0


def _read_duration(message: Any) -> str:
    from apiserver.schema import durations

    return durations.text(message.duration)


def _write_duration(value: str, get: Callable[[], Any]) -> None:
    from apiserver.schema.durations import nanoseconds

    get().duration = nanoseconds(value)


def _write_int_or_string(value: Json, get: Callable[[], Any]) -> None:
    # COMPAT: none of the three is a pointer, so Go writes them all
    message = get()
    is_text = isinstance(value, str)
    message.type, message.intVal, message.strVal = (1, 0, value) if is_text else (0, value, "")


def _raw(name: str) -> tuple[Reader, Writer]:
    def read(message: Any) -> Json:
        data = getattr(message, name)
        try:
            value = orjson.loads(data) if data else None
            depth.check(value, data)
        except orjson.JSONDecodeError:
            raise DecodeError(f"json: error calling MarshalJSON: {syntax_error(data) or 'invalid UTF-8'}") from None
        except depth.TooDeepError as error:
            raise DecodeError(str(error)) from None
        return value

    def write(value: Json, get: Callable[[], Any]) -> None:
        setattr(get(), name, orjson.dumps(value))

    return read, write


def _variant(value: str, node: types.Variant) -> tuple[Reader, Writer]:
    """A message with a field for each of several shapes; a flag tells of the rest (``allows``)."""
    codecs: dict[type, tuple[str, Reader, Writer]] = {}
    for field in map(_field, definitions()[value]):
        cls = list if field[2] == "repeated" else bool if field[3] == "bool" else dict
        codecs[cls] = (field[1], *_codec(field, value, node.shapes[cls]))
    flag = codecs[bool][0] if bool in codecs else ""

    def read(message: Any) -> Json:
        names = {descriptor.name for descriptor, _ in message.ListFields()}
        for name, reader, _ in (codecs[cls] for cls in (list, dict) if cls in codecs):
            if name in names:
                return reader(getattr(message, name))
        return getattr(message, flag) if flag else None

    def write(shape: Json, get: Callable[[], Any]) -> None:
        message = get()
        message.SetInParent()
        name, _, writer = codecs[type(shape)]
        _assign(message, name, writer, shape)
        if flag and type(shape) is dict:
            setattr(message, flag, True)

    return read, write


def _always(message: Any) -> Callable[[], Any]:
    """What gets a message that is there already."""
    return lambda: message


def _list(value: str, node: types.Node) -> tuple[Reader, Writer]:
    item = node.item if isinstance(node, types.List) else node
    read, write = _single(value, item)
    if value not in definitions():

        def write_scalars(values: Json, get: Callable[[], Any]) -> None:
            get().extend(write(v, get) for v in values)

        return (lambda values: [read(v) for v in values]), write_scalars

    def write_messages(values: Json, get: Callable[[], Any]) -> None:
        target = get()
        for v in values:
            added = target.add()
            if v is not None:
                write(v, _always(added))

    return (lambda values: [read(v) for v in values]), write_messages


def _map(value: str, node: types.Node) -> tuple[Reader, Writer]:
    inner = node.value if isinstance(node, types.Map) else node
    read, write = _single(value, inner)
    is_message = value in definitions()

    def write_entries(values: Json, get: Callable[[], Any]) -> None:
        target = get()
        for k, v in sorted(values.items()):  # COMPAT: Go writes maps in the order of their keys
            entry = target.add(key=k)
            if not is_message:
                entry.value = write(v, get)
                continue
            entry.value.SetInParent()
            if v is not None:  # a time that is zero
                write(v, _always(entry.value))

    def read_entries(entries: Any) -> Json:
        return {text(entry.key): read(entry.value) for entry in entries}

    return read_entries, write_entries


def _wrapped(value: str, node: types.Node) -> tuple[Reader, Writer]:
    """A list or map that is a message of its own, with the one field ``items``."""
    (field,) = map(_field, definitions()[value])
    read, write = _codec(field, value, node)

    def write_wrapped(values: Json, get: Callable[[], Any]) -> None:
        message = get()
        message.SetInParent()
        write(values, lambda: getattr(message, field[1]))

    return (lambda message: read(getattr(message, field[1]))), write_wrapped
