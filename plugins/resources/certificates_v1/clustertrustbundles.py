"""ClusterTrustBundles: certificates to trust, for a signer or for nobody in particular.

COMPAT: pkg/apis/certificates/validation ValidateClusterTrustBundle
"""

from __future__ import annotations

from typing import Any

from cryptography import x509

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy
from apiserver.api.validation import path_segment
from apiserver_plugins.resources.common.columns import cell, value_at
from apiserver_plugins.resources.common.values import immutable

Object = dict[str, Any]

_SPEC = Path("spec")


def _name_errors(name: str, signer: str) -> list[FieldError]:
    path = Path("metadata") / "name"
    if not signer:
        text = 'ClusterTrustBundle without signer name must not have ":" in its name'
        return [FieldError.invalid(path, name, text)] if ":" in name else []
    prefix = signer.replace("/", ":") + ":"
    if name.startswith(prefix):
        return []
    return [
        FieldError.invalid(path, name, f"ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}")
    ]


def _bundle_errors(text: str) -> list[FieldError]:
    path = _SPEC / "trustBundle"
    try:
        certificates = x509.load_pem_x509_certificates(text.encode())
    except ValueError:
        return [FieldError.invalid(path, "<value omitted>", "at least one trust anchor must be provided")]
    for number, certificate in enumerate(certificates):
        try:
            constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints).value
        except x509.ExtensionNotFound:
            constraints = None
        if constraints is None or not constraints.ca:
            what = f"PEM block {number} does not have the CA bit set in its BasicConstraints extension"
            return [FieldError.invalid(path, "<value omitted>", what)]
    return []


class ClusterTrustBundleStrategy(Strategy):
    """Rules of ClusterTrustBundles."""

    def validate_name(self, name: str, prefix: bool) -> list[str]:
        return path_segment(name)

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = _name_errors(obj["metadata"].get("name") or "", spec.get("signerName") or "")
        return [*errors, *_bundle_errors(spec.get("trustBundle") or "")]

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        signers = (value_at(each, "spec", "signerName") for each in (obj, old))
        return [*self.validate(ctx, obj), *immutable(_SPEC / "signerName", *signers)]

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        return {"spec.signerName": value_at(obj, "spec", "signerName") or ""}


STRATEGY = ClusterTrustBundleStrategy()
COLUMNS = (Column("SignerName", cell("spec", "signerName"), field="spec.signerName"),)
