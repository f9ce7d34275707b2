"""``/version``: which Kubernetes this server answers as, and what it is made of.

COMPAT: k8s.io/apiserver/pkg/server/routes Version; component-base/version
"""

from __future__ import annotations

import functools
import importlib.metadata
import platform
from collections.abc import Callable, Iterable
from typing import Any

import orjson

from apiserver.api.errors import NotAcceptable
from apiserver.handlers.negotiation import parse_accept

MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64", "i686": "386", "armv7l": "arm"}
"""Go's names for what ``platform.machine()`` says."""
ACCEPTED = ("*/*", "application/json")
UNACCEPTABLE = NotAcceptable("406: Not Acceptable\n\nAvailable representations: application/json", details={})
NO_DATE = "1970-01-01T00:00:00Z"


@functools.cache
def own_version() -> str:
    """The version of this distribution; "0" when it runs without having been installed."""
    try:
        return importlib.metadata.version("apiserver")
    except importlib.metadata.PackageNotFoundError:
        return "0"


def git_version(minor: int) -> str:
    """A version that clients compare with their own: Kubernetes' minor, and after the plus sign who we are."""
    return f"v1.{minor}.0+apiserver.{own_version()}"


def describe(minor: int) -> dict[str, str]:
    """The document, for a server that answers as Kubernetes 1.``minor``."""
    machine = platform.machine().lower()
    return {
        "major": "1",
        "minor": str(minor),
        "emulationMajor": "1",
        "emulationMinor": str(minor),
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": str(minor - 1),
        "gitVersion": git_version(minor),
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": NO_DATE,
        "goVersion": f"python{platform.python_version()}",
        "compiler": platform.python_implementation().lower(),
        "platform": f"{platform.system().lower()}/{MACHINES.get(machine, machine)}",
    }


def app(minor: int) -> Callable[[dict[str, Any], Any], Iterable[bytes]]:
    """The WSGI app."""
    # COMPAT: WriteRawJSON: always indented, whoever asks
    body = orjson.dumps(describe(minor), option=orjson.OPT_INDENT_2)
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]

    def version(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        accept = environ.get("HTTP_ACCEPT", "*/*")
        if not any(clause.media_type in ACCEPTED for clause in parse_accept(accept)):
            return UNACCEPTABLE(environ, start_response)
        start_response("200 OK", list(headers))
        return [body]

    return version
