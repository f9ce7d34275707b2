"""What a patch's result may be refused for, and values as Go prints them in such messages.

Used by the PATCH handler and by strategic merge.
"""

from __future__ import annotations

from typing import Any

from apiserver.api.errors import Invalid
from apiserver.api.fields import FieldError
from apiserver.api.names import GroupKind
from apiserver.api.numbers import go_float


def refuse_result(shown: str, problem: str) -> Invalid:
    """The patched object does not fit its type, or breaks strict validation.

    :param shown: the patched document as JSON (JSON and merge patch), or the patch as Go prints it (strategic merge).
    :param problem: the decoder's message.

    COMPAT: endpoints/handlers jsonPatcher.applyPatchToCurrentObject, applyPatchToObject: kind and name stay empty
    """
    return Invalid(GroupKind("", ""), "", [FieldError.invalid("patch", shown, problem)])


def go_print(value: Any) -> str:
    """A decoded JSON value as Go's ``%v`` prints it: ``map[a:1 b:[x y]]``."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{go_print(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(go_print, value))}]"
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return go_float(value)
    return str(value)


def go_type(value: Any) -> str:
    """The Go type that a JSON value decodes to."""
    if value is None:
        return "%!s(<nil>)"
    names = {bool: "bool", int: "int64", str: "string", list: "[]interface {}", dict: "map[string]interface {}"}
    return names.get(type(value), "float64")
