"""ControllerRevisions: what a workload looked like once. Their data never changes.

COMPAT: pkg/apis/apps/validation ValidateControllerRevision; pkg/printers/internalversion printControllerRevision
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy
from apiserver_plugins.resources.common.columns import AGE, NONE, cell
from apiserver_plugins.resources.common.values import immutable, nonnegative

_DATA = Path("data")


class ControllerRevisionStrategy(Strategy):
    """Rules of ControllerRevisions."""

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        errors = [FieldError.required(_DATA, "data is mandatory")] if obj.get("data") is None else []
        return errors + nonnegative("revision", obj.get("revision"))

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        return self.validate(ctx, obj) + immutable(_DATA, obj.get("data"), old.get("data"))


def _controller(obj: dict[str, Any]) -> str:
    """The controller, as ``statefulset.apps/web``. COMPAT: formatResourceName."""
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            group = owner.get("apiVersion", "").rpartition("/")[0]
            kind = f"{owner.get('kind', '').lower()}.{group}".rstrip(".")
            return f"{kind}/{owner.get('name', '')}"
    return NONE


STRATEGY = ControllerRevisionStrategy()
COLUMNS = (
    Column("Controller", _controller, description="Controller of the object"),
    Column("Revision", cell("revision", default=0), field="revision"),
    AGE,
)
