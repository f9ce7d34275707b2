"""PriorityLevelConfigurations.

COMPAT: pkg/apis/flowcontrol/validation ValidatePriorityLevelConfiguration; printPriorityLevelConfiguration
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import SpecStatusStrategy, StatusStrategy
from apiserver_plugins.resources.common.columns import AGE, NONE, cell, value_at

Object = dict[str, Any]

EXEMPT, LIMITED = "Exempt", "Limited"
QUEUE, REJECT = "Queue", "Reject"
_SPEC = Path("spec")
_LIMITED, _QUEUING = _SPEC / "limited", _SPEC / "limited" / "limitResponse" / "queuing"
_MOST_QUEUES = 10_000_000
_MOST_BITS = 60


def _entropy(queues: int, hand: int) -> float:
    """Bits that it takes to deal a hand. COMPAT: shufflesharding.RequiredEntropyBits."""
    return math.ceil(sum(math.log2(queues - i) for i in range(hand)))


def _queuing_errors(queuing: Object) -> list[FieldError]:
    queues, hand, length = (queuing.get(field) or 0 for field in ("queues", "handSize", "queueLengthLimit"))
    errors = []
    for field, value in (("queueLengthLimit", length), ("queues", queues), ("handSize", hand)):
        if value <= 0:
            errors.append(FieldError.invalid(_QUEUING / field, value, "must be positive"))
    if queues > _MOST_QUEUES:
        errors.append(FieldError.invalid(_QUEUING / "queues", queues, f"must not be greater than {_MOST_QUEUES}"))
    if 0 < queues < hand:
        text = f"should not be greater than queues ({queues})"
        errors.append(FieldError.invalid(_QUEUING / "handSize", hand, text))
    elif queues > 0 and 0 < hand <= queues and _entropy(queues, hand) > _MOST_BITS:
        text = f"required entropy bits of deckSize {queues} and handSize {hand} should not be greater than {_MOST_BITS}"
        errors.append(FieldError.invalid(_QUEUING / "handSize", hand, text))
    return errors


def _response_errors(response: Object) -> list[FieldError]:
    kind, queuing = response.get("type") or "", response.get("queuing")
    if kind == REJECT:
        text = "must be nil if limited.limitResponse.type is not Limited"
        return [] if queuing is None else [FieldError.forbidden(_QUEUING, text)]
    if kind != QUEUE:
        path = _LIMITED / "limitResponse" / "type"
        return [FieldError.not_supported(path, kind, (QUEUE, REJECT))]
    if queuing is None:
        return [FieldError.required(_QUEUING, "must not be empty if limited.limitResponse.type is Limited")]
    return _queuing_errors(queuing)


def _share_errors(part: Object, path: Path) -> list[FieldError]:
    errors = []
    shares, lendable = part.get("nominalConcurrencyShares") or 0, part.get("lendablePercent") or 0
    if shares < 0:
        errors.append(FieldError.invalid(path / "nominalConcurrencyShares", shares, "must be a non-negative integer"))
    if not 0 <= lendable <= 100:
        text = "must be between 0 and 100, inclusive"
        errors.append(FieldError.invalid(path / "lendablePercent", lendable, text))
    return errors


def _limited_errors(limited: Object) -> list[FieldError]:
    errors = _share_errors(limited, _LIMITED)
    borrowing = limited.get("borrowingLimitPercent")
    if borrowing is not None and borrowing < 0:
        text = "if specified, must be a non-negative integer"
        errors.append(FieldError.invalid(_LIMITED / "borrowingLimitPercent", borrowing, text))
    return errors + _response_errors(limited.get("limitResponse") or {})


class PriorityLevelConfigurationStrategy(SpecStatusStrategy):
    """Rules of PriorityLevelConfigurations."""

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        if spec.get("type") == EXEMPT and spec.get("exempt") is None:
            spec["exempt"] = {}
        for part, shares in (("exempt", 0), ("limited", 30)):
            if spec.get(part) is not None:
                for field, value in (("nominalConcurrencyShares", shares), ("lendablePercent", 0)):
                    if spec[part].get(field) is None:
                        spec[part][field] = value
        queuing = value_at(spec, "limited", "limitResponse", "queuing")
        if queuing is not None:
            for field, value in (("queues", 64), ("handSize", 8), ("queueLengthLimit", 50)):
                queuing[field] = queuing.get(field) or value

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        super().prepare_for_create(ctx, obj)
        obj["status"] = {}

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        spec, name = obj["spec"], obj["metadata"].get("name")
        kind, limited, exempt = spec.get("type") or "", spec.get("limited"), spec.get("exempt")
        errors = []
        if kind in (EXEMPT, LIMITED) and (kind == EXEMPT) != (name == "exempt"):
            text = "type must be 'Exempt' if and only if name is 'exempt'"
            errors.append(FieldError.invalid(_SPEC / "type", kind, text))
        if kind == LIMITED:
            if exempt is not None:
                errors.append(FieldError.forbidden(_SPEC / "exempt", "must be nil if the type is Limited"))
            if limited is None:
                errors.append(FieldError.required(_LIMITED, "must not be empty when type is Limited"))
            return errors + (_limited_errors(limited) if limited is not None else [])
        if kind != EXEMPT:
            return [*errors, FieldError.not_supported(_SPEC / "type", kind, (EXEMPT, LIMITED))]
        if limited is not None:
            errors.append(FieldError.forbidden(_LIMITED, "must be nil if the type is not Limited"))
        return errors + _share_errors(exempt or {}, _SPEC / "exempt")


def _shares(obj: Object) -> Any:
    part = value_at(obj, "spec", "exempt" if value_at(obj, "spec", "type") == EXEMPT else "limited") or {}
    return part.get("nominalConcurrencyShares", NONE)


def _queuing(field: str) -> Callable[[Object], Any]:
    return cell("spec", "limited", "limitResponse", "queuing", field, default=NONE)


STRATEGY = PriorityLevelConfigurationStrategy()
STATUS = StatusStrategy(STRATEGY)
COLUMNS = (
    Column("Type", cell("spec", "type"), field="spec.type"),
    Column("NominalConcurrencyShares", _shares, field="spec.limited.nominalConcurrencyShares"),
    *(
        Column(name, _queuing(field), field=f"spec.limited.limitResponse.queuing.{field}")
        for name, field in (("Queues", "queues"), ("HandSize", "handSize"), ("QueueLengthLimit", "queueLengthLimit"))
    ),
    AGE,
)
