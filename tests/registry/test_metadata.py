"""The rules of ``metadata``, and properties of its checks."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apiserver.api import validation
from apiserver.api.fields import FieldError
from apiserver.registry import metadata

quiet = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))

UID = "11111111-1111-4111-8111-111111111111"
GOOD: dict[str, Any] = {
    "name": "a",
    "namespace": "n",
    "uid": UID,
    "creationTimestamp": "2026-01-01T00:00:00Z",
    "resourceVersion": "1",
    "generation": 2,
    "labels": {"example.com/a": "b"},
    "annotations": {"any": "thing at all"},
    "finalizers": ["example.com/keep"],
    "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": UID}],
}


def names(name: str, prefix: bool) -> list[str]:
    return validation.dns_subdomain(name, prefix=prefix)


def paths(errors: list[FieldError]) -> list[str]:
    return [str(error.field) for error in errors]


def check(**changes: Any) -> list[str]:
    """The fields of a new object's problems."""
    return paths(metadata.validate({**GOOD, **changes}, True, names))


def test_good_metadata_has_no_problems() -> None:
    assert check() == []
    assert metadata.validate({"name": "a"}, False, names) == []


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"name": ""}, ["metadata.name"]),
        ({"name": "A"}, ["metadata.name"]),
        ({"generateName": "A"}, ["metadata.generateName"]),
        ({"generateName": "a-"}, []),
        ({"namespace": ""}, ["metadata.namespace"]),
        ({"namespace": "a.b"}, ["metadata.namespace"]),
        ({"generation": -1}, ["metadata.generation"]),
        ({"labels": {"a": "b c"}}, ["metadata.labels"]),
        ({"labels": {"a b": "c", "-": "d"}}, ["metadata.labels", "metadata.labels"]),
        ({"annotations": {"UPPER.example.com/a": ""}}, []),
        ({"annotations": {"a b": ""}}, ["metadata.annotations"]),
        ({"finalizers": ["orphan"]}, []),
        ({"finalizers": ["keep"]}, ["metadata.finalizers[0]"]),
        ({"finalizers": ["orphan", "foregroundDeletion"]}, ["metadata.finalizers"]),
    ],
)
def test_each_problem_names_its_field(changes: dict[str, Any], fields: list[str]) -> None:
    assert check(**changes) == fields


def test_what_has_no_namespace_may_not_say_one() -> None:
    assert paths(metadata.validate({"name": "a", "namespace": "n"}, False, names)) == ["metadata.namespace"]


@pytest.mark.parametrize(
    ("owner", "fields"),
    [
        ({"apiVersion": ""}, ["metadata.ownerReferences.apiVersion"]),
        ({"apiVersion": "a/b/c"}, ["metadata.ownerReferences.apiVersion"]),
        (
            {"kind": "", "name": "", "uid": ""},
            [f"metadata.ownerReferences.{field}" for field in ("kind", "name", "uid")],
        ),
        ({"kind": "Event"}, ["metadata.ownerReferences"]),
    ],
)
def test_owners_say_what_they_are(owner: dict[str, str], fields: list[str]) -> None:
    assert check(ownerReferences=[{**GOOD["ownerReferences"][0], **owner}]) == fields


def test_one_owner_controls() -> None:
    owner = {**GOOD["ownerReferences"][0], "controller": True}
    assert check(ownerReferences=[owner]) == []
    assert check(ownerReferences=[owner, {**owner, "name": "q"}]) == ["metadata.ownerReferences"]


@quiet
@given(st.integers(0, 12), st.text(max_size=6))
def test_annotations_have_a_limit_in_bytes(short: int, key_value: str) -> None:
    value = key_value.encode("utf-8", "ignore").decode()
    rest = metadata.ANNOTATIONS_LIMIT - len("a") - len("b") - len(value.encode())
    assert check(annotations={"a": "x" * rest, "b": value}) == []
    assert check(annotations={"a": "x" * (rest + 1 + short), "b": value}) == ["metadata.annotations"]


# -- updates ---------------------------------------------------------------------------------------------------------

IMMUTABLE = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")


@quiet
@given(st.sets(st.sampled_from(IMMUTABLE)), st.sampled_from(["other", None]))
def test_what_identifies_an_object_does_not_change(fields: set[str], value: str | None) -> None:
    new = {**GOOD, **dict.fromkeys(fields, value)}
    changed = [f"metadata.{field}" for field in IMMUTABLE if field in fields and GOOD.get(field) != value]
    assert paths(metadata.validate_update(new, GOOD)) == changed


def test_the_generation_does_not_go_back() -> None:
    assert paths(metadata.validate_update({**GOOD, "generation": 1}, GOOD)) == ["metadata.generation"]
    assert metadata.validate_update({**GOOD, "generation": 3}, GOOD) == []


@quiet
@given(st.lists(st.sampled_from(["e.com/a", "e.com/b", "e.com/c"]), unique=True), st.booleans())
def test_finalizers_only_go_while_an_object_is_deleted(finalizers: list[str], deleting: bool) -> None:
    old = {**GOOD, "finalizers": ["e.com/a", "e.com/b"]}
    if deleting:
        old |= {"deletionTimestamp": "2026-01-02T00:00:00Z", "deletionGracePeriodSeconds": 0}
    errors = metadata.validate_update({**old, "finalizers": finalizers}, old)
    assert paths(errors) == (["metadata.finalizers"] if deleting and "e.com/c" in finalizers else [])


# -- system fields ---------------------------------------------------------------------------------------------------


def test_new_objects_get_an_identity() -> None:
    one: dict[str, Any] = {"name": "a", "uid": "mine", "selfLink": "/mine", "deletionTimestamp": "2026-01-01T00:00:00Z"}
    metadata.wipe_system_fields(one)
    assert one == {"name": "a"}
    other = dict(one)
    for each in (one, other):
        metadata.fill_system_fields(each)
    assert one["uid"] != other["uid"]
    assert one["creationTimestamp"].endswith("Z")


OWNERS = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from("ab"), "uid": st.sampled_from("12")}, optional={"kind": st.just("K")}
    ),
    max_size=6,
)


@quiet
@given(OWNERS)
def test_each_owner_is_kept_once_in_the_order_given(owners: list[dict[str, str]]) -> None:
    found = {"ownerReferences": list(owners)}
    repeated = metadata.deduplicate_owners(found)
    kept = list({orjson.dumps(owner, option=orjson.OPT_SORT_KEYS): owner for owner in owners}.values())
    assert found["ownerReferences"] == kept
    assert repeated == (len(kept) < len(owners))
    assert not metadata.deduplicate_owners(found)
