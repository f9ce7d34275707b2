"""Reading a patch's bytes, with the words of Go's JSON decoder for what is wrong with them.

Used by the patch types of this package.
"""

from __future__ import annotations

from typing import Any

import orjson

from apiserver.api.errors import BadRequest


def read_json(body: bytes, prefix: str = "") -> Any:
    """The decoded body.

    :param prefix: goes before the decoder's message.
    :raises BadRequest: no JSON.
    """
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"{prefix}{error}") from None


def json_kind(value: Any) -> str:
    """What Go's decoder calls a JSON value: string, number, bool, array or object."""
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    return "array" if isinstance(value, list) else "object"
