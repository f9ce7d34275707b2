"""Bytes and JSON that Go's types make of the same object: ours are the same, both ways, to the byte.

Every field of every kind is set in them. A field without a value is another matter: Go writes its zero where it is no
pointer, we leave it out; a reader sees the same object.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import pytest

from apiserver.schema import builtin
from apiserver.schema.failures import DecodeError
from apiserver.schema.protobuf import envelope
from apiserver.schema.protobuf.codec import codec
from tests.protobuf.record import RECORDED

Recorded = tuple[bytes, dict[str, Any]]


def recorded() -> dict[str, Recorded]:
    found = json.loads(RECORDED.read_text())
    return {kind: (base64.b64decode(value["pb"]), value["json"]) for kind, value in found.items()}


ALL = recorded()


def old(obj: dict[str, Any]) -> bool:
    """Whether an older minor has the kind."""
    group, _, version = obj["apiVersion"].rpartition("/")
    return builtin.types_of_every_minor().kind(group, version, obj["kind"]) is not None


def published(obj: dict[str, Any]) -> bool:
    """Whether 1.36 takes or sends the kind in a body.

    The rest are versions that are no longer served, options that are sent in the URL, and kinds of other programs
    (ImageReview, AdmissionReview).
    """
    group, _, version = obj.get("apiVersion", "").rpartition("/")
    return builtin.types().kind(group, version, obj.get("kind", "")) is not None


KINDS = {name: pair for name, pair in ALL.items() if published(pair[1])}
OTHERS = {name: pair for name, pair in ALL.items() if name not in KINDS and name != "core.v1.WatchEvent"}


def test_every_published_kind_is_among_them() -> None:
    seen = {(obj["apiVersion"], obj["kind"]) for _, obj in KINDS.values()}
    kinds = builtin.types().kinds()
    wanted = {
        (f"{group}/{version}" if group else version, kind)
        for (group, version, kind), name in kinds.items()
        if name.startswith("io.k8s.api.") and not kind.endswith("List")
    }
    assert wanted - seen == set()


@pytest.mark.parametrize("name", KINDS)
def test_the_bytes_are_read_as_the_object(name: str) -> None:
    data, obj = KINDS[name]
    assert codec().decode(data, ("", "")) == obj


@pytest.mark.parametrize("name", KINDS)
def test_the_object_is_written_as_the_bytes(name: str) -> None:
    data, obj = KINDS[name]
    assert codec().encode(obj) == data


def test_maps_are_written_in_the_order_of_their_keys() -> None:
    keys = [f"key-{number}" for number in range(200)]
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "data": dict.fromkeys(keys, "")}
    data = codec().encode(obj)
    assert data == codec().encode({**obj, "data": dict.fromkeys(reversed(keys), "")})
    assert re.findall(rb"key-[0-9]+", data) == [key.encode() for key in sorted(keys)]


def test_an_event_of_a_watch_is_written_as_go_writes_it() -> None:
    data, obj = ALL["core.v1.WatchEvent"]
    written = codec().event(obj["type"], KINDS["core.v1.ConfigMap"][1])
    assert int.from_bytes(written[:4], "big") == len(written) - 4
    # type = 1, object = 2 (RawExtension, whose raw = 1), each with its length; the recorded one holds JSON.
    inner = envelope.unwrap(data).raw
    assert inner == b"\x0a\x09typeValue\x12" + inner[12:13] + b"\x0a" + inner[14:15] + inner[15:]
    raw = KINDS["core.v1.ConfigMap"][0]
    length = bytes([len(raw) & 0x7F | 0x80, len(raw) >> 7])
    extension = b"\x0a" + length + raw
    outer = bytes([len(extension) & 0x7F | 0x80, len(extension) >> 7])
    assert written[4:] == b"\x0a\x09typeValue\x12" + outer + extension


@pytest.mark.parametrize("name", OTHERS)
def test_other_kinds_are_refused_unless_an_older_minor_serves_them(name: str) -> None:
    data, obj = OTHERS[name]
    if old(obj):  # an older minor serves it, perhaps without fields that came later
        found = codec().decode(data, ("", ""))
        assert found["metadata"] == obj["metadata"]
        assert codec().decode(codec().encode(found), ("", "")) == found
        return
    with pytest.raises(DecodeError) as error:
        codec().decode(data, ("", ""))
    assert error.value.message == f'no kind "{obj["kind"]}" is registered for version "{obj["apiVersion"]}"'
