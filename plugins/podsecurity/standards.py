"""Which checks make up each level in each version of the standards, and the answer they give about a pod.

COMPAT: k8s.io/pod-security-admission/policy registry.go, checks.go
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from apiserver_plugins.podsecurity import baseline, restricted
from apiserver_plugins.podsecurity.levels import BASELINE, PRIVILEGED, Standard
from apiserver_plugins.podsecurity.reading import Check, Object, Violation

Versions = Mapping[int, Check]
"""A check by the minor that it came with."""

_SYSCTLS_27 = baseline.SYSCTLS | {"net.ipv4.ip_local_reserved_ports"}
_SYSCTLS_29 = _SYSCTLS_27 | {
    f"net.ipv4.tcp_{name}" for name in ("keepalive_time", "fin_timeout", "keepalive_intvl", "keepalive_probes")
}
_SYSCTLS_32 = _SYSCTLS_29 | {"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}
_SYSCTLS_37 = _SYSCTLS_32 | {"net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_notsent_lowat"}

_BASELINE: Mapping[str, Versions] = {
    "appArmorProfile": {0: baseline.app_armor},
    "capabilities_baseline": {0: baseline.capabilities},
    "hostNamespaces": {0: baseline.host_namespaces},
    "hostPathVolumes": {0: baseline.host_path_volumes},
    "hostPorts": {0: baseline.host_ports},
    "hostProbesAndHostLifecycle": {34: baseline.host_probes},
    "privileged": {0: baseline.privileged},
    "procMount": {0: baseline.proc_mount, 35: baseline.proc_mount_1_35},
    "seLinuxOptions": {
        0: baseline.selinux(baseline.SELINUX),
        31: baseline.selinux(baseline.SELINUX | {"container_engine_t"}),
    },
    "seccompProfile_baseline": {0: baseline.seccomp_annotations, 19: baseline.seccomp},
    "sysctls": {
        0: baseline.sysctls(baseline.SYSCTLS),
        27: baseline.sysctls(_SYSCTLS_27),
        29: baseline.sysctls(_SYSCTLS_29),
        32: baseline.sysctls(_SYSCTLS_32),
        37: baseline.sysctls(_SYSCTLS_37),
    },
    "windowsHostProcess": {0: baseline.windows_host_process},
}
"""The checks of the level baseline by their names, which also are their order."""


class _Restricted(NamedTuple):
    """A check of the level restricted; ``instead`` of which one of baseline it stands."""

    versions: Versions
    instead: str = ""


_RESTRICTED: Mapping[str, _Restricted] = {
    "allowPrivilegeEscalation": _Restricted(
        {8: restricted.privilege_escalation, 25: restricted.but_windows(restricted.privilege_escalation)}
    ),
    "capabilities_restricted": _Restricted(
        {22: restricted.capabilities, 25: restricted.but_windows(restricted.capabilities)}, "capabilities_baseline"
    ),
    "procMount_restricted": _Restricted({35: baseline.proc_mount}, "procMount"),
    "restrictedVolumes": _Restricted({0: restricted.volumes}, "hostPathVolumes"),
    "runAsNonRoot": _Restricted({0: restricted.non_root, 35: restricted.but_user_namespaces(restricted.non_root)}),
    "runAsUser": _Restricted({23: restricted.user, 35: restricted.but_user_namespaces(restricted.user)}),
    "seccompProfile_restricted": _Restricted(
        {19: restricted.seccomp_chosen, 25: restricted.but_windows(restricted.seccomp_chosen)},
        "seccompProfile_baseline",
    ),
}
NEWEST = max(minor for versions in _BASELINE.values() for minor in versions)
"""The minor after which nothing has changed."""


@functools.lru_cache
def checks(level: str, minor: int) -> tuple[Check, ...]:
    """The checks of a level in a version, in the order of what they say: baseline's first, each by name."""
    strict = {name: _of(check.versions, minor) for name, check in _RESTRICTED.items()} if level != BASELINE else {}
    replaced = {_RESTRICTED[name].instead for name, check in strict.items() if check is not None}
    basic = [_of(versions, minor) for name, versions in sorted(_BASELINE.items()) if name not in replaced]
    return tuple(check for check in (*basic, *(strict[name] for name in sorted(strict))) if check is not None)


def _of(versions: Versions, minor: int) -> Check | None:
    known = [since for since in versions if since <= minor]
    return versions[max(known)] if known else None


def violations(standard: Standard, metadata: Object, spec: Object, newest: int = NEWEST) -> list[Violation]:
    """What in a pod the standard does not allow.

    :param newest: the minor that counts as the latest.
    """
    if standard.level == PRIVILEGED:
        return []
    found = (check(metadata, spec) for check in checks(standard.level, min(standard.minor, newest, NEWEST)))
    return [violation for violation in found if violation is not None]


def told(found: Sequence[Violation]) -> str:
    """All reasons with what they are about. COMPAT: AggregateCheckResult.ForbiddenDetail"""
    return ", ".join(f"{reason} ({detail})" if detail else reason for reason, detail in found)


def reasons(found: Sequence[Violation]) -> str:
    """The reasons alone. COMPAT: AggregateCheckResult.ForbiddenReason"""
    return ", ".join(violation.reason for violation in found)
