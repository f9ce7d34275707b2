"""List the routes that a server with these flags serves, and which plugin's delegate answers them.

Takes the flags of `apiserver serve`. Nothing is opened or started.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, cast

from apiserver import configure
from apiserver.api.storage import Storage
from apiserver.cli._options import Parser, table
from apiserver.handlers.endpoints import COLLECTION, EVERYWHERE, OBJECT, Endpoint
from apiserver.server import Server, build


class _NoStore:
    """Stands for the store while nothing runs. A server that is being built may hold its methods, not call them."""

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        def call(*_args: Any, **_kwargs: Any) -> NoReturn:
            raise RuntimeError(f"storage.{name}() was called while the server was built; do it in apiserver_started")

        return call


def run(argv: Sequence[str]) -> int:
    """Print a table (or JSON) of paths, methods and verbs."""
    parser = Parser("routes", __doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    options, rest = parser.split(argv)
    server = build(configure.configure(rest), cast(Storage, _NoStore()))
    rows = list(routes(server))
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        cells = [(row["path"], ",".join(row["methods"]) or "*", row["kind"] or "-") for row in rows]
        print(table([("PATH", "METHODS", "KIND"), *cells]))
    return 0


def routes(server: Server) -> Iterator[dict[str, Any]]:
    """Each path with its methods (empty = all) and the kind of its objects ("" = no resource), sorted by path."""
    found = [row for endpoint in server.installation.endpoints for row in _of_endpoint(endpoint)]
    found += [
        {"path": route.path + ("*" if route.prefix else ""), "methods": list(route.methods), "kind": ""}
        for route in server.resource_delegate.routes
    ]
    yield from sorted(found, key=lambda row: str(row["path"]))


def _of_endpoint(endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    resource = endpoint.resource
    version = resource.group_version
    root = f"/apis/{version}" if resource.group else f"/api/{resource.version}"
    inside = f"{root}/namespaces/{{namespace}}" if resource.namespaced else root
    below = f"/{endpoint.subresource}" if endpoint.subresource else ""
    paths = {
        COLLECTION: f"{inside}/{resource.plural}",
        OBJECT: f"{inside}/{resource.plural}/{{name}}{below}",
    }
    if resource.namespaced:
        paths[EVERYWHERE] = f"{root}/{resource.plural}"
    for place, path in paths.items():
        if methods := sorted(endpoint.methods[place]):
            yield {"path": path, "methods": methods, "kind": str(endpoint.kind.kind)}
