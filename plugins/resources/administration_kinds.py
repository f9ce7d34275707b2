"""Kinds for administrators: certificates, admission registration and flow control; rules are imported when needed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.resource import Resource, Subresource
from apiserver.api.server import Server
from apiserver_plugins.resources.common.declarations import declare
from apiserver_plugins.resources.common.deferred import DeferredColumns, DeferredStrategy, ruled

KINDS = """
#GROUP/VERSION                   KIND                              PLURAL                             SCOPE    SHORT  CATEGORIES
certificates.k8s.io/v1           CertificateSigningRequest         certificatesigningrequests         Cluster  csr    -
admissionregistration.k8s.io/v1  MutatingAdmissionPolicy           mutatingadmissionpolicies          Cluster  -      api-extensions
admissionregistration.k8s.io/v1  MutatingAdmissionPolicyBinding    mutatingadmissionpolicybindings    Cluster  -      api-extensions
admissionregistration.k8s.io/v1  MutatingWebhookConfiguration      mutatingwebhookconfigurations      Cluster  -      api-extensions
admissionregistration.k8s.io/v1  ValidatingAdmissionPolicy         validatingadmissionpolicies        Cluster  -      api-extensions
admissionregistration.k8s.io/v1  ValidatingAdmissionPolicyBinding  validatingadmissionpolicybindings  Cluster  -      api-extensions
admissionregistration.k8s.io/v1  ValidatingWebhookConfiguration    validatingwebhookconfigurations    Cluster  -      api-extensions
flowcontrol.apiserver.k8s.io/v1  FlowSchema                        flowschemas                        Cluster  -      -
flowcontrol.apiserver.k8s.io/v1  PriorityLevelConfiguration        prioritylevelconfigurations        Cluster  -      -
"""  # noqa: E501

_REGISTRATION = "admissionregistration_v1"


def _registration(module: str, name: str, columns: str = "COLUMNS") -> dict[str, Any]:
    """Two kinds share each module of admission registration."""
    path = f"{_REGISTRATION}.{module}"
    return {"strategy": DeferredStrategy(path, name), "columns": DeferredColumns(path, columns)}


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    csr = "certificates_v1.certificatesigningrequests"
    approval = Subresource("approval", DeferredStrategy(csr, "APPROVAL"))
    policy_status = Subresource("status", DeferredStrategy(f"{_REGISTRATION}.policies", "VALIDATING_STATUS"))
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
            "FlowSchema": ruled("flowcontrol_v1.flowschemas", status=True),
            "PriorityLevelConfiguration": ruled("flowcontrol_v1.prioritylevelconfigurations", status=True),
        },
    )
