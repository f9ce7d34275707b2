"""Content negotiation: which serializer writes the answer, and in which form.

Called by every verb before it does anything else. The parsed Accept header is remembered, since a client sends the
same one each time.

COMPAT: k8s.io/apiserver/pkg/endpoints/handlers/negotiation NegotiateOutputMediaType; go-restful's Produces check
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from apiserver.api.errors import NotAcceptable, UnsupportedMediaType
from apiserver.api.names import GroupVersionKind
from apiserver.api.serializers import JSON, YAML, Serializer, wants_pretty
from apiserver.handlers.protobuf import PROTOBUF

META = "meta.k8s.io"
TABLE = "Table"
PARTIAL = "PartialObjectMetadata"
PARTIAL_LIST = "PartialObjectMetadataList"
META_VERSIONS = ("v1", "v1beta1")

STREAM = ";stream=watch"
PRODUCED: Sequence[Serializer] = (JSON, YAML, PROTOBUF)
SELF_DESCRIBING: Sequence[Serializer] = (JSON, YAML)
"""The formats of kinds that have no message: those of plugins and custom resources."""


@dataclass(frozen=True, slots=True)
class Output:
    """The form of an answer.

    ``target`` is the kind that was asked for with ``as=`` (Table, PartialObjectMetadata...), None for the object
    itself; ``include`` what a Table row carries. ``pretty`` is set when indentation was asked for.
    """

    serializer: Serializer
    target: GroupVersionKind | None = None
    pretty: bool = False

    @property
    def plain_json(self) -> bool:
        """Whether encoded objects can be written as they are."""
        return self.target is None and self.serializer.raw_json and not self.pretty


@dataclass(frozen=True, slots=True)
class Clause:
    """One entry of an Accept header."""

    media_type: str
    quality: float
    params: tuple[tuple[str, str], ...]


def available(formats: Sequence[Serializer] = PRODUCED, *, stream: bool = False) -> str:
    """The media types for texts of 406 and 415."""
    if not stream:
        return ", ".join(s.content_type for s in formats)
    return ", ".join(s.content_type + STREAM for s in _streamed(formats))


def _streamed(formats: Sequence[Serializer]) -> Sequence[Serializer]:
    # COMPAT: YAML documents have no framing upstream
    return [s for s in formats if s is not YAML]


@lru_cache(maxsize=256)
def parse_accept(header: str) -> tuple[Clause, ...]:
    """The clauses of an Accept header, best quality first, else in the order given."""
    clauses = []
    for part in header.split(","):
        media_type, *raw = (p.strip() for p in part.split(";"))
        params = tuple((k.strip(), v.strip().strip('"')) for k, _, v in (r.partition("=") for r in raw))
        quality = next((_quality(v) for k, v in params if k == "q"), 1.0)
        clauses.append(Clause(media_type, quality, tuple(p for p in params if p[0] != "q")))
    return tuple(sorted(clauses, key=lambda c: -c.quality))


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0


def check_produces(accept: str, stream: bool, own: Sequence[str] = ()) -> None:
    """The coarse check that comes before the handler: some clause must name a type that is produced, or ``*/*``.

    :param own: types that this path produces beside the usual ones.
    :raises NotAcceptable: none does.
    """
    if accept in ("", "*/*", "application/json"):
        return
    produced = [*own, *(s.content_type for s in PRODUCED)]
    for clause in parse_accept(accept):
        if clause.media_type == "*/*" or clause.media_type in produced:
            return
    names = ", ".join((*own, available())) + (f", {available(stream=True)}" if stream else "")
    raise NotAcceptable(f"406: Not Acceptable\n\nAvailable representations: {names}", details={})


def negotiate(
    environ: Mapping[str, Any],
    targets: Sequence[str] = (),
    *,
    stream: bool = False,
    formats: Sequence[Serializer] = PRODUCED,
) -> Output:
    """Choose the form of the answer.

    :param targets: the kinds that ``as=`` may ask for here.
    :param stream: the answer is a watch.
    :param formats: what the kind can be written in.
    :raises NotAcceptable: nothing that was asked for is possible.
    """
    accept = environ.get("HTTP_ACCEPT", "")
    serializer, target, asked_pretty = _choose(accept, tuple(targets), stream, tuple(formats))
    pretty = not stream and serializer is JSON and (asked_pretty or wants_pretty(environ))
    return Output(serializer, target, pretty)


@lru_cache(maxsize=512)
def _choose(
    accept: str, targets: tuple[str, ...], stream: bool, formats: tuple[Serializer, ...]
) -> tuple[Serializer, GroupVersionKind | None, bool]:
    offered = _streamed(formats) if stream else formats
    if not accept:
        return offered[0], None, False
    for clause in parse_accept(accept):
        for serializer in offered:
            if clause.media_type not in ("*/*", "application/*", serializer.content_type):
                continue
            params = dict(clause.params)
            if params.get("stream", "watch") != "watch" or (params.get("stream") and not stream):
                continue
            target = _target(params)
            if target is None or (_allowed(target, targets) and _writes(serializer, target)):
                return serializer, target, params.get("pretty") == "1"
    raise NotAcceptable(f"only the following media types are accepted: {available(formats, stream=stream)}")


def _writes(serializer: Serializer, target: GroupVersionKind) -> bool:
    # COMPAT: Table has no protobuf message
    return serializer is not PROTOBUF or target.kind != TABLE


def _target(params: Mapping[str, str]) -> GroupVersionKind | None:
    if "as" not in params:
        return None
    return GroupVersionKind(params.get("g", ""), params.get("v", ""), params["as"])


def _allowed(target: GroupVersionKind, targets: tuple[str, ...]) -> bool:
    return target.group == META and target.version in META_VERSIONS and target.kind in targets


def negotiate_input(environ: Mapping[str, Any], formats: Sequence[Serializer] = PRODUCED) -> str:
    """The media type of the body; none counts as JSON.

    :raises UnsupportedMediaType: it is no format we read.
    """
    header = environ.get("CONTENT_TYPE") or ""
    media_type: str = header.partition(";")[0].strip().lower()
    if not header:
        return JSON.content_type
    if not any(media_type == s.content_type for s in formats):
        raise UnsupportedMediaType(
            "the body of the request was in an unknown format - accepted media types include: " + available(formats)
        )
    return media_type
