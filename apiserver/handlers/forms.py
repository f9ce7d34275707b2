"""The forms of objects: whole, metadata only, rows of a Table; alone, in lists, in watch events.

Verbs hand over :class:`EncodedObject` and the negotiated output; what comes back is bytes. Bytes that exist already
are cut and joined, never encoded again.

COMPAT: k8s.io/apiserver/pkg/endpoints/handlers/response.go transformObject
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from apiserver.api.encoded import EncodedObject, head_of, rest_of
from apiserver.api.errors import BadRequest, NotAcceptable
from apiserver.api.fields import FieldError
from apiserver.api.names import GroupVersionKind
from apiserver.api.resource import Resource
from apiserver.api.rest import ListResult
from apiserver.handlers.negotiation import META, PARTIAL, PARTIAL_LIST, TABLE, Output
from apiserver.handlers.tables import Table
from apiserver.registry.kinds import Kinds

Object = dict[str, Any]
PART = 200
"""Objects that are joined into one part of a list: larger parts cost page faults (20 ms for one of 10 MB)."""

INCLUDES = ("", "None", "Metadata", "Object")


class Forms:
    """Writes the objects of one resource version.

    :param kind: of the objects, None for the resource's own.
    """

    def __init__(
        self,
        resource: Resource,
        kinds: Kinds,
        kind: GroupVersionKind | None = None,
    ) -> None:
        self.resource = resource
        own = kind is None or kind == resource.gvk
        self.kind = resource.gvk if own else kind
        assert self.kind is not None
        self.table = Table(resource if own else None, self.kind, kinds)
        self._convert = resource.from_storage if own else None
        if own and resource.unstructured and resource.storage_gvk != self.kind:
            self._convert = functools.partial(_converted, resource.from_storage, kinds, self.kind)
        self._same = self._convert is None and (not own or resource.storage_gvk == self.kind)
        self._head = head_of(self.kind.kind, str(self.kind.group_version))
        # COMPAT: items of typed lists leave out kind and apiVersion, items of custom resources keep them
        self._item_head = b"{" if resource.schema is None else self._head

    # -- one object -----------------------------------------------------------

    def whole(self, obj: EncodedObject) -> bytes:
        """The whole object as compact JSON in this version."""
        return obj.data if self._same else self._head + self._rest(obj)

    def _rest(self, obj: EncodedObject) -> bytes:
        """What follows the head in this version."""
        return obj.rest if self._convert is None else rest_of(self.decode(obj))

    def decode(self, obj: EncodedObject) -> Object:
        """The whole object as a dict in this version; the caller may change it."""
        assert self.kind is not None
        decoded = obj.decode()
        if self._same:
            return decoded
        if self._convert is not None:
            self._convert(decoded)
        decoded["kind"], decoded["apiVersion"] = self.kind.kind, str(self.kind.group_version)
        return decoded

    def one(self, obj: EncodedObject, output: Output, include: str = "") -> Any:
        """The value that answers with one object: bytes for plain JSON, else something to serialise.

        :raises NotAcceptable: a list form was asked for.
        """
        target = output.target
        if target is None:
            return self.whole(obj) if output.plain_json else self.decode(obj)
        if target.kind == PARTIAL:
            return partial(self.decode(obj), target)
        if target.kind == PARTIAL_LIST:
            raise NotAcceptable(
                f"you requested {PARTIAL_LIST}, but the requested object is not a list ({self._go_type('')})"
            )
        metadata = {"resourceVersion": str(obj.revision)} if obj.revision else {}
        return self.table.build([self.decode(obj)], metadata, target, include)

    # -- lists ----------------------------------------------------------------

    def parts(self, result: ListResult) -> tuple[int, Iterator[bytes]]:
        """A plain JSON list as (length in bytes, parts)."""
        rests = [obj.rest for obj in result.items] if self._convert is None else list(map(self._rest, result.items))
        opening = self._item_head
        head = orjson.dumps(self.list_head(self._list_metadata(result)))[:-1] + b',"items":['
        length = len(head) + sum(map(len, rests)) + len(rests) * len(opening) + max(len(rests) - 1, 0) + 3
        return length, self._joined(head, opening, rests)

    @staticmethod
    def _joined(head: bytes, opening: bytes, rests: list[bytes]) -> Iterator[bytes]:
        between = b"," + opening
        head += opening if rests else b"]}\n"
        for start in range(0, len(rests), PART):
            part = rests[start : start + PART]
            part[0] = head + part[0]
            yield between.join(part)
            head = between
        yield b"]}\n" if rests else head

    def item(self, obj: EncodedObject) -> bytes:
        """An object as an item of a list."""
        return self._item_head + self._rest(obj)

    def list_head(self, metadata: Object) -> Object:
        """A list without its items."""
        return {
            "kind": self.resource.list_kind_name,
            "apiVersion": str(self.resource.group_version),
            "metadata": metadata,
        }

    def many(self, result: ListResult, output: Output, include: str = "") -> Any:
        """A list in any other form, as something to serialise.

        :raises NotAcceptable: the form of a single object was asked for.
        """
        target, metadata = output.target, list_metadata(result)
        if target is None:
            return {
                **self.list_head(self._list_metadata(result)),
                "items": [orjson.loads(self.item(o)) for o in result.items],
            }
        if target.kind == PARTIAL_LIST:
            items = [partial(self.decode(o), target) for o in result.items]
            return {
                "kind": PARTIAL_LIST,
                "apiVersion": f"{META}/{target.version}",
                "metadata": metadata,
                "items": items,
            }
        if target.kind == PARTIAL:
            raise NotAcceptable(
                f"you requested {PARTIAL}, but the requested object is a list ({self._go_type('List')})"
            )
        return self.table.build([self.decode(o) for o in result.items], metadata, target, include)

    def _list_metadata(self, result: ListResult) -> Object:
        # COMPAT: UnstructuredList.SetContinue sets it even when there is none
        first = {"continue": ""} if self.resource.unstructured else {}
        return {**first, **list_metadata(result)}

    def _go_type(self, suffix: str) -> str:
        # COMPAT: upstream prints its internal Go type
        group = self.resource.group.split(".")[0] or "core"
        kind = self.resource.list_kind_name if suffix else self.resource.kind
        return f"*{group}.{kind}"


def _converted(convert: Callable[[Object], None] | None, kinds: Kinds, kind: GroupVersionKind, obj: Object) -> None:
    """An object of the storage version as one of another version, in place: it keeps what that version has."""
    if convert is not None:
        convert(obj)
    kinds.prune(kind, obj)


def list_metadata(result: ListResult) -> Object:
    """``metadata`` of a list."""
    metadata: Object = {"resourceVersion": result.resource_version}
    if result.continue_token:
        metadata["continue"] = result.continue_token
    if result.remaining is not None:
        metadata["remainingItemCount"] = result.remaining
    return metadata


def partial(obj: Object, target: GroupVersionKind) -> Object:
    """An object's metadata alone."""
    return {"kind": PARTIAL, "apiVersion": f"{META}/{target.version}", "metadata": obj.get("metadata") or {}}


def table_include(query: Mapping[str, Sequence[str]], output: Output) -> str:
    """What a Table row carries beside its cells, from ``?includeObject=``.

    :raises BadRequest: an unknown value.
    """
    if output.target is None or output.target.kind != TABLE:
        return ""
    values = query.get("includeObject")
    include = values[0] if values else ""
    if include not in INCLUDES:
        error = FieldError.invalid("includeObject", include, "must be 'Metadata', 'Object', 'None', or empty")
        raise BadRequest(f"Unable to convert to Table as requested: {error}")
    return include
