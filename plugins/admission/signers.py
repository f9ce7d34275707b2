"""Whether a user may approve, sign or attest for a signer: by its name, or for all of its domain.

Asked by the admission plugins for certificates and trust bundles.

COMPAT: plugin/pkg/admission/certificates IsAuthorizedForSignerName
"""

from __future__ import annotations

from apiserver.api.admission import AdmissionRequest
from apiserver.api.auth import Attributes, Decision

GROUP = "certificates.k8s.io"


def permitted(request: AdmissionRequest, verb: str, signer: str) -> bool:
    """Whether the user of a request may use ``verb`` on the signer. An authorizer that fails has not allowed it."""
    for name in (signer, f"{signer.partition('/')[0]}/*"):
        asked = Attributes(
            request.user, verb, "", is_resource=True, group=GROUP, version="*", resource="signers", name=name
        )
        if request.server.authorize(asked)[0] is Decision.ALLOW:
            return True
    return False
