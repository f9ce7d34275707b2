"""Structured log lines with klog's levels, on the standard ``logging``.

``info(logger, "HTTP", verb="GET", resp=200)`` is logged always, ``info(logger, "HTTP", v=3, ...)`` from ``-v=3`` on.
:mod:`apiserver.logs` sets levels and formats up; any other ``logging`` set-up shows the message with its fields too.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

FIELDS = "fields"
"""The attribute of a ``LogRecord`` that holds its fields."""


def level(v: int) -> int:
    """The ``logging`` level of klog's ``V(v)``: INFO for 0, DEBUG for 10, a level of its own for each between."""
    return logging.INFO - min(max(v, 0), 10)


def enabled(logger: logging.Logger, v: int) -> bool:
    """Whether ``V(v)`` is logged."""
    return logger.isEnabledFor(level(v))


def quote(text: str) -> str:
    """``text`` in double quotes with what is not printable escaped, so that it can't forge a line."""
    return json.dumps(text, ensure_ascii=False) if text.isprintable() else json.dumps(text)


def show(value: Any) -> str:
    """A field's value: texts quoted, the rest as it is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (int, float)) else quote(str(value))


class _Message(str):
    """A message that shows its fields when formatted by a formatter that does not know of them."""

    __slots__ = ("fields",)
    fields: Mapping[str, Any]

    def __new__(cls, text: str, fields: Mapping[str, Any]) -> _Message:
        made = super().__new__(cls, text)
        made.fields = fields
        return made

    def __str__(self) -> str:
        return " ".join([quote(str.__str__(self)), *(f"{key}={show(value)}" for key, value in self.fields.items())])


def _log(logger: logging.Logger, number: int, message: str, fields: Mapping[str, Any], **more: Any) -> None:
    if logger.isEnabledFor(number):
        logger.log(number, _Message(message, fields), extra={FIELDS: fields}, stacklevel=3, **more)


def info(logger: logging.Logger, message: str, /, *, v: int = 0, **fields: Any) -> None:
    """Log ``message`` and fields from verbosity ``v`` on."""
    _log(logger, level(v), message, fields)


def warning(logger: logging.Logger, message: str, /, **fields: Any) -> None:
    """Log a warning."""
    _log(logger, logging.WARNING, message, fields)


def error(logger: logging.Logger, message: str, /, *, exc_info: Any = None, **fields: Any) -> None:
    """Log an error; ``exc_info`` as for ``logging``."""
    _log(logger, logging.ERROR, message, fields, exc_info=exc_info)
