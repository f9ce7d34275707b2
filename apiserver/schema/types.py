"""The type graph: what a value may be, independent of where the type came from.

Built by :mod:`apiserver.schema.builtin` from the published definitions of Kubernetes' own kinds; schemas of custom
resources compile to the same nodes. Read by strict decoding, defaulting, pruning, strategic merge, server-side apply
and OpenAPI. A :class:`Struct` resolves its fields when they are first asked for, so a kind costs nothing until it is
used, and definitions are shared between kinds.

``go_type`` is the type's name in messages of Go's decoder (``string``, ``v1.Protocol``, ``[]v1.Container``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

ListType = Literal["atomic", "set", "map"]
Presence = Literal["omit", "keep", "always", "null"]
"""What the encoded object shows of a field without a value.

``omit``   nothing, and a zero value ("" 0 false [] {}) is dropped (Go: omitempty)
``keep``   nothing, but a zero value stays (Go: pointer with omitempty)
``always`` the zero value (Go: no omitempty, or a struct that is not a pointer)
``null``   null (Go: pointer without omitempty)
"""

Decoder = Callable[[Any, Any, list[Any]], Any]


class Node:
    """A type. ``decoder`` belongs to :mod:`apiserver.schema.decode`, ``shape`` to field ownership in the registry."""

    __slots__ = ("decoder", "go_type", "shape")
    kind: ClassVar[str] = ""

    def __init__(self, go_type: str) -> None:
        self.go_type = go_type
        self.decoder: Decoder | None = None
        self.shape: tuple[Any] | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.go_type})"


class String(Node):
    """Text; ``enum`` lists the values a schema allows, empty for any."""

    __slots__ = ("enum",)
    kind = "string"

    def __init__(self, go_type: str = "string", enum: Sequence[str] = ()) -> None:
        super().__init__(go_type)
        self.enum = tuple(enum)


class Integer(Node):
    """A whole number of ``bits`` 32 or 64."""

    __slots__ = ("bits",)
    kind = "integer"

    def __init__(self, go_type: str = "int64", bits: int = 64) -> None:
        super().__init__(go_type)
        self.bits = bits


class Number(Node):
    """A floating point number."""

    __slots__ = ()
    kind = "number"


class Boolean(Node):
    __slots__ = ()
    kind = "boolean"


class Bytes(Node):
    """Bytes, base64 in JSON."""

    __slots__ = ()
    kind = "bytes"


class Time(Node):
    """``metav1.Time`` (whole seconds) or, with ``micro``, ``metav1.MicroTime``; UTC when encoded."""

    __slots__ = ("micro",)
    kind = "time"

    def __init__(self, micro: bool = False) -> None:
        super().__init__("string")
        self.micro = micro


class Duration(Node):
    """``metav1.Duration``: text such as ``1m30s``."""

    __slots__ = ()
    kind = "duration"


class Quantity(Node):
    """``resource.Quantity``: an exact number with a suffix, kept as canonical text."""

    __slots__ = ()
    kind = "quantity"


class IntOrString(Node):
    __slots__ = ()
    kind = "int-or-string"


class Anything(Node):
    """Any JSON value, kept as it is (``runtime.RawExtension``, ``FieldsV1``, free-form JSON)."""

    __slots__ = ()
    kind = "any"


class Numbered(Anything):
    """Any JSON value whose numbers are brought into the form Go writes them in (``apiextensions JSON``)."""

    __slots__ = ()


class Variant(Anything):
    """One of several shapes, told apart by what JSON kind the value is; merging and apply take it as anything.

    Unknown fields below it are dropped and not reported: Go types of this sort bring a decoder of their own.

    :param shapes: Python class of the decoded value -> its type.
    :param refusal: what Go's decoder says of other values; "" = they become null.
    """

    __slots__ = ("refusal", "shapes")
    kind = "variant"

    def __init__(self, go_type: str, shapes: Mapping[type, Node], refusal: str = "") -> None:
        super().__init__(go_type)
        self.shapes = shapes
        self.refusal = refusal


class List(Node):
    """A list; ``list_type`` and ``map_keys`` say how apply merges it."""

    __slots__ = ("item", "list_type", "map_keys")
    kind = "list"

    def __init__(self, go_type: str, item: Node, list_type: ListType = "atomic", map_keys: Sequence[str] = ()) -> None:
        super().__init__(go_type)
        self.item = item
        self.list_type = list_type
        self.map_keys = tuple(map_keys)


class Map(Node):
    """A map from any string; ``atomic`` maps are replaced as a whole by apply."""

    __slots__ = ("atomic", "value")
    kind = "map"

    def __init__(self, go_type: str, value: Node, atomic: bool = False) -> None:
        super().__init__(go_type)
        self.value = value
        self.atomic = atomic


class Field:
    """A named member of a :class:`Struct`.

    ``patch_strategies`` and ``patch_merge_key`` are strategic merge's; ``default`` is a schema default or None;
    ``nullable`` fields keep null, elsewhere it means unset.
    """

    __slots__ = ("default", "name", "node", "nullable", "patch_merge_key", "patch_strategies", "presence", "required")

    def __init__(
        self,
        name: str,
        node: Node,
        presence: Presence = "keep",
        patch_strategies: Sequence[str] = (),
        patch_merge_key: str = "",
        required: bool = False,
        default: Any = None,
        nullable: bool = False,
    ) -> None:
        self.name = name
        self.nullable = nullable
        self.node = node
        self.presence = presence
        self.patch_strategies = tuple(patch_strategies)
        self.patch_merge_key = patch_merge_key
        self.required = required
        self.default = default

    def __repr__(self) -> str:
        return f"Field({self.name}: {self.node!r})"


class Struct(Node):
    """An object with named fields.

    :param name: of the definition (``io.k8s.api.core.v1.Pod``), "" when it has none.
    :param go_name: the struct's name in decoding errors (``ObjectMeta``).
    :param resolve: makes the fields; called once, when they are first needed.
    :param atomic: apply replaces the whole object (``x-kubernetes-map-type: atomic``).
    :param preserve_unknown: fields that are not declared are kept.
    """

    __slots__ = ("_fields", "_resolve", "atomic", "go_name", "name", "preserve_unknown")
    kind = "object"

    def __init__(
        self,
        name: str,
        resolve: Callable[[], Mapping[str, Field]],
        *,
        go_name: str = "",
        go_type: str = "",
        atomic: bool = False,
        preserve_unknown: bool = False,
    ) -> None:
        super().__init__(go_type)
        self.name = name
        self.go_name = go_name
        self.atomic = atomic
        self.preserve_unknown = preserve_unknown
        self._resolve: Callable[[], Mapping[str, Field]] | None = resolve
        self._fields: Mapping[str, Field] = {}

    @property
    def fields(self) -> Mapping[str, Field]:
        """The fields by name."""
        resolve = self._resolve
        if resolve is not None:
            # Two threads may both resolve: the results are equal and the last one stays.
            self._fields = resolve()
            self._resolve = None
        return self._fields


def descend(node: Node, path: Sequence[str | int]) -> Node | None:
    """The node at ``path`` (field names, map keys, list indexes) below ``node``; None where nothing is declared."""
    here: Node | None = node
    for step in path:
        if isinstance(here, Struct):
            field = here.fields.get(str(step))
            here = field.node if field else None
        elif isinstance(here, Map):
            here = here.value
        elif isinstance(here, List):
            here = here.item
        else:
            return None
    return here
