"""The checks of the level restricted: what hardens a pod has to be asked for.

COMPAT: k8s.io/pod-security-admission/policy check_*.go
"""

from __future__ import annotations

from apiserver_plugins.podsecurity.baseline import PROFILES, seccomp
from apiserver_plugins.podsecurity.reading import (
    Check,
    Object,
    Violation,
    containers,
    context,
    in_user_namespace,
    is_windows,
    listed,
    names,
    plural,
    quoted,
    setters,
    under,
)

_ALLOWED_VOLUMES = frozenset(
    (
        "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected",
        "secret",
    )
)  # fmt: skip
_OTHER_VOLUMES = (
    "hostPath", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "nfs", "iscsi", "glusterfs", "rbd",
    "flexVolume", "cinder", "cephfs", "flocker", "fc", "azureFile", "vsphereVolume", "quobyte", "azureDisk",
    "photonPersistentDisk", "portworxVolume", "scaleIO", "storageos",
)  # fmt: skip


def but_windows(check: Check) -> Check:
    """A check that says nothing about pods for Windows."""

    def guarded(metadata: Object, spec: Object) -> Violation | None:
        return None if is_windows(spec) else check(metadata, spec)

    return guarded


def but_user_namespaces(check: Check) -> Check:
    """A check that says nothing about pods whose users are others than on their nodes."""

    def guarded(metadata: Object, spec: Object) -> Violation | None:
        return None if in_user_namespace(spec) else check(metadata, spec)

    return guarded


def privilege_escalation(metadata: Object, spec: Object) -> Violation | None:
    """COMPAT: allowPrivilegeEscalation_1_8"""
    bad = names([one for one in containers(spec) if context(one).get("allowPrivilegeEscalation") is not False])
    if not bad:
        return None
    text = f"{listed('container', bad)} must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", text)


def capabilities(metadata: Object, spec: Object) -> Violation | None:
    """COMPAT: capabilitiesRestricted_1_22"""
    keeping, adding, added = list[Object](), list[Object](), set[str]()
    for container in containers(spec):
        chosen = under(container, "capabilities")
        if "ALL" not in (chosen.get("drop") or ()):
            keeping.append(container)
        more = {*(chosen.get("add") or ())} - {"NET_BIND_SERVICE"}
        added |= more
        if more:
            adding.append(container)
    details = []
    if keeping:
        details.append(f'{listed("container", names(keeping))} must set securityContext.capabilities.drop=["ALL"]')
    if adding:
        who, what = listed("container", names(adding)), quoted(sorted(added))
        details.append(f"{who} must not include {what} in securityContext.capabilities.add")
    return Violation("unrestricted capabilities", "; ".join(details)) if details else None


def volumes(metadata: Object, spec: Object) -> Violation | None:
    """COMPAT: restrictedVolumes_1_0"""
    bad, kinds = list[Object](), set[str]()
    for volume in spec.get("volumes") or ():
        if not any(volume.get(kind) is not None for kind in _ALLOWED_VOLUMES):
            bad.append(volume)
            kinds.add(next((kind for kind in _OTHER_VOLUMES if volume.get(kind) is not None), "unknown"))
    if not bad:
        return None
    uses = "uses" if len(bad) == 1 else "use"
    what = f"{plural('restricted volume type', len(kinds))} {quoted(sorted(kinds))}"
    return Violation("restricted volume types", f"{listed('volume', names(bad))} {uses} {what}")


def non_root(metadata: Object, spec: Object) -> Violation | None:
    """COMPAT: runAsNonRoot1_0"""
    reason, said = "runAsNonRoot != true", context(spec).get("runAsNonRoot")
    wrong = names([one for one in containers(spec) if context(one).get("runAsNonRoot") is False])
    who = setters(said is False, wrong)
    if who:
        return Violation(reason, f"{who} must not set securityContext.runAsNonRoot=false")
    silent = names([one for one in containers(spec) if context(one).get("runAsNonRoot") is None])
    if said or not silent:
        return None
    return Violation(reason, f"pod or {listed('container', silent)} must set securityContext.runAsNonRoot=true")


def user(metadata: Object, spec: Object) -> Violation | None:
    """COMPAT: runAsUser1_23"""

    def bad(holder: Object) -> bool:
        return context(holder).get("runAsUser") == 0

    who = setters(bad(spec), names([one for one in containers(spec) if bad(one)]))
    return Violation("runAsUser=0", f"{who} must not set runAsUser=0") if who else None


def seccomp_chosen(metadata: Object, spec: Object) -> Violation | None:
    """COMPAT: seccompProfileRestricted_1_19"""
    wrong = seccomp(metadata, spec)
    if wrong is not None:
        return wrong
    silent = names([one for one in containers(spec) if context(one).get("seccompProfile") is None])
    if not silent or under(spec, "seccompProfile").get("type") in PROFILES:
        return None
    who = f"pod or {listed('container', silent)}"
    return Violation(
        "seccompProfile", f'{who} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    )
