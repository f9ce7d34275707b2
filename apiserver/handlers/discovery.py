"""Discovery: what is served, as the legacy documents and as the aggregated one.

Built once from the endpoints; the router serves the bytes.

COMPAT: k8s.io/apiserver/pkg/endpoints/discovery, .../discovery/aggregated
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import falcon
import orjson

from apiserver.api.errors import status_line
from apiserver.api.names import GroupVersion, GroupVersionKind, version_order
from apiserver.api.resource import Resource
from apiserver.handlers.endpoints import Endpoint
from apiserver.handlers.negotiation import Output, negotiate, parse_accept
from apiserver.handlers.priorities import group_order
from apiserver.handlers.response import write_bytes, write_value

Object = dict[str, Any]
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def storage_version_hash(kind: GroupVersionKind) -> str:
    """COMPAT: discovery.StorageVersionHash."""
    text = f"{kind.group}/{kind.version}/{kind.kind}"
    return base64.b64encode(hashlib.sha256(text.encode()).digest()[:8]).decode()


class Discovery:
    """All discovery documents of a set of endpoints.

    :param endpoints: everything that is served.
    :param address: host and port that clients are told.
    """

    def __init__(self, endpoints: Sequence[Endpoint], address: str) -> None:
        self.endpoints = endpoints
        self._address = address
        self.by_version: dict[GroupVersion, list[Endpoint]] = {}
        for endpoint in endpoints:
            self.by_version.setdefault(endpoint.resource.group_version, []).append(endpoint)

    @cached_property
    def groups(self) -> Sequence[tuple[str, Sequence[str]]]:
        """(group, versions) in the order that clients see, the core group left out."""
        found: dict[str, list[str]] = {}
        for group, version in self.by_version:
            if group:
                found.setdefault(group, []).append(version)
        return [(g, sorted(found[g], key=version_order)) for g in sorted(found, key=group_order)]

    @cached_property
    def core_versions(self) -> Object:
        """``/api``."""
        versions = sorted((v for g, v in self.by_version if not g), key=version_order)
        return {
            "kind": "APIVersions",
            "versions": versions,
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": self._address}],
        }

    @cached_property
    def group_list(self) -> Object:
        """``/apis``."""
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [self._group(*g) for g in self.groups]}

    def group(self, name: str) -> Object | None:
        """``/apis/<group>``, None if there is no such group."""
        versions = dict(self.groups).get(name)
        return {"kind": "APIGroup", "apiVersion": "v1", **self._group(name, versions)} if versions else None

    @staticmethod
    def _group(name: str, versions: Sequence[str]) -> Object:
        listed = [{"groupVersion": f"{name}/{v}", "version": v} for v in versions]
        return {"name": name, "versions": listed, "preferredVersion": listed[0]}

    def resource_list(self, version: GroupVersion) -> Object | None:
        """``/apis/<group>/<version>``, None if it is not served."""
        endpoints = self.by_version.get(version)
        if endpoints is None:
            return None
        entries = [e for endpoint in sorted(endpoints, key=lambda e: e.path) if (e := self._entry(endpoint))]
        # COMPAT: the list of the core group does not say which version it is itself
        own = {"apiVersion": "v1"} if version.group else {}
        return {"kind": "APIResourceList", **own, "groupVersion": str(version), "resources": entries}

    @staticmethod
    def _entry(endpoint: Endpoint) -> Object | None:
        resource = endpoint.resource
        entry: Object = {
            "name": endpoint.path,
            "singularName": "" if endpoint.subresource else resource.singular_name,
            "namespaced": resource.namespaced,
        }
        kind = endpoint.kind
        if (kind.group, kind.version) != (resource.group, resource.version):
            entry["group"], entry["version"] = kind.group, kind.version
        entry["kind"] = kind.kind
        entry["verbs"] = sorted(endpoint.verbs)
        if not endpoint.subresource:
            _set(entry, "shortNames", resource.short_names)
            _set(entry, "categories", resource.categories)
            if endpoint.stored:
                entry["storageVersionHash"] = storage_version_hash(resource.hashed_version or resource.storage_gvk)
        return entry

    # -- aggregated -----------------------------------------------------------

    @cached_property
    def aggregated_core(self) -> tuple[bytes, str]:
        """``/api`` as APIGroupDiscoveryList, with its ETag."""
        versions = sorted((v for g, v in self.by_version if not g), key=version_order)
        return _document([self._discovered("", versions)] if versions else [])

    @cached_property
    def aggregated_groups(self) -> tuple[bytes, str]:
        """``/apis`` as APIGroupDiscoveryList, with its ETag."""
        return _document([self._discovered(group, versions) for group, versions in self.groups])

    def _discovered(self, group: str, versions: Sequence[str]) -> Object:
        return {
            "metadata": {"name": group} if group else {},
            "versions": [
                {
                    "version": v,
                    "resources": self._discovered_resources(self.by_version[GroupVersion(group, v)]),
                    "freshness": "Current",
                }
                for v in versions
            ],
        }

    @staticmethod
    def _discovered_resources(endpoints: Sequence[Endpoint]) -> list[Object]:
        found: dict[str, Object] = {}
        for endpoint in sorted(endpoints, key=lambda e: e.path):
            resource = endpoint.resource
            if endpoint.subresource:
                entry = {
                    "subresource": endpoint.subresource,
                    "responseKind": _response_kind(resource, endpoint.kind),
                    "verbs": sorted(endpoint.verbs),
                }
                found[resource.plural].setdefault("subresources", []).append(entry)
                continue
            entry = {
                "resource": resource.plural,
                "responseKind": _response_kind(resource, endpoint.kind),
                "scope": "Namespaced" if resource.namespaced else "Cluster",
                "singularResource": resource.singular_name,
                "verbs": sorted(endpoint.verbs),
            }
            _set(entry, "shortNames", resource.short_names)
            _set(entry, "categories", resource.categories)
            found[resource.plural] = entry
        return list(found.values())


def _set(entry: Object, key: str, values: Sequence[str]) -> None:
    if values:
        entry[key] = list(values)


def _response_kind(resource: Resource, kind: GroupVersionKind) -> Mapping[str, str]:
    """COMPAT: group and version of the response kind are empty when they are the resource's own."""
    own = (kind.group, kind.version) == (resource.group, resource.version)
    return {"group": "" if own else kind.group, "version": "" if own else kind.version, "kind": kind.kind}


def _document(items: list[Object]) -> tuple[bytes, str]:
    body = orjson.dumps(
        {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items},
        option=orjson.OPT_APPEND_NEWLINE,
    )
    return body, f'"{hashlib.sha512(body).hexdigest().upper()}"'


def wants_aggregated(environ: Mapping[str, Any]) -> bool:
    """Whether the Accept header prefers the aggregated document to the legacy ones."""
    accept = environ.get("HTTP_ACCEPT", "")
    if "apidiscovery.k8s.io" not in accept:
        return False
    for clause in parse_accept(accept):
        if clause.media_type not in ("application/json", "*/*"):
            continue
        params = dict(clause.params)
        if "as" not in params:
            return False
        if (params.get("g"), params.get("v"), params["as"]) == ("apidiscovery.k8s.io", "v2", "APIGroupDiscoveryList"):
            return True
    return False


def write_root(req: falcon.Request, resp: falcon.Response, legacy: Object, aggregated: tuple[bytes, str]) -> None:
    """Answer ``/api`` or ``/apis`` in the form that was asked for."""
    if not wants_aggregated(req.env):
        resp.append_header("Vary", "Accept")
        write_legacy(req, resp, legacy)
        return
    body, etag = aggregated
    resp.set_header("Vary", "Accept")
    resp.set_header("ETag", etag)
    resp.set_header("Cache-Control", "public")
    if req.env.get("HTTP_IF_NONE_MATCH") == etag:
        resp.status = status_line(304)
        return
    write_bytes(req, resp, body, AGGREGATED)


def write_legacy(req: falcon.Request, resp: falcon.Response, document: Object) -> None:
    """Answer with a legacy document."""
    output: Output = negotiate(req.env)
    write_value(req, resp, document, output)
