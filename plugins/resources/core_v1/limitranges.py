"""LimitRanges.

COMPAT: pkg/apis/core/v1 SetDefaults_LimitRangeItem; pkg/apis/core/validation ValidateLimitRange
"""

from __future__ import annotations

import uuid
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy
from apiserver.api.validation import qualified_name
from apiserver_plugins.resources.common.pod_validation.resources import STANDARD, name_errors
from apiserver_plugins.resources.common.quantities import amount
from apiserver_plugins.resources.common.values import invalid

Item = dict[str, Any]

_TYPES = ("Pod", "Container", "PersistentVolumeClaim")
_FIELDS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_WORDS = {
    "min": "min value", "max": "max value", "default": "default value", "defaultRequest": "default request value",
}  # fmt: skip
# (smaller, larger, field the error is about, field whose value it shows); COMPAT: not always the same field.
_ORDER = (
    ("min", "max", "min", "min"),
    ("min", "defaultRequest", "defaultRequest", "defaultRequest"),
    ("defaultRequest", "max", "defaultRequest", "defaultRequest"),
    ("defaultRequest", "default", "defaultRequest", "defaultRequest"),
    ("min", "default", "default", "min"),
    ("default", "max", "default", "max"),
)


def _set_defaults(item: Item) -> None:
    """Of a Container: the maximum is the default, the default or else the minimum is the default request."""
    default = {**(item.get("max") or {}), **(item.get("default") or {})}
    request = {**(item.get("min") or {}), **default, **(item.get("defaultRequest") or {})}
    for field, values in (("default", default), ("defaultRequest", request)):
        if values:
            item[field] = values


def _resource_errors(kind: str, name: str, path: str) -> list[FieldError]:
    if kind in ("Pod", "Container"):
        return name_errors(path, name)
    errors = invalid(path, name, qualified_name(name))
    if not errors and "/" not in name and name not in STANDARD and not name.startswith("hugepages-"):
        errors.append(FieldError.invalid(path, name, "must be a standard resource type or fully qualified"))
    return errors


def _type_errors(kind: str, path: Path) -> list[FieldError]:
    errors = invalid(path, kind, qualified_name(kind))
    if not errors and "/" not in kind and kind not in _TYPES:
        errors.append(FieldError.invalid(path, kind, "must be a standard limit type or fully qualified"))
    return errors


def _order_errors(item: Item, name: str, path: Path) -> list[FieldError]:
    """What must not be greater than what, for one resource."""
    values = {field: item[field][name] for field in _FIELDS if name in (item.get(field) or {})}
    errors = []
    for low, high, about, shown in _ORDER:
        if low in values and high in values and amount(values[low]) > amount(values[high]):
            high_words = "default limit value" if (low, high) == ("defaultRequest", "default") else _WORDS[high]
            text = f"{_WORDS[low]} {values[low]} is greater than {high_words} {values[high]}"
            errors.append(FieldError.invalid((path / about).key(name), values[shown], text))
    return errors + _ratio_errors(values, name, path)


def _ratio_errors(values: dict[str, str], name: str, path: Path) -> list[FieldError]:
    ratio = values.get("maxLimitRequestRatio")
    errors = []
    where = (path / "maxLimitRequestRatio").key(name)
    if ratio is not None and amount(ratio) < 1:
        errors.append(FieldError.invalid(where, ratio, f"ratio {ratio} is less than 1"))
    if ratio is not None and "min" in values and "max" in values and amount(values["min"]) > 0:
        limit = float(amount(values["max"]) / amount(values["min"]))
        if amount(ratio) > limit:
            text = f"ratio {ratio} is greater than max/min = {limit:f}"
            errors.append(FieldError.invalid(where, ratio, text))
    fixed = "/" in name or name.startswith("hugepages-")
    default, request = values.get("default"), values.get("defaultRequest")
    if fixed and default is not None and request is not None and amount(default) != amount(request):
        text = f"default value {default} must equal to defaultRequest value {request} in {name}"
        errors.append(FieldError.invalid((path / "defaultRequest").key(name), request, text))
    return errors


def _item_errors(item: Item, path: Path) -> list[FieldError]:
    kind = item.get("type") or ""
    errors: list[FieldError] = []
    for field in _FIELDS:
        if kind == "Pod" and field in ("default", "defaultRequest"):
            if item.get(field):
                errors.append(FieldError.forbidden(path / field, "may not be specified when `type` is 'Pod'"))
            continue
        for name in item.get(field) or ():
            errors += _resource_errors(kind, name, (path / field).key(name))
    if kind == "PersistentVolumeClaim" and not any("storage" in (item.get(f) or {}) for f in ("min", "max")):
        text = "either minimum or maximum storage value is required, but neither was provided"
        errors.append(FieldError.required(path / "limits", text))
    names = dict.fromkeys(
        name
        for field in _FIELDS
        for name in item.get(field) or ()
        if kind != "Pod" or field not in ("default", "defaultRequest")
    )
    for name in names:
        errors += _order_errors(item, name, path)
    return errors


class LimitRangeStrategy(Strategy):
    """Rules of LimitRanges."""

    allow_create_on_update = True

    def default(self, obj: dict[str, Any]) -> None:
        for item in (obj.get("spec") or {}).get("limits") or ():
            if item.get("type") == "Container":
                _set_defaults(item)

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        if not obj["metadata"].get("name"):
            obj["metadata"]["name"] = str(uuid.uuid4())

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        errors: list[FieldError] = []
        seen: set[str] = set()
        for i, item in enumerate((obj.get("spec") or {}).get("limits") or ()):
            path, kind = Path("spec") / "limits" / i, item.get("type") or ""
            errors += _type_errors(kind, path / "type")
            if kind in seen:
                errors.append(FieldError.duplicate(path / "type", kind))
            seen.add(kind)
            errors += _item_errors(item, path)
        return errors


STRATEGY = LimitRangeStrategy()
