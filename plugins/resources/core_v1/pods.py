"""Pods: their defaults, what they must look like, what may change, and how they go.

The rules of pod specs are in ``common``, where workloads use them too; those of Pods alone in the package ``pod``
beside this file.

COMPAT: pkg/registry/core/pod
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.fields import FieldError
from apiserver.api.names import GroupVersionKind
from apiserver.api.resource import Resource, Subresource
from apiserver.api.rest import Context, DeleteOptions
from apiserver.api.server import Server
from apiserver.api.strategy import Strategy, bump_generation, keep_status
from apiserver_plugins.resources.common.columns import value_at
from apiserver_plugins.resources.common.pod_defaults import set_pod_defaults, sync_service_account
from apiserver_plugins.resources.common.pod_qos import qos_class
from apiserver_plugins.resources.common.pod_validation import pod_errors
from apiserver_plugins.resources.common.pod_validation.update import change_errors
from apiserver_plugins.resources.core_v1.pod.attach import ATTACH
from apiserver_plugins.resources.core_v1.pod.binding import Bindings, PodBinding
from apiserver_plugins.resources.core_v1.pod.columns import COLUMNS
from apiserver_plugins.resources.core_v1.pod.ephemeralcontainers import EphemeralContainersStrategy
from apiserver_plugins.resources.core_v1.pod.eviction import EVICTION
from apiserver_plugins.resources.core_v1.pod.exec import EXEC
from apiserver_plugins.resources.core_v1.pod.log import LOG
from apiserver_plugins.resources.core_v1.pod.portforward import PORTFORWARD
from apiserver_plugins.resources.core_v1.pod.proxy import PROXY
from apiserver_plugins.resources.core_v1.pod.resize import ResizeStrategy
from apiserver_plugins.resources.core_v1.pod.status import PodStatusStrategy

BINDING = GroupVersionKind("", "v1", "Binding")
FIELDS = {
    "spec.nodeName": "", "spec.restartPolicy": "", "spec.schedulerName": "", "spec.serviceAccountName": "",
    "status.phase": "", "status.podIP": "", "status.nominatedNodeName": "",
}  # fmt: skip

_ENDED = ("Succeeded", "Failed")


class PodStrategy(Strategy):
    """Rules of Pods."""

    returns_deleted_object = True

    def default(self, obj: dict[str, Any]) -> None:
        set_pod_defaults(obj)

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        obj["metadata"]["generation"] = 1
        sync_service_account(obj["spec"])
        obj["status"] = {"phase": "Pending", "qosClass": qos_class(obj["spec"])}
        if obj["spec"].get("schedulingGates"):
            obj["status"]["conditions"] = [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "lastProbeTime": None,
                    "lastTransitionTime": None,
                    "reason": "SchedulingGated",
                    "message": "Scheduling is blocked due to non-empty scheduling gates",
                }
            ]

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        keep_status(obj, old)
        bump_generation(obj, old)

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        return pod_errors(obj)

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        return [*pod_errors(obj), *change_errors(obj, old)]

    def grace_period(self, ctx: Context, obj: dict[str, Any], options: DeleteOptions) -> int | None:
        seconds = options.grace_period_seconds
        if seconds is None:
            seconds = value_at(obj, "spec", "terminationGracePeriodSeconds") or 0
        # COMPAT: CheckGracefulDelete: nobody runs it, or it has ended: nothing to wait for
        if not value_at(obj, "spec", "nodeName") or value_at(obj, "status", "phase") in _ENDED:
            return 0
        return seconds if seconds >= 0 else 1

    def selectable_fields(self, obj: dict[str, Any]) -> dict[str, str]:
        fields = {path: value_at(obj, *path.split(".")) or "" for path in FIELDS}
        fields["spec.hostNetwork"] = "true" if value_at(obj, "spec", "hostNetwork") else "false"
        fields["status.podIPs"] = ",".join(ip.get("ip", "") for ip in value_at(obj, "status", "podIPs") or ())
        return fields


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    strategy = PodStrategy()
    return [
        Resource(
            group="",
            version="v1",
            kind="Pod",
            plural="pods",
            short_names=("po",),
            categories=("all",),
            strategy=strategy,
            selectable_fields=(*FIELDS, "spec.hostNetwork", "status.podIPs"),
            subresources=(
                ATTACH,
                Subresource("binding", kind=BINDING, storage=PodBinding),
                Subresource("ephemeralcontainers", EphemeralContainersStrategy(strategy)),
                EVICTION,
                EXEC,
                LOG,
                PORTFORWARD,
                PROXY,
                Subresource("resize", ResizeStrategy(strategy), introduced=33),
                Subresource("status", PodStatusStrategy(strategy)),
            ),
            columns=COLUMNS,
        ),
        Resource(group="", version="v1", kind="Binding", plural="bindings", storage=Bindings),
    ]
