"""What a pod, or the template of one, gets when its author does not say.

Called by the strategies of Pods and of every kind with a pod template.

COMPAT: pkg/apis/core/v1 SetDefaults_PodSpec, SetDefaults_Pod, SetDefaults_Container and their like
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Object = dict[str, Any]

MODE = 0o644
CONTAINER_LISTS = ("containers", "initContainers", "ephemeralContainers")

_IMAGE = re.compile(
    r"(?:(?P<host>[A-Za-z0-9.-]+(?::[0-9]+)?)/)?[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
    r"(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*(?::(?P<tag>\w[\w.-]{0,127}))?"
    r"(?P<digest>@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?"
)


def set_template_defaults(template: Object) -> None:
    """Defaults of a pod template (``spec.template`` of a workload), in place."""
    set_spec_defaults(template.setdefault("spec", {}))


def set_pod_defaults(pod: Object) -> None:
    """Defaults of a pod: those of a template, and some that only a pod gets, in place."""
    spec = pod.setdefault("spec", {})
    set_spec_defaults(spec)
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        # COMPAT: limits stand in for requests in pods, not in templates
        resources = container["resources"]
        if resources.get("limits"):
            resources["requests"] = {**resources["limits"], **(resources.get("requests") or {})}
    if spec.get("enableServiceLinks") is None:
        spec["enableServiceLinks"] = True
    if spec.get("hostNetwork"):
        for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
            for port in container.get("ports") or ():
                port["hostPort"] = port.get("hostPort") or port.get("containerPort", 0)


def set_spec_defaults(spec: Object) -> None:
    """Defaults of a pod spec, in place."""
    _default(spec, "dnsPolicy", "ClusterFirst")
    _default(spec, "restartPolicy", "Always")
    _default(spec, "schedulerName", "default-scheduler")
    if spec.get("securityContext") is None:
        spec["securityContext"] = {}
    if spec.get("terminationGracePeriodSeconds") is None:
        spec["terminationGracePeriodSeconds"] = 30
    sync_service_account(spec)
    for name in CONTAINER_LISTS:
        for container in spec.get(name) or ():
            _set_container_defaults(container)
    for volume in spec.get("volumes") or ():
        _set_volume_defaults(volume)


def sync_service_account(spec: Object) -> None:
    """``serviceAccount`` is an old name of ``serviceAccountName``; both are shown."""
    name = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if name:
        spec["serviceAccountName"] = spec["serviceAccount"] = name
    else:
        spec.pop("serviceAccount", None)
        spec.pop("serviceAccountName", None)


def pull_policy(image: str) -> str:
    """``Always`` for the tag latest or no tag at all, else ``IfNotPresent``. COMPAT: parsers.ParseImageName."""
    match = _IMAGE.fullmatch(image)
    if match is None:
        return "IfNotPresent"
    tag = match["tag"] or ("" if match["digest"] else "latest")
    return "Always" if tag == "latest" else "IfNotPresent"


def _default(obj: Object, field: str, value: Any) -> None:
    if not obj.get(field):
        obj[field] = value


# -- containers -------------------------------------------------------------------------------------------------------


def _set_container_defaults(container: Object) -> None:
    _default(container, "imagePullPolicy", pull_policy(container.get("image") or ""))
    _default(container, "terminationMessagePath", "/dev/termination-log")
    _default(container, "terminationMessagePolicy", "File")
    if container.get("resources") is None:
        container["resources"] = {}
    for port in container.get("ports") or ():
        _default(port, "protocol", "TCP")
    for env in container.get("env") or ():
        _set_reference_defaults(env.get("valueFrom") or {})
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if container.get(name):
            _set_probe_defaults(container[name])
    for handler in (container.get("lifecycle") or {}).values():
        if isinstance(handler, dict):
            _set_handler_defaults(handler)


def _set_reference_defaults(source: Object) -> None:
    """Of what an environment variable or a downward API file shows."""
    if source.get("fieldRef"):
        _default(source["fieldRef"], "apiVersion", "v1")
    if source.get("resourceFieldRef"):
        _default(source["resourceFieldRef"], "divisor", "0")


def _set_probe_defaults(probe: Object) -> None:
    for field, value in (
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ):
        _default(probe, field, value)
    _set_handler_defaults(probe)
    if probe.get("grpc") is not None and probe["grpc"].get("service") is None:
        probe["grpc"]["service"] = ""


def _set_handler_defaults(handler: Object) -> None:
    if handler.get("httpGet"):
        _default(handler["httpGet"], "path", "/")
        _default(handler["httpGet"], "scheme", "HTTP")


# -- volumes ----------------------------------------------------------------------------------------------------------


def _mode(source: Object) -> None:
    if source.get("defaultMode") is None:
        source["defaultMode"] = MODE


def _downward(source: Object) -> None:
    for item in source.get("items") or ():
        _set_reference_defaults(item)


def _downward_volume(source: Object) -> None:
    _mode(source)
    _downward(source)


def _projected(source: Object) -> None:
    _mode(source)
    for part in source.get("sources") or ():
        _downward(part.get("downwardAPI") or {})
        token = part.get("serviceAccountToken")
        if token is not None and token.get("expirationSeconds") is None:
            token["expirationSeconds"] = 3600


def _fixed(**values: Any) -> Callable[[Object], None]:
    def fill(source: Object) -> None:
        for field, value in values.items():
            if source.get(field) is None or (source[field] == "" and value != ""):
                source[field] = value

    return fill


def _claim(source: Object) -> None:
    template = source.get("volumeClaimTemplate")
    if template is not None:
        _default(template.setdefault("spec", {}), "volumeMode", "Filesystem")


def _image(source: Object) -> None:
    _default(source, "pullPolicy", pull_policy(source.get("reference") or ""))


_SOURCES: dict[str, Callable[[Object], None]] = {
    "secret": _mode,
    "configMap": _mode,
    "downwardAPI": _downward_volume,
    "projected": _projected,
    "hostPath": _fixed(type=""),
    "ephemeral": _claim,
    "image": _image,
    "iscsi": _fixed(iscsiInterface="default"),
    "rbd": _fixed(pool="rbd", user="admin", keyring="/etc/ceph/keyring"),
    "azureDisk": _fixed(cachingMode="ReadWrite", kind="Shared", fsType="ext4", readOnly=False),
    "scaleIO": _fixed(storageMode="ThinProvisioned", fsType="xfs"),
}


def _set_volume_defaults(volume: Object) -> None:
    sources = [field for field in volume if field != "name" and volume[field] is not None]
    if not sources:
        volume["emptyDir"] = {}
    for field in sources:
        if field in _SOURCES:
            _SOURCES[field](volume[field])
