"""What workloads have in common: columns of their pod template, checks of selectors and of counted status fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver_plugins.resources.common.columns import format_names, value_at
from apiserver_plugins.resources.common.pod_validation import replicated_template_errors
from apiserver_plugins.resources.common.selectors import format_selector, is_empty, matches, selector_errors
from apiserver_plugins.resources.common.values import nonnegative

Object = dict[str, Any]
SPEC = Path("spec")


def containers(obj: Object) -> str:
    """Names of the template's containers."""
    return format_names(value_at(obj, "spec", "template", "spec", "containers"), "name")


def images(obj: Object) -> str:
    """Images of the template's containers."""
    return format_names(value_at(obj, "spec", "template", "spec", "containers"), "image")


def selector(obj: Object) -> str:
    """The workload's selector."""
    return format_selector(value_at(obj, "spec", "selector"))


TEMPLATE_COLUMNS = (
    Column("Containers", containers, priority=1, description="Names of each container in the template."),
    Column("Images", images, priority=1, description="Images referenced by each container in the template."),
    Column("Selector", selector, priority=1, field="spec.selector"),
)


def selected_template_errors(spec: Object) -> list[FieldError]:
    """Problems of ``selector`` and ``template``, which must fit each other."""
    path, chosen = SPEC / "selector", spec.get("selector")
    errors: list[FieldError] = []
    if chosen is None:
        errors.append(FieldError.required(path))
    else:
        errors += selector_errors(path, chosen)
        if is_empty(chosen):
            # COMPAT: the text says deployment for every kind
            errors.append(FieldError.invalid(path, chosen, "empty selector is invalid for deployment"))
    if unusable_selector(chosen):
        return [*errors, FieldError.invalid(path, chosen, "invalid label selector")]
    return errors + replicated_template_errors(spec.get("template"), chosen, SPEC / "template")


def unusable_selector(chosen: Any) -> bool:
    """Whether an expression makes the whole selector unusable, whatever the labels are."""
    expressions = (chosen or {}).get("matchExpressions") or ()
    return any(matches({"matchExpressions": [expression]}, {}) is None for expression in expressions)


def counted_status_errors(
    status: Object, fields: Sequence[str], limits: Sequence[tuple[str, str, str]]
) -> list[FieldError]:
    """Counts must not be negative, nor more than what they are a part of.

    :param limits: (part, whole, text) of each such rule.
    """
    path = Path("status")
    errors: list[FieldError] = []
    for field in fields:
        errors += nonnegative(path / field, status.get(field))
    for part, whole, text in limits:
        value = status.get(part) or 0
        if value > (status.get(whole) or 0):
            errors.append(FieldError.invalid(path / part, value, text))
    return errors


def decremented(obj: Object, old: Object, field: str = "collisionCount") -> list[FieldError]:
    """A count of ``status`` that may only grow. COMPAT: IsDecremented."""
    before = value_at(old, "status", field)
    value = value_at(obj, "status", field)
    if before is None or (value is not None and value >= before):
        return []
    return [FieldError.invalid(Path("status") / field, value or 0, "cannot be decremented")]


def ready_of_desired(obj: Object) -> str:
    """Ready replicas of those asked for, such as ``1/3``."""
    return f"{value_at(obj, 'status', 'readyReplicas') or 0}/{value_at(obj, 'spec', 'replicas') or 0}"
