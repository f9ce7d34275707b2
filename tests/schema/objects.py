"""Hypothesis strategies that make values from type nodes."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import datetime
from typing import Any

from hypothesis import strategies as st

from apiserver.schema.types import (
    Anything,
    Boolean,
    Bytes,
    Duration,
    Integer,
    IntOrString,
    List,
    Map,
    Node,
    Number,
    Numbered,
    Quantity,
    String,
    Struct,
    Time,
    Variant,
)

words = st.text(alphabet='abcxyz-.0é"\\', max_size=6)
names = st.text(alphabet="abcdefgh", min_size=1, max_size=4)
quantities = st.one_of(
    st.builds(
        lambda sign, whole, part, suffix: f"{sign}{whole}{part}{suffix}",
        st.sampled_from(["", "-", "+"]),
        st.integers(0, 10**12),
        st.sampled_from(["", ".5", ".125", ".0000000001", ".500"]),
        st.sampled_from(["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "e3", "E-2"]),
    ),
    st.integers(0, 10**6),
)
moments = st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)).map(
    lambda moment: moment.replace(microsecond=0).isoformat()
)


def _time(node: Time) -> st.SearchStrategy[Any]:
    if node.micro:
        return moments.map(lambda text: f"{text}.012345Z")
    return st.builds(lambda text, tail: text + tail, moments, st.sampled_from(["Z", ".5Z", "+01:00"]))


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=2),
    max_leaves=4,
)


_SCALARS: dict[type, Callable[[Any], st.SearchStrategy[Any]]] = {
    String: lambda _node: words,
    Integer: lambda node: st.just(0) | st.integers(-(1 << (node.bits - 1)), (1 << (node.bits - 1)) - 1),
    Number: lambda _node: st.integers(-5, 5) | st.floats(-100, 100, allow_nan=False),
    Boolean: lambda _node: st.booleans(),
    Bytes: lambda _node: st.binary(max_size=5).map(lambda raw: base64.b64encode(raw).decode()),
    Time: _time,
    Duration: lambda _node: words,
    Quantity: lambda _node: quantities,
    IntOrString: lambda _node: words | st.integers(0, 99),
    Anything: lambda _node: anything,
    Numbered: lambda _node: anything,
}


def values(node: Node, depth: int = 4) -> st.SearchStrategy[Any]:
    """Values that decoding accepts, zero values and nulls among them."""
    match node:
        case List():
            return st.lists(values(node.item, depth - 1), max_size=2) if depth else st.just([])
        case Map():
            return st.dictionaries(names, values(node.value, depth - 1), max_size=2) if depth else st.just({})
        case Struct():
            return _struct(node, depth)
        case Variant():
            return st.one_of(*(values(shape, depth) for shape in node.shapes.values()))
    return _SCALARS[type(node)](node)


def _struct(node: Struct, depth: int) -> st.SearchStrategy[Any]:
    if not depth or not node.fields:
        return st.just({})

    @st.composite
    def make(draw: Any) -> dict[str, Any]:
        chosen = draw(st.lists(st.sampled_from(sorted(node.fields)), max_size=5, unique=True))
        return {name: draw(st.none() | values(node.fields[name].node, depth - 1)) for name in chosen}

    return make()
