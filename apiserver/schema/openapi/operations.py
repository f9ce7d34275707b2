"""The operations of a resource: paths, methods, names and parameters, the same for OpenAPI v2 and v3.

COMPAT: k8s.io/apiserver endpoints/installer registerResourceHandlers
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apiserver.schema.openapi.model import Served, ServedSubresource, tag, title, version_title

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

LIST = (
    "allowWatchBookmarks", "continue", "fieldSelector", "labelSelector", "limit", "resourceVersion",
    "resourceVersionMatch", "sendInitialEvents", "timeoutSeconds", "watch",
)  # fmt: skip
WRITE = ("dryRun", "fieldManager", "fieldValidation")
DELETE = (
    "dryRun", "gracePeriodSeconds", "ignoreStoreReadErrorWithClusterBreakingPotential", "orphanDependents",
    "propagationPolicy",
)  # fmt: skip
DELETE_COLLECTION = (
    "continue", "dryRun", "fieldSelector", "gracePeriodSeconds", "ignoreStoreReadErrorWithClusterBreakingPotential",
    "labelSelector", "limit", "orphanDependents", "propagationPolicy", "resourceVersion", "resourceVersionMatch",
    "sendInitialEvents", "timeoutSeconds",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Parameter:
    """A path or query parameter."""

    name: str
    type: str
    description: str
    place: str = "query"


def _query(kind: str, **described: str) -> dict[str, Parameter]:
    return {name: Parameter(name, kind, text) for name, text in described.items()}


PARAMETERS: Mapping[str, Parameter] = {
    **_query(
        "boolean",
        allowWatchBookmarks="Ask for BOOKMARK events in a watch. Servers may ignore it.",
        sendInitialEvents="In a watch, send the present objects first, then a bookmark, then what changes.",
        watch="Answer with a stream of changes instead of a list.",
        force="Take over fields that other managers own. Apply patches only.",
        ignoreStoreReadErrorWithClusterBreakingPotential="Delete an object that cannot be read from the store.",
        orphanDependents="Deprecated, use propagationPolicy: keep the objects that depend on this one.",
    ),
    **_query(
        "integer",
        limit="The most items that one answer may hold; more come with the continue token.",
        timeoutSeconds="End the list or watch after this time, whatever it has sent.",
        gracePeriodSeconds="Seconds the object may take to end; zero deletes it at once.",
    ),
    "continue": Parameter("continue", "string", "The token of an earlier answer: go on from there."),
    **_query(
        "string",
        fieldSelector="Only objects whose fields match.",
        labelSelector="Only objects whose labels match.",
        resourceVersion="How old the answer may be; unset means the newest state.",
        resourceVersionMatch="How resourceVersion is meant: Exact or NotOlderThan.",
        dryRun="All: do everything but store the result.",
        fieldManager="The name the changes are made under, at most 128 printable characters.",
        fieldValidation="What to do about unknown and duplicate fields: Ignore, Warn or Strict.",
        propagationPolicy="What becomes of dependents: Orphan, Background or Foreground.",
        pretty="Indent the answer.",
    ),
    "namespace": Parameter("namespace", "string", "The namespace of the objects.", "path"),
    "path": Parameter("path", "string", "The path on the connected server.", "path"),
}


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path.

    :param answer: what the document's answers are: ``kind``, ``list``, ``status``, ``event``, ``text``, or a
        (group, version, kind).
    :param body: ``kind``, ``patch``, ``delete``, a (group, version, kind), or "" for none.
    :param codes: HTTP codes of success.
    :param shared: parameters of the whole path item, ``own`` of the operation.
    """

    path: str
    method: str
    action: str
    id: str
    description: str
    tag: str
    gvk: tuple[str, str, str]
    answer: Any
    body: Any = ""
    codes: tuple[int, ...] = (200,)
    shared: tuple[Parameter, ...] = ()
    own: tuple[str, ...] = ()
    patch_types: tuple[str, ...] = ()
    streams: bool = False
    anything: bool = False


def _name_parameter(kind: str) -> Parameter:
    return Parameter("name", "string", f"The name of the {kind}.", "path")


class _Names:
    """Names of the operations of one resource."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.group = f"{title(served.group)}{version_title(served.version)}"
        self.scope = "Namespaced" if served.namespaced else ""

    def one(self, verb: str, sub: str = "") -> str:
        return f"{verb}{self.group}{self.scope}{self.served.kind}{sub}"

    def many(self, verb: str) -> str:
        return f"{verb}{self.group}Collection{self.scope}{self.served.kind}"

    def everywhere(self, verb: str, suffix: str = "") -> str:
        return f"{verb}{self.group}{self.served.kind}{suffix}ForAllNamespaces"


def operations(served: Served) -> Iterator[Operation]:
    """All operations of a resource and its subresources."""
    verbs = frozenset(served.verbs)
    names = _Names(served)
    yield from _collection(served, verbs, names)
    yield from _item(served, verbs, names)
    for sub in served.subresources:
        yield from _subresource(served, sub, names)
    if "watch" in verbs:
        yield from _watches(served, names)


def _base(served: Served) -> tuple[str, tuple[Parameter, ...]]:
    if served.namespaced:
        return f"{served.base}/namespaces/{{namespace}}/{served.plural}", (
            PARAMETERS["namespace"],
            PARAMETERS["pretty"],
        )
    return f"{served.base}/{served.plural}", (PARAMETERS["pretty"],)


def _gvk(served: Served) -> tuple[str, str, str]:
    return served.group, served.version, served.kind


def _collection(served: Served, verbs: frozenset[str], names: _Names) -> Iterator[Operation]:
    path, shared = _base(served)
    kind, label, gvk = served.kind, tag(served.group, served.version), _gvk(served)
    if "list" in verbs:
        text = f"list or watch objects of kind {kind}"
        yield Operation(
            path, "get", "list", names.one("list"), text, label, gvk, "list", shared=shared, own=LIST, streams=True
        )
        if served.namespaced:
            every = (*(PARAMETERS[name] for name in LIST), PARAMETERS["pretty"])
            yield Operation(
                f"{served.base}/{served.plural}",
                "get",
                "list",
                names.everywhere("list"),
                text,
                label,
                gvk,
                "list",
                shared=every,
                streams=True,
            )
    if "create" in verbs:
        text = f"create {_article(kind)}"
        yield Operation(
            path, "post", "post", names.one("create"), text, label, gvk, "kind", "kind", (200, 201, 202), shared, WRITE
        )
    if "deletecollection" in verbs:
        text = f"delete collection of {kind}"
        yield Operation(
            path,
            "delete",
            "deletecollection",
            names.many("delete"),
            text,
            label,
            gvk,
            "status",
            "delete",
            shared=shared,
            own=DELETE_COLLECTION,
        )


def _article(kind: str) -> str:
    return f"{'an' if kind[:1] in 'AEIOU' else 'a'} {kind}"


def patch_types(served: Served) -> tuple[str, ...]:
    """The patch types a resource accepts, in upstream's order."""
    return (JSON_PATCH, MERGE_PATCH, *((STRATEGIC_PATCH,) if served.strategic else ()), APPLY_PATCH)


def _item(
    served: Served, verbs: frozenset[str], names: _Names, sub: ServedSubresource | None = None
) -> Iterator[Operation]:
    """get, update, patch and delete of one object, or of its subresource."""
    path, shared = _base(served)
    path += "/{name}" if sub is None else f"/{{name}}/{sub.name}"
    shared = (_name_parameter(served.kind if sub is None else sub.kind), *shared)
    of = served.kind if sub is None else f"{sub.name} of the specified {served.kind}"
    the = f"the specified {of}" if sub is None else of
    suffix = "" if sub is None else _capital(sub.name)
    gvk = _gvk(served) if sub is None else (sub.group, sub.version, sub.kind)
    what: Any = "kind" if gvk == _gvk(served) else gvk
    label = tag(served.group, served.version)
    if "get" in verbs:
        yield Operation(path, "get", "get", names.one("read", suffix), f"read {the}", label, gvk, what, shared=shared)
    if "update" in verbs:
        text = f"replace {the}"
        yield Operation(
            path, "put", "put", names.one("replace", suffix), text, label, gvk, what, what, (200, 201), shared, WRITE
        )
    if "create" in verbs and sub is not None:
        text = f"create {of}"
        yield Operation(
            path,
            "post",
            "post",
            names.one("create", suffix),
            text,
            label,
            gvk,
            what,
            what,
            (200, 201, 202),
            shared,
            WRITE,
        )
    if "delete" in verbs:
        text = f"delete {_article(served.kind)}"
        yield Operation(
            path,
            "delete",
            "delete",
            names.one("delete", suffix),
            text,
            label,
            gvk,
            "status",
            "delete",
            (200, 202),
            shared,
            DELETE,
        )
    if "patch" in verbs:
        yield Operation(
            path,
            "patch",
            "patch",
            names.one("patch", suffix),
            f"partially update {the}",
            label,
            gvk,
            what,
            "patch",
            (200, 201),
            shared,
            (*WRITE, "force"),
            patch_types(served),
        )


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _subresource(served: Served, sub: ServedSubresource, names: _Names) -> Iterator[Operation]:
    if not sub.connect:
        yield from _item(served, frozenset(sub.verbs), names, sub)
        return
    path, shared = _base(served)
    paths = {f"{path}/{{name}}/{sub.name}": ""}
    if sub.with_path:
        paths[f"{path}/{{name}}/{sub.name}/{{path}}"] = "WithPath"
    for where, suffix in paths.items():
        more = (PARAMETERS["path"],) if suffix else ()
        for method in sub.connect:
            yield Operation(
                where,
                method,
                "connect",
                f"connect{names.group}{_capital(method)}{names.scope}{served.kind}{_capital(sub.name)}{suffix}",
                f"connect {method.upper()} requests to {sub.name} of {served.kind}",
                tag(served.group, served.version),
                (sub.group, sub.version, sub.kind),
                "text",
                shared=(_name_parameter(sub.kind), *shared[:-1], *more),
                anything=True,
            )


def _watches(served: Served, names: _Names) -> Iterator[Operation]:
    """The paths below ``/watch/``, deprecated but served."""
    base, root = served.base, f"{served.base}/watch"
    scope = (PARAMETERS["namespace"],) if served.namespaced else ()
    options = (*(PARAMETERS[name] for name in LIST), PARAMETERS["pretty"])
    kind, label, gvk = served.kind, tag(served.group, served.version), _gvk(served)
    path = _base(served)[0].replace(base, root, 1)
    many = f"watch individual changes to a list of {kind}; deprecated: list with the parameter watch instead"
    one = f"watch changes to an object of kind {kind}; deprecated: list with watch and fieldSelector instead"
    rows = [
        (path, "watchlist", f"{names.one('watch')}List", many, scope),
        (f"{path}/{{name}}", "watch", names.one("watch"), one, (_name_parameter(kind), *scope)),
    ]
    if served.namespaced:
        rows.append((f"{root}/{served.plural}", "watchlist", names.everywhere("watch", "List"), many, ()))
    for where, action, name, text, shared in rows:
        if action == "watch" and "get" not in served.verbs:
            continue
        yield Operation(where, "get", action, name, text, label, gvk, "event", shared=(*shared, *options), streams=True)
