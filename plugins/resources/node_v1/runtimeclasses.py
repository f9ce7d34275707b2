"""RuntimeClasses.

COMPAT: pkg/apis/node/validation ValidateRuntimeClass
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy
from apiserver.api.validation import dns_label
from apiserver_plugins.resources.common.columns import AGE, cell, value_at
from apiserver_plugins.resources.common.pod_validation.resources import name_errors, quantity_errors
from apiserver_plugins.resources.common.pod_validation.scheduling import toleration_errors
from apiserver_plugins.resources.common.selectors import label_errors
from apiserver_plugins.resources.common.values import immutable, invalid


class RuntimeClassStrategy(Strategy):
    """Rules of RuntimeClasses."""

    allow_create_on_update = True

    def default(self, obj: dict[str, Any]) -> None:
        for toleration in value_at(obj, "scheduling", "tolerations") or ():
            if toleration.get("operator") == "":
                del toleration["operator"]

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        handler = obj.get("handler") or ""
        errors = invalid("handler", handler, dns_label(handler))
        path = Path("overhead.podFixed")
        for name, quantity in (value_at(obj, "overhead", "podFixed") or {}).items():
            errors += name_errors(path.key(name), name) + quantity_errors(path.key(name), name, quantity)
        errors += label_errors(Path("scheduling.nodeSelector"), value_at(obj, "scheduling", "nodeSelector"))
        tolerations, path = value_at(obj, "scheduling", "tolerations") or [], Path("scheduling.tolerations")
        errors += toleration_errors(tolerations, path)
        errors += [
            FieldError.duplicate(path / i, toleration)
            for i, toleration in enumerate(tolerations)
            if toleration in tolerations[:i]
        ]
        return errors

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        return self.validate(ctx, obj) + immutable("handler", obj.get("handler"), old.get("handler"))


STRATEGY = RuntimeClassStrategy()
COLUMNS = (Column("Handler", cell("handler"), field="handler"), AGE)
