"""Requests at random against a server in this process, and what must be true of every answer.

``Traffic`` picks a kind and an action, sends, and checks: no failure of the server, every refusal a Status with a
reason, what was stored is what was answered, and storing it again unchanged changes nothing.
"""

from __future__ import annotations

import json
import random
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import yaml

from apiserver.schema.protobuf.codec import codec
from apiserver.testing.server import MEDIA, Answer, LocalServer
from tests.fuzz import values
from tests.fuzz.values import Object

NAMESPACES = ("fuzz-1", "fuzz-2")
AGGREGATED = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
ACCEPTS = (
    "application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "*/*", "text/html", "x",
    "application/json;as=Table;g=meta.k8s.io;v=v1", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
)  # fmt: skip
SECONDS = 10.0
"""More than any answer may take on a busy machine."""
UPSTREAM_500 = (
    "failed to create typed patch object",
    "failed to create typed live object",
    "no preferred addresses found",
    "resourceVersion should not be set",
    "resourceVersion: Invalid value",
    "target.",
    "[target.",
    "list element types are not identical",
    "map: map[",
    "unknown patch type",
)
"""COMPAT: refusals without a reason and with this code, for an apply that doesn't fit its schema and the like."""


@dataclass(frozen=True)
class Kind:
    """One resource of discovery."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool
    verbs: frozenset[str]
    subresources: tuple[str, ...]

    def path(self, namespace: str, *more: str) -> str:
        root = f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        scope = f"/namespaces/{namespace}" if self.namespaced else ""
        return f"{root}{scope}/{self.plural}" + "".join(f"/{quote(part, safe='')}" for part in more)


def kinds(server: LocalServer) -> list[Kind]:
    """All that are served."""
    found = []
    for root in ("/api", "/apis"):
        for group in server.get(root, headers=AGGREGATED).json["items"]:
            name = group["metadata"].get("name", "")
            for version in group["versions"]:
                api_version = f"{name}/{version['version']}" if name else version["version"]
                found += [
                    Kind(
                        api_version,
                        entry["responseKind"]["kind"],
                        entry["resource"],
                        entry["scope"] == "Namespaced",
                        frozenset(entry["verbs"]),
                        tuple(one["subresource"] for one in entry.get("subresources", ())),
                    )
                    for entry in version["resources"]
                ]
    return found


def decoded(answer: Answer) -> Any:
    """A body in any of the three formats."""
    media = answer.headers["content-type"]
    if media == "application/yaml":
        return yaml.safe_load(answer.body)
    if media == "application/vnd.kubernetes.protobuf":
        return codec().decode(answer.body, ("", ""))
    return answer.json


class Traffic:
    """A stream of requests that is the same for the same seed."""

    def __init__(self, server: LocalServer, seed: int) -> None:
        self.server = server
        self.rng = random.Random(seed)
        self.kinds = kinds(server)
        self.real = values.real_objects()
        self.sent = 0
        self.written = 0
        self.codes: dict[int, int] = {}
        self._tokens = ["x"]
        actions = {
            self.create: 30, self.update: 14, self.patch: 12, self.apply: 12, self.delete: 6, self.get: 6, self.list: 8,
            self.subresource: 10, self.delete_collection: 1, self.anything: 1,
        }  # fmt: skip
        self._actions = [action for action, weight in actions.items() for _ in range(weight)]
        for name in NAMESPACES:
            server.post("/api/v1/namespaces", {"metadata": {"name": name}})

    def run(self, count: int) -> None:
        """Send at least ``count`` requests."""
        while self.sent < count:
            self.rng.choice(self._actions)()

    # -- one request -----------------------------------------------------------------------------------------------

    def send(
        self, method: str, path: str, body: Any = None, query: dict[str, str] | None = None, **headers: str
    ) -> Answer:
        """Send and check what is true of every answer."""
        self.sent += 1
        whole = f"{path}?{urlencode(query)}" if query else path
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        begin = time.monotonic()
        answer = self.server.request(method, whole, body, headers=named)
        said = f"request {self.sent}: {method} {whole} {named} {body!r}\n{answer.status} {answer.body[:3000]!r}"
        assert time.monotonic() - begin < SECONDS, said
        self.codes[answer.status] = self.codes.get(answer.status, 0) + 1
        if answer.status >= 400:
            self._refusal(method, answer, said)
        return answer

    @staticmethod
    def _refusal(method: str, answer: Answer, said: str) -> None:
        if method == "HEAD":
            return
        status = decoded(answer)
        assert (status["kind"], status["status"], status["code"]) == ("Status", "Failure", answer.status), said
        assert status.get("message"), said
        if answer.status == 500:
            assert status["message"].startswith(UPSTREAM_500), said
            return
        assert status.get("reason"), said
        if answer.status == 422 and status["reason"] == "Invalid" and status.get("details", {}).get("kind"):
            causes = status["details"].get("causes")
            assert causes, said
            assert all(cause["reason"] and cause["message"] for cause in causes), said

    def _kind(self, *verbs: str) -> Kind:
        return self.rng.choice([kind for kind in self.kinds if set(verbs) <= kind.verbs])

    def _object(self, kind: Kind) -> Object:
        """A body for a kind: real, real with something changed, or made from the schema."""
        rng = self.rng
        real = self.real.get((kind.api_version, kind.kind))
        made = values.from_schema(rng, kind.api_version, kind.kind) if not real or rng.random() < 0.3 else None
        obj: Object = made or values.mutated(rng, rng.choice(real or [{}]), rng.choice((0, 0, 1, 1, 2, 4)))
        if rng.random() < 0.7 and isinstance(obj.get("metadata"), dict):
            name = obj["metadata"].get("name")
            obj["metadata"] = {**obj["metadata"], "name": name if name and rng.random() < 0.4 else self._name()}
        return obj

    def _name(self) -> str:
        return self.rng.choice(values.NAMES if self.rng.random() < 0.92 else values.WRONG_NAMES)

    def _stored(self, kind: Kind) -> tuple[str, Object] | None:
        """(path, object) of one that is there."""
        namespace = self.rng.choice(NAMESPACES)
        listed = self.send("GET", kind.path(namespace), query={"limit": "20"})
        items = listed.json["items"] if listed.status == 200 else []
        items = [item for item in items if item["metadata"]["name"] not in (*NAMESPACES, "default", "kube-system")]
        if not items:
            return None
        obj = {"apiVersion": kind.api_version, "kind": kind.kind, **self.rng.choice(items)}
        return kind.path(namespace, obj["metadata"]["name"]), obj

    # -- actions ---------------------------------------------------------------------------------------------------

    def create(self) -> None:
        """POST an object."""
        kind = self._kind("create")
        media, data = values.encoded(self.rng, self._object(kind))
        path = kind.path(self.rng.choice(NAMESPACES))
        query = values.query(self.rng, values.WRITES)
        answer = self.send("POST", path, data, query, Content_Type=media)
        if answer.status == 201 and "get" in kind.verbs and query.get("dryRun") != "All":
            self.is_stored(path, answer)

    def is_stored(self, path: str, answer: Answer) -> None:
        """A GET answers the same; a PUT of it changes nothing."""
        if answer.json["kind"] == "Status":
            return
        made = answer.json
        one = f"{path}/{quote(made['metadata']['name'], safe='')}"
        self.written += 1
        found = self.send("GET", one)
        assert found.status == 200, (one, found.body)
        assert found.json == made, (made, found.json)
        media, data = values.encoded(random.Random(self.sent), made)
        if data == values.ENCODERS[media](made):
            again = self.send("PUT", one, data, Content_Type=media)
            if again.status == 200:
                assert again.json == made, (media, made, again.json)
            else:  # what a creation takes and an update refuses is for upstream to say; it is not stored
                assert again.status in (405, 409, 422, 403), (media, made, again.body)

    def update(self) -> None:
        """PUT an object that is there, with something changed."""
        kind = self._kind("update", "list")
        stored = self._stored(kind)
        if stored is None:
            return self.create()
        path, obj = stored
        media, data = values.encoded(self.rng, values.mutated(self.rng, obj, self.rng.choice((0, 1, 1, 2))))
        self._changed(path, obj, "PUT", data, values.query(self.rng, values.WRITES), media)
        return None

    def _changed(self, path: str, old: Object, method: str, data: bytes, query: dict[str, str], media: str) -> None:
        answer = self.send(method, path, data, query, Content_Type=media)
        if answer.status not in (200, 201) or "as=" in media:
            return
        new = answer.json
        found = self.send("GET", path)
        if query.get("dryRun") == "All":
            now = found.json if found.status == 200 else None
            assert now is None or now["metadata"]["resourceVersion"] == old.get("metadata", {}).get(
                "resourceVersion"
            ), path
        elif found.status == 200:
            assert found.json == new, (method, media, data, new, found.json)
        else:  # its last finalizer has gone
            assert old["metadata"].get("deletionTimestamp"), (path, found.body)

    def patch(self) -> None:
        """PATCH an object that is there in one of three ways."""
        kind = self._kind("patch", "list")
        stored = self._stored(kind)
        if stored is None:
            return self.create()
        path, obj = stored
        way = self.rng.choice(("json", "merge", "strategic"))
        body = values.json_patch(self.rng, obj) if way == "json" else values.piece(self.rng, obj)
        data = json.dumps(body).encode()
        data = values.damaged(self.rng, data) if self.rng.random() < 0.03 else data
        self._changed(path, obj, "PATCH", data, values.query(self.rng, values.WRITES), MEDIA[way])
        return None

    def apply(self) -> None:
        """Server-side apply of an object or of a part of it."""
        kind = self._kind("patch")
        obj = self._object(kind)
        whole = self.rng.random() < 0.7
        body = obj if whole else {**values.piece(self.rng, obj), "apiVersion": kind.api_version, "kind": kind.kind}
        metadata = obj.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        path = kind.path(self.rng.choice(NAMESPACES), str(name or self._name()))
        query = {"fieldManager": self.rng.choice(("one", "two", "")), "force": self.rng.choice(("true", "false"))}
        data = json.dumps(body).encode() if self.rng.random() < 0.7 else yaml.safe_dump(body).encode()
        answer = self.send("PATCH", path, data, query, Content_Type=MEDIA["apply"])
        if answer.status in (200, 201):
            made = answer.json
            assert self.send("GET", path).json == made, made
            self.written += 1
            if not made["metadata"].get("managedFields"):
                return  # nobody owns anything: the next apply finds owners for what is there
            again = self.send("PATCH", path, data, query, Content_Type=MEDIA["apply"])
            assert again.status == 200, (data, again.body)
            assert again.json == made, (data, made, again.json)

    def delete(self) -> None:
        """DELETE with options in the query or the body."""
        stored = self._stored(self._kind("delete", "list"))
        if stored is None:
            return
        body = None
        if self.rng.random() < 0.4:
            options = {
                "kind": "DeleteOptions",
                "apiVersion": "v1",
                "gracePeriodSeconds": 0,
                "preconditions": {"uid": "x"},
            }
            body = values.encoded(self.rng, values.mutated(self.rng, options, self.rng.choice((0, 1, 2))))
        query = values.query(self.rng, values.DELETES)
        if body is None:
            self.send("DELETE", stored[0], None, query)
        else:
            self.send("DELETE", stored[0], body[1], query, Content_Type=body[0])

    def get(self) -> None:
        """GET in every form."""
        kind = self._kind("get")
        stored = self._stored(kind) if "list" in kind.verbs else None
        path = stored[0] if stored else kind.path(self.rng.choice(NAMESPACES), self._name() or "a")
        query = values.query(self.rng, ("resourceVersion", "pretty"))
        self.send(self.rng.choice(("GET", "GET", "HEAD")), path, None, query, Accept=self.rng.choice(ACCEPTS))

    def list(self) -> None:
        """A list, page by page, in every form."""
        kind = self._kind("list")
        query = values.query(self.rng, values.READS, 0.5)
        if self.rng.random() < 0.3:
            query["continue"] = self.rng.choice(self._tokens)
        path = kind.path(self.rng.choice(NAMESPACES))
        answer = self.send("GET", path, None, query, Accept=self.rng.choice(ACCEPTS))
        if answer.status == 200 and answer.headers["content-type"] == "application/json":
            token = answer.json["metadata"].get("continue")
            if token:
                self._tokens = [*self._tokens[-20:], token]

    def subresource(self) -> None:
        """Read and write a subresource with something of the right or of another kind."""
        kind = self.rng.choice([kind for kind in self.kinds if kind.subresources])
        stored = self._stored(kind) if "list" in kind.verbs else None
        if stored is None:
            return self.create()
        path = f"{stored[0]}/{self.rng.choice(kind.subresources)}"
        obj = stored[1]
        read = self.send("GET", path, Accept="application/json")
        if read.status == 200 and read.headers["content-type"] == "application/json":
            obj = read.json
        method = self.rng.choice(("PUT", "PUT", "PATCH", "PATCH", "POST"))
        if method == "PATCH":
            way = self.rng.choice(("json", "merge", "strategic"))
            body = values.json_patch(self.rng, obj) if way == "json" else values.piece(self.rng, obj)
            media, data = MEDIA[way], json.dumps(body).encode()
        else:
            made = values.from_schema(self.rng, kind.api_version, kind.kind) if self.rng.random() < 0.4 else None
            if made is not None and self.rng.random() < 0.7:
                made["metadata"] = obj.get("metadata", {})
            media, data = values.encoded(self.rng, values.mutated(self.rng, made or obj, self.rng.choice((0, 1, 2))))
        self.send(method, path, data, values.query(self.rng, values.WRITES), Content_Type=media)
        return None

    def delete_collection(self) -> None:
        """DELETE of what a selector finds."""
        kind = self._kind("deletecollection")
        query = values.query(self.rng, (*values.DELETES, "limit", "resourceVersion"), 0.6)
        self.send("DELETE", kind.path(self.rng.choice(NAMESPACES)), None, query)

    def anything(self) -> None:
        """A method and a path that need not go together."""
        kind = self.rng.choice(self.kinds)
        parts = [self.rng.choice((*values.NAMES, "status", "scale", "x")) for _ in range(self.rng.choice((0, 1, 2, 3)))]
        method = self.rng.choice(("GET", "PUT", "POST", "PATCH", "DELETE", "OPTIONS", "FOO"))
        media = self.rng.choice((*MEDIA.values(), *values.ENCODERS, "text/plain", "application/cbor"))
        body = json.dumps(self.rng.choice(values.ODD)).encode()
        self.send(method, kind.path(self.rng.choice((*NAMESPACES, "none", "Not Ok")), *parts), body, Content_Type=media)
