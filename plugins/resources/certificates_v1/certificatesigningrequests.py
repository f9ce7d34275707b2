"""CertificateSigningRequests. Who asks is noted by the server; what is approved stays so.

COMPAT: pkg/apis/certificates/validation; pkg/registry/certificates/certificates; printCertificateSigningRequest
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from apiserver.api.durations import human_duration, now
from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import StatusStrategy, Strategy, keep_status
from apiserver.api.validation import dns_subdomain
from apiserver_plugins.resources.common.columns import AGE, NONE, value_at
from apiserver_plugins.resources.common.values import invalid

Object = dict[str, Any]

APPROVED, DENIED, FAILED = "Approved", "Denied", "Failed"
_SPEC, _STATUS = Path("spec"), Path("status")
_CONDITIONS, _CERTIFICATE = _STATUS / "conditions", _STATUS / "certificate"
_LEGACY_SIGNER = "kubernetes.io/legacy-unknown"
_SHORTEST = 600
_USAGES = frozenset(
    (
        "signing", "digital signature", "content commitment", "key encipherment", "key agreement", "data encipherment",
        "cert sign", "crl sign", "encipher only", "decipher only", "any", "server auth", "client auth", "code signing",
        "email protection", "s/mime", "ipsec end system", "ipsec tunnel", "ipsec user", "timestamping", "ocsp signing",
        "microsoft sgc", "netscape sgc",
    )
)  # fmt: skip
_WHO = ("username", "uid", "groups", "extra")
_BLOCK = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----\s(.*?)-----END \1-----", re.DOTALL)
# The statuses that each condition may have.
_STATUSES = {APPROVED: ("True",), DENIED: ("True",), FAILED: ("True",)}


# -- rules ------------------------------------------------------------------------------------------------------------


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except binascii.Error:
        return b""


def _request_problem(text: str) -> str | None:
    """What is wrong with a PEM encoded request."""
    block = _BLOCK.search(_decoded(text))
    if block is None or block[1] != b"CERTIFICATE REQUEST":
        return "PEM block type must be CERTIFICATE REQUEST"
    from cryptography import x509

    try:
        x509.load_pem_x509_csr(block[0])
    except (ValueError, TypeError) as ex:
        return f"asn1: structure error: {ex}"
    return None


def _certificate_problem(text: str) -> str | None:
    """COMPAT: validateCertificate."""
    blocks = _BLOCK.findall(_decoded(text))
    for kind, _ in blocks:
        if kind != b"CERTIFICATE":
            return f'only CERTIFICATE PEM blocks are allowed, found "{kind.decode()}"'
    return None if blocks else "must contain at least one CERTIFICATE PEM block"


def _signer_errors(name: str, path: Path) -> list[FieldError]:
    """COMPAT: ValidateSignerName."""
    if not name:
        return [FieldError.required(path)]
    if name == _LEGACY_SIGNER:
        return [FieldError.invalid(path, name, "the legacy signerName is not allowed via this API version")]
    domain, slash, rest = name.partition("/")
    if not slash or "/" in rest:
        text = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        return [FieldError.invalid(path, name, text)]
    errors = []
    for segment in (domain, rest):
        texts = [f'validating label "{segment}": {text}' for text in dns_subdomain(segment)]
        errors += invalid(path, segment, texts)
    if not errors and "." not in domain:
        text = "should be a domain with at least two segments separated by dots"
        errors.append(FieldError.invalid(path, domain, text))
    return errors


def _usage_errors(usages: list[str], path: Path) -> list[FieldError]:
    errors = [] if usages else [FieldError.required(path)]
    for i, usage in enumerate(usages):
        if usage not in _USAGES:
            errors.append(FieldError.not_supported(path / i, usage, _USAGES))
        if usage in usages[:i]:
            errors.append(FieldError.duplicate(path / i, usage))
    return errors


def _spec_errors(spec: Object) -> list[FieldError]:
    request = spec.get("request") or ""
    problem = _request_problem(request)
    errors = [FieldError.invalid(_SPEC / "request", request, problem)] if problem else []
    errors += _usage_errors(spec.get("usages") or [], _SPEC / "usages")
    errors += _signer_errors(spec.get("signerName") or "", _SPEC / "signerName")
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < _SHORTEST:
        text = f"may not specify a duration less than {_SHORTEST} seconds (10 minutes)"
        errors.append(FieldError.invalid(_SPEC / "expirationSeconds", seconds, text))
    return errors


def _conditions(obj: Object) -> list[Object]:
    return value_at(obj, "status", "conditions") or []


def _condition_errors(conditions: list[Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    kinds = [condition.get("type") or "" for condition in conditions]
    for i, condition in enumerate(conditions):
        path, kind, status = _CONDITIONS / i, kinds[i], condition.get("status") or ""
        if not kind:
            errors.append(FieldError.required(path / "type"))
        supported = _STATUSES.get(kind, ("True", "False", "Unknown"))
        if not status:
            errors.append(FieldError.required(path / "status"))
        elif status not in supported:
            errors.append(FieldError.not_supported(path / "status", status, supported))
        if kind in kinds[:i]:
            errors.append(FieldError.duplicate(path / "type", kind))
        other = {APPROVED: DENIED, DENIED: APPROVED}.get(kind)
        if other in kinds[:i]:
            # COMPAT: the path is that of the list
            text = "Approved and Denied conditions are mutually exclusive"
            errors.append(FieldError.invalid(_CONDITIONS, kind, text))
    return errors


def _preserved_errors(obj: Object, old: Object, *kinds: str, adding: bool) -> list[FieldError]:
    """Conditions that an update may not remove, nor change, and with ``adding`` not add.

    COMPAT: validateConditionChanges and its like
    """
    errors = []
    for kind in kinds:
        new, before = ([c for c in _conditions(o) if c.get("type") == kind] for o in (obj, old))
        if len(new) < len(before):
            text = f'updates may not remove a condition of type "{kind}"'
        elif len(new) > len(before) and not adding:
            text = f'updates may not add a condition of type "{kind}"'
        elif len(new) == len(before) and new != before:
            text = f'updates may not modify a condition of type "{kind}"'
        else:
            continue
        errors.append(FieldError.forbidden(_CONDITIONS, text))
    return errors


def _stamp(obj: Object, old: Object) -> None:
    """Note when conditions changed. COMPAT: populateConditionTimestamps."""
    time = now()
    before = {condition.get("type"): condition for condition in _conditions(old)}
    for condition in _conditions(obj):
        condition["lastUpdateTime"] = condition.get("lastUpdateTime") or time
        if not condition.get("lastTransitionTime"):
            was = before.get(condition.get("type")) or {}
            same = was.get("status") == condition.get("status") and was.get("lastTransitionTime")
            condition["lastTransitionTime"] = was["lastTransitionTime"] if same else time


class CertificateSigningRequestStrategy(Strategy):
    """Rules of CertificateSigningRequests."""

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        spec, user = obj.setdefault("spec", {}), ctx.request.user
        for field in _WHO:
            spec.pop(field, None)
        if user is not None:
            spec["username"] = user.name
            if user.uid:
                spec["uid"] = user.uid
            if user.groups:
                spec["groups"] = list(user.groups)
            if user.extra:
                spec["extra"] = {key: list(values) for key, values in user.extra.items()}
        obj["status"] = {}

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        obj["spec"] = old.get("spec") or {}
        keep_status(obj, old)

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        return _spec_errors(obj.get("spec") or {})

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        return []

    def validate_name(self, name: str, prefix: bool) -> list[str]:
        return []

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        return {"spec.signerName": value_at(obj, "spec", "signerName") or ""}


class CertificateStatusStrategy(StatusStrategy):
    """Rules of ``/status``: approval and denial are not a matter of it."""

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        super().prepare_for_update(ctx, obj, old)
        _stamp(obj, old)

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        errors = _condition_errors(_conditions(obj))
        errors += _preserved_errors(obj, old, APPROVED, DENIED, adding=False)
        errors += _preserved_errors(obj, old, FAILED, adding=True)
        certificate, before = (value_at(o, "status", "certificate") for o in (obj, old))
        if certificate and certificate != before:
            problem = _certificate_problem(certificate)
            if before:
                text = "updates may not modify a certificate"
                errors.append(FieldError.forbidden(_CERTIFICATE, text))
            elif problem:
                errors.append(FieldError.invalid(_CERTIFICATE, "<certificate data>", problem))
        return errors


class CertificateApprovalStrategy(StatusStrategy):
    """Rules of ``/approval``: only conditions change."""

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        super().prepare_for_update(ctx, obj, old)
        conditions = _conditions(obj)
        status = {k: v for k, v in (old.get("status") or {}).items() if k != "conditions"}
        obj["status"] = {**({"conditions": conditions} if conditions else {}), **status}
        _stamp(obj, old)

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        errors = _condition_errors(_conditions(obj))
        return errors + _preserved_errors(obj, old, APPROVED, DENIED, FAILED, adding=True)


# -- columns ----------------------------------------------------------------------------------------------------------


def _signer(obj: Object) -> str:
    return value_at(obj, "spec", "signerName") or NONE


def _requestor(obj: Object) -> str:
    return value_at(obj, "spec", "username") or ""


def _duration(obj: Object) -> str:
    seconds = value_at(obj, "spec", "expirationSeconds")
    return NONE if seconds is None else human_duration(seconds)


def _state(obj: Object) -> str:
    kinds = {condition.get("type") for condition in _conditions(obj)}
    words = [next((kind for kind in (DENIED, APPROVED) if kind in kinds), "Pending")]
    if FAILED in kinds:
        words.append(FAILED)
    if value_at(obj, "status", "certificate"):
        words.append("Issued")
    return ",".join(words)


STRATEGY = CertificateSigningRequestStrategy()
STATUS = CertificateStatusStrategy(STRATEGY)
APPROVAL = CertificateApprovalStrategy(STRATEGY)
COLUMNS = (
    AGE,
    Column("SignerName", _signer, field="spec.signerName"),
    # COMPAT: upstream describes the request here
    Column("Requestor", _requestor, field="spec.request"),
    Column("RequestedDuration", _duration, field="spec.expirationSeconds"),
    Column("Condition", _state, field="status.conditions"),
)
