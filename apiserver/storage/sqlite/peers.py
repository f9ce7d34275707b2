"""Waking the other processes that share a SQLite file, and taking turns with them.

Called by the driver: :meth:`Peers.notify` after each commit, :meth:`Peers.wait` by the tailer thread, and
:meth:`Peers.turn` around taking the write lock. Each process has a named pipe in ``<database>.peers/``; one byte in it
means "there is something new in the log". A pipe without reader belongs to a dead process and is removed by whoever
finds it. Nothing depends on a wake-up for correctness: the tailer also looks by itself, more slowly.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import select
import time
from collections.abc import Iterator
from pathlib import Path

from apiserver.api.storage import UnavailableError

_BYTE = b"\n"
_RESCAN_SECONDS = 1.0
_TURN_POLL_SECONDS = 0.0005


class Peers:
    """This process's pipe and its view of the others' pipes."""

    def __init__(self, database: Path) -> None:
        """Announce this process to the others.

        :raises UnavailableError: the directory beside the database isn't writable.
        """
        self._directory = Path(f"{database}.peers")
        self._name = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._pipes: dict[str, int] = {}
        self._scanned = (0, 0.0)
        self._closed = False
        try:
            self._directory.mkdir(mode=0o700, exist_ok=True)
            self._directory_fd = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            self._turnstile = os.open(self._directory / "turnstile", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._own = self._make_pipe()
            self._poll = select.poll()
            self._poll.register(self._own, select.POLLIN)
        except OSError as error:
            raise UnavailableError(f"sqlite: {error}") from error

    def _make_pipe(self) -> int:
        # Renamed into place after it has a reader, else a peer would take it for a dead process's.
        hidden = self._directory / f".{self._name}"
        os.mkfifo(hidden, 0o600)
        own = os.open(hidden, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        os.rename(hidden, self._directory / self._name)
        return own

    def wait(self, seconds: float) -> bool:
        """Sleep until a peer (or :meth:`wake`) calls, at most ``seconds``; True if somebody called."""
        ready = self._poll.poll(seconds * 1000)
        if ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self._own, 65536)
        return bool(ready)

    def wake(self) -> None:
        """End the :meth:`wait` of this process."""
        with contextlib.suppress(BlockingIOError):
            os.write(self._own, _BYTE)

    @property
    def alone(self) -> bool:
        """Whether no other process is known."""
        return not self._pipes

    def notify(self) -> None:
        """Tell the other processes that the log has grown. Never blocks, never raises."""
        self._scan()
        if not self._pipes:
            return
        for name, pipe in list(self._pipes.items()):
            try:
                os.write(pipe, _BYTE)
            except BlockingIOError:
                # Full of calls that nobody has read yet: one more adds nothing.
                continue
            except OSError:
                self._bury(name)

    @contextlib.contextmanager
    def turn(self, deadline: float) -> Iterator[None]:
        """Hold the turnstile while taking the write lock, so that no process is starved by another.

        Who has just committed must queue here behind a process that already waits for the write lock. Whoever is
        alone needs no turn: SQLite's own lock is what correctness rests on.

        :param deadline: ``time.monotonic()`` after which to give up.
        :raises UnavailableError: the turn didn't come in time.
        """
        while not self._try_turnstile():
            if time.monotonic() > deadline:
                raise UnavailableError("sqlite: database is locked by another process")
            time.sleep(_TURN_POLL_SECONDS)
        try:
            yield
        finally:
            fcntl.flock(self._turnstile, fcntl.LOCK_UN)

    def _try_turnstile(self) -> bool:
        try:
            fcntl.flock(self._turnstile, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _scan(self) -> None:
        """Look who is there, when the directory has changed or a second has passed (its clock ticks coarsely)."""
        now = time.monotonic()
        try:
            changed = os.fstat(self._directory_fd).st_mtime_ns
            if changed == self._scanned[0] and now - self._scanned[1] < _RESCAN_SECONDS:
                return
            self._scanned = (changed, now)
            names = set(os.listdir(self._directory)) - {"turnstile", self._name}
        except OSError:
            return
        for name in self._pipes.keys() - names:
            self._forget(name)
        for name in names - self._pipes.keys():
            if not name.startswith("."):
                self._meet(name)

    def _meet(self, name: str) -> None:
        try:
            self._pipes[name] = os.open(self._directory / name, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if error.errno == errno.ENXIO:
                self._bury(name)

    def _bury(self, name: str) -> None:
        self._forget(name)
        with contextlib.suppress(OSError):
            os.unlink(self._directory / name)

    def _forget(self, name: str) -> None:
        pipe = self._pipes.pop(name, None)
        if pipe is not None:
            os.close(pipe)

    def close(self) -> None:
        """Take this process's pipe away. Call when no other method is running."""
        if self._closed:
            return
        self._closed = True
        with contextlib.suppress(OSError):
            os.unlink(self._directory / self._name)
        for name in list(self._pipes):
            self._forget(name)
        for descriptor in (self._own, self._turnstile, self._directory_fd):
            os.close(descriptor)
