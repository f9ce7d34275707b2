"""Reading a patch's bytes, with the words of Go's JSON decoder for what is wrong with them.

Used by the patch types of this package and, for strict validation, by the PATCH handler.
"""

from __future__ import annotations

from typing import Any

import orjson

from apiserver.api.errors import BadRequest
from apiserver.schema import depth, gojson
from apiserver.schema.failures import path_text
from apiserver.schema.gotext import quote


def read_json(body: bytes, prefix: str = "") -> Any:
    """The decoded body. Of a field that is there twice the last value counts.

    :param prefix: goes before the decoder's message.
    :raises BadRequest: no JSON.
    """
    try:
        value = orjson.loads(body)
        depth.check(value, body)
        return value
    except orjson.JSONDecodeError:
        pass
    except depth.TooDeepError as error:
        raise BadRequest(f"{prefix}{error}") from None
    try:
        return gojson.read(body)[0]
    except gojson.JSONSyntaxError as error:
        raise BadRequest(f"{prefix}{error}") from None


def duplicate_fields(body: bytes) -> list[str]:
    """What strict decoding says about fields that the body names twice (``duplicate field "spec.replicas"``).

    They come before the unknown fields that decoding the result finds. The body is JSON.
    """
    duplicates = gojson.read(body)[1]
    if duplicates is None:
        return []
    paths = sorted(duplicates.paths().items(), key=lambda item: item[1])
    return [f"duplicate field {quote(path_text(path))}" for path, _ in paths]
