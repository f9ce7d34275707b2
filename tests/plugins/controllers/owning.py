"""Objects that own each other, for tests of the garbage collector."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tests.server import ServerProcess

PATIENCE = 20.0
Object = dict[str, Any]


def eventually(look: Callable[[], Any]) -> Any:
    """What ``look`` returns as soon as it is true."""
    deadline = time.monotonic() + PATIENCE
    while True:
        found = look()
        if found or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def reference(owner: Object, *, blocking: bool = False, **changes: Any) -> Object:
    """An ownerReference to ``owner``."""
    made = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
    }
    return {**made, **({"blockOwnerDeletion": True} if blocking else {}), **changes}


class Namespace:
    """ConfigMaps in a namespace of ``server``."""

    def __init__(self, server: ServerProcess, name: str) -> None:
        self.server = server
        self.name = name
        self.path = f"/api/v1/namespaces/{name}/configmaps"

    def make(self, name: str, *owners: Object, finalizers: tuple[str, ...] = ()) -> Object:
        """Create a ConfigMap with ownerReferences."""
        metadata = {"name": name, "ownerReferences": list(owners), "finalizers": list(finalizers)}
        answer = self.server.post(self.path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
        assert answer.status_code == 201, answer.text
        made: Object = answer.json()
        return made

    def get(self, name: str) -> Object | None:
        """The ConfigMap, None if there is none."""
        answer = self.server.get(f"{self.path}/{name}")
        assert answer.status_code in (200, 404), answer.text
        found: Object | None = answer.json() if answer.status_code == 200 else None
        return found

    def gone(self, *names: str) -> bool:
        """Whether the ConfigMaps go."""
        return bool(eventually(lambda: all(self.get(name) is None for name in names)))

    def delete(self, name: str, policy: str = "") -> Object:
        """DELETE; returns the answer."""
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy} if policy else None
        answer = self.server.delete(f"{self.path}/{name}", body)
        assert answer.status_code == 200, answer.text
        found: Object = answer.json()
        return found

    def settle(self) -> None:
        """Return when the collector has looked at all that happened so far: it has collected what came last."""
        owner = self.make("probe")
        self.make("probed", reference(owner))
        self.delete("probe")
        assert self.gone("probed")
