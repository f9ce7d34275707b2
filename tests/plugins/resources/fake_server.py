"""A server for tests of plugins: settings, listers and stores made of dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import AlreadyExists, NotFound
from apiserver.api.names import GroupResource
from apiserver.api.request import Request
from apiserver.api.rest import Context
from apiserver.api.settings import Config
from apiserver.api.storage import KeyExistsError, KeyValue, RevisionMismatchError

Object = dict[str, Any]
SETTINGS = {
    "etcd-prefix": "/registry",
    "service-cluster-ip-range": ("10.96.0.0/16",),
    "service-node-port-range": "30000-32767",
    "default-not-ready-toleration-seconds": 300,
    "default-unreachable-toleration-seconds": 300,
    "controllers": ("*",),
}


class FakeStorage:
    """The guarded writes of a storage driver."""

    def __init__(self) -> None:
        self.keys: dict[str, KeyValue] = {}
        self.revision = 0
        self.before_update: Callable[[], None] | None = None

    def get(self, key: str) -> KeyValue | None:
        return self.keys.get(key)

    def create(self, key: str, value: bytes) -> int:
        if key in self.keys:
            raise KeyExistsError
        return self._put(key, value)

    def update(self, key: str, value: bytes, expected_revision: int) -> int:
        if self.before_update is not None:
            race, self.before_update = self.before_update, None
            race()
        if self.keys[key].mod_revision != expected_revision:
            raise RevisionMismatchError(key, self.keys[key])
        return self._put(key, value)

    def check(self) -> None:
        return

    def _put(self, key: str, value: bytes) -> int:
        self.revision += 1
        self.keys[key] = KeyValue(key, value, self.revision, self.revision)
        return self.revision


class FakeStore:
    """Objects of one resource, by namespace and name; is its own lister."""

    def __init__(self, resource: GroupResource, fields: Callable[[Object], Mapping[str, str]]) -> None:
        self.resource = resource
        self.fields = fields
        self.objects: dict[tuple[str, str], Object] = {}

    def add(self, obj: Object) -> None:
        meta = obj["metadata"]
        self.objects[meta.get("namespace", ""), meta["name"]] = obj

    def _encoded(self, obj: Object) -> EncodedObject:
        meta = obj["metadata"]
        namespace, name = meta.get("namespace", ""), meta["name"]
        return EncodedObject(b"{", orjson.dumps(obj)[1:], extra_fields=self.fields(obj), namespace=namespace, name=name)

    def get(self, where: Any, name: str, *options: Any) -> Any:
        """As a lister (namespace, name) or as a store (context, name, options)."""
        live = isinstance(where, Context)
        found = self.objects.get((where.namespace if live else where, name))
        if found is None and live:
            raise NotFound.for_object(self.resource, name)
        return None if found is None else self._encoded(found)

    def list(self, namespace: str = "", labels: Any = None) -> Sequence[EncodedObject]:
        return [self._encoded(o) for (ns, _), o in sorted(self.objects.items()) if namespace in ("", ns)]

    def create(self, ctx: Context, obj: Object, options: Any, validate: Any) -> EncodedObject:
        key = (ctx.namespace, obj["metadata"]["name"])
        if key in self.objects:
            raise AlreadyExists.for_object(self.resource, key[1])
        if not options.dry_run:
            self.objects[key] = obj
        return self._encoded(obj)

    def delete(self, ctx: Context, name: str, options: Any, validate: Any) -> None:
        if self.objects.pop((ctx.namespace, name), None) is None:
            raise NotFound.for_object(self.resource, name)


class FakeServer:
    """As much of :class:`apiserver.api.server.Server` as plugins use."""

    def __init__(self, **settings: Any) -> None:
        self.config = Config({**SETTINGS, **settings})
        self.storage = FakeStorage()
        self.stores: dict[GroupResource, FakeStore] = {}

    def serve(
        self, group: str, resource: str, fields: Callable[[Object], Mapping[str, str]] = lambda _obj: {}
    ) -> FakeStore:
        """Add a resource."""
        name = GroupResource(group, resource)
        store = self.stores[name] = FakeStore(name, fields)
        return store

    def store(self, resource: GroupResource) -> FakeStore:
        return self.stores[resource]

    lister = store

    def system_context(self, namespace: str = "") -> Context:
        return Context(Request({"REQUEST_METHOD": ""}), namespace)
