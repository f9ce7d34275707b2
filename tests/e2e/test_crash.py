"""kill -9 in the middle of writing: what was acknowledged is there, and watches that resume miss and repeat nothing."""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import STORES, store_arguments
from tests.e2e.watching import ResumingWatch, check_order, revision
from tests.server import ServerProcess

ROUNDS = 20
WRITERS = 8
WRITING_SECONDS = 0.5
NAMESPACE = "crash"
CONFIGMAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"


@pytest.fixture(params=STORES)
def crashing_server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path, *store_arguments(request.param, request)) as server:
        yield server


@dataclass
class Writer:
    """Creates, changes and deletes one object after the other, and remembers what was acknowledged.

    ``step`` counts the writes over all rounds and stands in each object: it tells the states apart.
    """

    number: int
    step: int = 0
    name: str = ""
    acknowledged: dict[int, str] = field(default_factory=dict)
    """step -> resourceVersion that the server answered; "" for deletions, whose answers have none."""
    present: dict[str, int] = field(default_factory=dict)
    """object -> step of its last acknowledged state."""
    unsure: int = 0
    """The step whose answer never came; the object it is about is ``name``."""
    problem: str = ""

    def run(self, server: ServerProcess, stop: threading.Event) -> None:
        """Write until the server is gone."""
        with server.connect(timeout=5.0) as client:
            try:
                while not stop.is_set():
                    self.write(client)
            except httpx.HTTPError:
                pass
            except AssertionError as ex:
                self.problem = str(ex) or repr(ex)

    def write(self, client: httpx.Client) -> None:
        self.step += 1
        self.unsure = self.step
        turn = self.step % 5
        if turn == 1 or self.name not in self.present:
            self.name = f"writer-{self.number}-{self.step}"
            answer = client.post(CONFIGMAPS, json=self.body())
            assert answer.status_code == 201, answer.text
        elif turn == 0:
            answer = client.delete(f"{CONFIGMAPS}/{self.name}")
            assert answer.status_code == 200, answer.text
            self.acknowledged[self.step] = ""
            del self.present[self.name]
            self.unsure = 0
            return
        elif turn == 2:
            answer = client.put(f"{CONFIGMAPS}/{self.name}", json=self.body())
            assert answer.status_code == 200, answer.text
        else:
            headers = {"Content-Type": "application/merge-patch+json"}
            answer = client.patch(f"{CONFIGMAPS}/{self.name}", json=self.body(), headers=headers)
            assert answer.status_code == 200, answer.text
        self.acknowledged[self.step] = answer.json()["metadata"]["resourceVersion"]
        self.present[self.name] = self.step
        self.unsure = 0

    def body(self) -> dict[str, Any]:
        return {"metadata": {"name": self.name}, "data": {"step": str(self.step)}}

    def settle(self, stored: dict[str, int]) -> None:
        """Compare with what is stored after the crash. The write whose answer never came may have happened or not."""
        mine = {name: step for name, step in stored.items() if name.startswith(f"writer-{self.number}-")}
        expected = dict(self.present)
        if self.unsure:
            found = mine.pop(self.name, None)
            assert found in (expected.pop(self.name, None), self.unsure, None)
            if found is None and self.name in self.present:
                assert self.unsure % 5 == 0, "an acknowledged object is gone, and nobody deleted it"
            self.present.pop(self.name, None)
            if found is not None:
                self.present[self.name] = found
            self.unsure = 0
        assert mine == expected


def write_until_killed(server: ServerProcess, writers: list[Writer]) -> None:
    stop = threading.Event()
    threads = [threading.Thread(target=writer.run, args=(server, stop)) for writer in writers]
    for thread in threads:
        thread.start()
    time.sleep(WRITING_SECONDS)
    server.kill()
    stop.set()
    for thread in threads:
        thread.join()
    assert not [writer.problem for writer in writers if writer.problem]


def stored_steps(server: ServerProcess) -> dict[str, int]:
    items = server.get(CONFIGMAPS).json()["items"]
    return {item["metadata"]["name"]: int(item["data"]["step"]) for item in items if "step" in item.get("data", {})}


def test_nothing_acknowledged_is_lost_and_watches_see_every_change_once(crashing_server: ServerProcess) -> None:
    server = crashing_server
    server.namespace(NAMESPACE)
    begin = server.get(CONFIGMAPS).json()["metadata"]["resourceVersion"]
    writers = [Writer(number) for number in range(WRITERS)]
    one = {"fieldSelector": "metadata.namespace=crash"}
    with ResumingWatch(server, CONFIGMAPS, begin) as first, ResumingWatch(server, CONFIGMAPS, begin, **one) as second:
        for _ in range(ROUNDS):
            write_until_killed(server, writers)
            server.start()
            stored = stored_steps(server)
            for writer in writers:
                writer.settle(stored)
        last = server.post(CONFIGMAPS, {"metadata": {"name": f"last-{os.getpid()}"}}).json()["metadata"]
        for watch in (first, second):
            watch.wait_for(lambda events: bool(events) and revision(events[-1]) >= int(last["resourceVersion"]))
            assert watch.connections > ROUNDS
    assert [revision(event) for event in first.events] == [revision(event) for event in second.events]
    check_order(first.events)
    check_complete(first.events, writers)


def check_complete(events: list[dict[str, Any]], writers: list[Writer]) -> None:
    """The watch saw all that was acknowledged, under the resourceVersion of the answer."""
    seen = {event["object"]["metadata"]["resourceVersion"]: event for event in events}
    deleted = {(e["object"]["metadata"]["name"]) for e in events if e["type"] == "DELETED"}
    assert sum(len(writer.acknowledged) for writer in writers) > ROUNDS * WRITERS
    for writer in writers:
        for step, version in writer.acknowledged.items():
            if version:
                assert seen[version]["object"]["data"]["step"] == str(step)
    created = {e["object"]["metadata"]["name"] for e in events if e["type"] == "ADDED"}
    present = set(itertools.chain.from_iterable(writer.present for writer in writers))
    ours = {name for name in created if name.startswith("writer-")}
    assert ours - deleted == present
