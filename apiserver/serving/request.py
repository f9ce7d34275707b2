"""From received bytes to gunicorn's request object.

The ordinary request takes a short way: gunicorn_h1c parses it with gunicorn's limits, and only header fields about
which gunicorn's policy has something to say go through that policy. Whatever is out of the ordinary (an error, an
absolute or odd target, an empty line before the request, the PROXY protocol, no C parser) goes to gunicorn's own
``Request`` with the same bytes, so what is refused, and how, is decided there alone.
"""

from __future__ import annotations

import types
from typing import Any

from gunicorn.http.errors import LimitRequestHeaders
from gunicorn.http.message import (
    DEFAULT_MAX_HEADERFIELD_SIZE,
    MAX_HEADERS,
    MAX_REQUEST_LINE,
    RFC9110_5_3_SINGLETON_FIELDS,
    RFC9112_TARGET_INVALID,
    Request,
    _check_fast_parser,
)

from apiserver.serving.connection import Connection
from apiserver.serving.inbox import Starved

_MOST_NAMES = 1000
UNLIMITED_LINE = 1 << 20
"""What gunicorn takes for "unlimited" with the C parser."""
_PLAIN, _POLICY = 0, 1
_SINGLETONS = {name: 2 << place for place, name in enumerate(sorted(RFC9110_5_3_SINGLETON_FIELDS))}


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
    """gunicorn's request, filled by :class:`Heads` instead of its constructor."""

    def __init__(self, cfg: Frozen, conn: Connection, scheme: str, number: int) -> None:  # no super(): see above
        self.cfg, self.unreader = cfg, conn.inbox
        self.peer_addr = self.remote_addr = conn.peer
        self.scheme, self.req_number = scheme, number
        self.fragment = ""
        self.trailers: list[Any] = []
        self.body = self.proxy_protocol_info = None
        self.must_close = self._expected_100_continue = False


class Heads:
    """Parses request heads with the limits and the header policy of gunicorn's configuration."""

    def __init__(self, cfg: Any) -> None:
        """
        :param cfg: gunicorn's configuration.
        :raises RuntimeError: http_parser is ``fast`` and there is no C parser.
        """
        self.cfg = frozen = Frozen(cfg)
        self._names: dict[bytes, tuple[str, int]] = {}
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
            self._limits: dict[str, int] = {
                "limit_request_line": line,
                "limit_request_fields": fields,
                "limit_request_field_size": size,
                "permit_unconventional_http_method": frozen.permit_unconventional_http_method,
                "permit_unconventional_http_version": frozen.permit_unconventional_http_version,
            }

    def read(self, conn: Connection) -> Any:
        """The next request whose head is in the connection's inbox; None when the head is not complete.

        The request's body is still unread. What the parser did not take stays in the inbox.

        :raises Exception: gunicorn's exceptions of :mod:`gunicorn.http.errors`, for ``Worker.handle_error``.
        """
        inbox = conn.inbox
        data = bytes(inbox.buffer)
        number = conn.requests + 1
        if self._parse is not None:
            try:
                parsed = self._parse(data, **self._limits)
            except Exception:
                parsed = None
            request = parsed and self._ordinary(conn, data, parsed, number)
            if request:
                del inbox.buffer[: parsed["consumed"]]
                self._frame(request)
                return request
        inbox.sealed = True
        try:
            return Request(self.cfg, inbox, conn.peer, number)
        except Starved:
            inbox.buffer[:] = data
            if len(data) > self._most:
                raise LimitRequestHeaders("max buffer headers") from None
            return None
        finally:
            inbox.sealed = False

    def _ordinary(self, conn: Connection, data: bytes, parsed: dict[str, Any], number: int) -> LeanRequest | None:
        uri = parsed["path"].decode("latin-1")
        if uri[:1] != "/" or uri[:2] == "//" or "#" in uri or RFC9112_TARGET_INVALID.search(uri) or data[:1] == b"\r":
            return None
        request = LeanRequest(self.cfg, conn, self._scheme, number)
        request.method, request.uri = parsed["method"].decode("latin-1"), uri
        request.path, _, request.query = uri.partition("?")
        request.version = (1, parsed["minor_version"])
        request.headers = headers = []
        names, seen, special = self._names, 0, False
        for name, value in parsed["headers"]:
            text, kind = names.get(name) or self._name(name)
            headers.append((text, value.decode("latin-1")))
            if kind:
                special = special or kind == _POLICY or bool(seen & kind)
                seen |= kind
        if special:
            self._apply_policy(request)
        return request

    def _name(self, name: bytes) -> tuple[str, int]:
        """A field name in capitals, and when gunicorn's header policy has something to say about it.

        Always, never, or (one bit for each field of which there may be one) when it comes a second time.
        """
        text = name.decode("latin-1").upper()
        kind = _SINGLETONS.get(text, _PLAIN)
        if text == "EXPECT" or "_" in text or text in self.cfg.secure_scheme_headers:
            kind = _POLICY
        if len(self._names) < _MOST_NAMES:
            self._names[name] = text, kind
        return text, kind

    def _apply_policy(self, request: LeanRequest) -> None:
        secure, forwarder = request._peer_trusted_for_forwarded()
        scheme_state, seen, kept = [False], set[str](), []
        for name, value in request.headers:
            pair = request._apply_header_policy(name, value, scheme_state, seen, secure, forwarder)
            if pair is not None:
                kept.append(pair)
        request.headers = kept

    def _frame(self, request: LeanRequest) -> None:
        """Find out where the body ends, as gunicorn does; a request without a body has None for it."""
        for name, _ in request.headers:
            if name in ("CONTENT-LENGTH", "TRANSFER-ENCODING"):
                fields, size = self._limits["limit_request_fields"], self._limits["limit_request_field_size"]
                request.limit_request_fields, request.limit_request_field_size = fields, size
                request.max_buffer_headers = fields * (size + 2) + 4
                request.set_body_reader()
                return
