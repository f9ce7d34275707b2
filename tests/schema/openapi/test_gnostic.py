"""The v2 document as protobuf says what it says as JSON."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from apiserver.schema.openapi import Documents, Served, gnostic, handler

NEW, OLD = handler.PROTOBUF_V2


def decoded(data: bytes) -> Any:
    message = gnostic._document()()
    message.ParseFromString(data)
    return message


DOCUMENT = {
    "swagger": "2.0",
    "info": {"title": "Kubernetes", "version": "v1"},
    "paths": {
        "/things/{name}": {
            "get": {
                "operationId": "readThing",
                "tags": ["things"],
                "parameters": [
                    {"name": "limit", "in": "query", "type": "integer", "uniqueItems": True},
                    {"$ref": "#/parameters/pretty"},
                ],
                "responses": {"200": {"description": "OK", "schema": {"$ref": "#/definitions/Thing"}}},
                "x-kubernetes-action": "get",
            },
            "put": {"parameters": [{"name": "body", "in": "body", "schema": {"$ref": "#/definitions/Thing"}}]},
            "parameters": [{"name": "name", "in": "path", "type": "string", "required": True}],
        }
    },
    "definitions": {
        "Thing": {
            "type": "object",
            "description": "A thing.",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "default": 3, "enum": [1, 3]},
                "parts": {"type": "array", "items": {"type": "string"}},
                "more": {"type": "object", "additionalProperties": {"type": "string"}},
                "open": {"additionalProperties": True},
            },
            "x-kubernetes-group-version-kind": [{"group": "", "kind": "Thing", "version": "v1"}],
        }
    },
    "securityDefinitions": {"BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}},
    "security": [{"BearerToken": []}],
}


def test_operations_keep_parameters_and_answers() -> None:
    message = decoded(gnostic.encode(DOCUMENT))
    assert (message.f1, message.f2.f1, message.f2.f2) == ("2.0", "Kubernetes", "v1")
    (path,) = message.f8.f2
    assert path.f1 == "/things/{name}"
    get = path.f2.f2
    assert (get.f5, list(get.f1)) == ("readThing", ["things"])
    query, reference = get.f8
    assert (query.f1.f2.f3.f4, query.f1.f2.f3.f6, query.f1.f2.f3.f20) == ("limit", "integer", True)
    assert reference.f2.f1 == "#/parameters/pretty"
    (answer,) = get.f9.f1
    assert (answer.f1, answer.f2.f1.f2.f1.f1) == ("200", "#/definitions/Thing")
    (extension,) = get.f13
    assert (extension.f1, extension.f2.f2) == ("x-kubernetes-action", '"get"\n')
    (body,) = path.f2.f3.f8
    assert body.f1.f1.f5.f1 == "#/definitions/Thing"
    (place,) = path.f2.f9
    assert (place.f1.f2.f4.f4, place.f1.f2.f4.f1) == ("name", True)


def test_schemas_keep_types_and_extensions() -> None:
    (named,) = decoded(gnostic.encode(DOCUMENT)).f9.f1
    thing = named.f2
    assert (named.f1, thing.f4, list(thing.f19), list(thing.f22.f1)) == ("Thing", "A thing.", ["size"], ["object"])
    properties = {entry.f1: entry.f2 for entry in thing.f25.f1}
    assert properties["size"].f5.f2 == "3\n"
    assert [value.f2 for value in properties["size"].f20] == ["1\n", "3\n"]
    assert list(properties["parts"].f23.f1[0].f22.f1) == ["string"]
    assert list(properties["more"].f21.f1.f22.f1) == ["string"]
    assert properties["open"].f21.f2 is True
    (extension,) = thing.f31
    assert orjson.loads(extension.f2.f2) == DOCUMENT["definitions"]["Thing"]["x-kubernetes-group-version-kind"]  # type: ignore[index]


def test_security_is_kept() -> None:
    message = decoded(gnostic.encode(DOCUMENT))
    (definition,) = message.f13.f1
    assert (definition.f1, definition.f2.f2.f2) == ("BearerToken", "authorization")
    (requirement,) = message.f12
    assert [each.f1 for each in requirement.f1] == ["BearerToken"]


@pytest.fixture(scope="module")
def documents() -> Documents:
    verbs = ("create", "delete", "get", "list", "patch", "update", "watch")
    return Documents([Served("", "v1", "ConfigMap", "configmaps", True, verbs)], git_version="v1")


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        (OLD, NEW),
        (NEW, NEW),
        (f"{OLD},application/json", NEW),
        (f"application/json,{OLD}", "application/json"),
        ("*/*", "application/json"),
    ],
)
def test_who_asks_for_protobuf_gets_it(documents: Documents, accept: str, content_type: str) -> None:
    answer = handler.v2(documents, accept=accept)
    assert answer.status == 200
    assert dict(answer.headers)["Content-Type"] == content_type


def test_both_forms_have_all_definitions_and_one_tag(documents: Documents) -> None:
    plain, message = handler.v2(documents), handler.v2(documents, accept=OLD)
    names = {entry.f1 for entry in decoded(message.body).f9.f1}
    assert names == set(orjson.loads(plain.body)["definitions"])
    assert dict(plain.headers)["ETag"] == dict(message.headers)["ETag"]
    assert handler.v2(documents, accept=OLD, if_none_match=dict(plain.headers)["ETag"]).status == 304
