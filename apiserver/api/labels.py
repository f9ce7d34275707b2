"""Label selectors as they are written in objects: whether they select something.

Asked by the rules of kinds and by controllers; selectors of requests are :mod:`apiserver.registry.selectors`.

COMPAT: k8s.io/apimachinery/pkg/apis/meta/v1 LabelSelectorAsSelector
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Selector = Mapping[str, Any]
"""A ``LabelSelector``."""
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


def matches(selector: Selector | None, labels: Mapping[str, str] | None) -> bool | None:
    """Whether ``labels`` are selected; None when the selector can't be used. No selector selects nothing."""
    if selector is None:
        return False
    have = labels or {}
    if any(have.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    results = [_matches_expression(e, have) for e in selector.get("matchExpressions") or ()]
    return None if None in results else all(results)


def _matches_expression(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool | None:
    operator, key = expression.get("operator"), expression.get("key", "")
    values: Sequence[str] = expression.get("values") or ()
    if operator not in OPERATORS or bool(values) != (operator in ("In", "NotIn")):
        return None
    if operator == "Exists":
        return key in labels
    if operator == "DoesNotExist":
        return key not in labels
    return bool((labels.get(key) in values) == (operator == "In"))
