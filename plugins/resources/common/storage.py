"""What volumes, claims and whoever has claims in them have in common.

COMPAT: pkg/apis/core/validation ValidatePersistentVolumeClaimSpec; pkg/apis/core/v1/helper
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.validation import dns_subdomain
from apiserver_plugins.resources.common.quantities import amount
from apiserver_plugins.resources.common.selectors import selector_errors
from apiserver_plugins.resources.common.values import invalid

Spec = Mapping[str, Any]

ONE_POD = "ReadWriteOncePod"
SHORT_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", ONE_POD: "RWOP"}
VOLUME_MODES = frozenset(("Block", "Filesystem"))
CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
POSITIVE = "must be greater than zero"
_MODES = frozenset(SHORT_MODES)


def access_mode_errors(modes: Sequence[str], path: Path, missing: str = "") -> list[FieldError]:
    """Problems of ``accessModes``.

    :param missing: what is said when there are none.
    """
    errors = [] if modes else [FieldError.required(path, missing)]
    errors += [FieldError.not_supported(path, mode, _MODES) for mode in modes if mode not in _MODES]
    if ONE_POD in modes and any(mode in _MODES and mode != ONE_POD for mode in modes):
        errors.append(FieldError.forbidden(path, "may not use ReadWriteOncePod with other access modes"))
    return errors


def volume_mode_errors(mode: str | None, path: Path) -> list[FieldError]:
    """Problems of ``volumeMode``."""
    return [] if mode is None or mode in VOLUME_MODES else [FieldError.not_supported(path, mode, VOLUME_MODES)]


def class_name_errors(name: str | None, path: Path) -> list[FieldError]:
    """Problems of the name of a class, if there is one."""
    return invalid(path, name, dns_subdomain(name)) if name else []


def positive_quantity(path: str, quantity: str) -> list[FieldError]:
    """COMPAT: ValidatePositiveQuantityValue."""
    return [] if amount(quantity) > 0 else [FieldError.invalid(path, quantity, POSITIVE)]


def claim_spec_errors(spec: Spec, path: Path) -> list[FieldError]:
    """Problems of the spec of a claim, wherever it stands."""
    errors = access_mode_errors(
        spec.get("accessModes") or (), path / "accessModes", "at least 1 access mode is required"
    )
    errors += selector_errors(path / "selector", spec.get("selector"))
    asked = (spec.get("resources") or {}).get("requests") or {}
    where = (path / "resources").key("storage")
    if "storage" in asked:
        errors += positive_quantity(where, asked["storage"])
    else:
        errors.append(FieldError.required(where))
    errors += class_name_errors(spec.get("storageClassName"), path / "storageClassName")
    errors += volume_mode_errors(spec.get("volumeMode"), path / "volumeMode")
    errors += _source_errors(spec.get("dataSource"), path / "dataSource")
    errors += _source_errors(spec.get("dataSourceRef"), path / "dataSourceRef")
    if spec.get("dataSource") and spec.get("dataSourceRef") and not _same(spec["dataSource"], spec["dataSourceRef"]):
        errors.append(FieldError.invalid(path, "dataSource", "must match dataSourceRef"))
    return errors + class_name_errors(spec.get("volumeAttributesClassName"), path / "volumeAttributesClassName")


def _same(source: Spec, reference: Spec) -> bool:
    return all((source.get(f) or "") == (reference.get(f) or "") for f in ("apiGroup", "kind", "name"))


def _source_errors(source: Spec | None, path: Path) -> list[FieldError]:
    if source is None:
        return []
    errors = [FieldError.required(path / field) for field in ("name", "kind") if not source.get(field)]
    group, kind = source.get("apiGroup") or "", source.get("kind") or ""
    if not group and kind != "PersistentVolumeClaim":
        text = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        errors.append(FieldError.invalid(path, kind, text))
    return errors + (invalid(path / "apiGroup", group, dns_subdomain(group)) if group else [])


def short_modes(modes: Sequence[str] | None) -> str:
    """``RWO,ROX``. COMPAT: GetAccessModesAsString."""
    return ",".join(short for mode, short in SHORT_MODES.items() if mode in (modes or ()))


def storage_class(obj: Mapping[str, Any]) -> str:
    """The class of a volume or claim, from the old annotation if that is there."""
    annotation = (obj["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION)
    return str(annotation if annotation is not None else (obj.get("spec") or {}).get("storageClassName") or "")
