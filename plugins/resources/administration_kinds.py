"""Kinds for administrators: certificates, admission registration and flow control; rules are imported when needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from apiserver import hookimpl
from apiserver.api.names import GroupVersionKind
from apiserver.api.resource import FeatureGate, Resource, Subresource
from apiserver.api.server import Server
from apiserver.api.strategy import SpecStatusStrategy
from apiserver_plugins.resources.common.declarations import declare
from apiserver_plugins.resources.common.deferred import DeferredColumns, DeferredStrategy, converting, ruled

KINDS = """
#GROUP/VERSION                         KIND                              PLURAL                             SCOPE       SHORT  CATEGORIES      SINCE
certificates.k8s.io/v1                 CertificateSigningRequest         certificatesigningrequests         Cluster     csr    -
certificates.k8s.io/v1                 ClusterTrustBundle                clustertrustbundles                Cluster     -      -               1.37
certificates.k8s.io/v1beta1            ClusterTrustBundle                clustertrustbundles                Cluster     -      -               1.33
certificates.k8s.io/v1alpha1           ClusterTrustBundle                clustertrustbundles                Cluster     -      -               1.27
certificates.k8s.io/v1                 PodCertificateRequest             podcertificaterequests             Namespaced  -      -               1.37
certificates.k8s.io/v1beta1            PodCertificateRequest             podcertificaterequests             Namespaced  -      -               1.35
certificates.k8s.io/v1alpha1           PodCertificateRequest             podcertificaterequests             Namespaced  -      -               1.34
admissionregistration.k8s.io/v1        MutatingAdmissionPolicy           mutatingadmissionpolicies          Cluster     -      api-extensions  1.36
admissionregistration.k8s.io/v1beta1   MutatingAdmissionPolicy           mutatingadmissionpolicies          Cluster     -      api-extensions  1.34
admissionregistration.k8s.io/v1alpha1  MutatingAdmissionPolicy           mutatingadmissionpolicies          Cluster     -      api-extensions  1.32
admissionregistration.k8s.io/v1        MutatingAdmissionPolicyBinding    mutatingadmissionpolicybindings    Cluster     -      api-extensions  1.36
admissionregistration.k8s.io/v1beta1   MutatingAdmissionPolicyBinding    mutatingadmissionpolicybindings    Cluster     -      api-extensions  1.34
admissionregistration.k8s.io/v1alpha1  MutatingAdmissionPolicyBinding    mutatingadmissionpolicybindings    Cluster     -      api-extensions  1.32
admissionregistration.k8s.io/v1        MutatingWebhookConfiguration      mutatingwebhookconfigurations      Cluster     -      api-extensions
admissionregistration.k8s.io/v1        ValidatingAdmissionPolicy         validatingadmissionpolicies        Cluster     -      api-extensions  1.30
admissionregistration.k8s.io/v1beta1   ValidatingAdmissionPolicy         validatingadmissionpolicies        Cluster     -      api-extensions  1.28
admissionregistration.k8s.io/v1alpha1  ValidatingAdmissionPolicy         validatingadmissionpolicies        Cluster     -      api-extensions  1.26
admissionregistration.k8s.io/v1        ValidatingAdmissionPolicyBinding  validatingadmissionpolicybindings  Cluster     -      api-extensions  1.30
admissionregistration.k8s.io/v1beta1   ValidatingAdmissionPolicyBinding  validatingadmissionpolicybindings  Cluster     -      api-extensions  1.28
admissionregistration.k8s.io/v1alpha1  ValidatingAdmissionPolicyBinding  validatingadmissionpolicybindings  Cluster     -      api-extensions  1.26
admissionregistration.k8s.io/v1        ValidatingWebhookConfiguration    validatingwebhookconfigurations    Cluster     -      api-extensions
flowcontrol.apiserver.k8s.io/v1        FlowSchema                        flowschemas                        Cluster     -      -               1.29
flowcontrol.apiserver.k8s.io/v1beta3   FlowSchema                        flowschemas                        Cluster     -      -               1.26
flowcontrol.apiserver.k8s.io/v1beta2   FlowSchema                        flowschemas                        Cluster     -      -               1.23
flowcontrol.apiserver.k8s.io/v1beta1   FlowSchema                        flowschemas                        Cluster     -      -               1.20
flowcontrol.apiserver.k8s.io/v1        PriorityLevelConfiguration        prioritylevelconfigurations        Cluster     -      -               1.29
flowcontrol.apiserver.k8s.io/v1beta3   PriorityLevelConfiguration        prioritylevelconfigurations        Cluster     -      -               1.26
flowcontrol.apiserver.k8s.io/v1beta2   PriorityLevelConfiguration        prioritylevelconfigurations        Cluster     -      -               1.23
flowcontrol.apiserver.k8s.io/v1beta1   PriorityLevelConfiguration        prioritylevelconfigurations        Cluster     -      -               1.20
"""  # noqa: E501

_REGISTRATION = "admissionregistration_v1"
_FLOW = "flowcontrol.apiserver.k8s.io"
_FLOW_VERSIONS = {
    "v1beta3": ("1.29", "1.32", "v1"),
    "v1beta2": ("1.26", "1.29", "v1beta3"),
    "v1beta1": ("1.23", "1.26", "v1beta2"),
}
"""When the beta versions of flow control, on by default in their time, were deprecated and gone, and what for."""


def _registration(module: str, name: str, columns: str = "COLUMNS") -> dict[str, Any]:
    """Two kinds share each module of admission registration."""
    path = f"{_REGISTRATION}.{module}"
    return {"strategy": DeferredStrategy(path, name), "columns": DeferredColumns(path, columns)}


def _flow(kind: str, rules: dict[str, Any], **older: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The declarations of a kind of flow control in all its versions, stored in the newest shape.

    :param older: for the versions that have another shape.
    """
    stored = {"storage_version": GroupVersionKind(_FLOW, "v1", kind)}
    yield kind, {**rules, **stored}
    for version, (deprecated, gone, instead) in _FLOW_VERSIONS.items():
        text = (
            f"{_FLOW}/{version} {kind} is deprecated in v{deprecated}+, unavailable in v{gone}+; "
            f"use {_FLOW}/{instead} {kind}"
        )
        other = older if version != "v1beta3" else {}
        yield f"{_FLOW}/{version} {kind}", {**rules, **stored, **other, "enabled": True, "deprecated": text}


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    csr = "certificates_v1.certificatesigningrequests"
    approval = Subresource("approval", DeferredStrategy(csr, "APPROVAL"))
    policy_status = Subresource(
        "status", DeferredStrategy(f"{_REGISTRATION}.policies", "VALIDATING_STATUS"), introduced=28
    )
    level = GroupVersionKind(_FLOW, "v1", "PriorityLevelConfiguration")
    shares = converting(level, "flowcontrol_v1.conversion", "to_v1beta2", "from_v1beta2")
    return declare(
        KINDS,
        {
            "CertificateSigningRequest": ruled(csr, status=True, also=(approval,), fields="spec.signerName"),
            "MutatingAdmissionPolicy": _registration("policies", "MUTATING", "MUTATING_COLUMNS"),
            "MutatingAdmissionPolicyBinding": _registration("bindings", "MUTATING"),
            "MutatingWebhookConfiguration": _registration("webhooks", "MUTATING"),
            "ValidatingAdmissionPolicy": {
                **_registration("policies", "VALIDATING", "VALIDATING_COLUMNS"),
                "subresources": (policy_status,),
            },
            "ValidatingAdmissionPolicyBinding": _registration("bindings", "VALIDATING"),
            "ValidatingWebhookConfiguration": _registration("webhooks", "VALIDATING"),
            "ClusterTrustBundle": {
                **ruled("certificates_v1.clustertrustbundles", fields="spec.signerName"),
                "gate": FeatureGate("ClusterTrustBundle", since=37),
            },
            "PodCertificateRequest": {
                "strategy": SpecStatusStrategy(),
                "subresources": (Subresource("status"),),
                "gate": FeatureGate("PodCertificateRequest", since=37),
            },
            **dict(_flow("FlowSchema", ruled("flowcontrol_v1.flowschemas", status=True))),
            **dict(
                _flow(
                    "PriorityLevelConfiguration",
                    ruled("flowcontrol_v1.prioritylevelconfigurations", status=True),
                    **shares,
                )
            ),
        },
    )
