"""One request on its way through filters, handlers and admission.

The outermost filter makes a :class:`Request`, keeps it in the WSGI environ and calls :meth:`Request.serve`; every
later piece takes it from there with :meth:`Request.of`. Filters fill it in: ``info`` by request-info, ``user`` by
authentication, and so on. What a filter wants to do with the answer it leaves here when the request comes in, so that
``start_response`` is wrapped once and not once per filter: ``response_headers`` that every answer gets,
``on_start`` functions for when the answer begins, ``on_end`` functions for when it is over.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote_plus

from apiserver.api.auth import User
from apiserver.api.errors import Timeout
from apiserver.api.stream import WatchStream

LOG = logging.getLogger(__name__)
ENVIRON_KEY = "apiserver.request"

Headers: TypeAlias = list[tuple[str, str]]
OnStart: TypeAlias = "Callable[[Request, Headers], None]"
OnEnd: TypeAlias = "Callable[[Request], None]"


class RequestInfo(NamedTuple):
    """What the URL and the method say. Fields are as upstream's RequestInfo.

    ``verb`` is get, list, watch, create, update, patch, delete or deletecollection for resources, the lower-case
    HTTP method else. ``parts`` are the path's parts from the resource on. For ``namespaces/x`` itself, ``namespace``
    is ``x`` too. ``path`` is decoded.

    COMPAT: k8s.io/apiserver/pkg/endpoints/request RequestInfo
    """

    is_resource: bool
    path: str
    verb: str
    prefix: str = ""
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""
    parts: tuple[str, ...] = ()
    field_selector: str = ""
    label_selector: str = ""
    long_running: bool = False


class Request:
    """What is known about a request so far.

    ``received`` is ``time.monotonic()`` at arrival, ``received_at`` the wall clock (``time.time()``).
    ``deadline`` is in ``time.monotonic()`` terms, None for long-running requests. ``warnings`` become Warning
    headers. ``annotations`` go to the audit event. ``times`` are seconds by stage, filled when somebody wants them.

    ``response_headers`` are added to the answer unless it has headers of those names. ``on_start`` functions are
    called with the request and the answer's headers, to be changed in place; ``on_end`` functions, the last
    registered first, exactly once when the answer is over: its body was handed over whole, the server is done with
    it or the client went away, the watch was closed, or nothing came of it but an exception. They must not raise.
    ``status_code`` is 0 until somebody begins an answer; ``response_size`` is the body's length as far as known, bytes.
    """

    __slots__ = (
        "_head",
        "_passing",
        "_query",
        "_start_response",
        "_write_on",
        "annotations",
        "audit_id",
        "deadline",
        "early",
        "environ",
        "info",
        "on_end",
        "on_start",
        "received",
        "received_at",
        "response_headers",
        "response_size",
        "state",
        "status_code",
        "times",
        "user",
        "warnings",
    )

    def __init__(self, environ: dict[str, Any]) -> None:
        self.environ = environ
        self._start_response: Callable[..., Any] = _nobody
        self.audit_id = ""
        self.received = time.monotonic()
        self.received_at = time.time()
        self.early = False
        self.info: RequestInfo | None = None
        self.user: User | None = None
        self.deadline: float | None = None
        self.warnings: dict[str, None] = {}  # a set that keeps the order: a body can cause a hundred thousand
        self.annotations: dict[str, str] = {}
        self.times: dict[str, float] | None = None
        self.response_headers: Headers = []
        self.on_start: list[OnStart] = []
        self.on_end: list[OnEnd] = []
        self.status_code = 0
        self.response_size = 0
        self._query: dict[str, list[str]] | None = None
        self._head: tuple[str, Headers] | None = None
        self._passing = False
        self._write_on: Callable[[bytes], Any] | None = None
        # A place for filters to hand things to each other; keys start with the filter's name.
        self.state: dict[str, Any] = {}

    @classmethod
    def of(cls, environ: dict[str, Any]) -> Request:
        """The request of this environ; made if there is none yet (an app under test without filters)."""
        request = environ.get(ENVIRON_KEY)
        if request is None:
            request = environ[ENVIRON_KEY] = cls(environ)
        return request

    @property
    def method(self) -> str:
        """The HTTP method, upper case."""
        return str(self.environ["REQUEST_METHOD"])

    @property
    def uri(self) -> str:
        """The request target as the client sent it, for logs and messages."""
        raw = self.environ.get("RAW_URI")
        if raw is None:
            query = self.environ.get("QUERY_STRING", "")
            raw = self.environ.get("PATH_INFO", "") + (f"?{query}" if query else "")
        return str(raw)

    @property
    def query(self) -> dict[str, list[str]]:
        """The query, decoded, as :func:`parse_query` does it. Parsed when first asked for; don't change it."""
        if self._query is None:
            self._query = parse_query(self.environ.get("QUERY_STRING", ""))
        return self._query

    def warn(self, text: str) -> None:
        """Add a Warning header (code 299) to the answer; the same text is sent once."""
        self.warnings[text] = None

    def remaining(self) -> float | None:
        """Seconds until the deadline; None without one.

        :raises Timeout: it has passed (504 with upstream's text of the handlers).
        """
        if self.deadline is None:
            return None
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise Timeout("request did not complete within requested timeout - context deadline exceeded")
        return left

    def serve(
        self, app: Callable[[dict[str, Any], Any], Iterable[bytes]], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Call ``app`` for this request and see to ``response_headers``, ``on_start`` and ``on_end``.

        For the outermost filter. The head is held back until ``app`` returns: until then a filter may still replace
        it (``start_response`` with ``exc_info``, as WSGI has it) under any server, and ``on_start`` functions see only
        the head that counts. A :class:`~apiserver.api.stream.WatchStream` is returned as it is.
        """
        self._start_response = start_response
        try:
            result = app(self.environ, self._hold)
            if self._head is not None:
                self._pass_on()
        except BaseException:
            self._end()
            raise
        self._passing = True
        if isinstance(result, (list, tuple)):
            self.response_size = sum(map(len, result))
            self._end()
        elif isinstance(result, WatchStream):
            result.on_close(self._end)
        else:
            return _Body(result, self)
        return result

    def _hold(self, status: str, headers: Headers, exc_info: Any = None) -> Callable[[bytes], Any]:
        """The ``start_response`` that apps and filters get."""
        if exc_info is None and self._head is not None:
            raise AssertionError("start_response called twice without exc_info")
        self._head = (status, headers)
        self.status_code = int(status[:3])
        # An app may also begin its answer when its body is first asked for.
        return self._pass_on(exc_info) if self._passing else self._write

    def _write(self, data: bytes) -> Any:
        """WSGI's old way to send a body."""
        self._passing = True
        self._write_on = self._write_on or self._pass_on()
        self.response_size += len(data)
        return self._write_on(data)

    def _pass_on(self, exc_info: Any = None) -> Any:
        if self._write_on is not None and not exc_info:
            return self._write_on
        assert self._head is not None
        status, headers = self._head
        present = {name.lower() for name, _ in headers}
        for header in self.response_headers:
            if header[0].lower() not in present:
                headers.append(header)
        for function in self.on_start:
            function(self, headers)
        started = self._start_response
        return started(status, headers, exc_info) if exc_info else started(status, headers)

    def _end(self) -> None:
        functions = self.on_end
        while functions:
            try:
                functions.pop()(self)
            except Exception:
                # The answer is over: nobody is there to be told, and the others must still be called.
                LOG.exception("A function of on_end failed")


def _nobody(*_args: Any) -> Any:
    raise AssertionError("start_response called before serve")


class _Body:
    """A body that comes in parts: what the app returned, and the end of the request when the server closes it."""

    __slots__ = ("_inner", "_request")

    def __init__(self, inner: Iterable[bytes], request: Request) -> None:
        self._inner = inner
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        for part in self._inner:
            self._request.response_size += len(part)
            yield part

    def close(self) -> None:
        """Called by the server when the body was sent or can't be sent."""
        try:
            close = getattr(self._inner, "close", None)
            if close is not None:
                close()
        finally:
            self._request._end()


def parse_query(text: str) -> dict[str, list[str]]:
    """A query string as names and their values, in order.

    Pairs with a semicolon or a broken percent sequence are left out, as if they were not there. COMPAT: net/url
    URL.Query. Bytes that are not UTF-8 become U+FFFD.

    :param text: as in WSGI's ``QUERY_STRING``: without the question mark, one character for each byte.
    """
    found: dict[str, list[str]] = {}
    for pair in text.split("&") if text else ():
        if not pair or ";" in pair:
            continue
        name, _, value = pair.partition("=")
        if "%" in pair or "+" in pair or not pair.isascii():
            if not (_escaped_well(name) and _escaped_well(value)):
                continue
            name, value = _unescape(name), _unescape(value)
        found.setdefault(name, []).append(value)
    return found


_HEX = frozenset("0123456789abcdefABCDEF")


def _escaped_well(text: str) -> bool:
    return all(len(part) >= 2 and part[0] in _HEX and part[1] in _HEX for part in text.split("%")[1:])


def _unescape(text: str) -> str:
    if not text.isascii():
        text = text.encode("latin-1", "replace").decode("utf-8", "replace")
    return unquote_plus(text)
