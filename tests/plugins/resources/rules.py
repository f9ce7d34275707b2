"""Shorthands for tests of strategies: what the registry does with an object, without a store."""

from __future__ import annotations

import copy
from typing import Any

from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy

Object = dict[str, Any]


def errors_of(strategy: Strategy, ctx: Context, obj: Object) -> list[str]:
    """The problems of a new object, as texts."""
    obj = copy.deepcopy(obj)
    strategy.default(obj)
    strategy.prepare_for_create(ctx, obj)
    return sorted(map(str, strategy.validate(ctx, obj)))


def created(strategy: Strategy, ctx: Context, obj: Object) -> Object:
    """A new object as it would be stored."""
    obj = copy.deepcopy(obj)
    strategy.default(obj)
    strategy.prepare_for_create(ctx, obj)
    assert strategy.validate(ctx, obj) == []
    strategy.canonicalize(obj)
    return obj


def changed(strategy: Strategy, ctx: Context, old: Object, obj: Object) -> tuple[Object, list[str]]:
    """The object after an update, and the problems of the update."""
    obj = copy.deepcopy(obj)
    strategy.default(obj)
    strategy.prepare_for_update(ctx, obj, copy.deepcopy(old))
    return obj, sorted(map(str, strategy.validate_update(ctx, obj, old)))
