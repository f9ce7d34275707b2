"""JSON patch (``application/json-patch+json``), as kube-apiserver applies it.

Called by the PATCH handler with a freshly decoded object; hands on the changed object for decoding, defaulting and
validation. The rules are RFC 6902 with the habits of the Go library that kube-apiserver uses, which clients have come
to rely on; they differ from the RFC in every operation, so a strict RFC library cannot carry them out:

* a pointer's text before the first slash is ignored (``data/x`` means ``/x``), but a slash there must be;
* array indexes are read as Go reads numbers: ``00``, ``+1`` and, counted from the end, ``-1``;
* a missing ``value`` is null; ``replace`` of a missing map key adds it; ``copy`` of a missing map key adds null;
* ``test`` of a missing map key passes against null, and numbers are equal only when written alike (1 is not 1.0);
* the whole document can be the target of ``test`` and ``replace`` only; replacing it by a scalar does nothing.

COMPAT: gopkg.in/evanphx/json-patch.v4 Patch.Apply; k8s.io/apiserver endpoints/handlers jsonPatcher.applyJSPatch
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import orjson

from apiserver.api.errors import BadRequest, RequestEntityTooLarge, UnprocessableEntity
from apiserver.registry.patching.reading import read_json
from apiserver.schema import depth
from apiserver.schema.gotext import json_word

MAX_OPERATIONS: Final = 10_000
"""Operations in one patch."""

MAX_COPIED_BYTES: Final = 3 * 1024 * 1024
"""Bytes of JSON that the ``copy`` operations of one patch may add together."""

Operation = dict[str, Any]

_TEXT_MEMBERS = ("op", "path", "from")
_MEMBERS = frozenset((*_TEXT_MEMBERS, "value"))
_INDEX = re.compile(r"[+-]?[0-9]+")
_DIGITS: Final = 20  # no list has an index with more
_MISSING: Final = object()


class _FailedError(Exception):
    """An operation does not apply. The client reads the same sentence whatever the reason."""


def decode(body: bytes) -> list[Operation]:
    """The operations of a patch.

    :raises BadRequest: no JSON, or not a list of objects.
    :raises RequestEntityTooLarge: more than :data:`MAX_OPERATIONS`.
    """
    operations = read_json(body, "error decoding patch: ")
    if operations is None:
        return []
    if not isinstance(operations, list):
        raise BadRequest(_cannot(operations, "value of type []handlers.jsonPatchOp"))
    for operation in operations:
        _check_shape(operation)
    if len(operations) > MAX_OPERATIONS:
        raise RequestEntityTooLarge(
            "Request entity too large: The allowed maximum operations in a JSON patch is "
            f"{MAX_OPERATIONS}, got {len(operations)}"
        )
    return [operation or {} for operation in operations]


def unknown_members(operations: list[Operation]) -> list[str]:
    """What strict decoding says about members that no operation has, for Warning headers or a refusal."""
    return [
        f'json patch unknown field "[{i}].{name}"'
        for i, operation in enumerate(operations)
        for name in operation
        if name not in _MEMBERS
    ]


def apply(current: dict[str, Any], operations: list[Operation]) -> Any:
    """Carry out ``operations`` on ``current``.

    :param current: the object; it is changed and must not be used afterwards. Values of the operations become part of
        the result, so decode the patch again for another attempt.
    :returns: the changed document. It is no object if the patch replaced all of it by a list: decoding refuses that.
    :raises UnprocessableEntity: an operation does not apply. Nothing of the patch counts then.
    """
    document = _Document(current)
    try:
        for operation in operations:
            kind = operation.get("op")
            run = _OPERATIONS.get(kind) if isinstance(kind, str) else None
            if run is None:
                raise _FailedError(f"unexpected kind: {kind}")
            run(document, operation)
    except _FailedError:
        raise UnprocessableEntity(
            "the server rejected our request due to an error in our request", details={}
        ) from None
    return document.root


class _Document:
    """The document under change, and how much ``copy`` has added to it."""

    __slots__ = ("copied", "root")

    def __init__(self, root: Any) -> None:
        self.root = root
        self.copied = 0


def _check_shape(operation: Any) -> None:
    if operation is None:
        return
    if not isinstance(operation, dict):
        raise BadRequest(_cannot(operation, "value of type handlers.jsonPatchOp"))
    for name in _TEXT_MEMBERS:
        value = operation.get(name)
        if value is not None and not isinstance(value, str):
            raise BadRequest(_cannot(value, f"struct field jsonPatchOp.{name} of type string"))


def _cannot(value: Any, target: str) -> str:
    return f"error decoding patch: json: cannot unmarshal {json_word(value)} into Go {target}"


def _pointer(operation: Operation, member: str) -> str:
    pointer = operation.get(member)
    if not isinstance(pointer, str):
        raise _FailedError(f"operation without {member}")
    return pointer


def _locate(document: _Document, pointer: str) -> tuple[Any, str]:
    """The container that a pointer's last token selects from, and that token. COMPAT: findObject."""
    _, slash, rest = pointer.partition("/")
    if not slash:
        raise _FailedError("no container")
    *parents, last = rest.split("/")
    container = document.root
    for token in parents:
        container = _get(container, _unescape(token))
        if not isinstance(container, dict | list):
            raise _FailedError(f"missing path {pointer}")
    return container, _unescape(last)


def _unescape(token: str) -> str:
    return token.replace("~1", "/").replace("~0", "~") if "~" in token else token


def _index(token: str, length: int, limit: int) -> int:
    """The index that ``token`` means in a list of ``length``, where ``limit`` is the first one that is too large."""
    if not _INDEX.fullmatch(token):
        raise _FailedError(f"no index: {token}")
    if len(token) > _DIGITS:
        raise _FailedError(f"invalid index {token}")
    index = int(token)
    if index < 0:
        index += length
    if not 0 <= index < limit:
        raise _FailedError(f"invalid index {token}")
    return index


def _get(container: Any, token: str) -> Any:
    """The value at ``token``; null for a missing map key."""
    if isinstance(container, dict):
        return container.get(token)
    return container[_index(token, len(container), len(container))]


def _insert(container: Any, token: str, value: Any) -> None:
    if isinstance(container, dict):
        container[token] = value
    elif token == "-":
        container.append(value)
    else:
        # COMPAT: partialArray.add counts negative indexes in the list as it will be, so -1 appends.
        length = len(container) + 1
        container.insert(_index(token, length, length), value)


def _take(container: Any, token: str) -> Any:
    if isinstance(container, list):
        return container.pop(_index(token, len(container), len(container)))
    value = container.pop(token, _MISSING)
    if value is _MISSING:
        raise _FailedError(f"missing key {token}")
    return value


def _add(document: _Document, operation: Operation) -> None:
    container, token = _locate(document, _pointer(operation, "path"))
    _insert(container, token, operation.get("value"))


def _remove(document: _Document, operation: Operation) -> None:
    _take(*_locate(document, _pointer(operation, "path")))


def _replace(document: _Document, operation: Operation) -> None:
    pointer = _pointer(operation, "path")
    value = operation.get("value")
    if not pointer:
        if isinstance(value, dict | list):
            document.root = value
        return
    container, token = _locate(document, pointer)
    if isinstance(container, dict):
        container[token] = value
    else:
        container[_index(token, len(container), len(container))] = value


def _move(document: _Document, operation: Operation) -> None:
    value = _take(*_locate(document, _pointer(operation, "from")))
    container, token = _locate(document, _pointer(operation, "path"))
    _insert(container, token, value)


def _copy(document: _Document, operation: Operation) -> None:
    try:
        encoded = depth.encode(_get(*_locate(document, _pointer(operation, "from"))))
    except depth.TooDeepError as error:
        raise _FailedError(str(error)) from None
    container, token = _locate(document, _pointer(operation, "path"))
    document.copied += len(encoded)
    if document.copied > MAX_COPIED_BYTES:
        raise _FailedError("copies too much")
    _insert(container, token, orjson.loads(encoded))


def _test(document: _Document, operation: Operation) -> None:
    pointer = _pointer(operation, "path")
    found = _get(*_locate(document, pointer)) if pointer else document.root
    if not same_json(found, operation.get("value")):
        raise _FailedError("test failed")


def same_json(left: Any, right: Any) -> bool:
    """Whether two values are written alike in JSON, apart from the order of members: ``True`` is not 1, 1 not 1.0."""
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and left.keys() == right.keys()
            and all(same_json(value, right[key]) for key, value in left.items())
        )
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(same_json, left, right))
    if isinstance(left, bool | float) or isinstance(right, bool | float):
        return (
            isinstance(left, bool) == isinstance(right, bool)
            and isinstance(left, float) == isinstance(right, float)
            and bool(left == right)
        )
    return bool(left == right)


_OPERATIONS: dict[str, Callable[[_Document, Operation], None]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}
