"""The kind Party: who invites how many to where, and whether they may come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver import Column, FieldError, Path, Resource, SpecStatusStrategy, Subresource, hookimpl
from apiserver.api.columns import AGE, cell
from apiserver.api.rest import Context

SCHEMA = {
    "description": "Party is an invitation.",
    "type": "object",
    "required": ["spec"],
    "properties": {
        "spec": {
            "description": "What is planned.",
            "type": "object",
            "required": ["host"],
            "properties": {
                "host": {"type": "string", "description": "Who invites."},
                "place": {"type": "string", "description": "Where it is.", "default": "the garden"},
                "guests": {"type": "integer", "format": "int32", "description": "How many come.", "default": 2},
            },
        },
        "status": {
            "description": "What became of it.",
            "type": "object",
            "properties": {"phase": {"type": "string", "description": "Planned, Running or Over."}},
        },
    },
}


class PartyStrategy(SpecStatusStrategy):
    """What the schema can't say: how many fit, and that the host stays."""

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        guests = obj["spec"]["guests"]
        if 0 < guests <= 100:
            return []
        return [FieldError.invalid(Path("spec") / "guests", guests, "must be between 1 and 100")]

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        errors = self.validate(ctx, obj)
        if obj["spec"]["host"] != old["spec"]["host"]:
            errors.append(FieldError.invalid(Path("spec") / "host", obj["spec"]["host"], "field is immutable"))
        return errors

    def selectable_fields(self, obj: dict[str, Any]) -> dict[str, str]:
        return {"spec.host": obj["spec"]["host"]}


@hookimpl
def apiserver_resources() -> Iterable[Resource]:
    yield Resource(
        group="party.example.com",
        version="v1",
        kind="Party",
        plural="parties",
        short_names=["pt"],
        categories=["all"],
        schema=SCHEMA,
        strategy=PartyStrategy(),
        columns=[
            Column("Host", cell("spec", "host"), field="spec.host"),
            Column("Guests", cell("spec", "guests"), type="integer", field="spec.guests"),
            Column("Phase", cell("status", "phase", default="Planned"), field="status.phase"),
            Column("Place", cell("spec", "place"), field="spec.place", priority=1),
            AGE,
        ],
        selectable_fields=["spec.host"],
        subresources=[Subresource("status")],
    )
