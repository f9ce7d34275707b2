"""CertificateSigning: certificates are issued by those who may sign for their signer.

COMPAT: plugin/pkg/admission/certificates/signing
"""

from __future__ import annotations

from apiserver import hookimpl
from apiserver.api.admission import UPDATE, AdmissionRequest
from apiserver.api.logs import quote
from apiserver.api.names import GroupResource
from apiserver_plugins.admission.signers import GROUP, permitted

REQUESTS = GroupResource(GROUP, "certificatesigningrequests")


@hookimpl(priority=2600)
def apiserver_validate(request: AdmissionRequest) -> None:
    new, old = request.object, request.old_object
    if request.operation != UPDATE or request.subresource != "status" or new is None or old is None:
        return
    if request.resource.group_resource != REQUESTS:
        return
    was, becomes = old.get("status") or {}, new.get("status") or {}
    if all((was.get(field) or "") == (becomes.get(field) or "") for field in ("certificate", "conditions")):
        return
    signer = (old.get("spec") or {}).get("signerName") or ""
    if not permitted(request, "sign", signer):
        raise request.forbidden(f"user not permitted to sign requests with signerName {quote(signer)}")
