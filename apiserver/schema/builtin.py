"""Built-in kinds: GroupVersionKind and Kubernetes minor -> type node.

Published definitions say names, types and merge rules; ``data/go_fields.json`` adds what they leave out and clients
can see all the same: which fields are encoded though empty, and the Go type names in decoding errors. One line per
definition: ``field=PRESENCE[:TYPE] ...`` with o, p, r, n, z for omitempty, pointer, always, pointer that is always
there, and left out when all zero (see :data:`apiserver.schema.types.Presence`); TYPE only where it is not what the
definition implies. ``data/openapi_fields.json`` adds the defaults and enumerations that the Go types declare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from apiserver.schema import definitions
from apiserver.schema.types import (
    Anything,
    Boolean,
    Bytes,
    Duration,
    Field,
    Integer,
    IntOrString,
    List,
    ListType,
    Map,
    Node,
    Number,
    Numbered,
    Presence,
    Quantity,
    String,
    Struct,
    Time,
    Variant,
)

DEFAULT_MINOR = 36
META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_PRESENCE: Mapping[str, Presence] = {"o": "omit", "p": "keep", "r": "always", "n": "null", "z": "omit"}
_PREFIXES = {
    "": "io.k8s.api.core",
    "internal.apiserver.k8s.io": "io.k8s.api.apiserverinternal",
    "apiextensions.k8s.io": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
    "apiregistration.k8s.io": "io.k8s.kube-aggregator.pkg.apis.apiregistration",
    "meta.k8s.io": "io.k8s.apimachinery.pkg.apis.meta",
}
_EXTENSIONS = f"{_PREFIXES['apiextensions.k8s.io']}.v1."
_SPECIAL: Mapping[str, Node] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": Quantity("resource.Quantity"),
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": IntOrString("int32"),
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": Time(),
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": Time(micro=True),
    "io.k8s.apimachinery.pkg.apis.meta.v1.Duration": Duration("string"),
    f"{_EXTENSIONS}JSON": Numbered("v1.JSON"),
}


_SCHEMA = f"{_EXTENSIONS}JSONSchemaProps"
_REFERENCE = {"$ref": f"#/$defs/{_SCHEMA}"}
_VARIANTS: Mapping[str, tuple[Mapping[type, Mapping[str, Any]], str]] = {
    f"{_SCHEMA}OrArray": ({dict: _REFERENCE, list: {"type": "array", "items": _REFERENCE}}, ""),
    f"{_SCHEMA}OrBool": ({dict: _REFERENCE, bool: {"type": "boolean"}}, "boolean or JSON schema expected"),
    f"{_SCHEMA}OrStringArray": ({dict: _REFERENCE, list: {"type": "array", "items": {"type": "string"}}}, ""),
}
"""Definitions that are published without a type, since they have several. COMPAT: apiextensions/v1 marshal.go"""


def definition_name(group: str, version: str, kind: str) -> str:
    """The name a kind's definition is published under (it need not exist)."""
    prefix = _PREFIXES.get(group) or f"io.k8s.api.{group.split('.')[0]}"
    return f"{prefix}.{version}.{kind}"


def _data(name: str) -> dict[str, Any]:
    table: dict[str, Any] = orjson.loads(Path(__file__).with_name("data").joinpath(name).read_bytes())
    return table


@cache
def _go_fields() -> dict[str, str]:
    return _data("go_fields.json")


@cache
def declared() -> dict[str, dict[str, dict[str, Any]]]:
    """Definition -> field -> ``default`` and ``enum`` that the Go types declare."""
    return _data("openapi_fields.json")


def _facts(name: str) -> dict[str, tuple[str, str]]:
    """Field -> (presence letter, Go type or "")."""
    facts = {}
    for word in _go_fields().get(name, "").split():
        field, _, rest = word.partition("=")
        facts[field] = (rest[0], rest[2:])
    return facts


def _guess(name: str, schema: Mapping[str, Any], required: bool) -> str:
    """The presence letter of a field that the table does not know.

    The rules hold for nine in ten of the known fields: required ones are always there, and so are the structs that
    every object has.
    """
    if required:
        return "r"
    reference = str(schema.get("$ref", ""))
    if name in ("metadata", "status", "spec") and reference:
        return "r"
    return "p" if reference else "o"


class Types:
    """The type graph of one Kubernetes minor, built as it is used.

    :param minor: 36 for Kubernetes 1.36; see :func:`apiserver.schema.definitions.minors`.
    :param found: other definitions than those of the minor.
    """

    def __init__(self, minor: int, found: definitions.Definitions | None = None) -> None:
        self.minor = minor
        self.definitions = found or definitions.of(minor)
        self._nodes: dict[str, Node] = {}
        self._kinds: dict[tuple[str, str, str], str] | None = None

    def kind(self, group: str, version: str, kind: str) -> Struct | None:
        """The type of a built-in kind (lists and option kinds too), None if this minor has no such kind."""
        name = definition_name(group, version, kind)
        if name not in self.definitions:
            name = META + kind
            if name not in self.definitions or not self._is_meta_kind(group, version, kind):
                return None
        node = self.definition(name)
        return node if isinstance(node, Struct) else None

    def registered(self, group: str, version: str, kind: str) -> bool:
        """Whether upstream's scheme knows a kind in a group version, served or not.

        Beside the published kinds these are ``v1 List``, options of connections and kinds of versions no longer served.
        """
        if self.kind(group, version, kind) is not None or kind in _OPTIONS:
            return True
        if not group and version == "v1":
            return kind in _UNPUBLISHED
        return version in _LEGACY.get(group, ()) and any(self.kind(group, v, kind) for v in ("v1", "v2"))

    def version_known(self, group: str, version: str) -> bool:
        """Whether upstream's scheme has kinds in a group version, served or not."""
        prefix = definition_name(group, version, "")
        return version in _LEGACY.get(group, ()) or any(name.startswith(prefix) for name in self.definitions.names())

    def _is_meta_kind(self, group: str, version: str, kind: str) -> bool:
        """Whether a kind of meta/v1 is also registered in a group version.

        COMPAT: DeleteOptions and WatchEvent are in all of them, discovery's kinds and Status in v1 only.
        """
        if kind in ("DeleteOptions", "WatchEvent"):
            return True
        gvks = self.definitions.read(META + kind).get("x-kubernetes-group-version-kind", ())
        return {"group": group, "kind": kind, "version": version} in gvks

    def kinds(self) -> Mapping[tuple[str, str, str], str]:
        """(group, version, kind) -> definition name of all kinds; costs some milliseconds the first time."""
        if self._kinds is None:
            self._kinds = self.definitions.kinds()
        return self._kinds

    def definition(self, name: str) -> Node:
        """The node of a definition by its full name. KeyError if there is none."""
        node = self._nodes.get(name)
        if node is None:
            node = self._nodes[name] = self._make(name)
        return node

    def _make(self, name: str) -> Node:
        special = _SPECIAL.get(name)
        if special is not None:
            return special
        variant = _VARIANTS.get(name)
        if variant is not None:
            shapes, refusal = variant
            return Variant(name.rpartition(".")[2], {cls: self.node(one) for cls, one in shapes.items()}, refusal)
        schema = self.definitions.read(name)
        return self.node(schema, ".".join(name.rsplit(".", 2)[-2:]), name)

    def node(self, schema: Mapping[str, Any], go_type: str = "", name: str = "") -> Node:
        """The node of a schema from the definitions file.

        :param go_type: in decoding errors, "" = what the schema implies.
        :param name: of the definition that the schema is.
        """
        reference = schema.get("$ref")
        if reference:
            return self.definition(reference.rsplit("/", 1)[1])
        match _type(schema):
            case "object":
                return self._object(schema, go_type, name)
            case "array":
                item = self.node(schema["items"], go_type[2:] if go_type.startswith("[]") else "")
                return List(
                    go_type or f"[]{_go_name(item)}",
                    item,
                    list_type=_list_type(schema),
                    map_keys=_map_keys(schema),
                )
            case "string":
                return _string(schema, go_type)
            case "integer":
                form = schema.get("format", "int64")
                return Integer(go_type or form, 32 if form == "int32" else 64)
            case "number":
                return Number(go_type or "float64")
            case "boolean":
                return Boolean(go_type or "bool")
            case _:
                return Anything(go_type)

    def _object(self, schema: Mapping[str, Any], go_type: str, name: str) -> Node:
        atomic = schema.get("x-kubernetes-map-type") == "atomic"
        if "additionalProperties" in schema and isinstance(schema["additionalProperties"], dict):
            inner = go_type[go_type.find("]") + 1 :] if go_type.startswith("map[") else ""
            value = self.node(schema["additionalProperties"], inner)
            return Map(go_type or f"map[string]{_go_name(value)}", value, atomic=atomic)
        if name in _OPEN or not (name or "properties" in schema):
            return Anything(go_type)
        # COMPAT: a definition without properties is an empty Go struct: it takes no field
        return Struct(
            name, lambda: self._fields(name, schema), go_name=name.rsplit(".", 1)[-1], go_type=go_type, atomic=atomic
        )

    def _fields(self, name: str, schema: Mapping[str, Any]) -> dict[str, Field]:
        facts = _facts(name)
        defaults = declared().get(name, {})
        required = schema.get("required", ())
        fields = {}
        for field, inner in schema.get("properties", {}).items():
            letter, go_type = facts.get(field) or (_guess(field, inner, field in required), "")
            node = self.node(inner, go_type)
            fields[field] = Field(
                field,
                node,
                _PRESENCE[letter],
                patch_strategies=inner.get("x-kubernetes-patch-strategy", "").split(",")
                if "x-kubernetes-patch-strategy" in inner
                else (),
                patch_merge_key=inner.get("x-kubernetes-patch-merge-key", ""),
                required=field in required,
                default=defaults.get(field, {}).get("default"),
            )
        return fields


_OPTIONS = frozenset({"CreateOptions", "GetOptions", "ListOptions", "PatchOptions", "UpdateOptions"})
_UNPUBLISHED = frozenset(
    {
        "List", "NodeProxyOptions", "PodAttachOptions", "PodExecOptions", "PodLogOptions", "PodPortForwardOptions",
        "PodProxyOptions", "PodStatusResult", "RangeAllocation", "SerializedReference", "ServiceProxyOptions",
    }
)  # fmt: skip
_LEGACY: Mapping[str, tuple[str, ...]] = {
    "admissionregistration.k8s.io": ("v1beta1", "v1alpha1"),
    "apps": ("v1beta1", "v1beta2"),
    "authentication.k8s.io": ("v1beta1", "v1alpha1"),
    "authorization.k8s.io": ("v1beta1",),
    "autoscaling": ("v2beta1", "v2beta2"),
    "batch": ("v1beta1",),
    "certificates.k8s.io": ("v1beta1", "v1alpha1"),
    "coordination.k8s.io": ("v1beta1",),
    "discovery.k8s.io": ("v1beta1",),
    "events.k8s.io": ("v1beta1",),
    "flowcontrol.apiserver.k8s.io": ("v1beta1", "v1beta2", "v1beta3"),
    "networking.k8s.io": ("v1beta1",),
    "node.k8s.io": ("v1beta1", "v1alpha1"),
    "policy": ("v1beta1",),
    "rbac.authorization.k8s.io": ("v1beta1", "v1alpha1"),
    "scheduling.k8s.io": ("v1beta1", "v1alpha1"),
    "storage.k8s.io": ("v1beta1", "v1alpha1"),
}
_OPEN = frozenset({"io.k8s.apimachinery.pkg.runtime.RawExtension", META + "FieldsV1"})


def _type(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type", "")
    return kind if isinstance(kind, str) else kind[0]


def _list_type(schema: Mapping[str, Any]) -> ListType:
    """COMPAT: getListElementRelationship: before 1.29 many lists say only how strategic merge patches treat them."""
    found: ListType | None = schema.get("x-kubernetes-list-type")
    if found is not None:
        return found
    if "merge" not in schema.get("x-kubernetes-patch-strategy", "").split(","):
        return "atomic"
    return "map" if "x-kubernetes-patch-merge-key" in schema else "set"


def _map_keys(schema: Mapping[str, Any]) -> Sequence[str]:
    keys: Sequence[str] = schema.get("x-kubernetes-list-map-keys", ())
    if keys or "x-kubernetes-list-type" in schema or _list_type(schema) != "map":
        return keys
    return (schema["x-kubernetes-patch-merge-key"],)


def _string(schema: Mapping[str, Any], go_type: str) -> Node:
    if schema.get("format") == "byte":
        return Bytes("[]uint8")
    # The definitions file adds an enum to apiVersion and kind, which is not part of the type.
    return String(go_type or "string")


def _go_name(node: Node) -> str:
    if isinstance(node, Time):
        return "v1.MicroTime" if node.micro else "v1.Time"
    return "intstr.IntOrString" if isinstance(node, IntOrString) else node.go_type


@cache
def types(minor: int = DEFAULT_MINOR) -> Types:
    """The type graph of a minor, one per process."""
    return Types(minor)


@cache
def types_of_every_minor() -> Types:
    """The type graph of all minors at once, see :class:`apiserver.schema.definitions.EveryMinor`."""
    every = definitions.EveryMinor()
    return Types(every.minor, every)
