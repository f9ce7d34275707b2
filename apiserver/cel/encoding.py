"""Python values in the form that the library takes without loss. Called for variables and for results of functions.

The library reads a text of Python up to its first NUL, so that a text with one would be another: it goes as a message.
Times and durations are known only where their type is declared: they go as messages, too.
"""

from __future__ import annotations

import datetime
from typing import Any, Final

import orjson
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from google.protobuf.wrappers_pb2 import StringValue

from .libraries.declaring import EvaluationError

_NUL: Final = "\0"
_NUL_IN_JSON: Final = b"\\u0000"


def has_nul(values: Any) -> bool:
    """Whether there may be a text with a NUL in the values; quick, and right whenever it says no."""
    try:
        written = orjson.dumps(values, default=_unwritten, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, ValueError):
        return True
    return _NUL_IN_JSON in written


def _unwritten(_: Any) -> None:
    """Times and bytes: they are no texts."""


def encoded(value: Any) -> Any:
    """The value, which is JSON with times and durations of Python in it.

    :raises EvaluationError: a key of a map has no form that the library takes.
    """
    if isinstance(value, str):
        return StringValue(value=value) if _NUL in value else value
    if isinstance(value, dict):
        return {_key(key): encoded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [encoded(item) for item in value]
    if isinstance(value, datetime.timedelta):
        made = Duration()
        made.FromTimedelta(value)
        return made
    if isinstance(value, datetime.datetime):
        moment = Timestamp()
        moment.FromDatetime(value)
        return moment
    return value


def _key(key: Any) -> Any:
    if isinstance(key, str) and _NUL in key:
        raise EvaluationError("a key of a map must not contain NUL")
    return key
