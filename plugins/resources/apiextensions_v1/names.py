"""The names in a definition (group, kind, plural and so on), and the approval that Kubernetes' own groups need.

Called by :mod:`.validation`.

COMPAT: ValidateCustomResourceDefinitionNames; validateAPIApproval
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.validation import dns_1035_label, dns_subdomain
from apiserver_plugins.apiextensions import approval

Object = Mapping[str, Any]

_MIXED = "may have mixed case, but should otherwise match: "
_REQUIRED = ("plural", "singular", "kind", "listKind")


def group_errors(group: str, path: Path) -> list[FieldError]:
    """Problems of the name of a group."""
    if not group:
        return [FieldError.required(path)]
    texts = dns_subdomain(group)
    if texts:
        return [FieldError.invalid(path, group, ",".join(texts))]
    if "." not in group:
        return [FieldError.invalid(path, group, "should be a domain with at least one dot")]
    return []


def label_errors(value: str, path: Path, said_before: str = "") -> list[FieldError]:
    """Problems of a name that must be a DNS-1035 label, all in one error."""
    texts = dns_1035_label(value.lower() if said_before else value)
    return [FieldError.invalid(path, value, said_before + ",".join(texts))] if texts else []


def names_errors(names: Object, path: Path) -> list[FieldError]:
    """Problems of names that were asked for or accepted; none need be there."""
    errors: list[FieldError] = []
    for field, said_before in (("plural", ""), ("singular", ""), ("kind", _MIXED), ("listKind", _MIXED)):
        if names.get(field):
            errors += label_errors(names[field], path / field, said_before)
    for i, name in enumerate(names.get("shortNames") or ()):
        errors += label_errors(name, path / "shortNames" / i)
    if names.get("kind") and names["kind"] == names.get("listKind"):
        text = "kind and listKind may not be the same"
        errors.append(FieldError.invalid(path / "listKind", names["listKind"], text))
    for i, category in enumerate(names.get("categories") or ()):
        errors += label_errors(category, path / "categories" / i)
    return errors


def required_errors(names: Object, path: Path) -> list[FieldError]:
    """Names that must be asked for and are not."""
    return [FieldError.required(path / field) for field in _REQUIRED if not names.get(field)]


def approval_errors(definition: Object, old: Object | None) -> list[FieldError]:
    """Problems of the annotation that definitions in Kubernetes' own groups need."""
    if not approval.is_protected(definition["spec"].get("group") or ""):
        return []
    _, reason, text = approval.approval(definition)
    if old is not None and approval.approval(old).reason == reason:
        return []  # COMPAT: who does not touch the annotation is not bothered with it
    path = Path("metadata.annotations").key(approval.ANNOTATION)
    if reason == approval.MISSING:
        return [FieldError.required(path, text)]
    if reason == approval.INVALID:
        return [FieldError.invalid(path, approval.annotation(definition), text)]
    return []
