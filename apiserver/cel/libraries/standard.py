"""What comes from CEL itself: strings, sets, optionals, comprehensions with two variables.

COMPAT: k8s.io/apiserver/pkg/cel/environment/base.go, which also says which version of each.
"""

from __future__ import annotations

from typing import Final

from .declaring import Library

LIBRARY: Final = Library(
    "standard", extensions={"optional": None, "strings": 2, "sets": None, "two-var-comprehensions": None}
)
