"""From received bytes to gunicorn's request object.

The ordinary request takes a short way: gunicorn_h1c parses it with gunicorn's limits, and only header fields about
which gunicorn's policy has something to say go through that policy. Whatever is out of the ordinary (an error, an
absolute or odd target, an empty line before the request, the PROXY protocol, no C parser) goes to gunicorn's own
``Request`` with the same bytes, so what is refused, and how, is decided there alone.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

from gunicorn.http.errors import LimitRequestHeaders
from gunicorn.http.message import (
    DEFAULT_MAX_HEADERFIELD_SIZE,
    MAX_HEADERS,
    MAX_REQUEST_LINE,
    RFC9110_5_3_SINGLETON_FIELDS,
    Request,
    _check_fast_parser,
)

from apiserver.serving import environ
from apiserver.serving.connection import Connection
from apiserver.serving.inbox import Starved

_MOST_NAMES = 1000
UNLIMITED_LINE = 1 << 20
"""What gunicorn takes for "unlimited" with the C parser."""
_PLAIN, _POLICY, _FRAMING = 0, 1, 2
_SINGLETONS = {name: 4 << place for place, name in enumerate(sorted(RFC9110_5_3_SINGLETON_FIELDS))}


class Frozen(types.SimpleNamespace):
    """gunicorn's configuration with every setting as a plain attribute: looking one up in gunicorn's costs 1 µs."""

    def __init__(self, cfg: Any) -> None:
        super().__init__(**{name: setting.get() for name, setting in cfg.settings.items()})
        self.is_ssl = cfg.is_ssl
        self.forwarded_allow_networks = cfg.forwarded_allow_networks
        self.proxy_allow_networks = cfg.proxy_allow_networks
        self.forwarder_headers = cfg.forwarder_headers
        self.secure_scheme_headers = cfg.secure_scheme_headers


class LeanRequest(Request):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's request, filled by :class:`Heads` instead of its constructor.

    ``fields`` are the header fields as the WSGI environ has them. ``headers``, gunicorn's list, is made when wanted.
    """

    body: Any = None
    fragment = ""
    proxy_protocol_info = None
    trailers: Sequence[Any] = ()
    must_close = _expected_100_continue = False

    def __init__(self, cfg: Frozen, conn: Connection, scheme: str) -> None:  # no super(): see above
        self.cfg, self.scheme, self.unreader = cfg, scheme, conn.inbox
        self.peer_addr = self.remote_addr = conn.peer
        self.req_number = conn.requests + 1
        self._headers: list[tuple[str, str]] | None = None

    @property
    def headers(self) -> list[tuple[str, str]]:
        """Names in capitals, and values."""
        if self._headers is None:
            self._headers = [(n.decode("latin-1").upper(), v.decode("latin-1")) for n, v in self.raw]
        return self._headers

    def should_close(self) -> bool:
        """As gunicorn decides it; quickly when the client says nothing of it."""
        if "HTTP_CONNECTION" in self.fields or self.method == "CONNECT":
            return bool(super().should_close())
        return self.must_close or self.version <= (1, 0)


class Heads:
    """Parses request heads with the limits and the header policy of gunicorn's configuration."""

    def __init__(self, cfg: Any) -> None:
        """
        :param cfg: gunicorn's configuration.
        :raises RuntimeError: http_parser is ``fast`` and there is no C parser.
        """
        self.cfg = frozen = Frozen(cfg)
        self._names: dict[bytes, tuple[str, int]] = {}  # see _name
        self._scheme = "https" if cfg.is_ssl else "http"
        fields = min(frozen.limit_request_fields if frozen.limit_request_fields > 0 else MAX_HEADERS, MAX_HEADERS)
        size = frozen.limit_request_field_size if frozen.limit_request_field_size > 0 else DEFAULT_MAX_HEADERFIELD_SIZE
        line = frozen.limit_request_line
        line = UNLIMITED_LINE if line == 0 else MAX_REQUEST_LINE if line < 0 else min(line, MAX_REQUEST_LINE)
        self._most = fields * (size + 2) + 4 + line
        self._parse: Any = None
        if _check_fast_parser(cfg) and frozen.proxy_protocol == "off" and not frozen.casefold_http_method:
            from gunicorn_h1c import parse_request

            self._parse = parse_request
            # By position: naming the arguments costs a third of what parsing does.
            self._limits = (
                0,
                line,
                fields,
                size,
                bool(frozen.permit_unconventional_http_method),
                bool(frozen.permit_unconventional_http_version),
            )

    def read(self, conn: Connection) -> Any:
        """The next request whose head is in the connection's inbox; None when the head is not complete.

        The request's body is still unread. What the parser did not take stays in the inbox.

        :raises Exception: gunicorn's exceptions of :mod:`gunicorn.http.errors`, for ``Worker.handle_error``.
        """
        inbox = conn.inbox
        data = bytes(inbox.buffer)
        if self._parse is not None:
            try:
                parsed = self._parse(data, *self._limits)
            except Exception:
                # Incomplete or refused: gunicorn's parser in Python tells which, and words the refusal.
                parsed = None
            if parsed and data[:1] != b"\r":
                request = self._ordinary(conn, parsed)
                if request is not None:
                    return request
        inbox.sealed = True
        try:
            return Request(self.cfg, inbox, conn.peer, conn.requests + 1)
        except Starved:
            inbox.buffer[:] = data
            if len(data) > self._most:
                raise LimitRequestHeaders("max buffer headers") from None
            return None
        finally:
            inbox.sealed = False

    def _ordinary(self, conn: Connection, parsed: dict[str, Any]) -> LeanRequest | None:
        uri = parsed["path"].decode("latin-1")
        if uri[:1] != "/" or uri[:2] == "//" or "#" in uri or " " in uri or not (uri.isascii() and uri.isprintable()):
            return None
        request = LeanRequest(self.cfg, conn, self._scheme)
        request.method, request.uri = parsed["method"].decode("latin-1"), uri
        request.path, _, request.query = uri.partition("?")
        request.version = (1, parsed["minor_version"])
        request.raw = raw = parsed["headers"]
        fields: dict[str, str] = {}
        request.fields = fields
        names, seen, repeated = self._names, 0, 0
        for name, value in raw:
            key, kind = names.get(name) or self._name(name)
            if kind:
                repeated |= seen & kind
                seen |= kind
            fields[key] = f"{fields[key]},{value.decode('latin-1')}" if key in fields else value.decode("latin-1")
        if seen & _POLICY or repeated & ~_FRAMING:
            self._apply_policy(request)
        del conn.inbox.buffer[: parsed["consumed"]]
        if seen & _FRAMING:
            self._frame(request)
        return request

    def _name(self, name: bytes) -> tuple[str, int]:
        """A field's key in the environ, and when gunicorn's header policy has something to say about the field.

        Always, never, or (one bit for each field of which there may be one) when it comes a second time.
        """
        text = name.decode("latin-1").upper()
        kind = _SINGLETONS.get(text, _FRAMING if text in ("CONTENT-LENGTH", "TRANSFER-ENCODING") else _PLAIN)
        if text == "EXPECT" or "_" in text or text in self.cfg.secure_scheme_headers:
            kind = _POLICY
        known = environ.key(text), kind
        if len(self._names) < _MOST_NAMES:
            self._names[name] = known
        return known

    def _apply_policy(self, request: LeanRequest) -> None:
        secure, forwarder = request._peer_trusted_for_forwarded()
        scheme_state, seen, kept = [False], set[str](), []
        for name, value in request.headers:
            pair = request._apply_header_policy(name, value, scheme_state, seen, secure, forwarder)
            if pair is not None:
                kept.append(pair)
        request._headers, request.fields = kept, environ.fields(kept)

    def _frame(self, request: LeanRequest) -> None:
        """Find out where the body ends, as gunicorn does."""
        _, _, fields, size, _, _ = self._limits
        request.limit_request_fields, request.limit_request_field_size = fields, size
        request.max_buffer_headers = fields * (size + 2) + 4
        request.set_body_reader()
