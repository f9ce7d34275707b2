"""The Kubernetes minors that can be emulated: those whose definitions the package ``kubernetes-validate`` carries.

Used by the settings, which say what ``--emulated-version`` may be, and by :mod:`apiserver.schema.definitions`, which
reads the files.
"""

from __future__ import annotations

import importlib.util
import os
import re
from functools import cache
from pathlib import Path

_FOLDER = re.compile(r"v1\.(\d+)\.0-local\Z")


@cache
def folder() -> Path:
    """Where the definitions are, one folder for each minor.

    :raises RuntimeError: the package is not installed.
    """
    # The package is found but not imported: its imports (jsonschema) cost 100 ms and are not needed here.
    spec = importlib.util.find_spec("kubernetes_validate")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("the package kubernetes-validate, which holds the built-in types, is not installed")
    return Path(next(iter(spec.submodule_search_locations))) / "kubernetes-json-schema"


@cache
def minors() -> tuple[int, ...]:
    """The Kubernetes minors that there are definitions of, oldest first: 36 stands for 1.36."""
    return tuple(sorted(int(m[1]) for name in os.listdir(folder()) if (m := _FOLDER.match(name))))
