"""Request bodies: bytes to an object of the expected kind, with upstream's texts for everything that can be wrong.

``decode_object`` is what create and update handlers call: body bytes in, normalised object and strict decoding errors
out. :func:`read` alone serves bodies that have no type.

COMPAT: apimachinery serializer/json Decode, endpoints/handlers transformDecodeError
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from apiserver.schema import gojson
from apiserver.schema.decode import MAX_STRICT_ERRORS, Decoded, decode
from apiserver.schema.failures import DecodeError, JSONSyntaxError, MismatchError, path_text, steps
from apiserver.schema.gotext import json_word, quote
from apiserver.schema.types import Anything, Node, descend

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"

_SUMMARY = 30
_YAML_ERRORS = "yaml: unmarshal errors:\n"
_FIND_KIND = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'


class BodyError(DecodeError):
    """The body is malformed; ``message`` is the inner text, :func:`unrecognized` makes the whole one."""


@dataclass(slots=True)
class Body:
    """A body that was read: its value, its text, and what strict decoding complains about already."""

    value: Any
    data: bytes
    media_type: str
    duplicates: gojson.Duplicates | None = None
    yaml_duplicates: list[str] = field(default_factory=list)


def read(data: bytes, media_type: str = JSON, default: tuple[str, str] = ("", "")) -> Body:
    """Read JSON, YAML or protobuf.

    :param default: apiVersion and kind of a protobuf message whose envelope doesn't say.
    :raises BodyError: it is malformed.
    """
    if media_type == PROTOBUF:
        from apiserver.schema.protobuf import codec  # built for the first Go client

        try:
            return Body(codec.codec().decode(data, default), data, PROTOBUF)
        except DecodeError as error:
            raise BodyError(error.message) from None
    if media_type == YAML:
        from apiserver.schema import goyaml  # PyYAML costs 15 ms to import and few clients send YAML

        try:
            value, lines = goyaml.read(data)
        except goyaml.YAMLError as error:
            raise BodyError(str(error)) from None
        return Body(value, data, YAML, None, lines)
    try:
        value, duplicates = gojson.read(data)
    except JSONSyntaxError as error:
        raise BodyError(f"couldn't get version/kind; json parse error: {error}") from None
    return Body(value, data, JSON, duplicates)


def protobuf_kind(data: bytes) -> tuple[str, str]:
    """apiVersion and kind of a protobuf body, "" where absent. :raises BodyError: it has no envelope."""
    from apiserver.schema.protobuf import envelope

    try:
        found = envelope.unwrap(data)
    except DecodeError as error:
        raise BodyError(error.message) from None
    if found.api_version.count("/") > 1:
        raise BodyError(f"unexpected GroupVersion string: {found.api_version}")
    return found.api_version, found.kind


def summary(data: bytes) -> str:
    """The first bytes of a body, for messages. COMPAT: summarizeData."""
    if not data:
        return "<empty>"
    more = " ..." if len(data) > _SUMMARY else ""
    head = data[:_SUMMARY]
    return (head.decode("utf-8", "replace") if head.startswith(b"{") else head.hex()) + more


def unrecognized(message: str, kind: str, data: bytes) -> str:
    """The message for a body whose kind could not be told."""
    return f"the object provided is unrecognized (must be of type {kind}): {message} ({summary(data)})"


def version_and_kind(body: Body) -> tuple[str, str]:
    """apiVersion and kind of a body, "" where absent.

    :raises BodyError: they are no strings, or apiVersion is malformed.
    """
    value = body.value
    if value is None:
        return "", ""
    if not isinstance(value, dict):
        raise _no_kind(f"json: cannot unmarshal {json_word(value)} into Go value of type {_FIND_KIND}")
    api_version, kind = value.get("apiVersion"), value.get("kind")
    if not (isinstance(api_version, str | None) and isinstance(kind, str | None)):
        wrong = [name for name in value if name in ("apiVersion", "kind") and not isinstance(value[name], str | None)]
        word = json_word(value[wrong[0]])
        raise _no_kind(f"json: cannot unmarshal {word} into Go struct field .{wrong[0]} of type string")
    if api_version and api_version.count("/") > 1:
        raise BodyError(f"unexpected GroupVersion string: {api_version}")
    return api_version or "", kind or ""


def _no_kind(problem: str) -> BodyError:
    return BodyError(f"couldn't get version/kind; json parse error: {problem}")


def internal_name(group: str) -> str:
    """The Go package of a group's internal types: ``core``, ``apps``, ``authentication``."""
    return {"": "core", "internal.apiserver.k8s.io": "apiserverinternal"}.get(group) or group.split(".")[0]


def split_version(api_version: str) -> tuple[str, str]:
    """``apps/v1`` -> (apps, v1)."""
    group, _, version = api_version.rpartition("/")
    return group, version


Kind = tuple[str, str, str]
"""Group, version and kind."""
Versions = Callable[[Kind], Node | None]
"""The type of a kind, None for one that is not known."""
Registered = Callable[[str, str, str], bool]
"""Whether (group, version, kind) is a kind that the server knows, served or not."""


class OtherVersionError(DecodeError):
    """The body is of another version than the URL; ``decoded``: what was made of it by that one."""

    def __init__(self, message: str, decoded: Decoded) -> None:
        super().__init__(message)
        self.decoded = decoded


def decode_object(
    data: bytes,
    media_type: str,
    node: Node,
    *,
    group: str,
    version: str,
    kind: str,
    registered: Registered,
    versions: Versions | None = None,
) -> Decoded:
    """Decode the body of a create or update of a built-in kind.

    Missing apiVersion and kind are those of the URL.

    :param node: the type of the expected kind.
    :param registered: see :data:`Registered`.
    :param versions: for a kind without a Go type, whose objects may say another kind (validation refuses that): the
        types of its versions.
    :raises DecodeError: with the whole message of the 400 BadRequest answer.
    """
    wanted = group, version, kind
    default = f"{group}/{version}" if group else version, kind
    try:
        if media_type == PROTOBUF:
            # An envelope tells the kind, and only the message of the right one need be known.
            api_version, given_kind = protobuf_kind(data)
        else:
            body = read(data, media_type)
            api_version, given_kind = version_and_kind(body)
    except BodyError as error:
        raise DecodeError(unrecognized(error.message, kind, data)) from None
    given = (*(split_version(api_version) if api_version else (group, version)), given_kind or kind)
    if versions is not None:
        return _decode_unstructured(body, node, given, wanted, versions)
    if given != wanted:
        raise DecodeError(_wrong_kind(given, wanted, registered))
    try:
        if media_type == PROTOBUF:
            body = read(data, media_type, default)
        decoded = decode_body(body, node)
    except DecodeError as error:
        raise DecodeError(
            f"{kind} in version {quote(version)} cannot be handled as a {kind}: {error.message}"
        ) from None
    decoded.object["apiVersion"] = f"{group}/{version}" if group else version
    decoded.object["kind"] = kind
    return decoded


def _decode_unstructured(body: Body, node: Node, given: Kind, wanted: Kind, versions: Versions) -> Decoded:
    """COMPAT: apiextensions-apiserver's schemaCoercingDecoder; unstructuredDefaulter"""
    same = given[:2] == wanted[:2]
    known = node if same else versions(given)
    try:
        if known is not None:
            decoded = decode(body.value, known)
        else:
            decoded = Decoded(body.value, _all_unknown(given, wanted, body))
    except DecodeError as error:
        _, version, kind = wanted
        text = f"{kind} in version {quote(version)} cannot be handled as a {kind}: {error.message}"
        raise DecodeError(text) from None
    decoded.strict = [*_duplicates(body), *decoded.strict][:MAX_STRICT_ERRORS]
    if not same:
        raise OtherVersionError(_other_version(given, wanted), decoded)
    decoded.object["apiVersion"], decoded.object["kind"] = "/".join(wanted[:2]), given[2]
    return decoded


def _all_unknown(given: Kind, wanted: Kind, body: Body) -> list[str]:
    """COMPAT: a version that a definition does not have has no schema, and so no fields"""
    if (given[0], given[2]) != (wanted[0], wanted[2]):
        return []
    return [f"unknown field {quote(name)}" for name in sorted({*body.value} - {"apiVersion", "kind", "metadata"})]


def _duplicates(body: Body) -> list[str]:
    found = sorted(body.duplicates.paths().items(), key=lambda item: item[1]) if body.duplicates is not None else []
    texts = [f"duplicate field {quote(path_text(path))}" for path, _ in found]
    lines = "\n".join(f"  {line}" for line in body.yaml_duplicates or ())
    return [f"{_YAML_ERRORS}{lines}", *texts] if lines else texts


def _other_version(given: tuple[str, str, str], wanted: tuple[str, str, str]) -> str:
    versions = ["/".join(filter(None, one[:2])) for one in (given, wanted)]
    return f"the API version in the data ({versions[0]}) does not match the expected API version ({versions[1]})"


def _wrong_kind(given: tuple[str, str, str], wanted: tuple[str, str, str], registered: Registered) -> str:
    group, version, kind = given
    if kind == wanted[2] and registered(*given) and (group == wanted[0] or kind == "Event"):
        return _other_version(given, wanted)
    return f"{kind} in version {quote(version)} cannot be handled as a {wanted[2]}: " + unconvertible(
        given, wanted, registered
    )


def unconvertible(given: tuple[str, str, str], wanted: tuple[str, str, str], registered: Registered) -> str:
    """Why an object of kind ``given`` (group, version, kind) can't become one of ``wanted``."""
    group, version, kind = given
    api_version = f"{group}/{version}" if group else version
    if not registered(*given):
        return (
            f"no kind {quote(kind)} is registered for version {quote(api_version)} "
            'in scheme "pkg/api/legacyscheme/scheme.go:30"'
        )
    return f"converting ({version}.{kind}) to ({internal_name(wanted[0])}.{wanted[2]}): unknown conversion"


def decode_body(body: Body, node: Node) -> Decoded:
    """Check a body that was read against a type; see :func:`apiserver.schema.decode.decode`.

    Its strict errors include duplicate fields. The body's value belongs to the result afterwards.

    :raises DecodeError: with Go's text.
    """
    try:
        decoded = decode(body.value, node)
    except MismatchError as error:
        if not isinstance(error.number, float) or body.media_type != JSON:
            raise
        # Only the text knows whether it said 1.50 or 15e-1: read it again for the message.
        return decode(gojson.with_literals(body.data), node)
    if body.media_type == PROTOBUF:
        decoded.strict = []  # COMPAT: a message says nothing of fields that it does not know
    if body.duplicates is not None:
        decoded.strict = _in_order(body.duplicates, decoded.strict, node)
    if body.yaml_duplicates:
        lines = "\n".join(f"  {line}" for line in body.yaml_duplicates)
        decoded.strict = [f"{_YAML_ERRORS}{lines}", *decoded.strict]
    return decoded


def _in_order(duplicates: gojson.Duplicates, unknown: list[str], node: Node) -> list[str]:
    """Duplicate and unknown fields in the order of the text.

    COMPAT: nothing is reported inside an unknown field or inside free-form JSON.
    """
    missing = {message: message[len('unknown field "') : -1] for message in unknown}
    places = duplicates.places(set(missing.values())) if missing else {}
    found = [(places.get(path, 0), message) for message, path in missing.items()]
    for path, place in duplicates.paths().items():
        text = path_text(path)
        inside = any(text == other or text.startswith((f"{other}.", f"{other}[")) for other in places)
        if not inside and not _free_form(path, node):
            found.append((place, f"duplicate field {quote(text)}"))
    return [message for _, message in sorted(found)][:MAX_STRICT_ERRORS]


def _free_form(path: Any, node: Node) -> bool:
    names = steps(path)
    return any(isinstance(descend(node, names[:depth]), Anything) for depth in range(len(names)))


def warnings(strict: list[str]) -> list[str]:
    """Strict decoding errors as the texts of Warning headers (YAML's come as one error of several lines)."""
    lines = []
    for error in strict:
        inner = error.removeprefix(_YAML_ERRORS)
        lines += [line.strip() for line in inner.split("\n")] if inner is not error else [error]
    return lines


def strict_error(strict: list[str]) -> str:
    """Strict decoding errors as one text, for ``fieldValidation=Strict``."""
    return f"strict decoding error: {', '.join(strict)}"
