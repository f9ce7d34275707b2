"""How log lines look."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator

import pytest

from apiserver import logs as setup
from apiserver.api import logs


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    before = root.level, {name: logging.getLogger(name).level for name in ("apiserver", "apiserver_plugins")}
    handlers = list(root.handlers)
    yield io.StringIO()
    for handler in [h for h in root.handlers if h not in handlers]:
        root.removeHandler(handler)
    root.setLevel(before[0])
    for name, level in before[1].items():
        logging.getLogger(name).setLevel(level)


LOG = logging.getLogger("apiserver.test")


def test_text_lines_are_klogs(stream: io.StringIO) -> None:
    setup.set_up(3, stream=stream)
    logs.info(LOG, "HTTP", v=3, verb="GET", resp=200)
    logs.info(LOG, "too much", v=4)
    logs.warning(LOG, "careful")
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2
    assert re.fullmatch(r'I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ test_logs\.py:\d+\] "HTTP" verb="GET" resp=200', lines[0])
    assert lines[1].startswith("W")


def test_a_value_cannot_forge_a_line(stream: io.StringIO) -> None:
    setup.set_up(0, stream=stream)
    logs.info(LOG, "HTTP", userAgent="x\nI0101 fake")
    assert len(stream.getvalue().splitlines()) == 1


def test_json_lines_are_objects(stream: io.StringIO) -> None:
    setup.set_up(0, "json", stream)
    logs.info(LOG, "HTTP", verb="GET", resp=200)
    logging.getLogger("other").warning("plain %d", 5)
    try:
        raise ValueError("broken")
    except ValueError:
        logs.error(LOG, "failed", exc_info=True)
    first, second, third = map(json.loads, stream.getvalue().splitlines())
    assert (first["msg"], first["verb"], first["resp"], first["v"]) == ("HTTP", "GET", 200, 0)
    assert second["msg"] == "plain 5"
    assert "ValueError: broken" in third["stacktrace"]


def test_setting_up_again_replaces_the_handler(stream: io.StringIO) -> None:
    setup.set_up(0, stream=stream)
    setup.set_up(0, stream=stream)
    logs.info(LOG, "once")
    assert len(stream.getvalue().splitlines()) == 1
