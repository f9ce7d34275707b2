"""CertificateApproval: a request is approved or denied by those who may approve for its signer.

COMPAT: plugin/pkg/admission/certificates/approval
"""

from __future__ import annotations

from apiserver import hookimpl
from apiserver.api.admission import UPDATE, AdmissionRequest
from apiserver.api.logs import quote
from apiserver.api.names import GroupResource
from apiserver_plugins.admission.signers import GROUP, permitted

REQUESTS = GroupResource(GROUP, "certificatesigningrequests")


@hookimpl(priority=2500)
def apiserver_validate(request: AdmissionRequest) -> None:
    if request.operation != UPDATE or request.subresource != "approval":
        return
    if request.resource.group_resource != REQUESTS or request.old_object is None:
        return
    # COMPAT: the signer of the stored request counts, whatever the new one says
    signer = (request.old_object.get("spec") or {}).get("signerName") or ""
    if not permitted(request, "approve", signer):
        raise request.forbidden(f"user not permitted to approve requests with signerName {quote(signer)}")
