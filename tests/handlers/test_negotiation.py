"""Formats of bodies and answers: JSON, YAML, metadata only, indentation, compression."""

from __future__ import annotations

import gzip
import json

import pytest
import yaml

from tests.handlers.kit import created, labelled, named, refused
from tests.server import ServerProcess

PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
LIMIT = 128 << 10


def accept(value: str) -> dict[str, dict[str, str]]:
    return {"headers": {"Accept": value}}


@pytest.mark.parametrize(
    ("value", "media"),
    [
        ("", "application/json"),
        ("*/*", "application/json"),
        ("application/json", "application/json"),
        ("application/yaml", "application/yaml"),
        ("text/html, application/yaml;q=0.5, application/json;q=0.9", "application/json"),
        ("application/json;q=0.1, application/yaml", "application/yaml"),
        ("application/vnd.unknown, */*", "application/json"),
        ("application/json;as=Unknown;v=v1;g=meta.k8s.io, application/json", "application/json"),
    ],
)
def test_the_best_known_format_is_answered(server: ServerProcess, configmaps: str, value: str, media: str) -> None:
    made = created(server, configmaps, named("a", data={"x": "1"}))
    answer = server.get(f"{configmaps}/a", **accept(value))
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, media)
    decoded = json.loads(answer.text) if media == "application/json" else yaml.safe_load(answer.text)
    assert decoded["data"] == made["data"]
    assert decoded["metadata"]["uid"] == made["metadata"]["uid"]


def test_formats_nobody_writes_are_not_acceptable(server: ServerProcess, configmaps: str) -> None:
    created(server, configmaps, named("a"))
    for value in ("text/html", "application/xml, text/plain", PARTIAL.replace("PartialObjectMetadata", "Unknown")):
        status = refused(server.get(f"{configmaps}/a", **accept(value)), 406, "NotAcceptable")
        assert "application/json" in status["message"]


def test_a_refusal_comes_in_the_format_that_was_asked_for(server: ServerProcess, configmaps: str) -> None:
    answer = server.get(f"{configmaps}/a", **accept("application/yaml"))
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/yaml")
    assert yaml.safe_load(answer.text)["reason"] == "NotFound"


def test_objects_can_be_sent_as_yaml(server: ServerProcess, configmaps: str) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  text: |\n    one\n    two\n  number: '7'\n"
    answer = server.client.post(configmaps, content=text, headers={"Content-Type": "application/yaml"})
    assert answer.status_code == 201
    assert answer.json()["data"] == {"text": "one\ntwo\n", "number": "7"}
    headers = {"Content-Type": "application/yaml", "Accept": "application/yaml"}
    stored = yaml.safe_load(server.get(f"{configmaps}/a", **accept("application/yaml")).text)
    stored["data"]["number"] = "8"
    answer = server.client.put(f"{configmaps}/a", content=yaml.safe_dump(stored), headers=headers)
    assert yaml.safe_load(answer.text)["data"]["number"] == "8"


def test_a_body_without_a_content_type_is_json(server: ServerProcess, configmaps: str) -> None:
    answer = server.client.post(configmaps, content=json.dumps(named("a")))
    assert answer.status_code == 201


@pytest.mark.parametrize("media", ["application/json; charset=utf-8", "application/json;a=b", "APPLICATION/JSON"])
def test_parameters_of_the_content_type_do_not_matter(server: ServerProcess, configmaps: str, media: str) -> None:
    answer = server.client.post(configmaps, content=json.dumps(named("a")), headers={"Content-Type": media})
    assert answer.status_code == 201


# -- metadata only ---------------------------------------------------------------------------------------------------


def test_metadata_alone_can_be_read(server: ServerProcess, configmaps: str) -> None:
    made = created(server, configmaps, named("a", data={"x": "1"}))
    expected = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": made["metadata"]}
    assert server.get(f"{configmaps}/a", **accept(PARTIAL)).json() == expected
    assert server.patch(f"{configmaps}/a", {}).json() == made
    assert server.post(configmaps, named("b"), **accept(PARTIAL)).json()["kind"] == "PartialObjectMetadata"


def test_metadata_alone_can_be_listed(server: ServerProcess, secrets: str) -> None:
    made = [created(server, secrets, labelled(name, x="y")) for name in "abc"]
    listed = server.get(f"{secrets}?limit=2", **accept(PARTIAL_LIST)).json()
    assert (listed["kind"], listed["apiVersion"]) == ("PartialObjectMetadataList", "meta.k8s.io/v1")
    assert [item["metadata"] for item in listed["items"]] == [obj["metadata"] for obj in made[:2]]
    assert listed["metadata"]["remainingItemCount"] == 1
    assert listed["metadata"]["continue"]


def test_a_form_must_fit_what_is_read(server: ServerProcess, secrets: str) -> None:
    created(server, secrets, named("a"))
    refused(server.get(f"{secrets}/a", **accept(PARTIAL_LIST)), 406, "NotAcceptable")
    refused(server.get(secrets, **accept(PARTIAL)), 406, "NotAcceptable")


# -- indentation -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "agent", "indented"),
    [
        ("", "kubectl/v1.36.0", False),
        ("?pretty=true", "kubectl/v1.36.0", True),
        ("?pretty=1", "kubectl/v1.36.0", True),
        ("?pretty=false", "curl/8.0", False),
        ("", "curl/8.0", True),
        ("", "Wget/1.2", True),
        ("", "Mozilla/5.0 (X11)", True),
    ],
)
def test_people_get_indented_json(
    server: ServerProcess, configmaps: str, query: str, agent: str, indented: bool
) -> None:
    created(server, configmaps, named("a"))
    for path in (f"{configmaps}/a", configmaps, f"{configmaps}/missing"):
        text = server.get(path + query, headers={"User-Agent": agent}).text
        assert text.startswith('{\n  "kind"' if indented else '{"kind"'), text[:40]
        assert text.endswith("\n") != indented


# -- compression -----------------------------------------------------------------------------------------------------


@pytest.fixture
def large(server: ServerProcess, configmaps: str) -> str:
    """The path of an object above the limit."""
    created(server, configmaps, named("large", data={"x": "x" * LIMIT}))
    return f"{configmaps}/large"


def raw(server: ServerProcess, path: str, encodings: str) -> tuple[dict[str, str], bytes]:
    """Headers and body as they were sent."""
    with server.client.stream("GET", path, headers={"Accept-Encoding": encodings}) as answer:
        return dict(answer.headers), b"".join(answer.iter_raw())


def test_large_answers_are_compressed_for_those_who_take_it(server: ServerProcess, configmaps: str, large: str) -> None:
    # A list that nobody else adds to, whose own resourceVersion may go on all the same.
    for path in (large, f"{configmaps}?fieldSelector=metadata.name=large"):
        plain_headers, plain = raw(server, path, "identity")
        headers, body = raw(server, path, "gzip, deflate")
        assert headers["content-encoding"] == "gzip"
        assert "Accept-Encoding" in headers["vary"]
        assert len(body) < len(plain) / 10
        sent, wanted = json.loads(gzip.decompress(body)), json.loads(plain)
        assert sent.get("items", sent) == wanted.get("items", wanted)
        assert "content-encoding" not in plain_headers


def test_small_answers_are_not_compressed(server: ServerProcess, configmaps: str) -> None:
    created(server, configmaps, named("small", data={"x": "x" * (LIMIT // 2)}))
    assert "content-encoding" not in raw(server, f"{configmaps}/small", "gzip")[0]


def test_compressed_answers_are_indented_first(server: ServerProcess, large: str) -> None:
    headers, body = raw(server, f"{large}?pretty=true", "gzip")
    assert headers["content-encoding"] == "gzip"
    assert gzip.decompress(body).startswith(b'{\n  "kind"')


# -- headers ---------------------------------------------------------------------------------------------------------


def test_every_answer_says_how_it_may_be_kept_and_found_again(server: ServerProcess, configmaps: str) -> None:
    for path in (configmaps, f"{configmaps}/missing", "/version", "/nothing"):
        answer = server.get(path)
        assert answer.headers["Cache-Control"] == "no-cache, private", path
        assert answer.headers["Audit-Id"], path
        assert answer.headers["Date"], path


def test_the_audit_id_of_a_request_is_kept(server: ServerProcess, configmaps: str) -> None:
    assert server.get(configmaps, headers={"Audit-ID": "my-own"}).headers["Audit-Id"] == "my-own"
    two = {server.get(configmaps).headers["Audit-Id"] for _ in range(2)}
    assert len(two) == 2
