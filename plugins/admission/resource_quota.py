"""ResourceQuota: nothing is created that is more than the quotas of its namespace leave; what is created is charged.

Comes last, so that nothing is charged that another plugin refuses. What is charged and then not stored after all the
quota controller takes back.

COMPAT: k8s.io/apiserver/pkg/admission/plugin/resourcequota
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from apiserver import hookimpl
from apiserver.api.admission import CREATE, UPDATE, AdmissionRequest
from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import NotFound
from apiserver.api.names import GroupResource
from apiserver.api.rest import ListOptions, WriteOptions
from apiserver.api.server import Server
from apiserver_plugins.quota.charging import Refused, Write, add, charged
from apiserver_plugins.quota.names import CLAIMS, PODS, SERVICES
from apiserver_plugins.quota.usage import measure, terminating

Object = dict[str, Any]
QUOTAS = GroupResource("", "resourcequotas")
IGNORED = frozenset((GroupResource("", "events"),))
STATUS = "status"

_LOCKS = tuple(threading.Lock() for _ in range(64))
"""One of them is held while quotas of a namespace are changed: threads would only undo each other's tries."""


@hookimpl(priority=4000)
def apiserver_validate(request: AdmissionRequest) -> None:
    if not request.namespace or request.object is None or request.resource.group_resource in IGNORED:
        return
    if not _handled(request):
        return
    quotas = request.server.lister(QUOTAS).list(request.namespace)
    if quotas:
        _charge(request, [quota.decode() for quota in quotas])


def _handled(request: AdmissionRequest) -> bool:
    """Whether a write can change what is used. COMPAT: Evaluator.Handles"""
    resource, subresource, update = request.resource.group_resource, request.subresource, request.operation == UPDATE
    if request.operation == CREATE:
        return not subresource
    if not update or request.old_object is None or request.object is None:
        return False
    if resource == PODS:
        return subresource == "resize" or (
            not subresource and terminating(request.object) is not terminating(request.old_object)
        )
    return (resource == CLAIMS and subresource in ("", STATUS)) or (resource == SERVICES and not subresource)


def _charge(request: AdmissionRequest, quotas: list[Object]) -> None:
    resource, old = request.resource.group_resource, request.old_object
    obj = request.object or {}
    write = Write(
        resource, obj, measure(resource, obj), measure(resource, old) if old else None, request.subresource != STATUS
    )
    try:
        try:
            more = _checked(quotas, write)
        except Refused:
            # The cache may be behind what was deleted, or what the controller has written.
            more = _checked(_newest(request), write)
        if more and not request.dry_run:
            with _LOCKS[hash(request.namespace) % len(_LOCKS)]:
                for name in more:
                    _store(request.server, request.namespace, name, write)
    except Refused as refusal:
        raise request.forbidden(str(refusal)) from None


def _checked(quotas: list[Object], write: Write) -> list[str]:
    """The names of the quotas to charge. :raises Refused: one leaves too little."""
    found = []
    for quota, more in charged(quotas, write):
        add(quota, more, strict=write.strict)
        found.append(quota["metadata"]["name"])
    return found


def _newest(request: AdmissionRequest) -> list[Object]:
    server = request.server
    listed = server.store(QUOTAS).list(server.system_context(request.namespace), ListOptions())
    return [quota.decode() for quota in listed.items]


def _store(server: Server, namespace: str, name: str, write: Write) -> None:
    """Charge a quota as it is stored now. :raises Refused: it has become too much."""
    try:
        _status_store(server).update(
            server.system_context(namespace), name, _charging(write), WriteOptions(), lambda _obj, _old: None
        )
    except NotFound:
        return


def _charging(write: Write) -> Callable[[Object | None, EncodedObject | None], Object]:
    def transform(old: Object | None, encoded: EncodedObject | None) -> Object:
        quota: Object = encoded.decode() if encoded is not None else old or {}
        for one, more in charged([quota], write):
            add(one, more, strict=write.strict)
        return quota

    return transform


def _status_store(server: Server) -> Any:
    """The store of quotas under the rules of their status."""
    declared = next(resource for resource in server.resources if resource.group_resource == QUOTAS)
    rules = next(sub.strategy for sub in declared.subresources if sub.name == STATUS)
    return server.store(QUOTAS).with_strategy(rules)
