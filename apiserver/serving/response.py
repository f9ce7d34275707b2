"""The answer to one request: ``start_response``, framing, and bytes ready to send.

What may stand in a status line and in header fields is checked as gunicorn checks it. Differences from gunicorn's own
workers: no ``Server`` field, ``Connection`` only where HTTP/1.1 needs it, a ``Content-Length`` when the whole body is
one piece, and ``Connection: close`` from the application is honoured.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from email.utils import formatdate
from types import TracebackType
from typing import Any

from gunicorn.http.errors import InvalidResponseHeader, InvalidResponseHeaderName
from gunicorn.http.message import TOKEN_RE
from gunicorn.http.wsgi import HEADER_VALUE_RE, STATUS_RE
from gunicorn.util import is_hoppish

ExcInfo = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]

JOIN = 64 << 10
"""Up to this size a piece of the body is copied to go out with the head, or with its chunk framing."""

_PLAIN, _LENGTH, _CONNECTION, _HOP, _DATE = range(5)
_BLANK = " \t"
_SPECIAL = {"content-length": _LENGTH, "connection": _CONNECTION, "date": _DATE}
_NO_LENGTH = frozenset((*range(100, 200), 204))
_NO_BODY = _NO_LENGTH | {304}
_PROTOCOLS = {(1, 1): "HTTP/1.1", (1, 0): "HTTP/1.0"}
_kinds: dict[str, int] = {}
_statuses: dict[str, int] = {}
_MOST_KNOWN = 1000
_date = (0, "")


def http_date() -> str:
    """The current ``Date`` field, made once a second."""
    global _date
    now = int(time.time())
    known = _date
    if known[0] != now:
        _date = known = (now, f"Date: {formatdate(now, usegmt=True)}\r\n")
    return known[1]


def _kind(name: str) -> int:
    if not isinstance(name, str):
        raise TypeError(f"{name!r} is not a string")
    if not TOKEN_RE.fullmatch(name):
        raise InvalidResponseHeaderName(f"{name!r}")
    kind = _SPECIAL.get(name.lower(), _HOP if is_hoppish(name) else _PLAIN)
    if len(_kinds) < _MOST_KNOWN:
        _kinds[name] = kind
    return kind


def _code(status: str) -> int:
    if not isinstance(status, str):
        raise TypeError(f"{status!r} is not a string")
    if not STATUS_RE.fullmatch(status):
        raise ValueError(f"Invalid status {status!r}")
    code = int(status[:3])
    if len(_statuses) < _MOST_KNOWN:
        _statuses[status] = code
    return code


class Response:
    """The answer to one request on one connection.

    ``status``, ``headers`` and ``sent`` have the names that gunicorn's access log wants.

    :param request: gunicorn's request object.
    :param write: sends bytes at once, for ``start_response``'s ``write``.
    """

    __slots__ = (
        "_dated",
        "_lines",
        "_write",
        "bodiless",
        "body",
        "chunked",
        "close",
        "head_sent",
        "headers",
        "length",
        "observed",
        "pending",
        "pieces",
        "request",
        "sent",
        "status",
    )

    def __init__(self, request: Any, write: Callable[[bytes], None]) -> None:
        self.request, self._write = request, write
        self.status = ""
        self.headers: Sequence[tuple[str, str]] = ()
        self.length: int | None = None
        self.chunked = self.head_sent = self.bodiless = False
        self.close: bool = request.should_close()
        self.sent = 0
        self.body: Iterable[bytes] | None = None
        self.pieces: Iterator[bytes] | None = None
        self.observed: tuple[dict[str, Any], float] | None = None
        self.pending: list[memoryview | bytes] | None = None

    def start_response(
        self, status: str, headers: Sequence[tuple[str, str]], exc_info: ExcInfo | None = None
    ) -> Callable[[bytes], None]:
        """PEP 3333's. Checks as gunicorn does.

        :raises InvalidResponseHeader: and other exceptions of gunicorn, for what must not go on the wire.
        """
        if exc_info is not None:
            self._restart(exc_info)
        elif self.status:
            raise AssertionError("Response headers already set!")
        code = _statuses.get(status) or _code(status)
        self.status, self.headers, self.length, self._dated = status, headers, None, False
        lines, kinds, matches = "", _kinds, HEADER_VALUE_RE.fullmatch
        for name, value in headers:
            kind = kinds.get(name)
            if kind is None:
                kind = _kind(name)
            if not isinstance(value, str):
                raise TypeError(f"{value!r} is not a string")
            if not (value.isascii() and value.isprintable()) and not matches(value):
                raise InvalidResponseHeader(f"{name!r}")
            if kind == _PLAIN or self._special(kind, value):
                lines += f"{name}: {value.strip(_BLANK)}\r\n"
        self._lines = lines
        # No body may follow, whatever the application gives (RFC 9110 section 6.4.1).
        self.bodiless = self.request.method == "HEAD" or code in _NO_BODY
        if code in _NO_LENGTH:
            self.length = None
        return self.write

    def _restart(self, exc_info: ExcInfo) -> None:
        if self.head_sent and exc_info[1] is not None:
            raise exc_info[1].with_traceback(exc_info[2])

    def _special(self, kind: int, value: str) -> bool:
        """Take note of a field that has to do with framing; whether it is sent as it is."""
        if kind == _LENGTH:
            if not value.strip(_BLANK).isdecimal():
                raise InvalidResponseHeader("'Content-Length'")
            self.length = int(value)
        elif kind == _CONNECTION:
            self.close = self.close or value.strip(_BLANK).lower() == "close"
        elif kind == _DATE:
            self._dated = True
            return True
        return False

    def write(self, data: bytes) -> None:
        """``start_response``'s ``write``: send this piece now, waiting for the reader."""
        for part in self.framed(data):
            self._write(part)

    # -- bytes to send -------------------------------------------------------------------------------------------

    def head(self, draining: bool = False) -> bytes:
        """The status line and header fields. Decides the framing.

        :param draining: the worker stops: say that the connection ends.
        """
        if not self.status:
            raise AssertionError("the application did not call start_response")
        version, framing = self.request.version, ""
        if self.length is not None:
            framing = f"Content-Length: {self.length}\r\n"
        elif not self.bodiless:
            if version > (1, 0):
                self.chunked, framing = True, "Transfer-Encoding: chunked\r\n"
            else:
                self.close = True
        if draining:
            self.close = True
        connection = "Connection: close\r\n" if self.close else "" if version > (1, 0) else "Connection: keep-alive\r\n"
        date = "" if self._dated else http_date()
        protocol = _PROTOCOLS.get(version) or "HTTP/{}.{}".format(*version)
        self.head_sent = True
        return f"{protocol} {self.status}\r\n{self._lines}{framing}{date}{connection}\r\n".encode("latin-1")

    def framed(self, piece: bytes, draining: bool = False) -> list[bytes]:
        """A piece of the body as it goes on the wire, after the head if that has not been sent.

        Small pieces are copied to go out in one send, large ones never are.
        """
        if not isinstance(piece, bytes):
            raise TypeError(f"{piece!r} is not a byte")
        head = b"" if self.head_sent else self.head(draining)
        if self.bodiless or not piece:
            return [head] if head else []
        if self.length is not None and len(piece) > self.length - self.sent:
            piece = piece[: self.length - self.sent]
        size = len(piece)
        self.sent += size
        if self.chunked:
            if size <= JOIN:
                return [b"%b%x\r\n%b\r\n" % (head, size, piece)]
            return [b"%b%x\r\n" % (head, size), piece, b"\r\n"]
        if head and size > JOIN:
            return [head, piece]
        return [head + piece if head else piece]

    def whole(self, body: bytes, draining: bool) -> list[bytes]:
        """The complete answer with a body of one piece, whose length is told if the application did not."""
        if self.length is None and not self.head_sent and not self.bodiless:
            self.length = len(body)
        parts = self.framed(body, draining)
        if self.chunked:
            parts.append(b"0\r\n\r\n")
        return parts

    def end(self) -> bytes:
        """What follows the last piece."""
        return b"0\r\n\r\n" if self.chunked else b""

    @property
    def complete(self) -> bool:
        """Whether as much body was sent as the head promised."""
        return self.length is None or self.bodiless or self.sent >= self.length
