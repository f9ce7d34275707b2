"""Bytes that a connection has received and nobody has consumed, behind gunicorn's Unreader interface.

gunicorn's request and body readers pull from it. While a head is parsed it holds what has arrived and raises
:class:`Starved` when the parser wants more, so no thread ever waits inside the parser.
"""

from __future__ import annotations

from collections.abc import Callable


class Starved(Exception):
    """The reader wants more bytes than have arrived."""


class Inbox:
    """Received bytes with gunicorn's ``Unreader`` methods.

    :param source: called with the number of bytes wanted; waits and returns some, or ``b""`` at the end of input.
    """

    __slots__ = ("_source", "buffer", "sealed")

    def __init__(self, source: Callable[[int], bytes]) -> None:
        self._source = source
        self.buffer = bytearray()
        self.sealed = False

    def __len__(self) -> int:
        return len(self.buffer)

    def read(self, size: int | None = None, read_ahead: int | None = None) -> bytes:
        """As ``gunicorn.http.unreader.Unreader.read``: all that is there, or ``size`` bytes unless input ends."""
        if size is None or size < 0:
            if self.buffer:
                return self.take_buffered()
            return self._more(read_ahead or 0)
        while len(self.buffer) < size:
            more = self._more(max(size, read_ahead or 0) - len(self.buffer))
            if not more:
                return self.take_buffered()
            self.buffer += more
        return self.take(size)

    def take(self, size: int) -> bytes:
        """Exactly the first ``size`` bytes, which must be there."""
        data = bytes(self.buffer[:size])
        del self.buffer[:size]
        return data

    def take_buffered(self) -> bytes:
        """Everything that has arrived."""
        data = bytes(self.buffer)
        self.buffer.clear()
        return data

    def unread(self, data: bytes) -> None:
        """Put bytes back in front."""
        if data:
            self.buffer[:0] = data

    def _more(self, size: int) -> bytes:
        if self.sealed:
            raise Starved
        return self._source(size)
