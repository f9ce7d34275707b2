"""Versions that nobody has written yet: reads wait for them a moment, then they are a timeout."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.handlers.kit import created, named, refused
from tests.server import ServerProcess

FAR = str(2**60)


def test_a_version_that_does_not_come_is_a_timeout(server: ServerProcess, secrets: str) -> None:
    created(server, secrets, named("a"))
    reads = [(f"{secrets}/a", {}), (secrets, {}), (secrets, {"watch": "true", "timeoutSeconds": "10"})]

    def read(asked: tuple[str, dict[str, str]]) -> httpx.Response:
        path, query = asked
        with server.connect() as client:
            return client.get(path, params={"resourceVersion": FAR, **query})

    with ThreadPoolExecutor(3) as threads:
        answers = list(threads.map(read, reads))
    for answer in answers:
        status = refused(answer, 504, "Timeout")
        assert status["message"].startswith(f"Timeout: Too large resource version: {FAR}, current: ")
        cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
        assert status["details"] == {"causes": [cause], "retryAfterSeconds": 1}
        assert answer.headers["Retry-After"] == "1"


def test_a_version_that_comes_in_time_is_read(server: ServerProcess, secrets: str) -> None:
    made = created(server, secrets, named("a"))
    soon = str(int(made["metadata"]["resourceVersion"]) + 5)
    stop = threading.Event()

    def write() -> None:
        with server.connect() as client:
            number = 0
            while not stop.is_set():
                number += 1
                assert client.post(secrets, json=named(f"b-{number}")).status_code == 201
                time.sleep(0.02)

    with ThreadPoolExecutor(1) as thread:
        writing = thread.submit(write)
        try:
            answer = server.get(secrets, params={"resourceVersion": soon})
        finally:
            stop.set()
        writing.result()
    assert answer.status_code == 200
    assert int(answer.json()["metadata"]["resourceVersion"]) >= int(soon)
