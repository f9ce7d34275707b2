"""What filters leave on the request for the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from apiserver.api.request import Headers, Request
from apiserver.api.stream import WatchStream
from tests.wsgi import answering, call, environ


class Stream(WatchStream):
    """A watch in which nothing happens."""

    def subscribe(self, wake: Any) -> None: ...

    def take(self, now: float) -> Sequence[bytes] | None:
        return None

    def next_timer(self) -> float:
        return 0.0

    def close(self) -> None:
        super().close()


def _served(app: Any, ends: list[str], headers: Headers | None = None) -> Any:
    def outermost(env: dict[str, Any], start_response: Any) -> Any:
        request = Request.of(env)
        request.response_headers += headers or []
        request.on_end.append(lambda _request: ends.append("first"))
        request.on_end.append(lambda _request: ends.append("second"))
        return request.serve(app, start_response)

    return outermost


def test_headers_are_added_unless_the_answer_has_them() -> None:
    app = _served(answering(b"x", "200 OK", ("cache-control", "public")), [], [("Cache-Control", "no"), ("X-A", "1")])
    answer = call(app, "/")
    assert answer.header("Cache-Control") == "public"
    assert answer.header("X-A") == "1"


def test_the_end_of_a_whole_body_is_when_the_app_returns() -> None:
    ends: list[str] = []
    env = environ("/")
    _served(answering(b"four"), ends)(env, lambda *_args: None)
    assert ends == ["second", "first"]
    assert Request.of(env).response_size == 4
    assert Request.of(env).status_code == 200


def test_the_end_of_a_body_in_parts_is_when_the_server_closes_it() -> None:
    closed, ends = [], []

    class Body:
        def __iter__(self) -> Iterator[bytes]:
            yield from (b"ab", b"c")

        def close(self) -> None:
            closed.append(True)

    def app(_env: dict[str, Any], start_response: Any) -> Body:
        start_response("200 OK", [])
        return Body()

    env = environ("/")
    result = _served(app, ends)(env, lambda *_args: None)
    assert b"".join(result) == b"abc"
    assert not ends
    result.close()
    assert (closed, ends) == ([True], ["second", "first"])
    assert Request.of(env).response_size == 3


def test_a_watch_stream_is_returned_as_it_is_and_ends_once_when_closed() -> None:
    ends: list[str] = []
    stream = Stream()

    def app(_env: dict[str, Any], start_response: Any) -> Stream:
        start_response("200 OK", [])
        return stream

    assert _served(app, ends)(environ("/"), lambda *_args: None) is stream
    assert not ends
    stream.close()
    stream.close()
    assert ends == ["second", "first"]


def test_what_is_registered_with_a_closed_stream_is_called_at_once() -> None:
    calls: list[int] = []
    stream = Stream()
    stream.close()
    stream.on_close(lambda: calls.append(1))
    assert calls == [1]


def test_an_exception_ends_the_request_too() -> None:
    ends: list[str] = []

    def app(_env: dict[str, Any], _start_response: Any) -> Any:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError):
        _served(app, ends)(environ("/"), lambda *_args: None)
    assert ends == ["second", "first"]


def test_on_start_may_change_the_headers() -> None:
    def app(env: dict[str, Any], start_response: Any) -> Any:
        request = Request.of(env)
        request.on_start.append(lambda _request, headers: headers.append(("X-Late", "1")))
        return request.serve(answering(), start_response)

    assert call(app, "/").header("X-Late") == "1"


def test_the_uri_is_what_the_client_sent() -> None:
    assert Request(environ("/a%2Fb?c=d")).uri == "/a%2Fb?c=d"
    env = environ("/a?c=d")
    del env["RAW_URI"]
    assert Request(env).uri == "/a?c=d"
