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
                "guests": {
                    "type": "integer",
                    "description": "How many come.",
                    "minimum": 1,
                    "maximum": 100,
                    "default": 2,
                },
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
    """What the schema can't say. It is asked only about objects that fit the schema."""

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        spec = obj["spec"]
        if spec["place"] == "the kitchen" and spec["guests"] > 5:
            return [FieldError.invalid(Path("spec") / "guests", spec["guests"], "the kitchen holds 5")]
        return []

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        errors = self.validate(ctx, obj)
        host = obj["spec"]["host"]
        if host != old["spec"]["host"]:
            errors.append(FieldError.invalid(Path("spec") / "host", host, "field is immutable"))
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
