"""Empties a namespace that is being deleted, then lets it go.

Each process looks at all of them; doing a step twice is harmless, and whoever is last finds the work done.

COMPAT: pkg/controller/namespace/deletion namespacedResourcesDeleter
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from apiserver import hookimpl
from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import ApiError, NotFound
from apiserver.api.names import GroupResource, GroupVersionResource
from apiserver.api.rest import DeleteOptions, GetOptions, ListOptions, WriteOptions
from apiserver.api.server import Server
from apiserver_plugins.controllers.controllers import enabled
from apiserver_plugins.controllers.namespace_conditions import conditions_of

NAME = "namespace-controller"
NAMESPACES = GroupVersionResource("", "v1", "namespaces")
FINALIZER = "kubernetes"
INTERVAL = 0.5
"""Seconds between two looks for namespaces to empty."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 5.0
"""Seconds until a namespace is looked at again in which something remains."""

LOG = logging.getLogger(__name__)
_PODS = GroupResource("", "pods")


@dataclass(slots=True)
class Outcome:
    """What emptying a namespace came to.

    ``remaining`` counts objects by resource, ``finalizers`` objects by finalizer; ``failures`` are sentences.
    """

    remaining: Counter[GroupResource] = field(default_factory=Counter)
    finalizers: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return not self.remaining and not self.failures


class NamespaceController:
    """Looks for terminating namespaces and empties them."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._later: dict[str, tuple[float, float]] = {}

    def run(self, wait: Callable[[float], bool]) -> None:
        """The loop, until ``wait`` says it is time to end."""
        while wait(INTERVAL):
            for namespace in self._server.lister(NAMESPACES.group_resource).list():
                if namespace.extra_fields.get("status.phase") == "Terminating":
                    self._visit(namespace)

    def _visit(self, namespace: EncodedObject) -> None:
        due, pause = self._later.get(namespace.name, (0.0, FIRST_PAUSE))
        if time.monotonic() < due:
            return
        try:
            done = self.empty(namespace.name)
        except ApiError as ex:
            LOG.warning("Namespace %r could not be emptied: %s", namespace.name, ex)
            done = False
        if done:
            self._later.pop(namespace.name, None)
        else:
            self._later[namespace.name] = (time.monotonic() + pause, min(pause * 2, LONGEST_PAUSE))

    def empty(self, name: str) -> bool:
        """Delete what is in the namespace ``name``; returns whether it is gone or nobody's business any more.

        :raises ApiError: the namespace itself can't be read or changed.
        """
        server = self._server
        try:
            store = server.store(NAMESPACES.group_resource)
            namespace = store.get(server.system_context(), name, GetOptions()).decode()
            if not namespace["metadata"].get("deletionTimestamp"):
                return True
            if FINALIZER not in ((namespace.get("spec") or {}).get("finalizers") or ()):
                return True
            outcome = self._delete_content(name)
            self._change(name, "status", lambda obj: _with_conditions(obj, outcome))
            if not outcome.clean:
                return False
            self._change(name, "finalize", _without_finalizer)
        except NotFound:
            return True
        return True

    # -- content ------------------------------------------------------------------------------------------------------

    def _delete_content(self, namespace: str) -> Outcome:
        """Pods go first; the rest when no pod is left. COMPAT: OrderedNamespaceDeletion."""
        outcome = Outcome()
        resources = self._resources()
        for chosen in ([r for r in resources if r == _PODS], [r for r in resources if r != _PODS]):
            for resource in chosen:
                self._delete_all(resource, namespace, outcome)
            if not outcome.clean:
                break
        return outcome

    def _resources(self) -> Sequence[GroupResource]:
        """Every namespaced resource whose objects can be listed and deleted, once."""
        names = dict.fromkeys(r.group_resource for r in self._server.resources if r.namespaced)
        return [r for r in names if hasattr(self._server.store(r), "delete_collection")]

    def _delete_all(self, resource: GroupResource, namespace: str, outcome: Outcome) -> None:
        server = self._server
        store, context = server.store(resource), server.system_context(namespace)
        options = DeleteOptions(propagation_policy="Background")
        try:
            if not store.list(context, ListOptions()).items:
                return
            store.delete_collection(context, options, ListOptions(), lambda _obj: None)
            left = store.list(context, ListOptions()).items
        except ApiError as ex:
            outcome.failures.append(str(ex))
            return
        for item in left:
            outcome.remaining[resource] += 1
            for finalizer in item.decode()["metadata"].get("finalizers") or ():
                outcome.finalizers[finalizer] += 1

    # -- the namespace ------------------------------------------------------------------------------------------------

    def _change(self, name: str, subresource: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Change the namespace through one of its subresources."""
        server = self._server
        declared = server.resource(NAMESPACES)
        if declared is None:
            raise AssertionError("a namespace was found, so namespaces are served")
        strategy = next(sub.strategy for sub in declared.subresources if sub.name == subresource)
        store = server.store(NAMESPACES.group_resource).with_strategy(strategy)
        store.update(
            server.system_context(),
            name,
            lambda old, encoded: change(encoded.decode() if encoded is not None else old),
            WriteOptions(),
            lambda _obj, _old: None,
        )


def _with_conditions(namespace: dict[str, Any], outcome: Outcome) -> dict[str, Any]:
    status = namespace.setdefault("status", {})
    status["conditions"] = conditions_of(
        status.get("conditions") or [], outcome.remaining, outcome.finalizers, outcome.failures
    )
    return namespace


def _without_finalizer(namespace: dict[str, Any]) -> dict[str, Any]:
    spec = namespace.setdefault("spec", {})
    spec["finalizers"] = [name for name in spec.get("finalizers") or () if name != FINALIZER]
    if not spec["finalizers"]:
        del spec["finalizers"]
    return namespace


@hookimpl
def apiserver_started(server: Server) -> None:
    if enabled(server.config, NAME):
        server.background(NAME, NamespaceController(server).run)
