"""Time and size limits of the worker, in one place. Read by every module of :mod:`apiserver.serving`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how much the worker waits for a peer. Seconds and bytes.

    gunicorn's own limits (request line, number and size of header fields, connections, keep-alive) stay gunicorn
    settings; these are the ones gunicorn has no setting for.
    """

    handshake: float = 32.0
    """From accept to the end of the TLS handshake. COMPAT: ReadHeaderTimeout of genericapiserver's http.Server."""
    head: float = 32.0
    """From the first byte of a request to the end of its head. COMPAT: the same ReadHeaderTimeout."""
    first_request: float = 5.0
    """How long a connection that has sent no request yet is spared when the worker stops. COMPAT: net/http.Server
    closeIdleConns."""
    body: float = 60.0
    """From the end of a request's head to the end of its body. COMPAT: --request-timeout's default."""
    write_stall: float = 60.0
    """How long a reader may take nothing of an answer before it is cut off."""
    linger: float = 0.02
    """How long a thread itself waits for the next request of a connection before the connection is parked."""
    patience: float = 0.05
    """How long a thread itself waits for the rest of a head or body, or for room to write, before it parks."""
    closing: float = 2.0
    """How long a half-closed connection may take to close from its side (RFC 9112 section 9.6)."""
    prefetch: int = 4 << 20
    """Most bytes of a request body that are read before the application is called. Above upstream's 3 MiB limit,
    so a body is there before a thread is spent on it or it is too large anyway."""
    watch_backlog: int = 8 << 20
    """Most bytes that new events may add to the output of a watch whose reader takes nothing."""
    pipelined: int = 64 << 10
    """Most bytes a client may send ahead while its watch is open."""
    thread_idle: float = 10.0
    """After how long an idle thread of the pool ends."""
