"""Pytest fixtures; a ``conftest.py`` asks for them with ``pytest_plugins = ["apiserver.testing.fixtures"]``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from apiserver.testing.process import ServerProcess


@pytest.fixture(scope="session")
def apiserver_process() -> Iterator[ServerProcess]:
    """A server in a process of its own, for all tests of this run."""
    with ServerProcess() as server:
        yield server
