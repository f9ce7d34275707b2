"""A watch that goes on: it resumes from the last resourceVersion that it saw, whatever cuts its connection."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import httpx

from tests.server import ServerProcess

SECONDS = 30.0


class ResumingWatch:
    """Follows one collection in a thread of its own; ``events`` holds what came, ``problem`` why it gave up.

    :param path: of the collection.
    :param resource_version: where to begin.
    """

    def __init__(self, server: ServerProcess, path: str, resource_version: str, **query: Any) -> None:
        self.events: list[dict[str, Any]] = []
        self.connections = 0
        self.problem = ""
        self._server, self._path, self._query = server, path, query
        self._position = resource_version
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._ending.is_set() and not self.problem:
            # A server that is down refuses the connection or cuts it in the middle of an event.
            with contextlib.suppress(httpx.HTTPError):
                self._follow()
            self._ending.wait(0.02)

    def _follow(self) -> None:
        query = {"watch": "true", "timeoutSeconds": 300, "resourceVersion": self._position, **self._query}
        with (
            self._server.connect(timeout=httpx.Timeout(5.0, read=None)) as client,
            client.stream("GET", self._path, params=query) as answer,
        ):
            if answer.status_code != 200:
                if answer.status_code < 500 and answer.status_code != 429:
                    self.problem = f"{answer.status_code} {answer.read()!r}"
                return
            self.connections += 1
            for line in answer.iter_lines():
                self._take(json.loads(line))
                if self._ending.is_set() or self.problem:
                    return

    def _take(self, event: dict[str, Any]) -> None:
        if event["type"] == "ERROR":
            self.problem = str(event["object"])
            return
        self._position = event["object"]["metadata"]["resourceVersion"]
        if event["type"] != "BOOKMARK":
            self.events.append(event)

    def wait_for(self, done: Callable[[list[dict[str, Any]]], bool]) -> None:
        """Wait until ``done(events)``."""
        deadline = time.monotonic() + SECONDS
        while not done(self.events):
            assert not self.problem, self.problem
            assert time.monotonic() < deadline, f"{len(self.events)} events, the last: {self.events[-3:]}"
            time.sleep(0.02)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, ex: BaseException | None, tb: TracebackType | None) -> None:
        self._ending.set()


def revision(event: dict[str, Any]) -> int:
    """The resourceVersion of an event's object as a number."""
    return int(event["object"]["metadata"]["resourceVersion"])


def check_order(events: list[dict[str, Any]]) -> None:
    """Each change once and in order; each object's life is ADDED, MODIFIED ..., DELETED."""
    revisions = [revision(event) for event in events]
    assert revisions == sorted(set(revisions))
    alive: dict[str, str] = {}
    for event in events:
        metadata = event["object"]["metadata"]
        name, uid = metadata["name"], metadata["uid"]
        if event["type"] == "ADDED":
            assert name not in alive, event
            alive[name] = uid
        else:
            assert alive[name] == uid, event
        if event["type"] == "DELETED":
            del alive[name]
