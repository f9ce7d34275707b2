"""The loop that looks after CustomResourceDefinitions: accepts their names, establishes them, cleans up after them.

Started by :mod:`apiserver_plugins.delegates.apiextensions` in each process, whatever ``--controllers`` says: without it
no custom resource is served. All processes come to the same decisions, and whoever is last finds the work done.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from apiserver.api import logs
from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import ApiError, NotFound
from apiserver.api.names import GroupResource
from apiserver.api.rest import ListOptions, WriteOptions
from apiserver.api.server import Server
from apiserver.api.storage import StorageError
from apiserver.api.strategy import Strategy
from apiserver.api.stream import WatchStream
from apiserver_plugins.apiextensions import naming, removal
from apiserver_plugins.apiextensions.serving import DEFINITIONS, Serving

LOG = logging.getLogger(__name__)
Object = dict[str, Any]
PATIENCE = 0.5
"""Seconds between two looks when nothing was said to have changed."""
AGAIN = 1.0
"""Seconds until a definition is visited again whose objects could not all be removed."""


def _group(name: str) -> str:
    """The group in the name of a definition."""
    return name.partition(".")[2]


def _age(obj: EncodedObject) -> tuple[str, str]:
    """A sort key: who asked first comes first."""
    metadata = obj.decode()["metadata"]
    return metadata.get("creationTimestamp", ""), metadata.get("uid", "")


class _Decided(Strategy):
    """No rules at all: what is written with it was decided here."""

    any_finalizer = True


class Controller:
    """Visits each definition when it has changed. Is the source of its own stream, but makes no bytes of events."""

    def __init__(self, server: Server, serving: Serving) -> None:
        self.key: object = object()  # nobody shares its events
        self._server = server
        self._serving = serving
        self._lister = server.lister(DEFINITIONS)
        self._woken = threading.Event()
        self._stream: WatchStream | None = None
        self._seen = -1
        self._again = 0.0

    def run(self, wait: Callable[[float], bool]) -> None:
        """The loop, until ``wait`` says it is time to end."""
        while wait(0):
            self._woken.clear()
            try:
                self._listen()
                self.visit_all()
            except (ApiError, StorageError) as ex:
                logs.error(LOG, "Custom resource definitions could not be looked after", err=str(ex))
                wait(PATIENCE)
            self._woken.wait(PATIENCE)
        if self._stream is not None:
            self._stream.close()

    def visit_all(self) -> None:
        """Bring every definition to where it should be. :raises ApiError: / :raises StorageError: it can't be done."""
        revision = self._lister.revision
        if revision == self._seen and not 0 < self._again < time.monotonic():
            return
        self._again = 0.0
        # Who decides about names must know all that were asked for before.
        self._lister.wait_until_newest()
        definitions = sorted(self._lister.list(), key=_age)
        for one in definitions:
            self._visit(one, [other for other in definitions if other.name != one.name])
        self._seen = revision
        self._serving.follow()

    def _visit(self, encoded: EncodedObject, others: Sequence[EncodedObject]) -> None:
        definition = encoded.decode()
        try:
            if definition["metadata"].get("deletionTimestamp"):
                if removal.is_due(definition):
                    self._remove(definition)
            else:
                self._accept(encoded, definition, others)
        except NotFound:
            return  # another process was quicker

    def _accept(self, encoded: EncodedObject, definition: Object, others: Sequence[EncodedObject]) -> None:
        known = [other.decode() for other in others if _group(other.name) == _group(encoded.name)]

        def apply(obj: Object) -> None:
            if not obj["metadata"].get("deletionTimestamp"):
                naming.accept(obj, known)

        before = encoded.decode()
        apply(definition)
        if definition != before:
            self._change(encoded.name, apply)

    def _remove(self, definition: Object) -> None:
        name = definition["metadata"]["name"]
        self._change(name, removal.mark)
        if naming.is_true(definition, naming.ESTABLISHED):
            self._serving.follow()
            accepted = definition["status"]["acceptedNames"]
            resource = GroupResource(definition["spec"]["group"], accepted["plural"])
            if removal.remove_objects(self._server, resource):
                self._again = time.monotonic() + AGAIN
                return
        self._change(name, removal.finish)

    def _change(self, name: str, apply: Callable[[Object], None]) -> None:
        """Change a definition, in place; nothing is written if it stays as it is. :raises NotFound: it is gone."""

        def transform(old: Object | None, encoded: EncodedObject | None) -> Object:
            obj = encoded.decode() if encoded is not None else old or {}
            apply(obj)
            return obj

        # What clients may change of a definition and of its status is no rule for what is decided here.
        store = self._server.store(DEFINITIONS).with_strategy(_Decided())
        store.update(self._server.system_context(), name, transform, WriteOptions(), lambda _obj, _old: None)

    # -- what has changed ---------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        """Have a stream of changes open: what it brings only says that there is something to look at."""
        if self._stream is None:
            options = ListOptions(resource_version="0", allow_watch_bookmarks=False)
            self._stream = self._server.store(DEFINITIONS).watch(self._server.system_context(), options, self)
            self._stream.subscribe(lambda _stream: self._woken.set())
        elif self._stream.take(time.monotonic()) is None:
            self._stream = None
            self._woken.set()

    def frame(self, _kind: str, _obj: EncodedObject) -> bytes:
        """See :class:`apiserver.api.rest.WatchSource`."""
        return b""

    def bookmark(self, _resource_version: int, _initial_events_end: bool) -> bytes:
        """See :class:`apiserver.api.rest.WatchSource`."""
        return b""

    def error(self, status: Mapping[str, Any]) -> bytes:
        """See :class:`apiserver.api.rest.WatchSource`."""
        LOG.debug("the watch of custom resource definitions ended: %s", status.get("message"))
        return b""
