"""YAML text to JSON values, as ``sigs.k8s.io/yaml`` converts it: YAML 1.1 booleans, Go's integers, no timestamps.

The text is parsed by libyaml through PyYAML, whose problems have the same words as Go's port of it. Called by
:mod:`apiserver.schema.body` and by apply patches.

COMPAT: sigs.k8s.io/yaml YAMLToJSON and YAMLToJSONStrict, goyaml v2 resolve
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable
from typing import Any

import orjson
import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from apiserver.schema import depth, gojson
from apiserver.schema.gotext import quote

_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TRUE = frozenset(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"))
_FALSE = frozenset(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"))
_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_FLOAT = re.compile(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$")
_INFINITE = re.compile(r"^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$")
_INTEGER = re.compile(r"^[-+]?(0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|[1-9][0-9]*|0)$")
_NOT_IN_YAML = re.compile(
    rb"[\t\x7f]|\\u[dD][89a-fA-F]|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\xef\xbb\xbf|\xef\xbf[\xbe\xbf]"
)
"""Bytes of a JSON text that YAML refuses or reads otherwise: tabs, control characters, line separators, surrogates."""
_FRACTION = re.compile(rb"[0-9][.eE]")
_MAX_EXPANDED = 400_000  # COMPAT: goyaml alias_ratio_range_low
_UINT64 = 1 << 64
_DIGITS = 40  # decimal numbers with more are not read as whole ones: Python refuses very long ones


class YAMLError(ValueError):
    """The text is not YAML, or no JSON value; the message is Go's (``yaml: line 2: ...``)."""


class _Loader(_BASE):  # type: ignore[misc]  # the C loader has no type
    """Builds JSON values. Instance state: the duplicate keys seen, and whether an anchor was used."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own shape

    def __init__(self, stream: bytes) -> None:
        super().__init__(stream)
        self.duplicates: list[str] = []

    def json(self, node: Node) -> Any:
        if isinstance(node, ScalarNode):
            return _scalar(node)
        if isinstance(node, SequenceNode):
            return [self.json(item) for item in node.value]
        assert isinstance(node, MappingNode)
        return self._mapping(node)

    def _mapping(self, node: MappingNode) -> dict[str, Any]:
        result: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if isinstance(key_node, ScalarNode) and key_node.value == "<<" and not key_node.style:
                merged = {**self._merge(value_node), **merged}
                continue
            key = _key(key_node)
            if key in result:
                self.duplicates.append(f"line {key_node.start_mark.line + 1}: key {quote(key)} already set in map")
            result[key] = self.json(value_node)
        return {**merged, **result} if merged else result

    def _merge(self, node: Node) -> dict[str, Any]:
        nodes = node.value if isinstance(node, SequenceNode) else [node]
        merged: dict[str, Any] = {}
        for part in nodes:
            if not isinstance(part, MappingNode):
                raise YAMLError("yaml: map merge requires map or sequence of maps as the value")
            merged = {**self._mapping(part), **merged}
        return merged


def read(data: bytes) -> tuple[Any, list[str]]:
    """The JSON value of the first document of a YAML text, and a line for each key that is set twice.

    :raises YAMLError: it is malformed.
    """
    value = _from_json(data)
    return (value, []) if value is not None else _from_yaml(data)


def _from_json(data: bytes) -> dict[str, Any] | None:
    """The object of a text that is JSON and means the same as YAML; None for any other.

    What kubectl applies is such a text, and libyaml needs a hundred times as long for it.
    """
    if not data.startswith(b"{") or _NOT_IN_YAML.search(data):
        return None
    try:
        value, duplicates = gojson.read(data)
    except gojson.JSONSyntaxError:
        return None
    return value if duplicates is None and not _FRACTION.search(gojson.outside_strings(data)) else None


def _from_yaml(data: bytes) -> tuple[Any, list[str]]:
    loader: Any = None
    try:
        loader = _Loader(data)
        node = loader.get_node() if loader.check_node() else None
        if node is None:
            return None, []
        shared = _check_aliases(node) if b"*" in data else False
        value = loader.json(node)
        again = depth.encode(value)
        return (orjson.loads(again) if shared else value), loader.duplicates
    except yaml.YAMLError as error:
        raise YAMLError(f"yaml: {_problem(error, data)}") from None
    except (RecursionError, depth.TooDeepError):
        raise YAMLError("yaml: exceeded max depth of 10000") from None
    finally:
        if loader is not None:
            loader.dispose()


def _problem(error: yaml.YAMLError, data: bytes) -> str:
    """COMPAT: goyaml v2 parser.fail: which line it names, and when it names none."""
    if isinstance(error, yaml.reader.ReaderError):
        return str(error.reason)
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "unknown problem parsing YAML content"
    if isinstance(error, yaml.composer.ComposerError) and mark is not None and "undefined alias" in problem:
        line = data.decode("utf-8", "replace").splitlines()[mark.line]
        name = re.match(r"\*?([A-Za-z0-9_-]*)", line[mark.column :])
        return f"unknown anchor '{name[1] if name else ''}' referenced"
    line_number = mark.line if mark is not None else 0
    if not line_number:
        context = getattr(error, "context_mark", None)
        line_number = context.line if context is not None else 0
    elif isinstance(error, yaml.scanner.ScannerError):
        line_number += 1
    return f"line {line_number}: {problem}" if line_number else problem


def _check_aliases(root: Node) -> bool:
    """Whether a node is used twice. Refuses documents that contain themselves or explode when written out."""
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()
    shared = False

    def size(node: Node) -> int:
        nonlocal shared
        if isinstance(node, ScalarNode):
            return 1
        known = sizes.get(id(node))
        if known is not None:
            shared = True
            return known
        if id(node) in open_nodes:
            raise YAMLError("yaml: anchor value contains itself")
        open_nodes.add(id(node))
        parts = node.value if isinstance(node, SequenceNode) else [part for pair in node.value for part in pair]
        total = 1 + sum(size(part) for part in parts)
        open_nodes.discard(id(node))
        sizes[id(node)] = total
        return total

    expanded = size(root)
    if shared and expanded > _MAX_EXPANDED and expanded > 10 * len(sizes):
        raise YAMLError("yaml: document contains excessive aliasing")
    return shared


def _scalar(node: ScalarNode) -> Any:
    text = node.value
    tag = node.tag
    if tag == "tag:yaml.org,2002:binary":
        return text
    if node.style or (tag == "tag:yaml.org,2002:str" and _explicit(node)):
        return text
    return _resolve(text)


def _explicit(node: ScalarNode) -> bool:
    # Without implicit resolvers every plain scalar has the tag str: only the text's length tells an explicit !!str.
    return bool(node.end_mark.index - node.start_mark.index > len(node.value) + 4)


def _resolve(text: str) -> Any:
    if text in _NULL:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    first = text[0]
    if first not in "+-.0123456789":
        return text
    plain = text.replace("_", "")
    if _INTEGER.match(plain):
        value = _integer(plain)
        return text if value is None else value
    if _INFINITE.match(text):
        raise YAMLError(f"json: unsupported value: {text.strip('.')}")
    if _FLOAT.match(plain):
        number = float(plain)
        if math.isinf(number):  # COMPAT: what ParseFloat refuses stays a text
            return text
        return int(number) if number.is_integer() and abs(number) < 1e21 else number
    return text


def _integer(plain: str) -> int | float | None:
    """A whole number; a decimal one beyond 64 bits as a float; None for what Go reads neither way."""
    sign = -1 if plain[0] == "-" else 1
    digits = plain.lstrip("+-")
    if len(digits) > 1 and digits[0] == "0" and digits[1] in "01234567":
        digits = "0o" + digits[1:]
    decimal = digits.isdecimal()
    if not decimal or len(digits) < _DIGITS:
        value = sign * int(digits, 0)
        if -(_UINT64 >> 1) <= value < _UINT64:
            return value
    number = float(plain) if decimal else math.inf
    return None if math.isinf(number) else number


def _key(node: Node) -> str:
    """COMPAT: sigs.k8s.io/yaml turns keys into text."""
    if not isinstance(node, ScalarNode):
        raise YAMLError("yaml: invalid map key")
    value: Hashable = _scalar(node)
    if isinstance(value, bool):
        return "true" if value else "false"
    return node.value if value is None else str(value)
