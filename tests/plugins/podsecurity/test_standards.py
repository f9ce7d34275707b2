"""The checks of the Pod Security Standards, version by version, text by text."""

# ruff: noqa: E501 - tables read better with one case on a line

from __future__ import annotations

from typing import Any

import pytest

from apiserver_plugins.podsecurity.levels import Policy, Standard, policy_of
from apiserver_plugins.podsecurity.standards import checks, told, violations

Object = dict[str, Any]
P = "pod-security.kubernetes.io/"


def pod(*containers: Object, **spec: Any) -> Object:
    return {"containers": list(containers) or [{"name": "c"}], **spec}


def confined(name: str = "c", **more: Any) -> Object:
    """A container that restricted allows."""
    context = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True}
    context["seccompProfile"] = {"type": "RuntimeDefault"}
    return {"name": name, "securityContext": {**context, **more}}


def context(name: str = "c", **fields: Any) -> Object:
    return {"name": name, "securityContext": fields}


def said(standard: str, spec: Object, annotations: Object | None = None, newest: int = 36) -> str:
    level, _, version = standard.partition(":")
    return told(violations(Standard(level, version or "latest"), {"annotations": annotations}, spec, newest))


# fmt: off
BASELINE: list[tuple[str, Object, Object, str]] = [
    ("baseline", pod(), {}, ""),
    ("baseline", pod(hostNetwork=True, hostPID=True, hostIPC=True), {}, "host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)"),
    ("baseline", pod(context("a", privileged=True), context("b", privileged=True)), {}, 'privileged (containers "a", "b" must not set securityContext.privileged=true)'),
    ("baseline", pod(initContainers=[context("i", privileged=True)], ephemeralContainers=[context("e", privileged=True)]), {}, 'privileged (containers "i", "e" must not set securityContext.privileged=true)'),
    ("baseline", pod(context("a", capabilities={"add": ["NET_RAW", "CHOWN"]}), context("b", capabilities={"add": ["BPF"]})), {}, 'non-default capabilities (containers "a", "b" must not include "BPF", "NET_RAW" in securityContext.capabilities.add)'),
    ("baseline", pod(volumes=[{"name": "v", "hostPath": {}}, {"name": "w", "hostPath": {}}]), {}, 'hostPath volumes (volumes "v", "w")'),
    ("baseline", pod({"name": "c", "ports": [{"hostPort": 80}, {"hostPort": 0}]}), {}, 'hostPort (container "c" uses hostPort 80)'),
    ("baseline", pod({"name": "a", "ports": [{"hostPort": 80}]}, {"name": "b", "ports": [{"hostPort": 443}]}), {}, 'hostPort (containers "a", "b" use hostPorts 443, 80)'),
    ("baseline:v1.33", pod({"name": "c", "livenessProbe": {"httpGet": {"host": "x"}}}), {}, ""),
    ("baseline", pod({"name": "c", "livenessProbe": {"httpGet": {"host": "x"}}, "lifecycle": {"preStop": {"tcpSocket": {"host": "y"}}}}), {}, 'probe or lifecycle host (container "c" uses probe or lifecycle hosts "x", "y")'),
    ("baseline", pod(context(procMount="Unmasked")), {}, 'procMount (container "c" must not set securityContext.procMount to "Unmasked")'),
    ("baseline", pod(context(procMount="Unmasked"), hostUsers=False), {}, ""),
    ("baseline:v1.34", pod(context(procMount="Unmasked"), hostUsers=False), {}, 'procMount (container "c" must not set securityContext.procMount to "Unmasked")'),
    ("baseline", pod(context(seLinuxOptions={"type": "x", "user": "u"}), securityContext={"seLinuxOptions": {"role": "r"}}), {}, 'seLinuxOptions (pod and container "c" set forbidden securityContext.seLinuxOptions: type "x"; user may not be set; role may not be set)'),
    ("baseline:v1.30", pod(context(seLinuxOptions={"type": "container_engine_t"})), {}, 'seLinuxOptions (container "c" set forbidden securityContext.seLinuxOptions: type "container_engine_t")'),
    ("baseline:v1.31", pod(context(seLinuxOptions={"type": "container_engine_t"})), {}, ""),
    ("baseline", pod(context(seccompProfile={"type": "Unconfined"})), {}, 'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")'),
    ("baseline:v1.18", pod(context(seccompProfile={"type": "Unconfined"})), {"seccomp.security.alpha.kubernetes.io/pod": "unconfined", "container.seccomp.security.alpha.kubernetes.io/c": "localhost/x"}, 'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")'),
    ("baseline", pod(securityContext={"sysctls": [{"name": "a.b"}, {"name": "net.ipv4.tcp_rmem"}]}), {}, "forbidden sysctls (a.b)"),
    ("baseline:v1.26", pod(securityContext={"sysctls": [{"name": "net.ipv4.ip_local_reserved_ports"}]}), {}, "forbidden sysctls (net.ipv4.ip_local_reserved_ports)"),
    ("baseline:v1.27", pod(securityContext={"sysctls": [{"name": "net.ipv4.ip_local_reserved_ports"}]}), {}, ""),
    ("baseline", pod(securityContext={"sysctls": [{"name": "net.ipv4.tcp_notsent_lowat"}]}), {}, "forbidden sysctls (net.ipv4.tcp_notsent_lowat)"),
    ("baseline", pod(context(windowsOptions={"hostProcess": True}), securityContext={"windowsOptions": {"hostProcess": True}}), {}, 'hostProcess (pod and container "c" must not set securityContext.windowsOptions.hostProcess=true)'),
    ("baseline", pod(context(appArmorProfile={"type": "Unconfined"})), {"container.apparmor.security.beta.kubernetes.io/c": "unconfined"}, 'forbidden AppArmor profiles (container "c" and annotation must not set AppArmor profile type to "Unconfined", "container.apparmor.security.beta.kubernetes.io/c="unconfined"")'),
]
RESTRICTED: list[tuple[str, Object, str]] = [
    ("restricted", pod(confined()), ""),
    ("restricted:v1.7", pod(context(runAsNonRoot=True)), ""),
    ("restricted:v1.8", pod(context(runAsNonRoot=True)), 'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false)'),
    ("restricted:v1.21", pod(confined(capabilities={})), ""),
    ("restricted", pod(confined(capabilities={"add": ["CHOWN"]})), 'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]; container "c" must not include "CHOWN" in securityContext.capabilities.add)'),
    ("restricted", pod(confined(capabilities={"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]})), ""),
    ("restricted", pod(confined(), volumes=[{"name": "v", "nfs": {}}, {"name": "w", "hostPath": {}}, {"name": "x", "emptyDir": {}}, {"name": "y"}]), 'restricted volume types (volumes "v", "w", "y" use restricted volume types "hostPath", "nfs", "unknown")'),
    ("restricted", pod(confined(runAsNonRoot=False), securityContext={"runAsNonRoot": False}), 'runAsNonRoot != true (pod and container "c" must not set securityContext.runAsNonRoot=false)'),
    ("restricted", pod(confined(runAsNonRoot=None)), 'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)'),
    ("restricted", pod(confined(runAsNonRoot=None), hostUsers=False), ""),
    ("restricted", pod(confined(runAsUser=0)), 'runAsUser=0 (container "c" must not set runAsUser=0)'),
    ("restricted:v1.22", pod(confined(runAsUser=0)), ""),
    ("restricted", pod(confined(runAsUser=0), hostUsers=False), ""),
    ("restricted", pod(confined(procMount="Unmasked"), hostUsers=False), 'procMount (container "c" must not set securityContext.procMount to "Unmasked")'),
    ("restricted", pod(confined(seccompProfile=None)), 'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")'),
    ("restricted", pod(confined(seccompProfile=None), securityContext={"seccompProfile": {"type": "Localhost"}}), ""),
    ("restricted", pod(confined(seccompProfile={"type": "Unconfined"})), 'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")'),
    ("restricted", pod(context(runAsNonRoot=True), os={"name": "windows"}), ""),
    ("restricted", pod(confined(), hostNetwork=True), "host namespaces (hostNetwork=true)"),
]
# fmt: on


@pytest.mark.parametrize(("standard", "spec", "annotations", "text"), BASELINE)
def test_baseline_forbids_what_gives_more_rights(standard: str, spec: Object, annotations: Object, text: str) -> None:
    assert said(standard, spec, annotations) == text


@pytest.mark.parametrize(("standard", "spec", "text"), RESTRICTED)
def test_restricted_asks_for_what_hardens(standard: str, spec: Object, text: str) -> None:
    assert said(standard, spec) == text


def test_privileged_allows_everything() -> None:
    assert said("privileged", pod(context(privileged=True), hostPID=True)) == ""


def test_the_latest_version_is_that_of_the_server() -> None:
    spec = pod(securityContext={"sysctls": [{"name": "net.ipv4.tcp_notsent_lowat"}]})
    assert said("baseline", spec, newest=37) == ""
    assert said("baseline:v1.99", spec, newest=36) != ""


def test_restricted_replaces_the_checks_of_baseline_that_it_sharpens() -> None:
    assert len(checks("restricted", 36)) == len(checks("baseline", 36)) + 7 - 4
    assert len(checks("restricted", 0)) == len(checks("baseline", 0)) + 2 - 1


@pytest.mark.parametrize(
    ("labels", "policy"),
    [
        ({}, Policy()),
        ({"enforce": "baseline"}, Policy(Standard("baseline"), Standard(), Standard("baseline"))),
        (
            {"enforce": "baseline", "enforce-version": "v1.30", "warn-version": "v1.31"},
            Policy(Standard("baseline", "v1.30"), Standard(), Standard("baseline", "v1.31")),
        ),
        ({"enforce": "restricted", "warn": "privileged"}, Policy(Standard("restricted"))),
        ({"audit": "baseline"}, Policy(audit=Standard("baseline"))),
        ({"enforce": "odd", "audit": "odd", "warn": "odd"}, Policy(Standard("restricted"))),
        ({"enforce": "privileged", "enforce-version": "v1.05"}, Policy()),
    ],
)
def test_labels_make_a_policy(labels: dict[str, str], policy: Policy) -> None:
    assert policy_of({f"{P}{key}": value for key, value in labels.items()})[0] == policy


def test_wrong_labels_are_told() -> None:
    errors = policy_of({f"{P}enforce": "odd", f"{P}warn-version": "v2.0"})[1]
    assert [str(error) for error in errors] == [
        f'metadata.labels[{P}enforce]: Invalid value: "odd": must be one of privileged, baseline, restricted',
        f'metadata.labels[{P}warn-version]: Invalid value: "v2.0": must be "latest" or "v1.x"',
    ]
