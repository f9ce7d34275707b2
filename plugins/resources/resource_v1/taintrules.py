"""DeviceTaintRules: taints of devices that their drivers did not set.

COMPAT: pkg/apis/resource/validation ValidateDeviceTaintRule; pkg/apis/resource/v1beta2 SetDefaults_DeviceTaint
"""

from __future__ import annotations

from typing import Any

from apiserver.api.columns import value_at
from apiserver.api.durations import now, since
from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import SpecStatusStrategy
from apiserver.api.validation import dns_subdomain, label_value
from apiserver_plugins.resources.common.columns import AGE, NONE, cell
from apiserver_plugins.resources.common.values import invalid, is_qualified

Object = dict[str, Any]

EFFECTS = ("NoExecute", "NoSchedule", "None")
_TAINT = Path("spec") / "taint"
_SELECTOR = Path("spec") / "deviceSelector"


class DeviceTaintRuleStrategy(SpecStatusStrategy):
    """Rules of DeviceTaintRules."""

    def default(self, obj: Object) -> None:
        taint = obj.setdefault("spec", {}).setdefault("taint", {})
        if not taint.get("timeAdded"):
            taint["timeAdded"] = now()

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        spec = obj["spec"]
        taint, selector = spec.get("taint") or {}, spec.get("deviceSelector") or {}
        errors: list[FieldError] = []
        for field in ("driver", "pool"):
            value = selector.get(field)
            errors += invalid(_SELECTOR / field, value, dns_subdomain(value)) if value is not None else ()
        key, effect, value = taint.get("key"), taint.get("effect"), taint.get("value")
        errors += is_qualified(_TAINT / "key", key) if key else [FieldError.required(_TAINT / "key")]
        errors += invalid(_TAINT / "value", value, label_value(value)) if value else ()
        if not effect:
            errors.append(FieldError.required(_TAINT / "effect"))
        elif effect not in EFFECTS:
            errors.append(FieldError.not_supported(_TAINT / "effect", effect, EFFECTS))
        return errors


def _added(obj: Object) -> str:
    time = value_at(obj, "spec", "taint", "timeAdded")
    return since(time) if time else NONE


RULE = DeviceTaintRuleStrategy()
RULE_COLUMNS = (
    Column("Key", cell("spec", "taint", "key"), field="spec.taint.key"),
    Column("Value", cell("spec", "taint", "value"), field="spec.taint.value"),
    Column("Effect", cell("spec", "taint", "effect"), field="spec.taint.effect"),
    Column("TimeAdded", _added, field="spec.taint.timeAdded"),
    AGE,
)
