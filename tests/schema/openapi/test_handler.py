from __future__ import annotations

import pytest

from apiserver.schema.openapi import Documents, Served, handler


@pytest.fixture(scope="module")
def documents():
    return Documents([Served("", "v1", "ConfigMap", "configmaps", True, ("get", "list"))])


def headers(answer):
    return dict(answer.headers)


def test_the_index_is_text_and_has_a_tag(documents):
    answer = handler.v3_index(documents)
    assert answer.status == 200
    assert headers(answer)["Content-Type"] == "text/plain; charset=utf-8"
    assert handler.v3_index(documents, if_none_match=headers(answer)["ETag"]).status == 304


def test_a_document_with_the_right_hash_may_be_kept_for_a_year(documents):
    answer = handler.v3_document(documents, "api/v1", hash_=documents.hash("api/v1"))
    assert answer.status == 200
    assert headers(answer)["Cache-Control"] == "public, immutable"
    assert headers(answer)["Expires"].endswith("GMT")
    assert headers(answer)["ETag"] == f'"{documents.hash("api/v1")}"'
    assert "Cache-Control" not in headers(handler.v3_document(documents, "api/v1"))


def test_a_stale_hash_is_sent_to_the_right_one(documents):
    answer = handler.v3_document(documents, "api/v1", hash_="ABC")
    assert answer.status == 301
    assert headers(answer)["Location"] == f"/openapi/v3/api/v1?hash={documents.hash('api/v1')}"


def test_unknown_documents_and_media_types(documents):
    assert handler.v3_document(documents, "apis/nothing/v1").status == 404
    assert handler.v3_document(documents, "v2").status == 404
    assert handler.v3_document(documents, "api/v1", accept="image/png").status == 406
    refused = handler.v2(documents, accept="image/png")
    assert (refused.status, refused.body) == (406, b"")


@pytest.mark.parametrize("accept", ["", "*/*", "application/json", "image/png, application/*;q=0.5"])
def test_json_is_sent_to_who_accepts_it(documents, accept):
    answer = handler.v2(documents, accept=accept)
    assert answer.status == 200
    assert headers(answer)["Vary"] == "Accept"
    assert handler.v2(documents, accept=accept, if_none_match=headers(answer)["ETag"]).status == 304


def test_a_type_with_quality_zero_is_refused(documents):
    assert handler.v2(documents, accept="application/json;q=0").status == 406
