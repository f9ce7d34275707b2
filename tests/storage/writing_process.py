"""A process that writes to a store until it is killed; started by tests.

    writing_process.py URL PREFIX THREADS create    new keys, one after the other
    writing_process.py URL PREFIX 1 increment N     adds one to the number under PREFIX, N times

Each acknowledged write is told on standard output (``key revision``) only after it was acknowledged.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading

from apiserver.api.storage import RevisionMismatchError, Storage
from apiserver.storage import etcd, sqlite


def create_for_ever(storage: Storage, prefix: str, thread: int) -> None:
    number = 0
    while True:
        key = f"{prefix}{os.getpid()}-{thread}-{number}"
        revision = storage.create(key, key.encode() * 10)
        os.write(1, f"{key} {revision}\n".encode())
        number += 1


def increment(storage: Storage, key: str, times: int) -> None:
    current = storage.get(key)
    while times and current is not None:
        try:
            revision = storage.update(key, b"%d" % (int(current.value) + 1), current.mod_revision)
        except RevisionMismatchError as mismatch:
            current = mismatch.current
        else:
            os.write(1, f"{key} {revision}\n".encode())
            times -= 1
            current = storage.get(key)


def main(url: str, prefix: str, threads: str, work: str, times: str = "0") -> None:
    opener = etcd.open_storage if url.startswith("etcd") else sqlite.open_storage
    with contextlib.closing(opener(url, {})) as storage:
        if work == "increment":
            increment(storage, prefix, int(times))
            return
        writers = [
            threading.Thread(target=create_for_ever, args=(storage, prefix, number)) for number in range(int(threads))
        ]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
