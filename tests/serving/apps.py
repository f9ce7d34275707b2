"""Toy WSGI applications that the tests of serving run under gunicorn: ``tests.serving.apps:app`` and others."""

from __future__ import annotations

import collections
import hashlib
import itertools
import json
import math
import os
import resource
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import parse_qs

from apiserver.api.serving import PEER_CERTIFICATE
from apiserver.api.stream import WatchStream

Environ = dict[str, Any]
SHOWN = ("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "RAW_URI", "SERVER_PROTOCOL", "CONTENT_TYPE", "CONTENT_LENGTH",
         "SCRIPT_NAME", "wsgi.url_scheme", "REMOTE_ADDR")  # fmt: skip


class Log:
    """A log of numbered events, and the streams that watch it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.events: list[bytes] = []
        self.streams: set[Watching] = set()
        self.closes: collections.Counter[int] = collections.Counter()

    def append(self, text: bytes) -> int:
        with self.lock:
            self.events.append(b"%d %b\n" % (len(self.events), text))
            for stream in self.streams:
                stream.wake(stream)
            return len(self.events)


LOG = Log()
NUMBERS = itertools.count()


class Watching(WatchStream):
    """All events of the log from ``start`` on, ``tick`` frames at a time of its own, an end after ``seconds``."""

    def __init__(self, start: int, seconds: float, tick: float) -> None:
        self.at, self.number, self.tick = start, next(NUMBERS), tick
        self.end = time.monotonic() + seconds
        self.next_tick = time.monotonic() + tick
        self.closed = False

    def subscribe(self, wake: Any) -> None:
        self.wake = wake
        with LOG.lock:
            LOG.streams.add(self)

    def take(self, now: float) -> list[bytes] | None:
        if self.closed or now >= self.end:
            return None
        frames = LOG.events[self.at :]
        self.at += len(frames)
        if now >= self.next_tick:
            self.next_tick = now + self.tick
            frames.append(b"tick\n")
        return frames

    def next_timer(self) -> float:
        return min(self.end, self.next_tick)

    def close(self) -> None:
        LOG.closes[self.number] += 1
        self.closed = True
        with LOG.lock:
            LOG.streams.discard(self)


class Body:
    """A body whose ``close`` is counted."""

    closes = 0

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.pieces = iter(pieces)

    def __iter__(self) -> Iterator[bytes]:
        return self.pieces

    def close(self) -> None:
        Body.closes += 1


def plain(start_response: Any, body: bytes, *more: tuple[str, str]) -> list[bytes]:
    start_response("200 OK", [("Content-Type", "text/plain"), *more])
    return [body]


def echo(environ: Environ, start_response: Any) -> list[bytes]:
    body = environ["wsgi.input"].read()
    shown = {key: environ[key] for key in SHOWN if key in environ}
    shown |= {key: value for key, value in environ.items() if key.startswith("HTTP_")}
    shown["body"] = body.decode("latin-1") if len(body) < 1000 else hashlib.sha256(body).hexdigest()
    answer = json.dumps(shown, sort_keys=True).encode()
    return plain(start_response, answer, ("Content-Length", str(len(answer))))


def state(environ: Environ, start_response: Any) -> list[bytes]:
    certificate = environ.get(PEER_CERTIFICATE)
    answer = {
        "pid": os.getpid(),
        "threads": len(os.listdir("/proc/self/task")),
        "cores": sorted(os.sched_getaffinity(0)),
        "files": resource.getrlimit(resource.RLIMIT_NOFILE),
        "streams": len(LOG.streams),
        "closes": sorted(LOG.closes.items()),
        "bodies closed": Body.closes,
        "certificate": certificate.hex() if certificate else None,
        "resumed": getattr(environ.get("gunicorn.socket"), "session_reused", None),
    }
    return plain(start_response, json.dumps(answer).encode())


def failing(start_response: Any) -> Iterator[bytes]:
    start_response("200 OK", [])
    yield b"begun"
    raise RuntimeError("in the middle of an answer")


def unusual(path: str, start_response: Any) -> Iterable[bytes]:
    match path:
        case "/nobody":
            start_response("204 No Content", [("Content-Length", "5")])
            return [b"never"]
        case "/unchanged":
            start_response("304 Not Modified", [])
            return [b"never"]
        case "/short":
            start_response("200 OK", [("Content-Length", "100")])
            return [b"less than that"]
        case "/long":
            start_response("200 OK", [("Content-Length", "4")])
            return [b"more than that"]
        case "/write":
            start_response("200 OK", [])(b"written ")
            return [b"returned"]
        case "/exc-info":
            start_response("200 OK", [])
            try:
                raise ValueError("changed its mind")
            except ValueError:
                start_response("500 Oops", [], sys.exc_info())
            return [b"sorry"]
    start_response("404 Not Found", [])
    return [b"not found"]


def wrong(path: str, start_response: Any) -> Iterable[bytes]:
    match path:
        case "/wrong/header":
            return plain(start_response, b"", ("X-Bad", "a\r\nInjected: yes"))
        case "/wrong/late":
            return failing(start_response)
        case "/wrong/silent":
            return [b"no start_response"]
    raise RuntimeError("before the answer")


def ordinary(path: str, query: dict[str, str], start_response: Any) -> Iterable[bytes]:
    match path:
        case "/pieces":
            start_response("200 OK", [])
            return Body([b"one ", b"", b"two ", b"three"])
        case "/big":
            size = int(query["size"])
            start_response("200 OK", [("Content-Length", str(size))] if "length" in query else [])
            return Body(b"%015d\n" % n * 4096 for n in range(size // 65536))
        case "/slow":
            time.sleep(float(query["seconds"]))
            return plain(start_response, b"slept")
        case "/close":
            return plain(start_response, b"bye", ("Connection", "close"))
    return unusual(path, start_response)


def watch(query: dict[str, str], start_response: Any) -> WatchStream:
    start_response("200 OK", [("Content-Type", "application/json")])
    start = int(query.get("start", "0"))
    return Watching(start, float(query.get("seconds", "3600")), float(query.get("tick", math.inf)))


def app(environ: Environ, start_response: Any) -> Iterable[bytes]:
    """Many things by path, see the functions above."""
    path = environ["PATH_INFO"]
    query = {key: values[-1] for key, values in parse_qs(environ["QUERY_STRING"]).items()}
    match path:
        case "/state":
            return state(environ, start_response)
        case "/watch":
            return watch(query, start_response)
        case "/ignores-body":
            return plain(start_response, b"ignored")
        case "/append":
            text = environ["wsgi.input"].read()
            for _ in range(int(query.get("times", "1"))):
                LOG.append(text)
            return plain(start_response, b"appended")
    if path.startswith("/echo") or path in ("", "*"):
        return echo(environ, start_response)
    if path.startswith("/wrong"):
        return wrong(path, start_response)
    return ordinary(path, query, start_response)


class Staged:
    """An application with all of :mod:`apiserver.api.serving`; it writes what happens to a file."""

    def __init__(self) -> None:
        self.ready = threading.Event()
        threading.Timer(0.3, self.ready.set).start()

    def note(self, text: str) -> None:
        with open(os.environ["NOTES"], "a") as file:
            file.write(f"{text}\n")

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        if environ["PATH_INFO"] == "/readyz":
            return self.readyz(environ, start_response)
        self.note(f"request {environ['PATH_INFO']}")
        return app(environ, start_response)

    def readyz(self, environ: Environ, start_response: Any) -> list[bytes]:
        ready = self.ready.is_set()
        self.note(f"ready for {environ[PEER_CERTIFICATE] is not None}" if ready else "not ready")
        start_response("200 OK" if ready else "503 Service Unavailable", [])
        return [b""]

    def begin_shutdown(self) -> None:
        self.note("begin_shutdown")
        time.sleep(float(os.environ.get("DELAY", "0")))
        self.note("begin_shutdown returns")

    def close(self) -> None:
        self.note(f"close with {len(LOG.streams)} streams")


staged = Staged() if "NOTES" in os.environ else app
