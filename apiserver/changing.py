"""Resources that come and go while the server runs, such as custom resources.

Made by :meth:`apiserver.server.Server.changing_resources` for a delegate plugin, which says what is served now; routes,
discovery and OpenAPI follow in the same moment. See :class:`apiserver.api.server.ChangingResources`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from apiserver.api.request import Request
from apiserver.api.resource import Resource
from apiserver.api.server import DelegateMatch
from apiserver.handlers.discovery import Discovery
from apiserver.installation import Installation
from apiserver.router import ResourceDelegate


class ChangingResources:
    """One set of them.

    :param name: of the delegate that answers for them.
    :param refresh: brings the set up to date, before documents are made of it.
    :param discovery: makes the documents of all that the server serves.
    """

    def __init__(
        self, name: str, refresh: Callable[[], None], installation: Installation, discovery: Callable[[], Discovery]
    ) -> None:
        self.name = name
        self.refresh = refresh
        self._installation = installation
        self._discovery = discovery
        self._lock = threading.Lock()
        self._served: Sequence[Resource] = ()
        self.delegate = self._delegate(())

    def serve(self, resources: Sequence[Resource]) -> None:
        """From now on serve these and no others."""
        with self._lock:
            gone, come = _difference(self._served, resources)
            if not gone and not come:
                return
            self._installation.replace(gone, come)
            self._served = tuple(resources)
            self.delegate = self._delegate(self._served)

    def claim(self, request: Request) -> DelegateMatch | None:
        """Who answers a request for these resources."""
        return self.delegate(request)

    def _delegate(self, resources: Sequence[Resource]) -> ResourceDelegate:
        own = {id(resource) for resource in resources}
        endpoints = [e for e in self._installation.endpoints if id(e.resource) in own]
        return ResourceDelegate(endpoints, self._discovery, name=self.name, declared=False)


def _difference(old: Sequence[Resource], new: Sequence[Resource]) -> tuple[list[Resource], list[Resource]]:
    """What goes and what comes: resources that share a prefix do both together."""
    before, after = {id(r) for r in old}, {id(r) for r in new}
    changed = {r.key_prefix for r in old if id(r) not in after} | {r.key_prefix for r in new if id(r) not in before}
    return [r for r in old if r.key_prefix in changed], [r for r in new if r.key_prefix in changed]
