"""The published definitions of Kubernetes' own kinds, one at a time, without parsing the whole file.

The package ``kubernetes-validate`` carries one JSON file of 1 to 2 MB per minor. Parsing it would cost 10 ms and tens
of MB; finding where each definition starts costs 3 ms and 100 KB once, and a definition is read when it is needed.
Used by :mod:`apiserver.schema.builtin` and by OpenAPI.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from apiserver.minors import folder, minors

_START = re.compile(rb'\n {4}"(io\.k8s\.[^"]+)": \{')
_GVK = re.compile(
    rb'"x-kubernetes-group-version-kind": \[\s*'
    rb'\{\s*"group": "([^"]*)",\s*"kind": "([^"]*)",\s*"version": "([^"]*)"\s*\}\s*\]'
)


class Definitions:
    """The definitions of one minor.

    :param minor: 36 for Kubernetes 1.36.
    :raises ValueError: there are none of this minor.
    """

    def __init__(self, minor: int) -> None:
        if minor not in minors():
            known = ", ".join(f"1.{m}" for m in minors())
            raise ValueError(f"no definitions of Kubernetes 1.{minor}; there are {known}")
        self.minor = minor
        self._path = _path(minor)
        data = self._path.read_bytes()
        starts = [(m[1].decode(), m.end() - 1) for m in _START.finditer(data)]
        ends = [*(start for _, start in starts[1:]), len(data)]
        self._slices = {name: (start, end) for (name, start), end in zip(starts, ends, strict=True)}
        self._file: int | None = None

    def __contains__(self, name: str) -> bool:
        return name in self._slices

    def names(self) -> list[str]:
        """All definition names, sorted."""
        return list(self._slices)

    def text(self, name: str) -> bytes:
        """The JSON text of a definition. KeyError if there is none of this name."""
        start, end = self._slices[name]
        if self._file is None:
            self._file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        data = os.pread(self._file, end - start, start)
        return data[: data.rindex(b"\n    }") + 6]

    def read(self, name: str) -> dict[str, Any]:
        """A definition, newly decoded. KeyError if there is none of this name."""
        value: dict[str, Any] = orjson.loads(self.text(name))
        return value

    def kinds(self) -> dict[tuple[str, str, str], str]:
        """(group, version, kind) -> definition name, for the kinds that belong to one group version each."""
        found = {}
        for name in self._slices:
            match = _GVK.search(self.text(name))
            if match:
                group, kind, version = (part.decode() for part in match.groups())
                found[group, version, kind] = name
        return found


class EveryMinor(Definitions):
    """The definitions of all minors at once: each has every property that it ever had.

    For protobuf, whose messages keep every field that they ever had, too.
    """

    def __init__(self) -> None:
        self.minor = minors()[-1]

    def __contains__(self, name: str) -> bool:
        return any(name in of(minor) for minor in minors())

    def names(self) -> list[str]:
        """All definition names, sorted."""
        return sorted({name for minor in minors() for name in of(minor).names()})

    def text(self, name: str) -> bytes:
        """The JSON text of a definition. KeyError if no minor has it."""
        return orjson.dumps(self.read(name))

    def read(self, name: str) -> dict[str, Any]:
        """A definition, newly made. KeyError if no minor has it."""
        found = [of(minor).read(name) for minor in minors() if name in of(minor)]
        if not found:
            raise KeyError(name)
        whole = found[-1]
        properties = {key: value for schema in found for key, value in schema.get("properties", {}).items()}
        return {**whole, "properties": properties} if properties else whole

    def kinds(self) -> dict[tuple[str, str, str], str]:
        """(group, version, kind) -> definition name."""
        return {kind: name for minor in minors() for kind, name in of(minor).kinds().items()}


def _path(minor: int) -> Path:
    return folder() / f"v1.{minor}.0-local" / "_definitions.json"


def published(minor: int, name: str) -> bool:
    """Whether a minor has a definition, for one question: a tenth of the cost of :func:`of`, and nothing is kept."""
    return f'\n    "{name}": {{'.encode() in _path(minor).read_bytes()


@cache
def of(minor: int) -> Definitions:
    """The definitions of a minor; indexed once per process."""
    return Definitions(minor)
