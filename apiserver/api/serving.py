"""What a WSGI application may offer to the worker that serves it, beside being callable.

All of it is optional: the worker class in :mod:`apiserver.serving` looks for each name, any other server just calls
the application. ``apiserver.wsgi:app`` has them all.
"""

from __future__ import annotations

import ssl
from typing import Any, Protocol, runtime_checkable

PEER_CERTIFICATE = "apiserver.peercert"
"""Key of the WSGI environ: the client's verified certificate in DER (``bytes``), or None.

Verified against the server's client CA by the TLS library; who it stands for is for the authenticator to say.
Set by our worker; :func:`peer_certificate` finds it under gunicorn's own workers, too. Under another server nobody is
authenticated by certificate.
"""

LINGERS = "apiserver.lingers"
"""Key of the WSGI environ: true when the server lets the client read an answer that came before its body was read.

Our worker does. Others close the connection upon the unread rest, and the client sees a broken one and no answer.
"""

_SOCKET = "gunicorn.socket"


def verified_certificate(sock: Any) -> bytes | None:
    """What the client of a connection has shown and the TLS library has verified, in DER; None for everything else."""
    if isinstance(sock, ssl.SSLSocket) and sock.context.verify_mode != ssl.CERT_NONE:
        return sock.getpeercert(True)
    return None


def peer_certificate(environ: dict[str, Any]) -> bytes | None:
    """The client's verified certificate in DER, of a request under any of gunicorn's workers."""
    if PEER_CERTIFICATE not in environ:
        environ[PEER_CERTIFICATE] = verified_certificate(environ.get(_SOCKET))
    found: bytes | None = environ[PEER_CERTIFICATE]
    return found


@runtime_checkable
class BeginsShutdown(Protocol):
    """An application that has something to do between the signal to stop and the end of listening."""

    def begin_shutdown(self) -> None:
        """The process was told to stop. Return when it may stop accepting connections.

        Called once, on a thread of its own, while everything goes on being served: /readyz fails from now on, the
        shutdown delay passes, pre-shutdown hooks run. When it returns the worker closes the listening sockets,
        answers what is under way (each answer ends its connection), then ends open watches, then calls
        :meth:`Closes.close`. COMPAT: ShutdownInitiated to NotAcceptingNewRequest of genericapiserver's
        lifecycleSignals. An exception is logged and the shutdown goes on.
        """


@runtime_checkable
class Closes(Protocol):
    """An application that holds things which must be let go in order: threads, stores, files."""

    def close(self) -> None:
        """No request and no watch is left and none will come: flush and let go. Called once, at the very end.

        Not called when the process is told to stop at once (SIGINT, SIGQUIT) or is killed: what was acknowledged
        must be durable already.
        """
