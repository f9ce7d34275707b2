"""What a method and a URL ask for."""

# ruff: noqa: E501 - tables read better with one case on a line

from __future__ import annotations

from typing import Any

import pytest

from apiserver.api.request import parse_query
from apiserver.api.requestinfo import parse, reported_verb, scope

NS = "/api/v1/namespaces/x"
CM = f"{NS}/configmaps"

# fmt: off
RESOURCES: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", f"{CM}/a", {"verb": "get", "namespace": "x", "resource": "configmaps", "name": "a", "parts": ("configmaps", "a")}),
    ("HEAD", f"{CM}/a", {"verb": "get", "name": "a"}),
    ("PUT", f"{CM}/a", {"verb": "update", "name": "a"}),
    ("PATCH", f"{CM}/a", {"verb": "patch", "name": "a"}),
    ("DELETE", f"{CM}/a", {"verb": "delete", "name": "a"}),
    ("POST", CM, {"verb": "create", "name": "", "namespace": "x"}),
    ("GET", CM, {"verb": "list", "name": "", "parts": ("configmaps",)}),
    ("HEAD", CM, {"verb": "list"}),
    ("DELETE", CM, {"verb": "deletecollection"}),
    ("OPTIONS", CM, {"verb": "", "resource": "configmaps"}),
    ("PURGE", f"{CM}/a", {"verb": "", "name": "a"}),
    ("GET", f"{CM}/", {"verb": "list", "resource": "configmaps"}),
    ("GET", "/api/v1/namespaces//configmaps", {"verb": "list", "namespace": "", "resource": "configmaps"}),
    ("GET", f"{NS}/../default", {"namespace": "x", "resource": "..", "name": "default"}),
    ("GET", f"{CM}/a/b", {"name": "a", "subresource": "b"}),
    ("GET", "/api/v1/configmaps", {"verb": "list", "namespace": "", "resource": "configmaps", "version": "v1", "group": "", "prefix": "api"}),
    ("GET", "/apis/apps/v1/deployments", {"verb": "list", "group": "apps", "version": "v1", "prefix": "apis", "resource": "deployments"}),
    ("PATCH", "/apis/apps/v1/namespaces/x/deployments/d/scale", {"verb": "patch", "namespace": "x", "resource": "deployments", "name": "d", "subresource": "scale"}),
    ("GET", "/api/v1/nodes/n", {"verb": "get", "namespace": "", "resource": "nodes", "name": "n"}),
    ("GET", "/api/v1/namespaces", {"verb": "list", "namespace": "", "resource": "namespaces", "name": ""}),
    ("POST", "/api/v1/namespaces", {"verb": "create", "namespace": "", "resource": "namespaces"}),
    ("GET", NS, {"verb": "get", "namespace": "x", "resource": "namespaces", "name": "x", "parts": ("namespaces", "x")}),
    ("GET", f"{NS}/status", {"namespace": "x", "resource": "namespaces", "name": "x", "subresource": "status"}),
    ("PUT", f"{NS}/finalize", {"verb": "update", "resource": "namespaces", "name": "x", "subresource": "finalize"}),
    ("GET", "/api/v1/watch/namespaces/x/configmaps", {"verb": "watch", "namespace": "x", "resource": "configmaps", "long_running": True}),
    ("GET", "/api/v1/watch/configmaps", {"verb": "watch", "namespace": "", "resource": "configmaps", "long_running": True}),
    ("GET", "/apis/apps/v1/watch/deployments", {"verb": "watch", "resource": "deployments", "group": "apps"}),
    ("GET", "/api/v1/watch/configmaps/a", {"verb": "watch", "name": "a"}),
    ("GET", "/api/v1/proxy/namespaces/x/pods/p/some/path", {"verb": "proxy", "resource": "pods", "name": "p", "subresource": "", "long_running": True}),
    ("GET", f"{NS}/pods/p/log", {"verb": "get", "subresource": "log", "long_running": True}),
    ("POST", f"{NS}/pods/p/exec", {"verb": "create", "subresource": "exec", "long_running": True}),
    ("POST", f"{NS}/pods/p/attach", {"long_running": True}),
    ("POST", f"{NS}/pods/p/portforward", {"long_running": True}),
    ("GET", f"{NS}/services/s/proxy/a/b", {"subresource": "proxy", "long_running": True, "parts": ("services", "s", "proxy", "a", "b")}),
    ("GET", f"{NS}/pods/p/status", {"subresource": "status", "long_running": False}),
    ("GET", f"{CM}?watch=true", {"verb": "watch", "long_running": True}),
    ("GET", f"{CM}?watch=1", {"verb": "watch"}),
    ("GET", f"{CM}?watch", {"verb": "watch"}),
    ("GET", f"{CM}?watch=", {"verb": "watch"}),
    ("GET", f"{CM}?watch=perhaps", {"verb": "watch"}),
    ("GET", f"{CM}?watch=false", {"verb": "list"}),
    ("GET", f"{CM}?watch=False", {"verb": "list"}),
    ("GET", f"{CM}?watch=0", {"verb": "list"}),
    ("GET", f"{CM}?watch=true&limit=abc", {"verb": "watch"}),
    ("GET", f"{CM}?wat%63h=true", {"verb": "watch"}),
    ("GET", f"{CM}/a?watch=true", {"verb": "get", "name": "a", "long_running": False}),
    ("GET", f"{CM}?limit=1;watch=true", {"verb": "list"}),
    ("GET", f"{CM}?fieldSelector=metadata.name%3Da", {"verb": "list", "name": "a", "field_selector": "metadata.name=a"}),
    ("GET", f"{CM}?fieldSelector=metadata.name=a", {"name": "a"}),
    ("GET", f"{CM}?fieldSelector=metadata.name==a", {"name": "a"}),
    ("GET", f"{CM}?fieldSelector=x=y,metadata.name=a,metadata.name=b", {"name": "a"}),
    ("GET", f"{CM}?fieldSelector=metadata.name!=a", {"name": "", "field_selector": "metadata.name!=a"}),
    ("GET", f"{CM}?fieldSelector=metadata.name=a&watch=1", {"verb": "watch", "name": "a"}),
    ("GET", f"{CM}?fieldSelector=metadata.name=a&limit=abc", {"verb": "list", "name": ""}),
    ("GET", f"{CM}?fieldSelector=metadata.name=a&timeoutSeconds=x", {"name": ""}),
    ("GET", f"{CM}?fieldSelector=metadata.name=a&limit=5", {"name": "a"}),
    ("GET", f"{CM}?fieldSelector=nonsense,metadata.name=a", {"name": ""}),
    ("GET", f"{CM}?fieldSelector=metadata.name=a/b", {"name": ""}),
    ("GET", f"{CM}?fieldSelector=metadata.name=..", {"name": ""}),
    ("GET", f"{CM}?fieldSelector=metadata.name=a%255C%252Cb", {"name": ""}),
    ("GET", f"{CM}?fieldSelector=metadata.name=a%5C,b", {"name": "a,b"}),
    ("GET", f"{CM}?labelSelector=app%3Dweb&labelSelector=no", {"verb": "list", "label_selector": "app=web"}),
    ("DELETE", f"{CM}?labelSelector=app=web&fieldSelector=metadata.name=a", {"verb": "deletecollection", "name": "", "label_selector": "app=web", "field_selector": "metadata.name=a"}),
    ("POST", f"{CM}?labelSelector=app=web", {"verb": "create", "label_selector": ""}),
    ("GET", "/api/v1/watch/configmaps?labelSelector=a", {"verb": "watch", "label_selector": ""}),
    ("GET", "/api/v1/namespaces/x/configmaps/a b", {"name": "a b"}),
]
OTHERS: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/", {"verb": "get", "path": "/"}),
    ("GET", "", {"verb": "get", "path": ""}),
    ("GET", "/api", {"verb": "get"}),
    ("POST", "/api/v1", {"verb": "post"}),
    ("GET", "/api/v1/", {"verb": "get", "path": "/api/v1/"}),
    ("GET", "/apis/apps/v1", {"verb": "get", "group": "", "prefix": ""}),
    ("DELETE", "/apis/apps", {"verb": "delete"}),
    ("HEAD", "/healthz", {"verb": "head"}),
    ("OPTIONS", "/livez/ping", {"verb": "options"}),
    ("GET", "/openapi/v3/apis/apps/v1", {"verb": "get"}),
    ("GET", "/debug/pprof/profile", {"long_running": True}),
    ("GET", "/debug/pprof", {"long_running": False}),
    ("GET", "/other/v1/namespaces/x/configmaps", {"verb": "get"}),
]
# fmt: on


def _parsed(method: str, uri: str) -> Any:
    path, _, query = uri.partition("?")
    return parse(method, path, query)


@pytest.mark.parametrize(("method", "uri", "expected"), RESOURCES)
def test_resource_requests_are_taken_apart(method: str, uri: str, expected: dict[str, Any]) -> None:
    info = _parsed(method, uri)
    assert info.is_resource
    assert {key: getattr(info, key) for key in expected} == expected


@pytest.mark.parametrize(("method", "uri", "expected"), OTHERS)
def test_other_paths_are_no_resources_and_their_verb_is_the_method(
    method: str, uri: str, expected: dict[str, Any]
) -> None:
    info = _parsed(method, uri)
    assert not info.is_resource
    assert info.resource == info.namespace == info.name == ""
    assert {key: getattr(info, key) for key in expected} == expected


@pytest.mark.parametrize("path", ["/api/v1/watch", "/api/v1/proxy/", "/apis/apps/v1/watch"])
def test_a_verb_in_the_path_without_anything_after_it_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="unable to determine kind and namespace from url, /api"):
        parse("GET", path)


def test_paths_are_utf_8() -> None:
    assert parse("GET", "/api/v1/nodes/ä".encode().decode("latin-1")).name == "ä"


@pytest.mark.parametrize(
    ("method", "uri", "expected"),
    [
        ("GET", f"{CM}/a", "resource"),
        ("POST", CM, "resource"),
        ("GET", CM, "namespace"),
        ("GET", "/api/v1/configmaps", "cluster"),
        ("GET", "/healthz", ""),
    ],
)
def test_the_scope_of_a_request(method: str, uri: str, expected: str) -> None:
    assert scope(_parsed(method, uri)) == expected


@pytest.mark.parametrize(
    ("method", "uri", "content_type", "expected"),
    [
        ("GET", f"{CM}/a", "", "GET"),
        ("HEAD", CM, "", "LIST"),
        ("GET", f"{CM}?watch=1", "", "WATCH"),
        ("DELETE", CM, "", "DELETE"),
        ("PATCH", f"{CM}/a", "application/merge-patch+json", "PATCH"),
        ("PATCH", f"{CM}/a", "application/apply-patch+yaml", "APPLY"),
        ("POST", f"{NS}/pods/p/exec", "", "CONNECT"),
        ("HEAD", "/healthz", "", "GET"),
        ("PURGE", CM, "", "PURGE"),
    ],
)
def test_the_verb_that_metrics_and_the_log_show(method: str, uri: str, content_type: str, expected: str) -> None:
    assert reported_verb(_parsed(method, uri), method, content_type) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("a=1&b=2&a=3", {"a": ["1", "3"], "b": ["2"]}),
        ("verbose", {"verbose": [""]}),
        ("a=1;b=2&c=3", {"c": ["3"]}),
        ("a=%zz&b=%4", {}),
        ("a=%41+b&&c=d=e", {"a": ["A b"], "c": ["d=e"]}),
        ("a=%C3%A4", {"a": ["ä"]}),
        ("a=%FF", {"a": ["\ufffd"]}),
        ("a=ä".encode().decode("latin-1"), {"a": ["ä"]}),
    ],
)
def test_queries_are_read_as_go_reads_them(text: str, expected: dict[str, list[str]]) -> None:
    assert parse_query(text) == expected
