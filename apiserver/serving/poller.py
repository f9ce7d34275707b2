"""Readiness of sockets for the hub: epoll where there is one, ``selectors`` elsewhere.

The difference that matters: with epoll any thread arms a socket at once; elsewhere the change waits in a queue until
the hub's thread applies it, and the hub is woken for it.
"""

from __future__ import annotations

import contextlib
import select
import selectors
from collections import deque
from collections.abc import Callable
from typing import Protocol

READ, WRITE, GONE = 1, 2, 4


class Poller(Protocol):
    """``READ``, ``WRITE`` and ``GONE`` are the bits of interests and of events."""

    def arm(self, fd: int, interest: int, *, once: bool, known: bool) -> None:
        """Report ``interest`` of ``fd``: one time, or as long as it holds. ``known``: it was armed before."""

    def forget(self, fd: int) -> None:
        """The descriptor is about to be closed."""

    def poll(self, timeout: float) -> list[tuple[int, int]]:
        """Pairs of descriptor and event bits, after at most ``timeout`` seconds."""


class EpollPoller:
    """epoll. A descriptor leaves it by being closed."""

    def __init__(self) -> None:
        self._epoll = select.epoll()

    def arm(self, fd: int, interest: int, *, once: bool, known: bool) -> None:
        mask = select.EPOLLRDHUP if interest & GONE else 0
        if interest & READ:
            mask |= select.EPOLLIN
        if interest & WRITE:
            mask |= select.EPOLLOUT
        if once:
            mask |= select.EPOLLONESHOT
        if known:
            self._epoll.modify(fd, mask)
        else:
            self._epoll.register(fd, mask)

    def forget(self, fd: int) -> None:
        """Nothing: the kernel does it."""

    def poll(self, timeout: float) -> list[tuple[int, int]]:
        found = []
        for fd, mask in self._epoll.poll(timeout, 256):
            event = READ if mask & select.EPOLLIN else 0
            if mask & select.EPOLLOUT:
                event |= WRITE
            if mask & (select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR):
                event |= GONE
            found.append((fd, event))
        return found


class SelectorPoller:
    """Any selector of the standard library, used by the hub's thread alone.

    :param wake: makes a waiting :meth:`poll` return, so that it applies what other threads asked for.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._selector = selectors.DefaultSelector()
        self._changes: deque[tuple[int, int, bool]] = deque()
        self._once: set[int] = set()
        self._wake = wake

    def arm(self, fd: int, interest: int, *, once: bool, known: bool) -> None:
        self._changes.append((fd, interest, once))
        self._wake()

    def forget(self, fd: int) -> None:
        self._changes.append((fd, 0, False))

    def _apply(self) -> None:
        while self._changes:
            fd, interest, once = self._changes.popleft()
            with contextlib.suppress(KeyError, ValueError, OSError):
                self._selector.unregister(fd)
            mask = selectors.EVENT_READ if interest & READ else 0
            mask |= selectors.EVENT_WRITE if interest & WRITE else 0
            if mask:
                with contextlib.suppress(KeyError, ValueError, OSError):
                    self._selector.register(fd, mask)
            (self._once.add if once else self._once.discard)(fd)

    def poll(self, timeout: float) -> list[tuple[int, int]]:
        self._apply()
        found = []
        for key, mask in self._selector.select(timeout):
            if key.fd in self._once:
                self._selector.unregister(key.fd)
            event = READ if mask & selectors.EVENT_READ else 0
            found.append((key.fd, event | (WRITE if mask & selectors.EVENT_WRITE else 0)))
        return found


def make_poller(wake: Callable[[], None]) -> Poller:
    """The best poller of this platform."""
    return EpollPoller() if hasattr(select, "epoll") else SelectorPoller(wake)
