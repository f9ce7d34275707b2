"""VolumeAttachments.

COMPAT: pkg/apis/storage/validation ValidateVolumeAttachment; pkg/registry/storage/volumeattachment
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import StatusStrategy, Strategy, keep_status
from apiserver.api.validation import dns_subdomain
from apiserver_plugins.resources.common.columns import AGE, NAME, cell, value_at
from apiserver_plugins.resources.common.values import IMMUTABLE, invalid
from apiserver_plugins.resources.storage_v1.names import driver_name_errors

_SPEC = Path("spec")
_SOURCE = _SPEC / "source"


def _source_errors(source: dict[str, Any]) -> list[FieldError]:
    inline, name = source.get("inlineVolumeSpec"), source.get("persistentVolumeName")
    both = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
    if inline is None and name is None:
        return [FieldError.required(_SOURCE, both)]
    if inline is not None and name is not None:
        return [FieldError.forbidden(_SOURCE, both)]
    if name is not None and not name:
        path = _SOURCE / "persistentVolumeName"
        return [FieldError.required(path, "must specify non empty persistentVolumeName")]
    return []


class VolumeAttachmentStrategy(Strategy):
    """Rules of VolumeAttachments."""

    allow_unconditional_update = False

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        obj["status"] = {"attached": False}

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        keep_status(obj, old)

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = driver_name_errors(_SPEC / "attacher", spec.get("attacher") or "")
        errors += _source_errors(spec.get("source") or {})
        node = spec.get("nodeName") or ""
        return errors + invalid(_SPEC / "nodeName", node, dns_subdomain(node))

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        errors = self.validate(ctx, obj)
        if obj.get("spec") != old.get("spec"):
            errors.append(FieldError.invalid(_SPEC, obj.get("spec"), IMMUTABLE))
        return errors


class VolumeAttachmentStatusStrategy(StatusStrategy):
    """Rules of ``/status``."""

    allow_unconditional_update = False


STRATEGY = VolumeAttachmentStrategy()
STATUS = VolumeAttachmentStatusStrategy(STRATEGY)


def _attached(obj: dict[str, Any]) -> bool:
    return bool(value_at(obj, "status", "attached"))


COLUMNS = (
    NAME,
    # COMPAT: upstream gives this column the format name, too
    Column("Attacher", cell("spec", "attacher"), format="name", field="spec.attacher"),
    Column("PV", cell("spec", "source", "persistentVolumeName"), field="spec.source.persistentVolumeName"),
    Column("Node", cell("spec", "nodeName"), field="spec.nodeName"),
    Column("Attached", _attached, "boolean", field="status.attached"),
    AGE,
)
