"""Errors about one field of an object, worded as kube-apiserver words them.

Strategies and schema checks return lists of :class:`FieldError`; :class:`apiserver.api.errors.Invalid` joins them.

COMPAT: k8s.io/apimachinery/pkg/util/validation/field
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from apiserver.api.numbers import go_float

_NO_VALUE: Final = object()


class Path(str):
    """A field path such as ``spec.containers[0].image``. The empty path is the object itself.

    ``Path("spec").child("ports").item(0).child("name")`` or, shorter, ``Path("spec") / "ports" / 0 / "name"``.
    A map key that is not a field name is written ``data[key]``: :meth:`key`.
    """

    __slots__ = ()

    def child(self, name: str) -> Path:
        """The path of a named field below this one."""
        return Path(f"{self}.{name}" if self else name)

    def item(self, i: int) -> Path:
        """The path of a list item."""
        return Path(f"{self}[{i}]")

    def key(self, key: str) -> Path:
        """The path of a map entry."""
        return Path(f"{self}[{key}]")

    def __truediv__(self, step: str | int) -> Path:
        return _step(self, step)


@functools.lru_cache(maxsize=4096)
def _step(path: Path, step: str | int) -> Path:
    # A check makes the paths of all that it looks at, the same ones each time, and hardly ever needs one.
    return path.item(step) if isinstance(step, int) else path.child(step)


def go_value(value: Any) -> str:
    """``value`` as Go's ``%q``/``%v`` verbs show it inside a field error."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return go_float(value)
    if isinstance(value, int):
        return str(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class FieldError:
    """One problem with one field. Build it with the class methods, named after upstream's constructors.

    ``reason`` is the machine-readable CauseType (``FieldValueRequired``...), ``body`` the text after the path.
    """

    reason: str
    field: str
    body: str

    def __str__(self) -> str:
        return f"{self.field or '<nil>'}: {self.body}"

    def cause(self) -> dict[str, str]:
        """The entry for ``details.causes``."""
        return {"reason": self.reason, "message": self.body, "field": self.field or "<nil>"}

    @classmethod
    def required(cls, field: str, detail: str = "") -> FieldError:
        """A value must be given."""
        return cls("FieldValueRequired", field, _join("Required value", detail))

    @classmethod
    def invalid(cls, field: str, value: Any, detail: str) -> FieldError:
        """The value breaks a rule."""
        return cls("FieldValueInvalid", field, _join(f"Invalid value: {go_value(value)}", detail))

    @classmethod
    def type_invalid(cls, field: str, value: Any, detail: str) -> FieldError:
        """The value has the wrong type. COMPAT: field.TypeInvalid."""
        return cls("FieldValueTypeInvalid", field, _join(f"Invalid value: {go_value(value)}", detail))

    @classmethod
    def duplicate(cls, field: str, value: Any) -> FieldError:
        """The value stands somewhere else already."""
        return cls("FieldValueDuplicate", field, f"Duplicate value: {go_value(value)}")

    @classmethod
    def not_supported(cls, field: str, value: Any, supported: Iterable[str]) -> FieldError:
        """The value is none of ``supported``, shown quoted: in the order given, a set sorted."""
        shown = sorted(supported) if isinstance(supported, (set, frozenset)) else supported
        quoted = ", ".join(json.dumps(s) for s in shown)
        detail = f"supported values: {quoted}" if quoted else ""
        return cls("FieldValueNotSupported", field, _join(f"Unsupported value: {go_value(value)}", detail))

    @classmethod
    def forbidden(cls, field: str, detail: str) -> FieldError:
        """The field may not be set, or not be changed."""
        return cls("FieldValueForbidden", field, _join("Forbidden", detail))

    @classmethod
    def not_found(cls, field: str, value: Any) -> FieldError:
        """The value names something that does not exist."""
        return cls("FieldValueNotFound", field, f"Not found: {go_value(value)}")

    @classmethod
    def too_long(cls, field: str, limit: int) -> FieldError:
        """A text with more than ``limit`` bytes; the value is not shown."""
        return cls("FieldValueTooLong", field, f"Too long: may not be more than {limit} bytes")

    @classmethod
    def too_many(cls, field: str, actual: int, limit: int) -> FieldError:
        """A list with more than ``limit`` items."""
        noun = "item" if limit == 1 else "items"
        return cls("FieldValueTooMany", field, f"Too many: {actual}: must have at most {limit} {noun}")

    @classmethod
    def internal(cls, field: str, detail: str) -> FieldError:
        """The check itself failed."""
        return cls("InternalError", field, _join("Internal error", detail))


def _join(head: str, detail: str) -> str:
    return f"{head}: {detail}" if detail else head
