"""One object as seen in the versions that its owners wrote in.

Used by ``record_update`` and ``apply`` while they work on one write.

COMPAT: managedfields/internal versionConverter
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apiserver.registry.managedfields import shapes
from apiserver.schema.types import Struct

Object = dict[str, Any]

Convert = Callable[[Object, str], tuple[Object, Struct] | None]
"""An object in another apiVersion of its kind, with its type; None if there is no such version (any more).

The object handed in stays as it is; it may be without defaults, and have nulls where fields have no value.
"""


class Versions:
    """How to see an object of one write in any version.

    :param api_version: of the request.
    :param type_: its type in that version.
    :param convert: None: all versions have one shape.
    """

    def __init__(self, api_version: str, type_: Struct, convert: Convert | None) -> None:
        self.api_version = api_version
        self.type = type_
        self._convert = convert

    def same(self, api_version: str) -> bool:
        """Whether objects look the same in that version as in the request's."""
        return self._convert is None or api_version == self.api_version

    def see(self, obj: Object, api_version: str) -> tuple[Object, Struct] | None:
        """The object in a version, and its type there; None if there is no such version."""
        if self._convert is None:
            return obj, self.type
        if api_version == self.api_version and obj.get("apiVersion") in (api_version, None):
            return obj, self.type
        return self._convert(obj, api_version)


def record_of(type_: Struct) -> shapes.Record:
    """The shape of a kind."""
    shape = shapes.of(type_)
    assert isinstance(shape, shapes.Record)  # the type of a kind is a struct that is not atomic
    return shape
