"""What a call costs beyond its arguments, by function. Called by the cost estimator.

COMPAT: k8s.io/apiserver/pkg/cel/library/cost.go EstimateCallCost for the libraries, cel-go checker/cost.go functionCost
for what is CEL's own. Any change decides which rules may be written: the numbers are upstream's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from .ranges import MOST, ONE, UNKNOWN, Range, exactly

TRAVERSAL: Final = 0.1
REGEX: Final = 0.25
_LIST_BASE: Final = 10
_STRUCT_BASE: Final = 40
_CHECK: Final = 350_000
_FORMAT_REGEX: Final = 128
_FORMAT_NAME: Final = 64
_ADDRESS: Final = Range(4, 16)


class Node(Protocol):
    """An argument as the estimator knows it."""

    @property
    def size(self) -> Range | None:
        """What is known of its size."""

    @property
    def kind(self) -> str:
        """The name of its type: ``list``, ``string``, ``kubernetes.Quantity``."""

    @property
    def literal(self) -> Any:
        """Its value, if it stands in the expression."""

    def element(self) -> Node | None:
        """An element of it, if it is a list."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call: the overload that is called, on what, with what."""

    overload: str
    target: Node | None
    arguments: Sequence[Node]

    def subject(self) -> Node | None:
        """What the call is made on: the target, or the first argument."""
        return self.target or (self.arguments[0] if self.arguments else None)


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a call, and the size of its result if that can be said."""

    cost: Range
    size: Range | None = None


Rule = Callable[[Call], Cost | None]


def _size(node: Node) -> Range:
    return UNKNOWN if node.size is None else node.size


def _fixed(low: int, high: int | None = None) -> Rule:
    answer = Cost(Range(low, low if high is None else high))
    return lambda _: answer


def _traversal(factor: float = TRAVERSAL, keeps_size: bool = False, on_target: bool = False) -> Rule:
    def rule(call: Call) -> Cost | None:
        node = call.target if on_target else (call.arguments[0] if call.arguments else None)
        if node is None:
            return None
        size = _size(node)
        return Cost(size.scaled(factor), size if keeps_size else None)

    return rule


def _selector(call: Call) -> Cost | None:
    if len(call.arguments) != 1:
        return None
    length = _size(call.arguments[0])
    requirements = length.scaled(0.5).scaled(_LIST_BASE + _STRUCT_BASE)
    return Cost(exactly(_LIST_BASE).plus(length.scaled(TRAVERSAL)).plus(requirements))


def _list_walk(string_too: bool) -> Rule:
    def rule(call: Call) -> Cost | None:
        if call.target is None:
            return None
        element = call.target.element()
        if element is None:
            size = _size(call.target)
            return Cost(size.scaled(TRAVERSAL) if string_too else size.times(ONE))
        each = ONE
        if element.kind in ("string", "bytes"):
            each = each.plus(_size(element).scaled(TRAVERSAL))
        return Cost(_size(call.target).times(each))

    return rule


def _replace(call: Call) -> Cost | None:
    if call.target is None or len(call.arguments) < 2:
        return None
    size, old, new = _size(call.target), _size(call.arguments[0]), _size(call.arguments[1])
    count_high = kept_high = 0
    if old.low == 0:
        # nothing is replaced by something around every character
        count_high, kept_high = min(size.high + 1, MOST), size.high
    elif new.high <= old.low:
        kept_high = size.high
    else:
        count_high = math.ceil(size.high / old.low)
    count_low = kept_low = 0
    if old.high == 0:
        count_low, kept_low = min(size.low + 1, MOST), size.low
    elif old.high <= new.low:
        kept_low = size.low
    else:
        count_low = math.ceil(size.low / old.high)
    result = Range(count_low, count_high).times(new).plus(Range(kept_low, kept_high))
    return Cost(size.scaled(2 * TRAVERSAL), result)


def _split(call: Call) -> Cost | None:
    if call.target is None:
        return None
    size = _size(call.target)
    most = size.high
    if len(call.arguments) > 1 and type(call.arguments[1].literal) is int:
        most = call.arguments[1].literal % (MOST + 1)
    return Cost(size.scaled(2 * TRAVERSAL), Range(0, most))


def _join(call: Call) -> Cost | None:
    if call.target is None:
        return None
    count = _size(call.target)
    element = call.target.element()
    size = Range(0, 0) if element is None else count.times(_size(element))
    if call.arguments:
        separators = Range(max(count.low - 1, 0), max(count.high - 1, 0))
        size = size.plus(_size(call.arguments[0]).times(separators))
    return Cost(size.scaled(TRAVERSAL), size)


def _regex_cost(text: Range, expression: Range) -> Range:
    # One is added so that an empty text does not make an expensive expression free.
    return text.plus(ONE).scaled(TRAVERSAL).times(expression.scaled(REGEX))


def _find(call: Call) -> Cost | None:
    if call.target is None or not call.arguments:
        return None
    size = _size(call.target)
    return Cost(_regex_cost(size, _size(call.arguments[0])), Range(0, size.high))


def _ip(call: Call) -> Cost | None:
    return Cost(ONE) if call.overload == "cidr_ip" else _traversal()(call)


def _contains(parsed_overload: str, networks: bool) -> Rule:
    def rule(call: Call) -> Cost | None:
        if not call.arguments:
            return None
        cost = _ADDRESS.plus(_ADDRESS).scaled(TRAVERSAL)
        if networks:
            cost = cost.plus(_ADDRESS.scaled(TRAVERSAL)).plus(ONE)
        if call.overload == parsed_overload:
            cost = cost.plus(_size(call.arguments[0]).scaled(TRAVERSAL))
        return Cost(cost)

    return rule


def _validate(call: Call) -> Cost | None:
    if not call.arguments:
        return None
    return Cost(_size(call.arguments[0]).scaled(TRAVERSAL).scaled(_FORMAT_REGEX * REGEX))


def _equal(call: Call) -> Cost | None:
    if len(call.arguments) != 2 or call.arguments[0].kind != call.arguments[1].kind:
        return None
    kind = call.arguments[0].kind
    if kind in ("net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver"):
        return Cost(ONE)
    if kind == "kubernetes.Format":
        return Cost(Range(1, _FORMAT_NAME).scaled(TRAVERSAL))
    if kind == "kubernetes.URL":
        size = call.arguments[1].size or ONE
        return Cost(Range(1, size.high).scaled(TRAVERSAL))
    return None


def _rules(names: str, rule: Rule) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


BY_FUNCTION: Final[dict[str, Rule]] = {
    "check": _fixed(_CHECK),
    **_rules("serviceAccount path group resource subresource namespace name allowed reason error errored", _fixed(1)),
    **_rules("fieldSelector labelSelector", _selector),
    **_rules("isSorted sum max min indexOf lastIndexOf", _list_walk(string_too=True)),
    "includes": _list_walk(string_too=False),
    **_rules("url jsonpatch.escapeKey", _traversal(keeps_size=True)),
    **_rules("lowerAscii upperAscii substring trim", _traversal(keeps_size=True, on_target=True)),
    "replace": _replace,
    "split": _split,
    "join": _join,
    **_rules("find findAll", _find),
    **_rules("cidr isIP isCIDR quantity isQuantity semver isSemver", _traversal()),
    "ip": _ip,
    "ip.isCanonical": _traversal(2 * TRAVERSAL),
    **_rules(
        "masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast"
        " format.named sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub"
        " major minor patch getScheme getHostname getHost getPort getEscapedPath getQuery",
        _fixed(1),
    ),
    "containsIP": _contains("cidr_contains_ip_string", networks=False),
    "containsCIDR": _contains("cidr_contains_cidr_string", networks=True),
    "validate": _validate,
    "_==_": _equal,
}
"""COMPAT: CostEstimator.EstimateCallCost"""


def _only_argument(rule: Callable[[Range], Cost]) -> Rule:
    return lambda call: rule(_size(call.arguments[0])) if len(call.arguments) == 1 else None


def _matches(call: Call) -> Cost | None:
    # As a function, not as a member, upstream charges one.
    if call.target is None or len(call.arguments) != 1:
        return None
    return Cost(_regex_cost(_size(call.target), _size(call.arguments[0])))


def _contains_text(call: Call) -> Cost | None:
    if call.target is None or len(call.arguments) != 1:
        return None
    return Cost(_size(call.target).scaled(TRAVERSAL).times(_size(call.arguments[0]).scaled(TRAVERSAL)))


def _in_list(call: Call) -> Cost | None:
    return Cost(_size(call.arguments[1]).scaled(1)) if len(call.arguments) == 2 else None


def _add(call: Call) -> Cost | None:
    if len(call.arguments) != 2:
        return None
    size = _size(call.arguments[0]).plus(_size(call.arguments[1]))
    return Cost(ONE if call.overload == "add_list" else size.scaled(TRAVERSAL), size)


def _compare(call: Call) -> Cost | None:
    smaller = min(_size(call.arguments[0]).high, _size(call.arguments[1]).high)
    return Cost(Range(1 if smaller else 0, smaller).scaled(TRAVERSAL))


BY_OVERLOAD: Final[dict[str, Rule]] = {
    "string_format": _traversal(on_target=True),
    "string_to_bytes": _only_argument(
        lambda size: Cost(size.scaled(TRAVERSAL), Range(size.low, size.high * 4 % (MOST + 1)))
    ),
    "bytes_to_string": _only_argument(lambda size: Cost(size.scaled(TRAVERSAL), Range(size.low // 4, size.high))),
    "strings_quote": _only_argument(
        lambda size: Cost(size.scaled(TRAVERSAL), Range(size.low + 2, (size.high * 2 + 2) % (MOST + 1)))
    ),
    **_rules("starts_with_string ends_with_string", _only_argument(lambda size: Cost(size.scaled(TRAVERSAL)))),
    "in_list": _in_list,
    "matches_string": _matches,
    "contains_string": _contains_text,
    **_rules("add_string add_bytes add_list", _add),
    **_rules(
        "equals not_equals less_string greater_string less_equals_string greater_equals_string less_bytes greater_bytes"
        " less_equals_bytes greater_equals_bytes",
        _compare,
    ),
}
"""COMPAT: coster.functionCost"""
