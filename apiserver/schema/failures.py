"""What decoding refuses, and where: errors in Go's words and the paths they name.

Raised by decoding and body reading; handlers answer 400 BadRequest with the message.
"""

from __future__ import annotations

from typing import Any

Path = Any
"""None, or a pair (path of the parent, field name | list index | (map key,))."""


def steps(path: Path) -> list[Any]:
    steps = []
    while path is not None:
        path, step = path
        steps.append(step)
    steps.reverse()
    return steps


def path_text(path: Path) -> str:
    """``spec.containers[0].image``. COMPAT: sigs.k8s.io/json strict error paths."""
    text = ""
    for step in steps(path):
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            name = step if isinstance(step, str) else step[0]
            text += f".{name}" if text else name
    return text


class DecodeError(ValueError):
    """The value does not fit the type; the message is upstream's."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class MismatchError(DecodeError):
    """A JSON value of a wrong kind. COMPAT: Go json.UnmarshalTypeError, without and with its context."""

    def __init__(self, value: str, go_type: str, number: Any = None) -> None:
        super().__init__(f"json: cannot unmarshal {value} into Go value of type {go_type}")
        self.value = value
        self.go_type = go_type
        self.number = number
        self.placed = False

    def place(self, struct: str, path: Path) -> None:
        """Say where it was: ``Go struct field ObjectMeta.metadata.name``."""
        if self.placed:
            return
        self.placed = True
        names = ".".join(step for step in steps(path) if isinstance(step, str))
        self.message = (
            f"json: cannot unmarshal {self.value} into Go struct field {struct}.{names} of type {self.go_type}"
        )
        self.args = (self.message,)


class LiteralFloat(float):
    """A float that remembers its text, for messages that quote it."""

    __slots__ = ("text",)

    def __new__(cls, text: str) -> LiteralFloat:
        made = super().__new__(cls, text)
        made.text = text
        return made

    text: str


class JSONSyntaxError(ValueError):
    """The text is not JSON; the message is Go's."""
