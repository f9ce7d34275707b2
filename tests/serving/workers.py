"""Worker classes with short limits, for tests that wait for a limit."""

from __future__ import annotations

from typing import Any

from apiserver.serving.limits import Limits
from apiserver.serving.worker import HubWorker, configured

Quick = configured(
    pinned=False,
    limits=Limits(
        handshake=1.0, head=1.0, body=1.5, write_stall=2.0, watch_backlog=1 << 20, closing=0.5, thread_idle=1.0
    ),
)
Unpinned = configured(pinned=False, limits=Limits())


class Fragile(HubWorker):
    """A worker whose hub stops when a certain request comes."""

    pinned = False

    def begin_request(self, request: Any) -> None:
        if "break-the-hub" in request.uri:
            self.hub.stop(5)
        super().begin_request(request)
