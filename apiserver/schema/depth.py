"""How deeply documents may be nested, so that everything that is taken can be written again in every form.

Reading bodies (:mod:`apiserver.schema.gojson`, :mod:`apiserver.schema.goyaml`, protobuf) and patches ask here. The JSON
library writes 254 levels and no more; an answer puts an object some levels deeper than it was sent: into a list, a row
of a Table, an event of a watch, and its field paths into managedFields. Without this room one deep object, once stored,
would break every list that it is in.
"""

from __future__ import annotations

from typing import Any

import orjson

MAX_DEPTH = 240
"""Levels of objects and arrays in a document. COMPAT: Go's decoder takes 10,000."""

_ROOM = 254 - MAX_DEPTH


class TooDeepError(ValueError):
    """A document is nested too deeply; the message is Go's."""

    def __init__(self) -> None:
        super().__init__("exceeded max depth")


def encode(value: Any) -> bytes:
    """The compact JSON of a value that was read from JSON or YAML.

    :raises TooDeepError:
    """
    for _ in range(_ROOM):
        value = [value]
    try:
        return orjson.dumps(value)[_ROOM:-_ROOM]
    except orjson.JSONEncodeError:
        raise TooDeepError from None


def check(value: Any, text: bytes) -> None:
    """Refuse a value that is nested too deeply, at little cost when its JSON ``text`` shows that it is not.

    :raises TooDeepError:
    """
    if text.count(b"{") + text.count(b"[") > MAX_DEPTH:
        encode(value)
