"""Constant answers through Falcon: what a Python server would cost if it did nothing.

An object is 1 KiB, a Pod 8 KiB. A listing has as many of them as the namespace's name says (``list-pod-10k``), ten
with a selector, a page with a limit; it is joined anew for each request, in parts, one write each. Writes are read and
answered with an object.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs

import falcon

PART = 200
COUNTS = {"1k": 1_000, "10k": 10_000}


def item(size):
    """An object of ``size`` bytes."""
    head = b'{"metadata":{"name":"a","namespace":"bench","resourceVersion":"1"},"data":{"k":"'
    return head + b"v" * (size - len(head) - 3) + b'"}}'


ITEMS = {"configmaps": item(1024), "pods": item(8192), "deployments": item(4096)}


def listing(plural, first, count, token):
    """The parts of a listing of ``count`` objects."""
    meta = b'{"resourceVersion":"1"' + (b',"continue":"%d"' % token if token else b"") + b"}"
    yield b'{"kind":"List","apiVersion":"v1","metadata":' + meta + b',"items":['
    one = ITEMS[plural]
    parts = [one] * PART
    for start in range(0, count, PART):
        part = parts[: count - start]
        yield b",".join(part) + (b"," if start + PART < count else b"]}")


class Collection:
    """GET and POST of a collection."""

    def on_get(self, req, resp, ns, plural):
        """A listing, sent in parts."""
        query = {name: values[0] for name, values in parse_qs(req.query_string).items()}
        match = re.search(r"-(1k|10k)$", ns)
        count = 10 if "labelSelector" in query else COUNTS[match[1]] if match else 0
        first, limit = int(query.get("continue", 0)), int(query.get("limit", 0))
        page = min(limit or count, count - first)
        following = first + page if first + page < count else 0
        resp.content_type = "application/json"
        resp.stream = listing(plural, first, page, following)
        parts = -(-page // PART)
        size = len(next(listing(plural, first, page, following))) + page * len(ITEMS[plural]) + page + 1
        resp.content_length = size if parts else None

    def on_post(self, req, resp, ns, plural):
        """An object."""
        req.bounded_stream.read()
        resp.status, resp.data, resp.content_type = falcon.HTTP_201, ITEMS[plural], "application/json"


class Single:
    """GET, PUT and PATCH of one object."""

    def on_get(self, req, resp, ns="", plural="configmaps", name=""):
        """An object."""
        resp.data, resp.content_type = ITEMS[plural], "application/json"

    def on_put(self, req, resp, ns, plural, name):
        """An object."""
        req.bounded_stream.read()
        resp.data, resp.content_type = ITEMS[plural], "application/json"

    on_patch = on_put


app = falcon.App()
app.add_route("/readyz", Single())
for prefix in ("/api/v1", "/apis/apps/v1"):
    app.add_route(prefix + "/namespaces/{ns}/{plural}", Collection())
    app.add_route(prefix + "/namespaces/{ns}/{plural}/{name}", Single())
