"""Log lines as kube-apiserver writes them: klog's text format or JSON, on standard error.

Called once per process at start, with the settings ``v`` and ``logging-format``. What is logged with plain ``logging``
calls by libraries and plugins takes the same form.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from typing import Any, TextIO

import orjson

from apiserver.api import logs


def _letter(number: int) -> str:
    if number >= logging.CRITICAL:
        return "F"
    if number >= logging.ERROR:
        return "E"
    return "W" if number >= logging.WARNING else "I"


def _verbosity(number: int) -> int:
    return max(logging.INFO - number, 0)


class TextFormatter(logging.Formatter):
    """``I0102 15:04:05.000000    1234 file.py:12] "message" key="value"``. COMPAT: klog's header."""

    def format(self, record: logging.LogRecord) -> str:
        moment = time.localtime(record.created)
        micros = int(record.created % 1 * 1_000_000)
        head = (
            f"{_letter(record.levelno)}{moment.tm_mon:02}{moment.tm_mday:02} "
            f"{moment.tm_hour:02}:{moment.tm_min:02}:{moment.tm_sec:02}.{micros:06} "
            f"{os.getpid():7} {record.filename}:{record.lineno}]"
        )
        lines = [f"{head} {record.getMessage()}"]
        if record.exc_info and record.exc_info[0] is not None:
            lines.append(self.formatException(record.exc_info))
        return "\n".join(lines)


class JsonFormatter(logging.Formatter):
    """One JSON object per line. COMPAT: component-base/logs/json: ts in milliseconds, caller, msg, v or err."""

    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, logs.FIELDS, None)
        line: dict[str, Any] = {
            "ts": round(record.created * 1000, 3),
            "caller": f"{record.filename}:{record.lineno}",
            "msg": record.getMessage() if fields is None else str.__str__(record.msg),
        }
        if record.levelno >= logging.WARNING:
            line["level"] = record.levelname.lower()
        else:
            line["v"] = _verbosity(record.levelno)
        line.update(fields or {})
        if record.exc_info and record.exc_info[0] is not None:
            line["stacktrace"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


FORMATTERS: dict[str, type[logging.Formatter]] = {"text": TextFormatter, "json": JsonFormatter}


def set_up(verbosity: int, style: str = "text", stream: TextIO | None = None) -> logging.Handler:
    """Send everything that is logged from ``-v=verbosity`` up to ``stream``; returns the handler.

    Takes the place of a handler that an earlier call installed.

    :param style: "text" or "json".
    :param stream: default: standard error.
    """
    root = logging.getLogger()
    for old in [h for h in root.handlers if isinstance(h.formatter, (TextFormatter, JsonFormatter))]:
        root.removeHandler(old)
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(FORMATTERS[style]())
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    # Verbosity is ours: libraries have their own idea of what DEBUG is.
    for name in ("apiserver", "apiserver_plugins"):
        logging.getLogger(name).setLevel(logs.level(verbosity))
    return handler
