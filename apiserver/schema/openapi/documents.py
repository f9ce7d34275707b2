"""The OpenAPI documents of a server: v3 index, v3 documents, v2 document.

Made by the server from the installed resources, asked by the OpenAPI handler. Nothing is built before it is asked for.
Hashes and ETags are made from what a document is built of (the declarations, the minor, the version of this code)
and not from its bytes, so that the index costs no document.

COMPAT: kube-openapi handler, handler3: upper-case hexadecimal SHA-512, 301 for a stale hash
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from apiserver.schema import builtin
from apiserver.schema.openapi import gnostic
from apiserver.schema.openapi.model import Served, group_path, tag, title, version_title
from apiserver.schema.openapi.operations import operations
from apiserver.schema.openapi.render import Renderer, RendererV2, RendererV3
from apiserver.schema.openapi.schemas import Schemas

SECURITY = {
    "type": "apiKey",
    "description": "A bearer token, as: Bearer TOKEN",
    "name": "authorization",
    "in": "header",
}
_PROTOBUF = "v2 as protobuf"
_CODE = "1"  # raise when the same declarations give other documents


@dataclass(frozen=True, slots=True)
class Document:
    """A document's bytes and their hash (the ETag is the hash in double quotes)."""

    body: bytes
    hash: str

    @property
    def etag(self) -> str:
        return f'"{self.hash}"'


def _digest(data: bytes) -> str:
    return hashlib.sha512(data).hexdigest().upper()


class Documents:
    """All OpenAPI documents for a set of resources. Make a new one when the set changes.

    :param minor: of the built-in definitions.
    :param git_version: for ``info.version`` (``v1.36.2``).
    :param protobuf: whether resources are also answered as protobuf.
    """

    def __init__(
        self,
        resources: Iterable[Served],
        *,
        minor: int = builtin.DEFAULT_MINOR,
        git_version: str = "unversioned",
        protobuf: bool = False,
    ) -> None:
        self._minor = minor
        self._version = git_version
        self._protobuf = protobuf
        self._by_version: dict[tuple[str, str], list[Served]] = {}
        for served in resources:
            self._by_version.setdefault((served.group, served.version), []).append(served)
        self._groups: dict[str, list[str]] = {}
        for group, version in self._by_version:
            self._groups.setdefault(group, []).append(version)
        self._builders = self._table()
        self._built: dict[str, Document] = {}
        self._hashes: dict[str, str] = {}
        self._lock = threading.Lock()

    # -- what there is

    def _table(self) -> dict[str, Callable[[], dict[str, Any]]]:
        """Document key (``apis/apps/v1``) -> what builds it."""
        table: dict[str, Callable[[], dict[str, Any]]] = {
            "version": self._version_document,
            "apis": lambda: self._discovery("/apis/", "getAPIVersions", "apis", "APIGroupList"),
            "openid/v1/jwks": lambda: self._text("/openid/v1/jwks/", "getServiceAccountIssuerOpenIDKeyset", "openid"),
            ".well-known/openid-configuration": lambda: self._text(
                "/.well-known/openid-configuration/", "getServiceAccountIssuerOpenIDConfiguration", "WellKnown"
            ),
        }
        for group in self._groups:
            if group:
                table[f"apis/{group}"] = partial(
                    self._discovery, f"/apis/{group}/", f"get{title(group)}APIGroup", tag(group), "APIGroup"
                )
            else:
                table["api"] = lambda: self._discovery("/api/", "getCoreAPIVersions", "core", "APIVersions")
        for group, version in self._by_version:
            key = group_path(group, version)[1:]
            table[key] = partial(self._group_version, group, version)
        return table

    def paths(self) -> list[str]:
        """The keys of all v3 documents, sorted."""
        return sorted(self._builders)

    def hash(self, key: str) -> str:
        """The hash of a v3 document (``v2`` names the v2 document). KeyError if there is none."""
        found = self._hashes.get(key)
        if found is None:
            if key != "v2" and key not in self._builders:
                raise KeyError(key)
            found = self._hashes[key] = self._hash(key)
        return found

    def _hash(self, key: str) -> str:
        parts = key.split("/")
        declared: list[list[Served]] = []
        if key == "v2":
            declared = list(self._by_version.values())
        elif len(parts) == 3 and parts[0] == "apis":
            declared = [self._by_version.get((parts[1], parts[2]), [])]
        elif len(parts) == 2 and parts[0] == "api":
            declared = [self._by_version.get(("", parts[1]), [])]
        inputs = [_CODE, key, self._minor, self._version, self._protobuf, declared]
        return _digest(orjson.dumps(inputs, option=orjson.OPT_SORT_KEYS))

    def inherit(self, other: Documents) -> None:
        """Take over what another has built of the same declarations."""
        for key, document in list(other._built.items()):
            if key in self._builders and self.hash(key) == document.hash:
                self._built[key] = document

    # -- what is asked

    def index(self) -> Document:
        """The v3 index: where each document is, with its hash."""
        paths = {key: {"serverRelativeURL": self.url(key)} for key in self.paths()}
        body = orjson.dumps({"paths": paths}) + b"\n"
        return Document(body, _digest(body))

    def url(self, key: str) -> str:
        """The URL of a v3 document with its present hash, where a request with a stale one is sent to."""
        return f"/openapi/v3/{key}?hash={self.hash(key)}"

    def document(self, key: str) -> Document | None:
        """A v3 document (``apis/apps/v1``, ``api``, ``version``), None if there is none."""
        builder = self._builders.get(key)
        return None if builder is None else self._get(key, builder)

    def v2(self) -> Document:
        """The v2 (Swagger) document of everything."""
        return self._get("v2", self._swagger)

    def v2_protobuf(self) -> Document:
        """The v2 document as a protobuf message; it has the hash of the other form."""
        document = self.v2()
        found = self._built.get(_PROTOBUF)
        if found is None:
            encoded = gnostic.encode(orjson.loads(document.body))
            found = self._built[_PROTOBUF] = Document(encoded, document.hash)
        return found

    def _get(self, key: str, build: Callable[[], dict[str, Any]]) -> Document:
        found = self._built.get(key)
        if found is None:
            # One at a time: clients ask for the same documents at the same moment.
            with self._lock:
                found = self._built.get(key)
                if found is None:
                    found = self._built[key] = Document(orjson.dumps(build()) + b"\n", self.hash(key))
        return found

    # -- building

    def _info(self) -> dict[str, str]:
        return {"title": "Kubernetes", "version": self._version}

    def _wrap(self, renderer: Renderer) -> dict[str, Any]:
        return {
            "openapi": "3.0.0",
            "info": self._info(),
            "paths": dict(sorted(renderer.paths.items())),
            "components": {
                "schemas": dict(sorted(renderer.schemas.found.items())),
                "securitySchemes": {"BearerToken": SECURITY},
            },
        }

    def _renderer(self, *group_versions: tuple[str, str]) -> RendererV3:
        return RendererV3(Schemas(builtin.types(self._minor), 3, (("", "v1"), *group_versions)), self._protobuf)

    def _group_version(self, group: str, version: str) -> dict[str, Any]:
        renderer = self._renderer((group, version))
        self._add_group_version(renderer, group, version)
        return self._wrap(renderer)

    def _add_group_version(self, renderer: Renderer, group: str, version: str) -> None:
        path = f"{group_path(group, version)}/"
        name = f"get{title(group)}{version_title(version)}APIResources"
        renderer.discovery(path, name, tag(group, version), "get available resources", "APIResourceList")
        for served in self._by_version[group, version]:
            renderer.add(operations(served), served)

    def _discovery(self, path: str, name: str, label: str, kind: str) -> dict[str, Any]:
        renderer = self._renderer()
        renderer.discovery(path, name, label, _DISCOVERY_TEXT[kind], kind)
        return self._wrap(renderer)

    def _version_document(self) -> dict[str, Any]:
        renderer = self._renderer()
        info = renderer.schemas.reference("io.k8s.apimachinery.pkg.version.Info")
        renderer.paths["/version/"] = _get_path(
            "getCodeVersion", "version", "get the version of this server", {"application/json": {"schema": info}}
        )
        return self._wrap(renderer)

    def _text(self, path: str, name: str, label: str) -> dict[str, Any]:
        renderer = self._renderer()
        content = {_OPENID_TYPES[label]: {"schema": {"type": "string"}}}
        renderer.paths[path] = _get_path(name, label, "get what verifies service account tokens", content)
        return self._wrap(renderer)

    def _swagger(self) -> dict[str, Any]:
        renderer = RendererV2(Schemas(builtin.types(self._minor), 2), self._protobuf)
        renderer.discovery("/apis/", "getAPIVersions", "apis", _DISCOVERY_TEXT["APIGroupList"], "APIGroupList")
        for group in self._groups:
            path, kind = (f"/apis/{group}/", "APIGroup") if group else ("/api/", "APIVersions")
            name = f"get{title(group)}{kind}"
            renderer.discovery(path, name, tag(group), _DISCOVERY_TEXT[kind], kind)
        for group, version in self._by_version:
            self._add_group_version(renderer, group, version)
        info = renderer.schemas.reference("io.k8s.apimachinery.pkg.version.Info")
        renderer.paths["/version/"] = _swagger_get(
            "getCodeVersion", "version", "get the version of this server", "application/json", info
        )
        for label, path, name in _OPENID:
            renderer.paths[path] = _swagger_get(
                name, label, "get what verifies service account tokens", _OPENID_TYPES[label], {"type": "string"}
            )
        return {
            "swagger": "2.0",
            "info": self._info(),
            "paths": dict(sorted(renderer.paths.items())),
            "definitions": dict(sorted(renderer.schemas.found.items())),
            "parameters": dict(sorted(renderer.parameters.items())),
            "securityDefinitions": {"BearerToken": SECURITY},
            "security": [{"BearerToken": []}],
        }


_DISCOVERY_TEXT: Mapping[str, str] = {
    "APIGroup": "get information of a group",
    "APIGroupList": "get available API versions",
    "APIVersions": "get available API versions",
}
_OPENID_TYPES: Mapping[str, str] = {"openid": "application/jwk-set+json", "WellKnown": "application/json"}
_OPENID = (
    ("openid", "/openid/v1/jwks/", "getServiceAccountIssuerOpenIDKeyset"),
    ("WellKnown", "/.well-known/openid-configuration/", "getServiceAccountIssuerOpenIDConfiguration"),
)
_DENIED = {"description": "Unauthorized"}


def _get_path(name: str, label: str, text: str, content: dict[str, Any]) -> dict[str, Any]:
    responses = {"200": {"description": "OK", "content": content}, "401": _DENIED}
    return {"get": {"tags": [label], "description": text, "operationId": name, "responses": responses}}


def _swagger_get(name: str, label: str, text: str, media_type: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "get": {
            "tags": [label],
            "description": text,
            "operationId": name,
            "produces": [media_type],
            "schemes": ["https"],
            "responses": {"200": {"description": "OK", "schema": schema}, "401": _DENIED},
        }
    }
