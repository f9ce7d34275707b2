"""The checks of the level baseline: nothing that is known to give a pod more rights than others.

COMPAT: k8s.io/pod-security-admission/policy check_*.go
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from apiserver_plugins.podsecurity.reading import (
    Check,
    Object,
    Violation,
    containers,
    context,
    in_user_namespace,
    listed,
    names,
    plural,
    quoted,
    setters,
    under,
)

_APPARMOR = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
PROFILES = ("RuntimeDefault", "Localhost")
"""The types of profiles that confine a container."""
_CAPABILITIES = frozenset(
    (
        "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
        "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
    )
)  # fmt: skip
SELINUX = frozenset(("", "container_t", "container_init_t", "container_kvm_t"))
SYSCTLS = frozenset(
    (
        "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start",
    )
)  # fmt: skip


def _other_profiles(spec: Object, field: str) -> tuple[str, set[str]]:
    """Who sets a profile of a type that is not allowed, and which types these are."""
    types: set[str] = set()

    def bad(holder: Object) -> bool:
        profile = context(holder).get(field)
        if profile is None or profile.get("type") in PROFILES:
            return False
        types.add(str(profile.get("type", "")))
        return True

    return setters(bad(spec), names([one for one in containers(spec) if bad(one)])), types


def app_armor(metadata: Object, spec: Object) -> Violation | None:
    """COMPAT: appArmorProfile_1_0"""
    who, values = _other_profiles(spec, "appArmorProfile")
    annotations = metadata.get("annotations") or {}
    marked = sorted(
        f'{key}="{value}"'
        for key, value in annotations.items()
        if key.startswith(_APPARMOR) and value and value != "runtime/default" and not value.startswith("localhost/")
    )
    if marked:
        who = " and ".join(filter(None, (who, plural("annotation", len(marked)))))
    if not who:
        return None
    shown = [*sorted(values), *marked]
    reason = plural("forbidden AppArmor profile", len(shown))
    return Violation(reason, f"{who} must not set AppArmor profile type to {quoted(shown)}")


def capabilities(metadata: Object, spec: Object) -> Violation | None:
    """COMPAT: capabilitiesBaseline_1_0"""
    added = {i: {*(under(c, "capabilities").get("add") or ())} - _CAPABILITIES for i, c in enumerate(containers(spec))}
    bad = [one for i, one in enumerate(containers(spec)) if added[i]]
    if not bad:
        return None
    who, what = listed("container", names(bad)), quoted(sorted(set[str]().union(*added.values())))
    return Violation("non-default capabilities", f"{who} must not include {what} in securityContext.capabilities.add")


def host_namespaces(metadata: Object, spec: Object) -> Violation | None:
    """COMPAT: hostNamespaces_1_0"""
    shared = [f"{field}=true" for field in ("hostNetwork", "hostPID", "hostIPC") if spec.get(field)]
    return Violation("host namespaces", ", ".join(shared)) if shared else None


def host_path_volumes(metadata: Object, spec: Object) -> Violation | None:
    """COMPAT: hostPathVolumes_1_0"""
    bad = names([volume for volume in spec.get("volumes") or () if volume.get("hostPath") is not None])
    return Violation("hostPath volumes", listed("volume", bad)) if bad else None


def host_ports(metadata: Object, spec: Object) -> Violation | None:
    """COMPAT: hostPorts_1_0"""
    bad, ports = [], set[str]()
    for container in containers(spec):
        taken = {str(port["hostPort"]) for port in container.get("ports") or () if port.get("hostPort")}
        ports |= taken
        if taken:
            bad.append(container)
    if not bad:
        return None
    uses = "uses" if len(bad) == 1 else "use"
    what = f"{plural('hostPort', len(ports))} {', '.join(sorted(ports))}"
    return Violation("hostPort", f"{listed('container', names(bad))} {uses} {what}")


def host_probes(metadata: Object, spec: Object) -> Violation | None:
    """COMPAT: hostProbesAndHostLifecycleV1Dot34"""
    found = {
        str(container.get("name", "")): hosts for container in containers(spec) if (hosts := set(_hosts(container)))
    }
    if not found:
        return None
    shown = sorted(set[str]().union(*found.values()))
    uses = "uses" if len(found) == 1 else "use"
    what = f"{plural('probe or lifecycle host', len(shown))} {quoted(shown)}"
    return Violation("probe or lifecycle host", f"{listed('container', sorted(found))} {uses} {what}")


def _hosts(container: Object) -> Iterator[str]:
    lifecycle = container.get("lifecycle") or {}
    probes = [container.get(f"{kind}Probe") for kind in ("liveness", "readiness", "startup")]
    for handler in (*probes, lifecycle.get("postStart"), lifecycle.get("preStop")):
        for action in ("httpGet", "tcpSocket"):
            host = ((handler or {}).get(action) or {}).get("host")
            if host:
                yield host


def privileged(metadata: Object, spec: Object) -> Violation | None:
    """COMPAT: privileged_1_0"""
    bad = names([one for one in containers(spec) if context(one).get("privileged")])
    if not bad:
        return None
    return Violation("privileged", f"{listed('container', bad)} must not set securityContext.privileged=true")


def proc_mount(metadata: Object, spec: Object) -> Violation | None:
    """COMPAT: procMount_1_0"""
    bad = [one for one in containers(spec) if context(one).get("procMount") not in (None, "Default")]
    if not bad:
        return None
    kinds = quoted(sorted({context(one)["procMount"] for one in bad}))
    return Violation(
        "procMount", f"{listed('container', names(bad))} must not set securityContext.procMount to {kinds}"
    )


def proc_mount_1_35(metadata: Object, spec: Object) -> Violation | None:
    """COMPAT: procMount1_35baseline"""
    return None if in_user_namespace(spec) else proc_mount(metadata, spec)


def selinux(allowed: Collection[str]) -> Check:
    """A check that allows these types. COMPAT: seLinuxOptions"""

    def check(metadata: Object, spec: Object) -> Violation | None:
        kinds, said = set[str](), set[str]()

        def bad(holder: Object) -> bool:
            options = under(holder, "seLinuxOptions")
            kind, set_here = options.get("type") or "", {field for field in ("user", "role") if options.get(field)}
            said.update(set_here)
            if kind not in allowed:
                kinds.add(kind)
            return bool(set_here) or kind not in allowed

        who = setters(bad(spec), names([one for one in containers(spec) if bad(one)]))
        if not who:
            return None
        what = [listed("type", sorted(kinds))] if kinds else []
        what += [f"{field} may not be set" for field in ("user", "role") if field in said]
        return Violation("seLinuxOptions", f"{who} set forbidden securityContext.seLinuxOptions: {'; '.join(what)}")

    return check


def seccomp_annotations(metadata: Object, spec: Object) -> Violation | None:
    """COMPAT: seccompProfileBaseline_1_0"""
    annotations = metadata.get("annotations") or {}
    keys = {_SECCOMP_POD, *(f"{_SECCOMP_CONTAINER}{name}" for name in names(containers(spec)))}
    bad = sorted(
        f'{key}="{annotations[key]}"'
        for key in keys & annotations.keys()
        if annotations[key] not in ("runtime/default", "docker/default")
        and not annotations[key].startswith("localhost/")
    )
    if not bad:
        return None
    return Violation("seccompProfile", f"forbidden {plural('annotation', len(bad))} {', '.join(bad)}")


def seccomp(metadata: Object, spec: Object) -> Violation | None:
    """COMPAT: seccompProfileBaseline_1_19"""
    who, kinds = _other_profiles(spec, "seccompProfile")
    if not who:
        return None
    text = f"{who} must not set securityContext.seccompProfile.type to {quoted(sorted(kinds))}"
    return Violation("seccompProfile", text)


def sysctls(allowed: Collection[str]) -> Check:
    """A check that allows these. COMPAT: sysctls"""

    def check(metadata: Object, spec: Object) -> Violation | None:
        bad = [name for name in names(context(spec).get("sysctls") or ()) if name not in allowed]
        return Violation("forbidden sysctls", ", ".join(bad)) if bad else None

    return check


def windows_host_process(metadata: Object, spec: Object) -> Violation | None:
    """COMPAT: windowsHostProcess_1_0"""

    def bad(holder: Object) -> bool:
        return bool(under(holder, "windowsOptions").get("hostProcess"))

    who = setters(bad(spec), names([one for one in containers(spec) if bad(one)]))
    if not who:
        return None
    return Violation("hostProcess", f"{who} must not set securityContext.windowsOptions.hostProcess=true")
