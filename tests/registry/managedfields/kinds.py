"""Types for tests of field ownership: built-in kinds, and one with every kind of list and map."""

from __future__ import annotations

from typing import Any

from apiserver.schema import builtin
from apiserver.schema.types import Boolean, Field, Integer, List, Map, Number, String, Struct

Object = dict[str, Any]


def kind(group: str, version: str, name: str) -> Struct:
    found = builtin.types().kind(group, version, name)
    assert found is not None
    return found


def struct(name: str = "", /, *, atomic: bool = False, open_: bool = False, **fields: Any) -> Struct:
    made = {field: Field(field, node) for field, node in fields.items()}
    return Struct(name, lambda: made, atomic=atomic, preserve_unknown=open_)


SLOT = struct(id=Integer(), side=String(), load=String(), tags=List("", String(), "set"))
SPEC = struct(
    text=String(),
    number=Number(""),
    flag=Boolean(""),
    tags=List("", String(), "set"),
    whole=List("", String()),
    slots=List("", SLOT, "map", ["id", "side"]),
    fixed=Map("", String(), atomic=True),
    labels=Map("", String()),
    groups=Map("", SLOT),
    inner=struct(a=String(), b=String()),
    block=struct(a=String(), b=String(), atomic=True),
    free=struct(open_=True),
)
RACK = struct(
    "Rack",
    apiVersion=String(),
    kind=String(),
    metadata=kind("", "v1", "ConfigMap").fields["metadata"].node,
    spec=SPEC,
    status=struct(ready=Boolean(""), text=String()),
)


def rack(spec: Any = None, name: str = "r", **more: Any) -> Object:
    obj: Object = {"apiVersion": "example.com/v1", "kind": "Rack", "metadata": {"name": name}, **more}
    if spec is not None:
        obj["spec"] = spec
    return obj


def configmap(data: Any = None, **metadata: Any) -> Object:
    obj: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", **metadata}}
    if data is not None:
        obj["data"] = data
    return obj


def owners(obj: Object) -> dict[str, Any]:
    """manager -> what it owns, for objects with one entry for each manager."""
    return {entry["manager"]: entry["fieldsV1"] for entry in obj["metadata"].get("managedFields", [])}
