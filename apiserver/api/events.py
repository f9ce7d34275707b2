"""Events that the server's own controllers record about objects.

COMPAT: k8s.io/client-go/tools/record Eventf
"""

from __future__ import annotations

import hashlib
import logging
from typing import TYPE_CHECKING, Any

from apiserver.api.durations import now
from apiserver.api.errors import AlreadyExists, ApiError
from apiserver.api.names import GroupResource
from apiserver.api.rest import WriteOptions

if TYPE_CHECKING:
    from apiserver.api.server import Server

LOG = logging.getLogger(__name__)
EVENTS = GroupResource("", "events")


def record(
    server: Server, component: str, about: dict[str, Any], reason: str, message: str, type_: str = "Warning"
) -> None:
    """Record an event about an object, once: the same one is not recorded again while it lasts, by any process.

    An event that can't be stored is no reason to stop: it is logged.

    :param component: who records it, such as ``garbage-collector-controller``.
    :param about: the object, with apiVersion and kind.
    """
    metadata = about["metadata"]
    # COMPAT: events about cluster-scoped objects are in the namespace default
    namespace = metadata.get("namespace") or "default"
    reference = {"kind": about.get("kind"), "namespace": metadata.get("namespace"), "name": metadata["name"]}
    reference |= {"uid": metadata.get("uid"), "apiVersion": about.get("apiVersion")}
    marks = "\n".join((component, str(metadata.get("uid")), reason, message))
    # Upstream has the time in the place of the hash.
    name = f"{metadata['name']}.{hashlib.sha256(marks.encode()).hexdigest()[:16]}"
    time = now()
    event = {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": namespace},
        "involvedObject": {field: value for field, value in reference.items() if value},
        "reason": reason,
        "message": message,
        "source": {"component": component},
        "firstTimestamp": time,
        "lastTimestamp": time,
        "count": 1,
        "type": type_,
        "eventTime": None,
        "reportingComponent": component,
        "reportingInstance": "",
    }
    try:
        server.store(EVENTS).create(server.system_context(namespace), event, WriteOptions(), lambda _obj, _old: None)
    except AlreadyExists:
        return
    except (ApiError, KeyError) as ex:
        LOG.warning("Event %s about %s %r can't be recorded: %s", reason, about.get("kind"), metadata["name"], ex)
