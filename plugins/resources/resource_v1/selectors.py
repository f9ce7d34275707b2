"""Selectors of devices: CEL expressions over one device, in DeviceClasses and in requests of claims.

Called by the validation of both. CEL is imported with the first selector: most servers have none.

COMPAT: pkg/apis/resource/validation validateSelector, k8s.io/dynamic-resource-allocation/cel
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from apiserver.api.fields import FieldError, Path

if TYPE_CHECKING:
    from apiserver.cel.expressions import Compiler

Object = dict[str, Any]

_MOST_SELECTORS = 32
_LONGEST = 10 * 1024
_MOST_COST = 1_000_000

_NAME, _DOMAIN, _ID, _VALUE, _ATTRIBUTES = 63, 63, 32, 64, 32


@functools.cache
def _compiler() -> Compiler:
    from apiserver.cel.expressions import Compiler
    from apiserver.cel.schema_types import DeclaredType

    def by_name(value: DeclaredType) -> DeclaredType:
        inner = DeclaredType("map", 2, _ATTRIBUTES, value, longest_key=_ID)
        return DeclaredType("map", 2, _ATTRIBUTES, inner, longest_key=_DOMAIN)

    fields = {
        "driver": DeclaredType("string", 2, _NAME),
        "attributes": by_name(DeclaredType("any", 1, _VALUE)),
        "capacity": by_name(DeclaredType("kubernetes.Quantity", 2)),
        "allowMultipleAllocations": DeclaredType("bool", 4),
    }
    return Compiler({"device": DeclaredType("object", 2, fields=fields)}, extensions=("bindings",))


def selectors_errors(selectors: Sequence[Object] | None, path: Path) -> list[FieldError]:
    """Problems of a list of selectors."""
    errors: list[FieldError] = []
    if selectors and len(selectors) > _MOST_SELECTORS:
        errors.append(FieldError.too_many(path, len(selectors), _MOST_SELECTORS))
    for i, selector in enumerate(selectors or ()):
        where = path / i / "cel"
        if selector.get("cel") is None:
            errors.append(FieldError.required(where))
        else:
            errors += _expression_errors(selector["cel"].get("expression") or "", where / "expression")
    return errors


def _expression_errors(expression: str, path: Path) -> list[FieldError]:
    from apiserver.cel.expressions import ANY, ExpressionError

    if len(expression.encode()) > _LONGEST:
        return [FieldError.too_long(path, _LONGEST)]
    try:
        compiled = _compiler().compile(expression, ANY)
    except ExpressionError as wrong:
        return [wrong.field_error(path, expression)]
    if compiled.result not in ("bool", "any"):
        text = f"must evaluate to bool or the unknown type, not {compiled.result}"
        return [FieldError.invalid(path, expression, text)]
    if compiled.most > _MOST_COST:
        return [FieldError.forbidden(path, "too complex, exceeds cost limit")]
    return []
