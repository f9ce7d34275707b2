"""Which custom resources are served: a function of the CustomResourceDefinitions in the watch cache.

Made by :mod:`apiserver_plugins.delegates.apiextensions`, asked for every request that no declared resource answers.
What is served follows the definitions before a request is answered and not some time later: a definition that is
established for one client is served for all, by every worker and server. To know that costs a comparison of numbers
for a request that is answered, and a question to the store for one that is not.

COMPAT: apiextensions-apiserver/pkg/apiserver crdHandler
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from apiserver.api import logs
from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import ApiError, MethodNotAllowed
from apiserver.api.names import GroupResource
from apiserver.api.request import Request, RequestInfo
from apiserver.api.resource import Resource
from apiserver.api.server import DelegateMatch, Lister, Server
from apiserver.api.storage import StorageError
from apiserver_plugins.apiextensions.definitions import resources_of
from apiserver_plugins.apiextensions.naming import ESTABLISHED, TERMINATING, is_true

LOG = logging.getLogger(__name__)
NAME = "apiextensions"
DEFINITIONS = GroupResource("apiextensions.k8s.io", "customresourcedefinitions")


@dataclass(frozen=True, slots=True)
class Known:
    """What was made of one definition.

    :param recipe: what its resources depend on, encoded: while it stays the same, they stay.
    """

    revision: int
    recipe: bytes
    resources: Sequence[Resource]
    terminating: bool


class Serving:
    """The custom resources of a server."""

    def __init__(self, server: Server) -> None:
        self._definitions: Lister = server.lister(DEFINITIONS)
        self._changing = server.changing_resources(NAME, self.refresh)
        self._lock = threading.Lock()
        self._known: Mapping[str, Known] = {}
        self._revision = 0

    def claim(self, request: Request) -> DelegateMatch | None:
        """For the delegate: who answers a request for a custom resource, None for any other request."""
        info = request.info
        if info is None or not info.path.startswith("/apis/"):
            return None
        self.follow()
        found = self._changing.claim(request)
        if found is None and info.is_resource:
            before = self._revision
            self.refresh()
            if self._revision != before:
                found = self._changing.claim(request)
        return self._refused(info) or found

    def refresh(self) -> None:
        """Take in every definition that was acknowledged before this call, by any server."""
        try:
            self._definitions.wait_until_newest()
        except (ApiError, StorageError) as ex:
            # What is known goes on being served while the store is away.
            logs.error(LOG, "The newest custom resource definitions can't be had", err=str(ex))
        else:
            self.follow()

    def follow(self) -> None:
        """Serve what the watch cache has now."""
        revision = self._definitions.revision
        if revision == self._revision and revision:
            return
        with self._lock:
            try:
                definitions = self._definitions.list()
            except (ApiError, StorageError) as ex:
                logs.error(LOG, "Custom resource definitions can't be read", err=str(ex))
                return
            old = self._known
            # A list is never older than the number that was read before it.
            self._known = {one.name: _made(one, old.get(one.name)) for one in definitions}
            self._changing.serve([resource for known in self._known.values() for resource in known.resources])
            self._revision = revision

    def _refused(self, info: RequestInfo) -> DelegateMatch | None:
        """COMPAT: crdHandler.serveResource: nothing is created any more once a definition is being deleted."""
        if info.verb != "create" or info.subresource:
            return None
        known = self._known.get(f"{info.resource}.{info.group}")
        if known is None or not known.terminating:
            return None
        text = f"{info.verb} not allowed while custom resource definition is terminating"
        return DelegateMatch(app=MethodNotAllowed(text), delegate=NAME)


def _made(obj: EncodedObject, old: Known | None) -> Known:
    if old is not None and old.revision == obj.revision:
        return old
    definition = obj.decode()
    terminating = is_true(definition, TERMINATING)
    if not is_true(definition, ESTABLISHED):
        return Known(obj.revision, b"", (), terminating)
    accepted = definition["status"]["acceptedNames"]
    as_served = {**definition, "spec": {**definition["spec"], "names": accepted}}
    recipe = orjson.dumps((as_served["spec"], definition["metadata"].get("uid")))
    if old is not None and old.recipe == recipe:
        return Known(obj.revision, recipe, old.resources, terminating)
    return Known(obj.revision, recipe, _resources(as_served), terminating)


def _resources(definition: dict[str, Any]) -> Sequence[Resource]:
    try:
        return resources_of(definition)
    except Exception:
        # Validation lets no such definition in; one that another program has stored must not take the others away.
        LOG.exception("The custom resource definition %r can't be served", definition["metadata"]["name"])
        return ()
