"""The roles and bindings that every cluster has, made and completed at start.

Runs whatever ``--controllers`` says: in kube-apiserver it is a part of the server.

COMPAT: pkg/registry/rbac/rest ensureRBACPolicy; plugin/pkg/auth/authorizer/rbac/bootstrappolicy
"""

from __future__ import annotations

import functools
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from typing import Any

import orjson

from apiserver import hookimpl
from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import AlreadyExists, ApiError, NotFound
from apiserver.api.names import GroupResource
from apiserver.api.rest import DeleteOptions
from apiserver.api.server import Server
from apiserver.api.storage import StorageError
from apiserver_plugins.controllers.changing import change, create
from apiserver_plugins.rbac.reconciling import protected, reconcile, recreated

Object = dict[str, Any]
GROUP = "rbac.authorization.k8s.io"
HOOK = "rbac/bootstrap-roles"
KINDS = {
    "clusterroles": "ClusterRole",
    "clusterrolebindings": "ClusterRoleBinding",
    "roles": "Role",
    "rolebindings": "RoleBinding",
}
TRIES, PAUSE = 30, 1.0
"""How often it is tried, and how many seconds lie between. COMPAT: wait.Poll with 30 seconds"""
AT_ONCE = 8
"""So many are written at the same time: a store makes writes durable together."""


def objects() -> dict[str, list[Object]]:
    """What there must be, by plural."""
    data = resources.files("apiserver_plugins.controllers") / "data" / "rbac.json"
    found: dict[str, list[Object]] = orjson.loads(data.read_bytes())
    return {
        plural: [{"kind": KINDS[plural], "apiVersion": f"{GROUP}/v1", **one} for one in listed]
        for plural, listed in found.items()
    }


def ensure(server: Server) -> None:
    """Make those that are missing, complete the others; another process may be doing the same."""
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix=HOOK) as pool:
        for plural, wanted in objects().items():
            resource = GroupResource(GROUP, plural)
            # Raises what the first of them raised.
            list(pool.map(functools.partial(_ensure, server, resource), wanted))


def _ensure(server: Server, resource: GroupResource, wanted: Object) -> None:
    metadata = wanted["metadata"]
    namespace, name = metadata.get("namespace", ""), metadata["name"]
    found = server.lister(resource).get(namespace, name)
    if found is None:
        try:
            create(server, resource, orjson.loads(orjson.dumps(wanted)))
            return
        except AlreadyExists:
            pass
    elif _settled(found, wanted):
        return
    try:
        change(server, resource, namespace, name, functools.partial(_complete, wanted=wanted))
    except _OtherRole:
        context = server.system_context(namespace)
        server.store(resource).delete(context, name, DeleteOptions(), lambda _obj: None)
        create(server, resource, orjson.loads(orjson.dumps(wanted)))
    except NotFound:
        create(server, resource, orjson.loads(orjson.dumps(wanted)))


class _OtherRole(Exception):
    """The binding is to another role."""


def _settled(found: EncodedObject, wanted: Object) -> bool:
    """Whether there is nothing to do, as is usual."""
    obj = found.decode()
    try:
        _complete(obj, wanted)
    except _OtherRole:
        return False
    return obj == found.decode()


def _complete(obj: Object, wanted: Object) -> None:
    if protected(obj):
        return
    if recreated(obj, wanted):
        raise _OtherRole
    reconcile(obj, wanted)


def keep_trying(server: Server) -> None:
    """The post-start hook."""
    for tries_left in reversed(range(TRIES)):
        try:
            ensure(server)
            return
        except (ApiError, StorageError):
            if not tries_left:
                raise
            time.sleep(PAUSE)


@hookimpl
def apiserver_started(server: Server) -> None:
    served = {resource.plural for resource in server.resources if resource.group == GROUP}
    if served >= set(KINDS):
        server.post_start_hook(HOOK, functools.partial(keep_trying, server))
