"""Several worker processes on one store: what one writes the others know; reload and stop lose nothing."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import STORES, store_arguments
from tests.e2e.watching import check_order, revision
from tests.server import ServerProcess

SECONDS = 30.0
FAR = str(2**60)
"""A resourceVersion in the future: a list that asks for it is answered after about three seconds."""


def wait_until(done: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + SECONDS
    while not done():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


# -- which worker serves a connection --------------------------------------------------------------------------------


def inode_of(server_port: int, client_port: int) -> str:
    """The inode of the server's end of a connection, from the kernel's table."""
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        ports = tuple(int(address.rpartition(":")[2], 16) for address in fields[1:3])
        if ports == (server_port, client_port):
            return fields[9]
    raise AssertionError("the connection is gone")


def holds(pid: int, inode: str) -> bool:
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            if os.readlink(fd) == f"socket:[{inode}]":
                return True
    return False


def worker_of(server: ServerProcess, client: httpx.Client) -> int:
    """The pid of the worker that serves ``client``, which has one connection."""
    answer = client.get("/livez")
    port = answer.extensions["network_stream"].get_extra_info("client_addr")[1]
    inode = inode_of(int(server.url.rpartition(":")[2]), port)
    return next(pid for pid in server.workers() if holds(pid, inode))


@contextlib.contextmanager
def one_of_each(server: ServerProcess) -> Iterator[list[httpx.Client]]:
    """A client of each worker."""
    found: dict[int, httpx.Client] = {}
    with contextlib.ExitStack() as stack:
        deadline = time.monotonic() + SECONDS
        while len(found) < 2:
            assert time.monotonic() < deadline, "one worker gets all connections"
            client = stack.enter_context(server.connect(limits=httpx.Limits(max_connections=1)))
            found.setdefault(worker_of(server, client), client)
        yield list(found.values())


@pytest.fixture(scope="module", params=STORES)
def two_workers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    arguments = [*store_arguments(request.param, request), "--workers=2"]
    with ServerProcess(tmp_path_factory.mktemp("workers"), *arguments) as server:
        wait_until(lambda: len(server.workers()) == 2, "no second worker")
        yield server


# -- one store -------------------------------------------------------------------------------------------------------


def test_what_one_worker_has_written_the_other_reads_at_once(two_workers: ServerProcess) -> None:
    namespace = two_workers.namespace("read-your-writes")
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    with one_of_each(two_workers) as (one, other):
        for number in range(40):
            writer, reader = (one, other) if number % 2 else (other, one)
            made = writer.post(path, json={"metadata": {"name": f"x-{number}"}}).json()
            assert reader.get(f"{path}/x-{number}").json() == made
            listed = reader.get(path).json()
            assert made["metadata"]["uid"] in {item["metadata"]["uid"] for item in listed["items"]}
            assert int(listed["metadata"]["resourceVersion"]) >= int(made["metadata"]["resourceVersion"])
            assert writer.delete(f"{path}/x-{number}").status_code == 200
            assert reader.get(f"{path}/x-{number}").status_code == 404


def test_a_watch_in_one_worker_sees_what_the_other_writes_in_order(two_workers: ServerProcess) -> None:
    namespace = two_workers.namespace("watch-across")
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    events: list[dict[str, Any]] = []
    with one_of_each(two_workers) as (one, other):
        begin = one.get(path).json()["metadata"]["resourceVersion"]
        query = {"watch": "true", "resourceVersion": begin, "timeoutSeconds": "30"}
        with one.stream("GET", path, params=query) as stream:
            versions = []
            for number in range(30):
                versions.append(other.post(path, json={"metadata": {"name": f"x-{number}"}}).json())
                body = {"metadata": {"name": f"x-{number}"}, "data": {"n": "1"}}
                versions.append(other.put(f"{path}/x-{number}", json=body).json())
                other.delete(f"{path}/x-{number}")
            last = other.post(path, json={"metadata": {"name": "last"}}).json()
            for line in stream.iter_lines():
                event = json.loads(line)
                events.append(event)
                if event["object"]["metadata"]["uid"] == last["metadata"]["uid"]:
                    break
    check_order(events)
    seen = [event for event in events if event["object"]["metadata"]["name"].startswith("x-")]
    assert [event["type"] for event in seen] == ["ADDED", "MODIFIED", "DELETED"] * 30
    assert [event["object"] for event in seen if event["type"] != "DELETED"] == versions
    assert revision(events[-1]) == int(last["metadata"]["resourceVersion"])


def test_guarded_updates_by_many_clients_lose_none(two_workers: ServerProcess) -> None:
    namespace = two_workers.namespace("counter")
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    two_workers.post(path, {"metadata": {"name": "counter"}, "data": {"count": "0"}})

    def count(_: int) -> int:
        conflicts = 0
        with two_workers.connect() as client:
            done = 0
            while done < 15:
                obj = client.get(f"{path}/counter").json()
                obj["data"]["count"] = str(int(obj["data"]["count"]) + 1)
                answer = client.put(f"{path}/counter", json=obj)
                assert answer.status_code in (200, 409), answer.text
                done += answer.status_code == 200
                conflicts += answer.status_code == 409
        return conflicts

    with ThreadPoolExecutor(8) as threads:
        conflicts = sum(threads.map(count, range(8)))
    assert two_workers.get(f"{path}/counter").json()["data"]["count"] == str(8 * 15)
    assert conflicts, "the clients never met"


def test_unguarded_patches_by_many_clients_never_conflict(two_workers: ServerProcess) -> None:
    namespace = two_workers.namespace("patches")
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    two_workers.post(path, {"metadata": {"name": "shared"}})

    def patch(number: int) -> None:
        headers = {"Content-Type": "application/merge-patch+json"}
        with two_workers.connect() as client:
            for step in range(10):
                body = {"data": {f"k-{number}-{step}": "x"}}
                answer = client.patch(f"{path}/shared", json=body, headers=headers)
                assert answer.status_code == 200, answer.text

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(patch, range(8)))
    data = two_workers.get(f"{path}/shared").json()["data"]
    assert set(data) == {f"k-{number}-{step}" for number in range(8) for step in range(10)}


def test_a_name_is_given_once(two_workers: ServerProcess) -> None:
    namespace = two_workers.namespace("once")
    path = f"/api/v1/namespaces/{namespace}/configmaps"

    def create(number: int) -> list[int]:
        with two_workers.connect() as client:
            return [client.post(path, json={"metadata": {"name": f"x-{i}"}}).status_code for i in range(10)]

    with ThreadPoolExecutor(6) as threads:
        rows = list(threads.map(create, range(6)))
    for statuses in zip(*rows, strict=True):
        assert sorted(statuses) == [201, *([409] * 5)]


# -- reload ----------------------------------------------------------------------------------------------------------


def test_a_reload_keeps_serving(two_workers: ServerProcess) -> None:
    namespace = two_workers.namespace("reload")
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    old = two_workers.workers()
    stop = threading.Event()

    def ask(number: int) -> int:
        count = 0
        while not stop.is_set():
            # A connection for each request: on one that is kept, the server's goodbye may cross the next request.
            with two_workers.connect() as client:
                answer = client.post(path, json={"metadata": {"name": f"x-{number}-{count}"}})
                assert answer.status_code == 201, answer.text
            count += 1
        return count

    with ThreadPoolExecutor(3) as threads:
        asking = [threads.submit(ask, number) for number in range(3)]
        try:
            os.kill(two_workers.pid, signal.SIGHUP)
            wait_until(lambda: not set(old) & set(two_workers.workers()), "the old workers stay")
            wait_until(lambda: len(two_workers.workers()) == 2, "no new workers")
            time.sleep(0.2)
        finally:
            stop.set()
        counts = [future.result() for future in asking]
    listed = two_workers.get(path).json()["items"]
    assert sum(item["metadata"]["name"].startswith("x-") for item in listed) == sum(counts)


def test_a_worker_that_dies_is_replaced_and_nothing_is_lost(two_workers: ServerProcess) -> None:
    namespace = two_workers.namespace("killed")
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    acknowledged: list[str] = []
    old = two_workers.workers()

    def write(number: int) -> None:
        count = 0
        while not stop.is_set():
            count += 1
            # The worker that is killed takes its connections with it.
            with contextlib.suppress(httpx.HTTPError), two_workers.connect() as client:
                name = f"x-{number}-{count}"
                if client.post(path, json={"metadata": {"name": name}}).status_code == 201:
                    acknowledged.append(name)

    stop = threading.Event()
    with ThreadPoolExecutor(4) as threads:
        writing = [threads.submit(write, number) for number in range(4)]
        try:
            wait_until(lambda: len(acknowledged) > 20, "nothing is written")
            os.kill(old[0], signal.SIGKILL)
            wait_until(lambda: len(set(two_workers.workers()) - {old[0]}) == 2, "no new worker")
            before = len(acknowledged)
            wait_until(lambda: len(acknowledged) > before + 20, "nothing is written any more")
        finally:
            stop.set()
        for future in writing:
            future.result()
    with one_of_each(two_workers) as clients:
        for client in clients:
            stored = {item["metadata"]["name"] for item in client.get(path).json()["items"]}
            assert set(acknowledged) <= stored


# -- stop ------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def background(call: Callable[[], Any]) -> Iterator[Callable[[], Any]]:
    """``call`` in a thread; what is yielded waits for its result."""
    with ThreadPoolExecutor(1) as thread:
        future = thread.submit(call)
        yield lambda: future.result(SECONDS)


def follow(server: ServerProcess, opened: threading.Event) -> list[str]:
    """Watch until the server ends the stream, which must be with its last chunk."""
    query = {"watch": "true", "timeoutSeconds": "60"}
    with server.connect() as client, client.stream("GET", "/api/v1/namespaces", params=query) as stream:
        types = []
        for line in stream.iter_lines():
            types.append(json.loads(line)["type"])
            opened.set()
        return types


@pytest.mark.hub
@pytest.mark.parametrize("store", STORES)
def test_sigterm_fails_readyz_first_then_finishes_what_was_begun(
    store: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    arguments = [*store_arguments(store, request), "--workers=2", "--shutdown-delay-duration=2s"]
    opened = threading.Event()
    with (
        ServerProcess(tmp_path, *arguments) as server,
        background(lambda: follow(server, opened)) as watched,
        server.connect() as slow,
        background(lambda: slow.get("/api/v1/configmaps", params={"resourceVersion": FAR})) as slow_answer,
    ):
        assert opened.wait(SECONDS)
        os.kill(server.pid, signal.SIGTERM)
        wait_until(lambda: server.get("/readyz").status_code == 500, "/readyz does not fail")
        assert "[-]shutdown failed: reason withheld" in server.get("/readyz").text
        assert server.get("/livez").text == "ok"
        name = {"metadata": {"name": "made-during-the-delay"}}
        assert server.post("/api/v1/namespaces/default/configmaps", name).status_code == 201
        assert slow_answer().json()["reason"] == "Timeout"
        assert set(watched()) == {"ADDED"}
        server.client.close()
        assert server.stop() == 0
        with pytest.raises(httpx.ConnectError):
            httpx.get(server.url, verify=server.context)


@pytest.mark.hub
def test_new_requests_can_be_told_to_come_back_later_while_the_last_are_answered(tmp_path: Path) -> None:
    with (
        ServerProcess(tmp_path, "--shutdown-send-retry-after=true") as server,
        server.connect() as slow,
        background(lambda: slow.get("/api/v1/configmaps", params={"resourceVersion": FAR})) as slow_answer,
    ):
        time.sleep(0.3)  # until the slow request is being answered, which nothing shows
        os.kill(server.pid, signal.SIGTERM)
        wait_until(lambda: server.get("/api/v1/namespaces").status_code == 429, "requests are not refused")
        refused = server.get("/api/v1/namespaces")
        assert refused.text == "The apiserver is shutting down, please try again later.\n"
        assert (refused.headers["Retry-After"], refused.headers["Connection"]) == ("5", "close")
        assert server.get("/readyz").status_code == 503  # not sent away, but refused like all while it drains
        assert slow_answer().json()["reason"] == "Timeout"
        server.client.close()
        assert server.stop() == 0


@pytest.mark.hub
def test_a_request_whose_body_is_still_coming_is_answered(tmp_path: Path) -> None:
    body = json.dumps({"metadata": {"name": "slow"}}).encode()
    begun, go_on = threading.Event(), threading.Event()

    def slowly() -> Iterator[bytes]:
        yield body[:5]
        begun.set()
        assert go_on.wait(SECONDS)
        yield body[5:]

    with ServerProcess(tmp_path, "--shutdown-delay-duration=1s") as server, server.connect() as client:
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        path = "/api/v1/namespaces/default/configmaps"
        with background(lambda: client.post(path, content=slowly(), headers=headers)) as answer:
            assert begun.wait(SECONDS)
            os.kill(server.pid, signal.SIGTERM)
            wait_until(lambda: server.get("/readyz").status_code == 500, "/readyz does not fail")
            go_on.set()
            assert answer().status_code == 201
        server.client.close()
        assert server.stop() == 0
