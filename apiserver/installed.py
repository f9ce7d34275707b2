"""Find the plugins and storage drivers that installed distributions declare, and import the plugins.

Called once by :mod:`apiserver.configure`; what it finds goes to :mod:`apiserver.manager`. Everything that goes wrong
is collected and not raised, so that all problems are shown at once. Storage drivers are imported only when they are
used: one server needs one of them, and some are slow to import.
"""

from __future__ import annotations

import importlib.metadata
import traceback
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any

from apiserver.api.suggest import nearest
from apiserver.ordering import Plugin

if TYPE_CHECKING:
    from apiserver.api.storage import Storage

PLUGIN_GROUPS = ("apiserver.filters", "apiserver.admission", "apiserver.resources")
STORAGE_GROUP = "apiserver.storage"


@dataclass(frozen=True, slots=True)
class Driver:
    """One storage driver: ``name`` is the URL scheme it serves."""

    name: str
    distribution: str
    version: str
    entry_point: importlib.metadata.EntryPoint

    @property
    def origin(self) -> str:
        """Distribution, version and module, for messages."""
        return f"{self.distribution} {self.version}, {self.entry_point.value}"

    def load(self) -> Callable[[str, Any], Storage]:
        """Import the driver and return its ``open_storage(url, options)``.

        :raises DriverError: it can't be imported or has no such function.
        """
        try:
            module = self.entry_point.load()
        except Exception as ex:
            raise DriverError(f"{self.name}: cannot be imported from {self.origin}: {described(ex)}") from ex
        opener = getattr(module, "open_storage", None)
        if not callable(opener):
            hint = nearest("open_storage", vars(module))
            raise DriverError(f"{self.name}: has no function open_storage(url, options){hint}, from {self.origin}")
        return opener  # type: ignore[no-any-return]  # what a module holds is not typed


class DriverError(Exception):
    """A storage driver that can't be used; the text says which and why."""


@dataclass(slots=True)
class Installed:
    """What was found: plugins in the order of their names, drivers by scheme, and what went wrong."""

    plugins: list[Plugin] = field(default_factory=list)
    drivers: dict[str, Driver] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def find(disabled: Collection[str] = ()) -> Installed:
    """Import every plugin that an installed distribution declares, except those named in ``disabled``."""
    found = Installed()
    origins: dict[str, str] = {}
    distributions: dict[int, tuple[str, str]] = {}
    entry_points = importlib.metadata.entry_points()
    for group in (*PLUGIN_GROUPS, STORAGE_GROUP):
        for entry in sorted(entry_points.select(group=group), key=lambda entry: entry.name):
            name, version = _distribution(entry, distributions)
            origin = f"{name} {version}, {entry.value}"
            key = f"{STORAGE_GROUP}.{entry.name}" if group == STORAGE_GROUP else entry.name
            if key in origins:
                found.problems.append(f"{entry.name}: declared twice, by {origins[key]} and by {origin}")
                continue
            origins[key] = origin
            if group == STORAGE_GROUP:
                found.drivers[entry.name] = Driver(entry.name, name, version, entry)
            elif entry.name not in disabled:
                try:
                    found.plugins.append(Plugin(entry.name, entry.load(), name, version, entry.value, group))
                except Exception as ex:  # any error in a plugin's import is that plugin's problem
                    found.problems.append(f"{entry.name}: cannot be imported from {origin}: {described(ex)}")
    for unknown in sorted(set(disabled) - set(origins)):
        found.problems.append(f"--disable-plugins: there is no plugin {unknown!r}{nearest(unknown, origins)}")
    return found


def described(ex: BaseException) -> str:
    """Type, text, file and line of an exception of an import, on one line."""
    if isinstance(ex, SyntaxError):
        place = f" ({ex.filename}:{ex.lineno})"
        return f"{type(ex).__name__}: {ex.msg}{place}"
    return f"{type(ex).__name__}: {' '.join(str(ex).split())}{_raised_at(ex.__traceback__)}"


def _raised_at(trace: TracebackType | None) -> str:
    frames = [f for f in traceback.extract_tb(trace) if "importlib" not in f.filename and f.filename != __file__]
    return f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""


def _distribution(entry: importlib.metadata.EntryPoint, known: dict[int, tuple[str, str]]) -> tuple[str, str]:
    """Name and version of the distribution of ``entry``; parsing its metadata is slow, so once for each."""
    if entry.dist is None:
        return "unknown distribution", ""
    if id(entry.dist) not in known:
        metadata = entry.dist.metadata
        known[id(entry.dist)] = metadata["Name"], metadata["Version"]
    return known[id(entry.dist)]
