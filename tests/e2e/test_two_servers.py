"""Several servers on one etcd, and an etcd that is away for a while."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.e2e.watching import ResumingWatch, check_order, revision
from tests.etcd_server import EtcdServer
from tests.server import ServerProcess

SECONDS = 60.0


@pytest.fixture(scope="module")
def own_etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EtcdServer]:
    """An etcd that these tests may stop."""
    with EtcdServer(tmp_path_factory.mktemp("own-etcd")) as server:
        yield server


@pytest.fixture(scope="module")
def pair(
    own_etcd: EtcdServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ServerProcess, ServerProcess]]:
    """Two servers on it."""
    argument = f"--etcd-servers={own_etcd.endpoint}"
    with (
        ServerProcess(tmp_path_factory.mktemp("one"), argument) as one,
        ServerProcess(tmp_path_factory.mktemp("other"), argument) as other,
    ):
        yield one, other


def wait_until(done: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + SECONDS
    while not done():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def test_what_one_server_has_written_the_other_reads_at_once(pair: tuple[ServerProcess, ServerProcess]) -> None:
    one, other = pair
    path = f"/api/v1/namespaces/{one.namespace('read')}/configmaps"
    for number in range(20):
        writer, reader = (one, other) if number % 2 else (other, one)
        made = writer.post(path, {"metadata": {"name": f"x-{number}"}}).json()
        assert reader.get(f"{path}/x-{number}").json() == made
        listed = {item["metadata"]["name"] for item in reader.get(path).json()["items"]}
        assert {f"x-{n}" for n in range(number + 1)} <= listed


def test_watches_of_both_servers_tell_the_same_in_one_order(pair: tuple[ServerProcess, ServerProcess]) -> None:
    path = f"/api/v1/namespaces/{pair[0].namespace('watch')}/configmaps"
    begin = pair[0].get(path).json()["metadata"]["resourceVersion"]

    def write(number: int) -> None:
        with pair[number % 2].connect() as client:
            for step in range(10):
                name = f"{path}/x-{number}-{step}"
                assert client.post(path, json={"metadata": {"name": f"x-{number}-{step}"}}).status_code == 201
                assert client.put(
                    name, json={"metadata": {"name": f"x-{number}-{step}"}, "data": {"n": "1"}}
                ).is_success
                assert client.delete(name).is_success

    with ResumingWatch(pair[0], path, begin) as one, ResumingWatch(pair[1], path, begin) as other:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(write, range(4)))
        last = int(pair[0].post(path, {"metadata": {"name": "last"}}).json()["metadata"]["resourceVersion"])
        for watch in (one, other):
            watch.wait_for(lambda events: bool(events) and revision(events[-1]) >= last)
    check_order(one.events)
    assert one.events == other.events
    assert sum(event["type"] == "DELETED" for event in one.events) == 40


def test_guarded_updates_through_both_servers_lose_none(pair: tuple[ServerProcess, ServerProcess]) -> None:
    path = f"/api/v1/namespaces/{pair[0].namespace('count')}/configmaps"
    pair[0].post(path, {"metadata": {"name": "counter"}, "data": {"count": "0"}})

    def count(number: int) -> None:
        with pair[number % 2].connect() as client:
            done = 0
            while done < 10:
                obj = client.get(f"{path}/counter").json()
                obj["data"]["count"] = str(int(obj["data"]["count"]) + 1)
                answer = client.put(f"{path}/counter", json=obj)
                assert answer.status_code in (200, 409), answer.text
                done += answer.status_code == 200

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(count, range(6)))
    assert pair[1].get(f"{path}/counter").json()["data"]["count"] == "60"


def test_an_etcd_that_was_away_is_found_again_and_watches_miss_nothing(
    own_etcd: EtcdServer, pair: tuple[ServerProcess, ServerProcess]
) -> None:
    one, other = pair
    path = f"/api/v1/namespaces/{one.namespace('away')}/configmaps"
    begin = one.get(path).json()["metadata"]["resourceVersion"]
    stop = threading.Event()
    acknowledged: list[str] = []

    def write() -> None:
        number = 0
        with other.connect(timeout=5.0) as client:
            while not stop.is_set():
                number += 1
                try:
                    answer = client.post(path, json={"metadata": {"name": f"x-{number}"}})
                except httpx.HTTPError:
                    continue
                if answer.status_code == 201:
                    acknowledged.append(answer.json()["metadata"]["resourceVersion"])
                else:
                    assert answer.status_code >= 500 or answer.status_code == 429, answer.text
                    time.sleep(0.05)

    with ResumingWatch(one, path, begin) as watch, ThreadPoolExecutor(1) as thread:
        writing = thread.submit(write)
        try:
            wait_until(lambda: len(acknowledged) > 5, "nothing is written")
            own_etcd.stop()
            wait_until(lambda: one.get("/readyz").status_code == 500, "/readyz does not tell that etcd is away")
            assert "[-]etcd failed: reason withheld" in one.get("/readyz?verbose").text
            own_etcd.start()
            for server in pair:
                wait_until(lambda server=server: server.get("/readyz").status_code == 200, "etcd is not found again")
            before = len(acknowledged)
            wait_until(lambda: len(acknowledged) > before + 5, "nothing is written any more")
        finally:
            stop.set()
        writing.result()
        last = int(other.post(path, {"metadata": {"name": "last"}}).json()["metadata"]["resourceVersion"])
        watch.wait_for(lambda events: bool(events) and revision(events[-1]) >= last)
    check_order(watch.events)
    seen = {event["object"]["metadata"]["resourceVersion"] for event in watch.events}
    assert set(acknowledged) <= seen


def events_until(lines: Iterator[str], name: str) -> list[dict[str, Any]]:
    found = []
    for line in lines:
        found.append(json.loads(line))
        if found[-1]["object"]["metadata"]["name"] == name:
            break
    return found


def test_a_watch_stays_open_while_etcd_is_away(own_etcd: EtcdServer, pair: tuple[ServerProcess, ServerProcess]) -> None:
    one, other = pair
    path = f"/api/v1/namespaces/{one.namespace('open')}/secrets"
    query = {"watch": "true", "timeoutSeconds": "120"}
    with one.connect(timeout=SECONDS) as client, client.stream("GET", path, params=query) as stream:
        lines = stream.iter_lines()
        other.post(path, {"metadata": {"name": "before"}})
        assert [event["type"] for event in events_until(lines, "before")] == ["ADDED"]
        own_etcd.restart()
        wait_until(lambda: other.get("/readyz").status_code == 200, "etcd is not found again")
        assert other.post(path, {"metadata": {"name": "after"}}).status_code == 201
        assert [event["object"]["metadata"]["name"] for event in events_until(lines, "after")] == ["after"]
