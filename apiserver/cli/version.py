"""Print the version of this server, of the Kubernetes API it answers as, and of Python."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Sequence

from apiserver.cli._options import Parser
from apiserver.settings import CORE


def run(argv: Sequence[str]) -> int:
    """Print three lines."""
    Parser("version", __doc__).parse_args(argv)
    emulated = next(setting for setting in CORE if setting.name == "emulated-version")
    print(f"apiserver {importlib.metadata.version('apiserver')}")
    print(f"Kubernetes {emulated.initial}")
    print(f"Python {platform.python_version()}")
    return 0
