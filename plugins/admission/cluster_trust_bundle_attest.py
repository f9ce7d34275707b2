"""ClusterTrustBundleAttest: bundles of a signer are written by those who may attest for it.

COMPAT: plugin/pkg/admission/certificates/ctbattest
"""

from __future__ import annotations

from apiserver import hookimpl
from apiserver.api.admission import CREATE, UPDATE, AdmissionRequest
from apiserver.api.logs import quote
from apiserver.api.names import GroupResource
from apiserver.api.ownership import only_ownership_differs
from apiserver_plugins.admission.signers import GROUP, permitted

BUNDLES = GroupResource(GROUP, "clustertrustbundles")


@hookimpl(priority=2700)
def apiserver_validate(request: AdmissionRequest) -> None:
    if request.operation not in (CREATE, UPDATE) or request.subresource:
        return
    if request.resource.group_resource != BUNDLES:
        return
    signer = ((request.object or {}).get("spec") or {}).get("signerName") or ""
    # COMPAT: a bundle without a signer needs no more than the right to write it; that it is owned by others and waits
    # for others is no statement about its content
    if not signer or only_ownership_differs(request.object, request.old_object):
        return
    if not permitted(request, "attest", signer):
        raise request.forbidden(f"user not permitted to attest for signerName {quote(signer)}")
