"""No rule of any kind breaks, whatever object of the kind's type it is given."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from apiserver.api.errors import ApiError
from apiserver.api.resource import Resource
from apiserver.api.rest import Context
from apiserver.schema import builtin
from apiserver.schema.types import Struct
from tests.plugins.resources.anything import make
from tests.plugins.resources.test_declarations import DECLARED

ROUNDS = 25


def _type(resource: Resource) -> Struct | None:
    """The type of a kind in the newest minor; some versions are served for older ones only."""
    return builtin.types().kind(resource.group, resource.version, resource.kind)


STORED = sorted(name for name, each in DECLARED.items() if each.storage is None and each.schema is None and _type(each))


def _object(resource: Resource, node: Struct, rng: random.Random) -> dict[str, Any]:
    """An object as it comes out of decoding, in the storage version and with defaults."""
    obj = make(node, rng)
    meta = obj.get("metadata") or {}
    obj["metadata"] = {
        "name": rng.choice(("a", "system-x", "Not OK", "x" * 70)),
        "uid": "11111111-2222-3333-4444-555555555555",
        "creationTimestamp": "2020-01-01T00:00:00Z",
        **({"namespace": "ns"} if resource.namespaced else {}),
        **{field: meta[field] for field in ("labels", "annotations", "ownerReferences") if field in meta},
    }
    obj["kind"], obj["apiVersion"] = resource.kind, str(resource.group_version)
    if resource.to_storage is not None:
        resource.to_storage(obj)
    resource.strategy.default(obj)
    return obj


def _rules(resource: Resource, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
    strategy = resource.strategy
    new = copy.deepcopy(obj)
    strategy.prepare_for_create(ctx, new)
    for error in strategy.validate(ctx, new):
        assert str(error), error.cause()
    strategy.warnings_on_create(ctx, new)
    strategy.canonicalize(new)
    strategy.selectable_fields(new)
    for rules in (strategy, *(sub.strategy for sub in resource.subresources if sub.strategy is not None)):
        changed, before = copy.deepcopy(obj), copy.deepcopy(old)
        rules.default(changed)
        rules.prepare_for_update(ctx, changed, before)
        rules.validate_update(ctx, changed, before)
        rules.warnings_on_update(ctx, changed, before)


@pytest.mark.parametrize("name", STORED)
def test_no_rule_breaks_on_an_object_of_its_kind(name: str, ctx: Context) -> None:
    resource = DECLARED[name]
    node = _type(resource)
    assert node is not None
    for seed in range(ROUNDS):
        rng = random.Random(f"{name}/{seed}")
        obj, old = _object(resource, node, rng), _object(resource, node, rng)
        try:
            _rules(resource, ctx, obj, old)
        except ApiError:
            continue  # a strategy may refuse
        if resource.from_storage is not None:
            resource.from_storage(obj)
        for column in resource.columns or ():
            column.cell(obj)
