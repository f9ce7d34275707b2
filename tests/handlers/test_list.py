"""GET of a collection: order, selectors, pages, versions."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.handlers.kit import created, labelled, named, names, pod, refused
from tests.server import ServerProcess


@pytest.fixture
def filled(server: ServerProcess, secrets: str) -> str:
    """Nine Secrets: ``tier`` front or back, ``odd`` on each second, ``n`` counting."""
    for number in range(9):
        labels = {"tier": "front" if number < 4 else "back", "n": str(number)}
        if number % 2:
            labels["odd"] = ""
        created(server, secrets, labelled(f"s-{number}", **labels))
    return secrets


def test_a_list_holds_the_objects_in_the_order_of_their_keys(server: ServerProcess, secrets: str) -> None:
    made = {name: created(server, secrets, named(name)) for name in ("b", "a", "a.b", "a-b", "10", "9")}
    listed = server.get(secrets).json()
    assert (listed["kind"], listed["apiVersion"]) == ("SecretList", "v1")
    # Items do not say again what they are.
    expected = [{k: v for k, v in made[n].items() if k not in ("kind", "apiVersion")} for n in sorted(made)]
    assert listed["items"] == expected
    newest = max(int(obj["metadata"]["resourceVersion"]) for obj in made.values())
    assert int(listed["metadata"]["resourceVersion"]) >= newest


def test_an_empty_list_has_items_and_a_version(server: ServerProcess, secrets: str) -> None:
    listed = server.get(secrets).json()
    assert listed["items"] == []
    assert int(listed["metadata"]["resourceVersion"]) > 0
    assert server.get("/api/v1/namespaces/nowhere/secrets").json()["items"] == []


def test_all_namespaces_can_be_listed(server: ServerProcess, namespace: str, secrets: str) -> None:
    other = server.namespace(f"{namespace}-other")
    created(server, secrets, labelled("a", mark=namespace))
    created(server, f"/api/v1/namespaces/{other}/secrets", labelled("a", mark=namespace))
    listed = server.get("/api/v1/secrets", params={"labelSelector": f"mark={namespace}"}).json()["items"]
    # In the order of the keys, in which a slash follows the namespace.
    assert [item["metadata"]["namespace"] for item in listed] == [other, namespace]


# -- selectors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("tier=front", "0123"),
        ("tier==back", "45678"),
        ("tier!=front", "45678"),
        ("tier in (front, back),odd", "1357"),
        ("tier notin (back)", "0123"),
        ("odd", "1357"),
        ("!odd", "02468"),
        ("odd=", "1357"),
        ("n>5", "678"),
        ("n<2,!odd", "0"),
        ("missing!=x", "012345678"),
        ("missing=x", ""),
        ("", "012345678"),
    ],
)
def test_labels_select(server: ServerProcess, filled: str, selector: str, expected: str) -> None:
    assert names(server.get(filled, params={"labelSelector": selector})) == [f"s-{n}" for n in expected]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("metadata.name=s-3", "3"),
        ("metadata.name!=s-3", "01245678"),
        ("metadata.name=s-3,metadata.name=s-4", ""),
        ("metadata.namespace=elsewhere", ""),
        ("type=Opaque", "012345678"),
        ("type!=Opaque", ""),
    ],
)
def test_fields_select(server: ServerProcess, filled: str, selector: str, expected: str) -> None:
    assert names(server.get(filled, params={"fieldSelector": selector})) == [f"s-{n}" for n in expected]


def test_pods_are_selected_by_what_schedulers_and_nodes_ask_for(server: ServerProcess, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/pods"
    created(server, path, pod("waiting"))
    created(server, path, pod("placed", nodeName="node-1"))
    assert names(server.get(path, params={"fieldSelector": "spec.nodeName=node-1"})) == ["placed"]
    assert names(server.get(path, params={"fieldSelector": "spec.nodeName="})) == ["waiting"]
    assert names(server.get(path, params={"fieldSelector": "status.phase=Pending,spec.nodeName!=node-1"})) == [
        "waiting"
    ]


@pytest.mark.parametrize("selector", ["a b", "x in front", "x in (", "n>x", "=x", "a=b=c", "x>-10", "/x"])
def test_a_label_selector_is_read_strictly(server: ServerProcess, secrets: str, selector: str) -> None:
    refused(server.get(secrets, params={"labelSelector": selector}), 400, "BadRequest")


def test_only_known_fields_select(server: ServerProcess, secrets: str, configmaps: str) -> None:
    status = refused(server.get(f"{secrets}?fieldSelector=data.x=1"), 400, "BadRequest")
    assert status["message"] == "field label not supported: data.x"
    status = refused(server.get(f"{configmaps}?fieldSelector=data.x=1"), 400, "BadRequest")
    assert '"data.x" is not a known field selector' in status["message"]


# -- pages -----------------------------------------------------------------------------------------------------------


def test_pages_tell_how_much_is_left(server: ServerProcess, filled: str) -> None:
    found, left, token = [], [], ""
    while True:
        listed = server.get(filled, params={"limit": "4", "continue": token}).json()
        found.append([item["metadata"]["name"] for item in listed["items"]])
        left.append(listed["metadata"].get("remainingItemCount"))
        token = listed["metadata"].get("continue", "")
        if not token:
            break
    assert found == [["s-0", "s-1", "s-2", "s-3"], ["s-4", "s-5", "s-6", "s-7"], ["s-8"]]
    assert left == [5, 1, None]


def test_pages_show_the_state_of_the_first(server: ServerProcess, filled: str) -> None:
    first = server.get(f"{filled}?limit=3").json()
    server.delete(f"{filled}/s-5")
    server.patch(f"{filled}/s-6", {"metadata": {"labels": {"changed": "yes"}}})
    created(server, filled, named("s-55"))
    rest = server.get(filled, params={"continue": first["metadata"]["continue"]}).json()
    assert [item["metadata"]["name"] for item in rest["items"]] == [f"s-{n}" for n in range(3, 9)]
    assert "changed" not in rest["items"][3]["metadata"]["labels"]
    assert rest["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    assert names(server.get(filled)) == ["s-0", "s-1", "s-2", "s-3", "s-4", "s-55", "s-6", "s-7", "s-8"]


def test_pages_of_a_selection_do_not_tell_how_much_is_left(server: ServerProcess, filled: str) -> None:
    listed = server.get(filled, params={"limit": "2", "labelSelector": "odd"}).json()
    assert [item["metadata"]["name"] for item in listed["items"]] == ["s-1", "s-3"]
    assert "remainingItemCount" not in listed["metadata"]
    query = {"limit": "2", "labelSelector": "odd", "continue": listed["metadata"]["continue"]}
    assert names(server.get(filled, params=query)) == ["s-5", "s-7"]


@pytest.mark.parametrize("limit", ["0", "-1", "9", "100"])
def test_a_limit_that_holds_all_makes_no_pages(server: ServerProcess, filled: str, limit: str) -> None:
    listed = server.get(filled, params={"limit": limit}).json()
    assert len(listed["items"]) == 9
    assert not {"continue", "remainingItemCount"} & set(listed["metadata"])


def test_a_token_says_the_version_and_where_to_go_on(server: ServerProcess, filled: str) -> None:
    listed = server.get(f"{filled}?limit=2").json()["metadata"]
    token = listed["continue"]
    told = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    assert told == {"v": "meta.k8s.io/v1", "rv": int(listed["resourceVersion"]), "start": "s-1\0"}


@pytest.mark.parametrize("token", ["nonsense", "bm9uc2Vuc2U", "e30"])
def test_a_token_must_be_one_of_ours(server: ServerProcess, secrets: str, token: str) -> None:
    status = refused(server.get(secrets, params={"continue": token}), 400, "BadRequest")
    assert "continue key is not valid" in status["message"]


# -- versions --------------------------------------------------------------------------------------------------------


def test_a_list_can_be_had_as_it_was(server: ServerProcess, secrets: str) -> None:
    versions = [created(server, secrets, named(name))["metadata"]["resourceVersion"] for name in "abc"]
    server.delete(f"{secrets}/a")
    for count, version in enumerate(versions, 1):
        answer = server.get(secrets, params={"resourceVersion": version, "resourceVersionMatch": "Exact"})
        assert names(answer) == ["a", "b", "c"][:count]
        assert answer.json()["metadata"]["resourceVersion"] == version


@pytest.mark.parametrize("match", ["", "NotOlderThan"])
def test_a_list_is_not_older_than_asked_for(server: ServerProcess, secrets: str, match: str) -> None:
    version = created(server, secrets, named("a"))["metadata"]["resourceVersion"]
    query = {"resourceVersion": version, "resourceVersionMatch": match}
    assert names(server.get(secrets, params=query)) == ["a"]


MATRIX = [
    ({"resourceVersionMatch": "Exact"}, "resourceVersionMatch is forbidden unless resourceVersion is provided"),
    ({"resourceVersionMatch": "NotOlderThan"}, "resourceVersionMatch is forbidden unless resourceVersion is provided"),
    (
        {"resourceVersionMatch": "Exact", "resourceVersion": "0"},
        'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    ),
    (
        {"resourceVersionMatch": "Newest", "resourceVersion": "1"},
        'Unsupported value: "Newest": supported values: "Exact", "NotOlderThan", ""',
    ),
    (
        {"resourceVersionMatch": "Exact", "resourceVersion": "1", "continue": "x"},
        "resourceVersionMatch is forbidden when continue is provided",
    ),
    ({"sendInitialEvents": "true"}, "sendInitialEvents is forbidden for list"),
]


@pytest.mark.parametrize(("query", "text"), MATRIX)
def test_options_that_do_not_go_together_are_invalid(
    server: ServerProcess, secrets: str, query: dict[str, Any], text: str
) -> None:
    status = refused(server.get(secrets, params=query), 422, "Invalid")
    assert status["details"]["kind"] == "ListOptions"
    assert text in status["message"]


def test_a_version_and_a_token_do_not_go_together(server: ServerProcess, secrets: str) -> None:
    for name in "ab":
        created(server, secrets, named(name))
    token = server.get(f"{secrets}?limit=1").json()["metadata"]["continue"]
    status = refused(server.get(secrets, params={"continue": token, "resourceVersion": "1"}), 400, "BadRequest")
    assert status["message"] == "specifying resource version is not allowed when using continue"


@pytest.mark.parametrize(
    ("query", "text"), [("resourceVersion=abc", "invalid resource version"), ("limit=many", "invalid syntax")]
)
def test_numbers_are_numbers(server: ServerProcess, secrets: str, query: str, text: str) -> None:
    assert text in refused(server.get(f"{secrets}?{query}"), 400, "BadRequest")["message"].lower()
