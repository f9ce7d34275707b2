"""What a method and a URL ask for: verb, group, version, resource, namespace, name.

Pure functions, used by the request-info filter for every request and by whoever has a URL to judge.

COMPAT: k8s.io/apiserver/pkg/endpoints/request RequestInfoFactory.NewRequestInfo
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from apiserver.api.request import RequestInfo, parse_query

PREFIXES = frozenset(("api", "apis"))
GROUPLESS_PREFIXES = frozenset(("api",))
SPECIAL_VERBS = frozenset(("proxy", "watch"))
VERBS = {"GET": "get", "HEAD": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
NAMESPACE_SUBRESOURCES = frozenset(("status", "finalize"))

# COMPAT: controlplane/apiserver BasicLongRunningRequestCheck as kube-apiserver is started with it
LONG_RUNNING_VERBS = frozenset(("watch", "proxy"))
LONG_RUNNING_SUBRESOURCES = frozenset(("attach", "exec", "proxy", "log", "portforward"))
LONG_RUNNING_PATH = "/debug/pprof/"

APPLY_TYPES = ("application/apply-patch+yaml", "application/apply-patch+cbor")
_METHODS = {
    "get": "GET", "list": "LIST", "watch": "WATCH", "create": "POST", "update": "PUT", "patch": "PATCH",
    "delete": "DELETE", "deletecollection": "DELETE", "proxy": "PROXY",
}  # fmt: skip


def parse(method: str, path: str, query: str = "") -> RequestInfo:
    """The RequestInfo of a request.

    :param method: upper case.
    :param path: decoded (WSGI's ``PATH_INFO``, or text).
    :param query: not decoded, as in ``QUERY_STRING``.
    :raises ValueError: a verb in the path without anything after it; upstream's text.
    """
    if not path.isascii():
        path = _text(path)
    parts = path.strip("/").split("/")
    if len(parts) < 3 or parts[0] not in PREFIXES:
        return _non_resource(method, path)
    prefix, group, at = parts[0], "", 1
    if prefix not in GROUPLESS_PREFIXES:
        if len(parts) < 4:
            return _non_resource(method, path)
        group, at = parts[1], 2
    version, parts = parts[at], parts[at + 1 :]

    verb_in_path = parts[0] in SPECIAL_VERBS
    if verb_in_path:
        if len(parts) < 2:
            uri = f"{path}?{query}" if query else path
            raise ValueError(f"unable to determine kind and namespace from url, {uri}")
        verb, parts = parts[0], parts[1:]
    else:
        verb = VERBS.get(method, "")

    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 1:
        namespace = parts[1]
        if len(parts) > 2 and parts[2] not in NAMESPACE_SUBRESOURCES:
            parts = parts[2:]
    count = len(parts)
    name = parts[1] if count > 1 else ""
    subresource = parts[2] if count > 2 and verb != "proxy" else ""

    fields = labels = ""
    if not name and not verb_in_path and verb in ("get", "delete"):
        verb, name, fields, labels = _of_collection(verb, parse_query(query) if query else {})
    return RequestInfo(
        True, path, verb, prefix, group, version, namespace, parts[0], subresource, name, tuple(parts), fields, labels,
        verb in LONG_RUNNING_VERBS or subresource in LONG_RUNNING_SUBRESOURCES,
    )  # fmt: skip


def scope(info: RequestInfo) -> str:
    """One of "resource", "namespace", "cluster"; "" for what is no resource. COMPAT: endpoints/metrics CleanScope."""
    if info.name or info.verb == "create":
        return "resource"
    if info.namespace:
        return "namespace"
    return "cluster" if info.is_resource else ""


def reported_verb(info: RequestInfo | None, method: str, content_type: str = "") -> str:
    """The verb that metrics and the access log show, upper case. COMPAT: endpoints/metrics NormalizedVerb."""
    if info is None or not info.is_resource:
        return "GET" if method == "HEAD" else method
    if info.subresource in LONG_RUNNING_SUBRESOURCES:
        return "CONNECT"
    if info.verb == "patch" and content_type in APPLY_TYPES:
        return "APPLY"
    return _METHODS.get(info.verb, method)


def _text(path: str) -> str:
    """WSGI hands bytes over as Latin-1 characters; paths are UTF-8."""
    try:
        return path.encode("latin-1").decode("utf-8", "replace")
    except UnicodeEncodeError:
        return path


def _non_resource(method: str, path: str) -> RequestInfo:
    verb = method.lower()
    return RequestInfo(False, path, verb, long_running=verb in LONG_RUNNING_VERBS or path.startswith(LONG_RUNNING_PATH))


def _of_collection(verb: str, query: Mapping[str, Sequence[str]]) -> tuple[str, str, str, str]:
    """What a GET or DELETE without a name in its path is: verb, name by field selector, and the two selectors."""
    fields, labels = query.get("fieldSelector", ("",))[0], query.get("labelSelector", ("",))[0]
    if verb == "delete":
        return "deletecollection", "", fields, labels
    watch = query.get("watch")
    verb = "list" if watch is None or watch[0].lower() in ("false", "0") else "watch"
    # COMPAT: options that can't be decoded leave the name unset
    if any(key in query and not _INTEGER.fullmatch(query[key][0]) for key in ("limit", "timeoutSeconds")):
        return verb, "", fields, labels
    return verb, _exact_name(fields) if fields else "", fields, labels


_INTEGER = re.compile(r"[+-]?\d+|")
_TERMS = re.compile(r"(?:[^\\,]|\\.)+")
_TERM = re.compile(r"((?:[^\\=!]|\\.|!(?!=))*)(!=|==|=)((?:[^\\,=]|\\[\\,=])*)")


def _exact_name(selector: str) -> str:
    """The name in a field selector with ``metadata.name=x``; "" without one, or if the selector is malformed."""
    found = ""
    for text in _TERMS.findall(selector):
        term = _TERM.fullmatch(text)
        if term is None:
            return ""
        if term[1] == "metadata.name" and term[2] != "!=" and not found:
            found = re.sub(r"\\(.)", r"\1", term[3])
    return "" if found in (".", "..") or "/" in found or "%" in found else found
