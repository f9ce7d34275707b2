"""Why the result of a strategic merge does not fit its type: upstream converts it and does not decode it from JSON.

Called by the PATCH handler when decoding refused such a result, to say it in the other words.

COMPAT: k8s.io/apimachinery/pkg/runtime DefaultUnstructuredConverter.FromUnstructured
"""

from __future__ import annotations

from typing import Any, Final

from apiserver.schema import types

_KINDS: Final = {bool: "bool", int: "int64", str: "string", list: "slice", dict: "map"}
_FITTING: Final[dict[type[types.Node], tuple[type, ...]]] = {
    types.String: (str,),
    types.Bytes: (str,),
    types.Boolean: (bool,),
    types.Integer: (int,),
    types.Number: (float, int),
}


def explain(value: Any, node: types.Node) -> str:
    """The converter's message for the first value that does not fit, "" if it would not notice.

    Values with a text form of their own (times, quantities) are decoded in both ways: nothing is said of them here.
    """
    if value is None:
        return ""
    if isinstance(node, types.Struct):
        if not isinstance(value, dict):
            return f"cannot restore struct from: {_kind(value)}"
        return _first(explain(value[name], field.node) for name, field in node.fields.items() if name in value)
    if isinstance(node, types.Map):
        if not isinstance(value, dict):
            return f"cannot restore map from {_kind(value)}"
        return _first(explain(item, node.value) for item in value.values())
    if isinstance(node, types.List):
        if not isinstance(value, list):
            return f"cannot restore slice from {_kind(value)}"
        return _first(explain(item, node.item) for item in value)
    return _explain_scalar(value, node)


def _explain_scalar(value: Any, node: types.Node) -> str:
    fitting = _FITTING.get(type(node))
    if fitting is None or type(value) in fitting:
        return ""
    if isinstance(node, types.Bytes):
        return f"cannot restore slice from {_kind(value)}"
    # COMPAT: Go converts integers to text and numbers to each other, which the converter then refuses by name.
    number = isinstance(value, int | float) and not isinstance(value, bool)
    whole = isinstance(value, float) and value.is_integer()
    if isinstance(node, types.Integer) and number:
        return "" if whole else f"cannot convert float64 to {node.go_type}"
    if isinstance(node, types.String) and number and isinstance(value, int):
        return f"cannot convert int64 to {node.go_type}"
    return f"unrecognized type: {_target(node)}"


def _target(node: types.Node) -> str:
    if isinstance(node, types.Integer):
        return f"int{node.bits}"
    return {types.String: "string", types.Boolean: "bool", types.Number: "float64"}.get(type(node), node.go_type)


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "float64")


def _first(messages: Any) -> str:
    return next((message for message in messages if message), "")
