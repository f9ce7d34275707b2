"""The roles and bindings that are stored, as the policy that the authorizer asks.

Follows the watch cache: whenever it is asked and one of the four kinds has changed, what has changed is taken over, and
nothing else is decoded. So a grant counts as soon as this server knows of it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

from apiserver.api.errors import ApiError
from apiserver.api.names import GroupResource
from apiserver.api.server import Lister, Server
from apiserver.api.storage import StorageError
from apiserver_plugins.authorization.rules import Policy

LOG = logging.getLogger(__name__)
GROUP = "rbac.authorization.k8s.io"
KINDS = {
    "roles": "Role",
    "clusterroles": "ClusterRole",
    "rolebindings": "RoleBinding",
    "clusterrolebindings": "ClusterRoleBinding",
}
_Key = tuple[str, str, str]
"""Kind, namespace and name."""


class StoredPolicy:
    """Safe to ask from several threads."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._lock = threading.Lock()
        self._listers: Sequence[tuple[str, Lister]] | None = None
        self._seen: tuple[int, ...] = ()
        self._known: dict[_Key, int] = {}
        self._policy = Policy()

    def newest(self) -> Policy:
        """The policy, with all that the cache has."""
        listers = self._listers
        if listers is None or tuple(lister.revision for _, lister in listers) != self._seen:
            with self._lock:
                self._refresh()
        return self._policy

    def _refresh(self) -> None:
        if self._listers is None:
            self._listers = tuple(self._found())
        before = tuple(lister.revision for _, lister in self._listers)
        if before and before == self._seen:
            return
        try:
            for kind, lister in self._listers:
                self._take_over(kind, lister)
        except (ApiError, StorageError) as ex:
            # What is known goes on to hold; the next question tries again.
            LOG.warning("Roles and bindings can't be read: %s", ex)
            return
        # Where something came while this was read, or a cache was loaded by it, the next question reads again.
        self._seen = before

    def _found(self) -> Sequence[tuple[str, Lister]]:
        found = []
        for plural, kind in KINDS.items():
            try:
                found.append((kind, self._server.lister(GroupResource(GROUP, plural))))
            except KeyError:
                # The plugin that brings the kinds is switched off: nobody is granted anything.
                continue
        return found

    def _take_over(self, kind: str, lister: Lister) -> None:
        gone = {key for key in self._known if key[0] == kind}
        for found in lister.list():
            key = (kind, found.namespace, found.name)
            gone.discard(key)
            if self._known.get(key) != found.revision:
                self._policy.put({**found.decode(), "kind": kind})
                self._known[key] = found.revision
        for key in gone:
            del self._known[key]
            self._policy.remove({"kind": kind, "metadata": {"namespace": key[1], "name": key[2]}})
