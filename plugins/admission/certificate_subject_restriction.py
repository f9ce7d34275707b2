"""CertificateSubjectRestriction: nobody asks the signer of client certificates for group ``system:masters``.

COMPAT: plugin/pkg/admission/certificates/subjectrestriction
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

from apiserver import hookimpl
from apiserver.api.admission import CREATE, AdmissionRequest
from apiserver.api.auth import MASTERS
from apiserver.api.names import GroupResource
from apiserver_plugins.admission.signers import GROUP

REQUESTS = GroupResource(GROUP, "certificatesigningrequests")
CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client"


@hookimpl(priority=2800)
def apiserver_validate(request: AdmissionRequest) -> None:
    if request.operation != CREATE or request.subresource or request.resource.group_resource != REQUESTS:
        return
    spec = (request.object or {}).get("spec") or {}
    if spec.get("signerName") != CLIENT_SIGNER:
        return
    try:
        groups = _organizations(base64.b64decode(spec.get("request") or ""))
    except (ValueError, binascii.Error) as ex:
        raise request.forbidden(f"failed to parse CSR: {ex}") from ex
    if MASTERS in groups:
        raise request.forbidden(f"use of {CLIENT_SIGNER} signer with {MASTERS} group is not allowed")


def _organizations(pem: bytes) -> Sequence[str]:
    # slow to import, and few clients ask for certificates
    from cryptography.x509 import load_pem_x509_csr
    from cryptography.x509.oid import NameOID

    found = load_pem_x509_csr(pem).subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    return [str(name.value) for name in found]
