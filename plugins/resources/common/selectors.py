"""Labels and label selectors inside objects: checks and their text form.

COMPAT: k8s.io/apimachinery/pkg/apis/meta/v1/validation ValidateLabelSelector; .../apis/meta/v1 LabelSelectorAsSelector
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.labels import Selector, matches
from apiserver.api.validation import label_value, qualified_name
from apiserver_plugins.resources.common.values import invalid

__all__ = ["Selector", "format_selector", "is_empty", "label_errors", "matches", "query_selector", "selector_errors"]


def label_errors(path: Path, labels: Mapping[str, str] | None) -> list[FieldError]:
    """COMPAT: ValidateLabels: every error names the map, not the key."""
    errors: list[FieldError] = []
    for key, value in (labels or {}).items():
        errors += invalid(path, key, qualified_name(key)) + invalid(path, value, label_value(value))
    return errors


def selector_errors(path: Path, selector: Selector | None, *, check_values: bool = True) -> list[FieldError]:
    """Problems of a ``LabelSelector``.

    :param check_values: whether values of expressions must be label values.
    """
    if selector is None:
        return []
    errors = label_errors(path / "matchLabels", selector.get("matchLabels"))
    for i, expression in enumerate(selector.get("matchExpressions") or ()):
        errors += _expression_errors(path / "matchExpressions" / i, expression, check_values)
    return errors


def _expression_errors(path: Path, expression: Mapping[str, Any], check_values: bool) -> list[FieldError]:
    operator, values = expression.get("operator", ""), expression.get("values") or []
    errors = []
    if operator in ("In", "NotIn"):
        if not values:
            text = "must be specified when `operator` is 'In' or 'NotIn'"
            errors.append(FieldError.required(path / "values", text))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            errors.append(FieldError.forbidden(path / "values", text))
    else:
        errors.append(FieldError.invalid(path / "operator", operator, "not a valid selector operator"))
    key = expression.get("key", "")
    errors += invalid(path / "key", key, qualified_name(key))
    if check_values:
        for i, value in enumerate(values):
            errors += invalid(path / "values" / i, value, label_value(value))
    return errors


def is_empty(selector: Selector | None) -> bool:
    """Whether a selector has no requirement (it matches everything)."""
    return not selector or not (selector.get("matchLabels") or selector.get("matchExpressions"))


def query_selector(selector: Selector | None) -> str:
    """The selector as a query parameter; "" for none and for one that selects everything. COMPAT: Selector.String."""
    if selector is None:
        return ""
    requirements: list[tuple[str, str]] = [(k, f"{k}={v}") for k, v in (selector.get("matchLabels") or {}).items()]
    requirements += [(e.get("key", ""), _format_expression(e)) for e in selector.get("matchExpressions") or ()]
    return ",".join(text for _, text in sorted(requirements, key=lambda r: r[0]))


def format_selector(selector: Selector | None) -> str:
    """The selector for people. COMPAT: metav1.FormatLabelSelector."""
    return query_selector(selector) or "<none>"


def _format_expression(expression: Mapping[str, Any]) -> str:
    operator, key = expression.get("operator"), expression.get("key", "")
    values = ",".join(sorted(expression.get("values") or ()))
    forms: dict[str, str] = {
        "In": f"{key} in ({values})",
        "NotIn": f"{key} notin ({values})",
        "Exists": key,
        "DoesNotExist": f"!{key}",
    }
    return forms.get(str(operator), "<error>")
