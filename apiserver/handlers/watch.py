"""Watch of a collection or of one object.

The handler negotiates and checks; the storage object makes the stream, which asks the source made here for the bytes
of each event. The server, or its watch hub, sends them.

COMPAT: k8s.io/apiserver/pkg/endpoints/handlers/watch.go; get.go forceWatch
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import falcon
import orjson

from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import MethodNotAllowed
from apiserver.api.request import Request
from apiserver.api.rest import Watcher
from apiserver.handlers import protobuf
from apiserver.handlers.forms import partial, table_include
from apiserver.handlers.get import TARGETS
from apiserver.handlers.negotiation import PARTIAL, STREAM, Output, negotiate
from apiserver.handlers.options import list_options
from apiserver.handlers.protobuf import PROTOBUF
from apiserver.handlers.scope import Scope
from apiserver.schema.decode import decode

INITIAL_EVENTS_END = "k8s.io/initial-events-end"


def watch(scope: Scope, req: falcon.Request, resp: falcon.Response) -> None:
    """Answer with a stream of events."""
    request = Request.of(req.env)
    if not isinstance(scope.storage, Watcher):
        raise MethodNotAllowed.for_resource(scope.resource.group_resource, "watch")
    info = request.info
    assert info is not None
    options = list_options(request.query, scope.resource, watch=True, name=info.name)
    if options.timeout is None:
        # COMPAT: the server's own timeout is spread, so that watches of one start don't all end at once
        options = replace(options, timeout=scope.min_request_timeout * (1.0 + random.random()))  # noqa: S311
    output = negotiate(req.env, TARGETS, stream=True, formats=scope.formats)
    source = make_source(scope, output, table_include(request.query, output))
    resp.content_type = output.serializer.content_type + (STREAM if output.serializer is PROTOBUF else "")
    resp.stream = scope.storage.watch(scope.context(request), options, source)


def make_source(scope: Scope, output: Output, include: str) -> Source:
    """The source that writes events in the negotiated form."""
    if output.serializer is PROTOBUF:
        return ProtobufSource(scope, output)
    if output.target is None:
        return Source(scope)
    if output.target.kind == PARTIAL:
        return PartialSource(scope, output)
    return TableSource(scope, output, include)


class Source:
    """Events with whole objects. ``key`` is equal for sources that write the same bytes."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.key: object = ("object", scope.kind)

    def frame(self, kind: str, obj: EncodedObject) -> bytes:
        """One event: ``kind`` is ADDED, MODIFIED or DELETED."""
        return b'{"type":"' + kind.encode() + b'","object":' + self.scope.forms.whole(obj) + b"}\n"

    def bookmark(self, resource_version: int, initial_events_end: bool) -> bytes:
        """An event that only says how far the stream is."""
        return event("BOOKMARK", self._marker(resource_version, initial_events_end))

    def _marker(self, resource_version: int, initial_events_end: bool) -> dict[str, Any]:
        metadata: dict[str, Any] = {"resourceVersion": str(resource_version)}
        if initial_events_end:
            metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
        kind = self.scope.kind
        body = {"kind": kind.kind, "apiVersion": str(kind.group_version), "metadata": metadata}
        empty: dict[str, Any] = decode(body, self.scope.type).object
        return empty

    def error(self, status: Mapping[str, Any]) -> bytes:
        """The last event of a stream that broke."""
        return event("ERROR", status)


class PartialSource(Source):
    """Events with metadata only."""

    def __init__(self, scope: Scope, output: Output) -> None:
        super().__init__(scope)
        assert output.target is not None
        self.target = output.target
        self.key = ("metadata", scope.kind, self.target.version)

    def frame(self, kind: str, obj: EncodedObject) -> bytes:
        return event(kind, partial(self.scope.forms.decode(obj), self.target))

    def bookmark(self, resource_version: int, initial_events_end: bool) -> bytes:
        return event("BOOKMARK", partial(self._marker(resource_version, initial_events_end), self.target))


class ProtobufSource(Source):
    """Events as protobuf messages with their length in front; whole objects or metadata only."""

    def __init__(self, scope: Scope, output: Output) -> None:
        super().__init__(scope)
        self.target = output.target
        self.key = ("protobuf", scope.kind, self.target)

    def _form(self, obj: dict[str, Any]) -> dict[str, Any]:
        return obj if self.target is None else partial(obj, self.target)

    def frame(self, kind: str, obj: EncodedObject) -> bytes:
        return protobuf.event(kind, self._form(self.scope.forms.decode(obj)))

    def bookmark(self, resource_version: int, initial_events_end: bool) -> bytes:
        return protobuf.event("BOOKMARK", self._form(self._marker(resource_version, initial_events_end)))

    def error(self, status: Mapping[str, Any]) -> bytes:
        return protobuf.event("ERROR", dict(status))


class TableSource(Source):
    """Events with a Table of one row. Only the first event of a stream tells the columns."""

    def __init__(self, scope: Scope, output: Output, include: str) -> None:
        super().__init__(scope)
        assert output.target is not None
        self.target = output.target
        self.include = include
        self._shared = ("table", scope.kind, self.target.version, include)
        self._first = True
        self.key = self

    def _table(self, kind: str, obj: dict[str, Any]) -> bytes:
        metadata = {"resourceVersion": obj["metadata"].get("resourceVersion", "")}
        table = self.scope.forms.table.build([obj], metadata, self.target, self.include, first=self._first)
        self._first = False
        self.key = self._shared
        return event(kind, table)

    def frame(self, kind: str, obj: EncodedObject) -> bytes:
        return self._table(kind, self.scope.forms.decode(obj))

    def bookmark(self, resource_version: int, initial_events_end: bool) -> bytes:
        return self._table("BOOKMARK", self._marker(resource_version, initial_events_end))


def event(kind: str, obj: Mapping[str, Any]) -> bytes:
    """An event as a line of JSON."""
    return b'{"type":"' + kind.encode() + b'","object":' + orjson.dumps(obj) + b"}\n"
