"""Whether the whole body of a request has arrived, without consuming any of it.

A body is decoded by gunicorn's readers once it is there; this only finds its end, so that no thread waits for it.
Where the framing is broken it calls the body complete, and gunicorn's reader says what is wrong.
"""

from __future__ import annotations

import re
from typing import Any

from gunicorn.http.body import ChunkedReader

_SIZE_LINE = re.compile(rb"([0-9a-fA-F]{1,16})[ \t]*(?:;|$)")
_MOST_LINE = 8190
_MOST_TRAILER = 8190 * 32


class BodyScan:
    """Follows one body while it arrives.

    ``done`` tells, once :meth:`complete` has returned True, that the body can be read without waiting.
    """

    __slots__ = ("_at", "_chunked", "_trailer", "done")

    def __init__(self, reader: Any) -> None:
        """
        :param reader: gunicorn's LengthReader or ChunkedReader.
        """
        self._chunked = isinstance(reader, ChunkedReader)
        self._at: int = 0 if self._chunked else reader.length
        self._trailer = False
        self.done = False

    def complete(self, buffer: bytearray) -> bool:
        """Whether ``buffer``, which begins with the body, holds all of it. Call it with a buffer that only grows."""
        if not self.done:
            self.done = self._scan(buffer) if self._chunked else len(buffer) >= self._at
        return self.done

    def exceeds(self, most: int) -> bool:
        """Whether the body says that it has more than ``most`` bytes."""
        return not self._chunked and self._at > most

    def missing(self, buffer: bytearray) -> int:
        """How many bytes are missing at least."""
        return max(1, self._at - len(buffer))

    def _scan(self, buffer: bytearray) -> bool:
        while not self._trailer:
            end = buffer.find(b"\r\n", self._at)
            if end < 0:
                return len(buffer) - self._at > _MOST_LINE
            line = _SIZE_LINE.match(buffer[self._at : end])
            if line is None:
                return True
            size = int(line[1], 16)
            if size == 0:
                self._trailer, self._at = True, end
            else:
                self._at = end + 2 + size + 2
                if self._at > len(buffer):
                    return False
        tail = buffer[self._at :]
        return b"\r\n\r\n" in tail or len(tail) > _MOST_TRAILER or tail.count(b"\n") != tail.count(b"\r\n")
