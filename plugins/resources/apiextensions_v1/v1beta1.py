"""Definitions as kube-apiserver keeps them: it stores the older version, which says once what all versions share.

Called when a stored value of that version is read (``also_stored`` of the declaration); nobody writes it here.

COMPAT: pkg/apis/apiextensions/v1beta1 and v1, defaults and conversion
"""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

_SHARED = {
    "subresources": "subresources",
    "validation": "schema",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}
"""Fields of the spec, and what they are called in a version."""


def to_v1(obj: Object) -> None:
    """Change a definition of the older version into the newer one, in place."""
    spec = obj.setdefault("spec", {})
    version = spec.pop("version", None)
    if not spec.get("versions"):
        spec["versions"] = [{"name": version, "served": True, "storage": True}] if version else []
    for field, name in _SHARED.items():
        value = spec.pop(field, None)
        if value is not None:
            for each in spec["versions"]:
                each[name] = value
    for each in spec["versions"]:
        each["additionalPrinterColumns"] = [_column(column) for column in each.get("additionalPrinterColumns") or ()]
        if not each["additionalPrinterColumns"]:
            del each["additionalPrinterColumns"]
    if spec.get("preserveUnknownFields", True):
        spec["preserveUnknownFields"] = True
    else:
        del spec["preserveUnknownFields"]
    if spec.get("conversion"):
        spec["conversion"] = _conversion(spec["conversion"])


def _column(column: Object) -> Object:
    return {"jsonPath" if name == "JSONPath" else name: value for name, value in column.items()}


def _conversion(conversion: Object) -> Object:
    made = {"strategy": conversion.get("strategy") or "None"}
    client, reviews = conversion.get("webhookClientConfig"), conversion.get("conversionReviewVersions")
    if client is None and reviews is None:
        return made
    webhook = {"conversionReviewVersions": reviews, **({} if client is None else {"clientConfig": client})}
    return {**made, "webhook": webhook}
