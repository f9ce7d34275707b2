"""StorageClasses. They hardly ever change.

COMPAT: pkg/apis/storage/v1 SetDefaults_StorageClass; pkg/apis/storage/validation ValidateStorageClass
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy
from apiserver.api.validation import label_value, qualified_name
from apiserver_plugins.resources.common.columns import AGE, NAME, cell
from apiserver_plugins.resources.common.values import immutable, invalid
from apiserver_plugins.resources.storage_v1.names import parameter_errors, provisioner_errors

_DEFAULT_ANNOTATIONS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_POLICIES = frozenset(("Delete", "Retain"))
_MODES = frozenset(("Immediate", "WaitForFirstConsumer"))
_FIXED = ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode")


def _topology_errors(terms: list[dict[str, Any]]) -> list[FieldError]:
    """COMPAT: validateAllowedTopologies."""
    errors: list[FieldError] = []
    for i, term in enumerate(terms):
        path, keys = Path("allowedTopologies") / i, set()
        if term in terms[:i]:
            errors.append(FieldError.duplicate(path / "matchLabelExpressions", ""))
        for j, expression in enumerate(term.get("matchLabelExpressions") or ()):
            where, key = path / "matchLabelExpressions" / j, expression.get("key") or ""
            values = expression.get("values") or []
            errors += [] if values else [FieldError.required(where / "values")]
            errors += [FieldError.duplicate(where / "values" / k, v) for k, v in enumerate(values) if v in values[:k]]
            errors += [e for k, v in enumerate(values) for e in invalid(where / "values" / k, v, label_value(v))]
            errors += invalid(where / "key", key, qualified_name(key))
            if key in keys:
                errors.append(FieldError.duplicate(where / "key", key))
            keys.add(key)
    return errors


class StorageClassStrategy(Strategy):
    """Rules of StorageClasses."""

    def default(self, obj: dict[str, Any]) -> None:
        for field, value in (("reclaimPolicy", "Delete"), ("volumeBindingMode", "Immediate")):
            if obj.get(field) is None:
                obj[field] = value

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        errors = provisioner_errors("provisioner", obj.get("provisioner") or "")
        errors += parameter_errors(obj.get("parameters"))
        for field, supported in (("reclaimPolicy", _POLICIES), ("volumeBindingMode", _MODES)):
            if obj.get(field) not in supported:
                errors.append(FieldError.not_supported(field, obj.get(field), supported))
        return errors + _topology_errors(obj.get("allowedTopologies") or [])

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        errors: list[FieldError] = []
        for field in _FIXED:
            errors += immutable(field, obj.get(field), old.get(field))
        return errors


def _name(obj: dict[str, Any]) -> str:
    """The default class is marked."""
    annotations, name = obj["metadata"].get("annotations") or {}, obj["metadata"].get("name", "")
    default = any(annotations.get(key) == "true" for key in _DEFAULT_ANNOTATIONS)
    return f"{name} (default)" if default else name


STRATEGY = StorageClassStrategy()
COLUMNS = (
    Column(NAME.name, _name, format="name", field=NAME.field),
    Column("Provisioner", cell("provisioner"), field="provisioner"),
    Column("ReclaimPolicy", cell("reclaimPolicy"), field="reclaimPolicy"),
    Column("VolumeBindingMode", cell("volumeBindingMode"), field="volumeBindingMode"),
    Column("AllowVolumeExpansion", cell("allowVolumeExpansion", default=False), field="allowVolumeExpansion"),
    AGE,
)
