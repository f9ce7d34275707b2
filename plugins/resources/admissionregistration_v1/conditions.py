"""Expressions of webhooks and policies: that they compile, and to what type.

Called by the validation of each kind of the group. CEL is imported with the first expression: most servers have none.

COMPAT: pkg/apis/admissionregistration/validation validateCELCondition, validateVariable, validateAuditAnnotation
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from apiserver.api.fields import FieldError, Path

if TYPE_CHECKING:
    from apiserver.cel.admission import Composition
    from apiserver.cel.expressions import Compiler

Object = dict[str, Any]

_MOST_ANNOTATIONS = 20
_LONGEST_ANNOTATION = 5 * 1024
_IDENTIFIER = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
_RESERVED = frozenset(
    (
        "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if",
        "import", "let", "loop", "package", "namespace", "return", "var", "void", "while",
    )
)  # fmt: skip


def condition_expression_errors(expression: str, path: Path, *, params: bool) -> list[FieldError]:
    """Problems of the expression of a match condition."""
    from apiserver.cel import admission

    return compiled_errors(admission.compiler(params=params, authorizer=True), expression.strip(), path, "bool")


def compiled_errors(
    compiler: Compiler, expression: str, path: Path, *wanted: str, shown: str | None = None
) -> list[FieldError]:
    """Problems of an expression that gives one of the wanted types."""
    from apiserver.cel.expressions import ExpressionError

    try:
        compiler.compile(expression, *wanted)
    except ExpressionError as wrong:
        return [wrong.field_error(path, expression if shown is None else shown)]
    return []


def composition(spec: Object) -> Composition:
    """For the variables of a policy."""
    from apiserver.cel.admission import Composition

    return Composition(params=spec.get("paramKind") is not None)


def variable_errors(variables: list[Object], compositions: Composition, path: Path) -> list[FieldError]:
    """Problems of a policy's variables, which are declared for what follows."""
    from apiserver.cel.expressions import ExpressionError

    errors: list[FieldError] = []
    for i, variable in enumerate(variables):
        name, expression = variable.get("name") or "", variable.get("expression") or ""
        if not name.strip():
            errors.append(FieldError.required(path / i / "name", "name is not specified"))
        elif not _IDENTIFIER.fullmatch(name) or name in _RESERVED:
            errors.append(FieldError.invalid(path / i / "name", name, "name is not a valid CEL identifier"))
        if not expression.strip():
            errors.append(FieldError.required(path / i / "expression", "expression is not specified"))
            continue
        try:
            compositions.add(name, expression)
        except ExpressionError as wrong:
            errors.append(wrong.field_error(path / i / "expression", expression))
    return errors


def message_expression_errors(expression: str, compositions: Composition, path: Path) -> list[FieldError]:
    """Problems of a messageExpression, which may not ask the authorizer."""
    if not expression:
        return []
    if not expression.strip():
        return [FieldError.invalid(path, expression, "must be non-empty if specified")]
    return compiled_errors(compositions.compiler(authorizer=False), expression, path, "string")


def patch_expression_errors(expression: str, kind: str, compositions: Composition, path: Path) -> list[FieldError]:
    """Problems of the expression of a mutation of a kind, ``ApplyConfiguration`` or ``JSONPatch``."""
    from apiserver.cel import patches

    text = expression.strip()
    if not text:
        return [FieldError.required(path, "expression is not specified")]
    wanted = {"ApplyConfiguration": patches.OBJECT, "JSONPatch": patches.JSON_PATCHES}[kind]
    return compiled_errors(compositions.compiler(authorizer=True, makes_patches=True), text, path, wanted)


def annotation_count_errors(annotations: list[Object], path: Path) -> list[FieldError]:
    """Problems of how many audit annotations there are."""
    if len(annotations) <= _MOST_ANNOTATIONS:
        return []
    return [FieldError.invalid(path, annotations, f"must not have more than {_MOST_ANNOTATIONS} auditAnnotations")]


def value_expression_errors(expression: str, compositions: Composition, path: Path) -> list[FieldError]:
    """Problems of the valueExpression of an audit annotation."""
    text = expression.strip()
    if not text:
        return [FieldError.required(path, "valueExpression is not specified")]
    if len(text.encode()) > _LONGEST_ANNOTATION:
        return [FieldError.required(path, f"must not exceed {_LONGEST_ANNOTATION} bytes in length")]
    compiler = compositions.compiler(authorizer=True)
    return compiled_errors(compiler, text, path, "string", "null_type", shown=expression)
