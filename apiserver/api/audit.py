"""Audit events: what the hook ``apiserver_audit`` gets, one for each stage of a request.

An event is an ``Event`` of ``audit.k8s.io/v1`` as a dict, at level Metadata.

COMPAT: k8s.io/apiserver/pkg/audit NewEventFromRequest, LogRequestMetadata
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Mapping
from typing import Any

from apiserver.api.request import Request, RequestInfo

RECEIVED = "RequestReceived"
STARTED = "ResponseStarted"
COMPLETE = "ResponseComplete"
PANIC = "Panic"


def micro_time(moment: float) -> str:
    """A wall-clock time (``time.time()``) as MicroTime."""
    return datetime.datetime.fromtimestamp(moment, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def source_ips(environ: Mapping[str, Any]) -> list[str]:
    """The addresses a request came from, the client's first. COMPAT: util/net.SourceIPs"""
    forwarded = environ.get("HTTP_X_FORWARDED_FOR", "")
    found = [part.strip() for part in forwarded.split(",") if part.strip()]
    found += [environ["HTTP_X_REAL_IP"]] if "HTTP_X_REAL_IP" in environ else []
    found += [environ["REMOTE_ADDR"]] if environ.get("REMOTE_ADDR") else []
    return list(dict.fromkeys(found))


def object_reference(info: RequestInfo) -> dict[str, str]:
    """The ``objectRef`` of a request for a resource."""
    found = {
        "resource": info.resource,
        "namespace": info.namespace,
        "name": info.name,
        "apiGroup": info.group,
        "apiVersion": info.version,
        "subresource": info.subresource,
    }
    return {key: value for key, value in found.items() if value}


def event(request: Request, stage: str, status: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The event of a stage.

    :param status: the ``responseStatus``, where it says more than the code.
    """
    info, user = request.info, request.user
    made: dict[str, Any] = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": request.audit_id,
        "stage": stage,
        "requestURI": request.uri,
        "verb": info.verb if info else request.method.lower(),
        "user": {},
        "sourceIPs": source_ips(request.environ),
        "userAgent": request.environ.get("HTTP_USER_AGENT", ""),
        "requestReceivedTimestamp": micro_time(request.received_at),
        "stageTimestamp": micro_time(time.time()),
    }
    if user is not None:
        extra = {key: list(values) for key, values in user.extra.items()}
        known = {"username": user.name, "uid": user.uid, "groups": list(user.groups), "extra": extra}
        made["user"] = {key: value for key, value in known.items() if value}
    if info is not None and info.is_resource:
        made["objectRef"] = object_reference(info)
    if stage != RECEIVED:
        made["responseStatus"] = {"metadata": {}, "code": request.status_code, **(status or {})}
        if request.annotations:
            made["annotations"] = dict(request.annotations)
    return made
