"""DefaultTolerationSeconds: a pod stays for a while on a node that is not ready or can't be reached.

COMPAT: plugin/pkg/admission/defaulttolerationseconds
"""

from __future__ import annotations

from collections.abc import Iterable

from apiserver import hookimpl
from apiserver.api.admission import CREATE, UPDATE, AdmissionRequest
from apiserver.api.names import GroupResource
from apiserver.api.settings import Setting

PODS = GroupResource("", "pods")
GROUP = "admission"
TAINTS = (
    ("node.kubernetes.io/not-ready", "default-not-ready-toleration-seconds"),
    ("node.kubernetes.io/unreachable", "default-unreachable-toleration-seconds"),
)


@hookimpl
def apiserver_settings() -> Iterable[Setting]:
    return [
        Setting(
            setting,
            "int",
            300,
            help=f"Seconds that a pod without a toleration of its own tolerates {taint}.",
            group=GROUP,
        )
        for taint, setting in TAINTS
    ]


@hookimpl(priority=1500)
def apiserver_admit(request: AdmissionRequest) -> None:
    pod = request.object
    if (
        pod is None
        or request.subresource
        or request.operation not in (CREATE, UPDATE)
        or request.resource.group_resource != PODS
    ):
        return
    spec = pod.setdefault("spec", {})
    tolerations = spec.get("tolerations") or []
    # COMPAT: no key or no effect tolerates everything
    tolerated = {t.get("key") or "" for t in tolerations if (t.get("effect") or "NoExecute") == "NoExecute"}
    if "" in tolerated:
        return
    added = [
        {
            "key": taint,
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": request.server.config.integer(setting),
        }
        for taint, setting in TAINTS
        if taint not in tolerated
    ]
    if added:
        spec["tolerations"] = [*tolerations, *added]
