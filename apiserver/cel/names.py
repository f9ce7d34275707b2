"""Names of properties as identifiers of CEL: ``foo.bar`` is ``foo__dot__bar``.

Called for each property of a schema. COMPAT: k8s.io/apiserver/pkg/cel/escaping.go
"""

from __future__ import annotations

import re
from typing import Final

_RESERVED: Final = frozenset(
    (
        "true", "false", "null", "in", "as", "break", "const", "continue", "else",
        "for", "function", "if", "import", "let", "loop", "package", "namespace",
        "return", "var", "void", "while",
    )
)  # fmt: skip
_SPECIAL: Final = re.compile(r"__|[-./]")
_ESCAPES: Final = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_POSSIBLE: Final = re.compile(r"[A-Za-z_./-][A-Za-z0-9_./-]*\Z")


def escape(name: str) -> str | None:
    """The identifier for a property, None if it can't have one."""
    if name in _RESERVED:
        return f"__{name}__"
    if not _POSSIBLE.match(name):
        return None
    return _SPECIAL.sub(lambda match: _ESCAPES[match[0]], name)
