"""Acting as somebody else over HTTP: who may, as whom, and what is left of one's own rights."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.server import ServerProcess

WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that asks for rights."""
    with ServerProcess(tmp_path_factory.mktemp("guarded"), "--authorization-mode=RBAC") as server:
        yield server


def who(
    server: ServerProcess, headers: dict[str, str] | list[tuple[str, str]], token: str = "admin-token"
) -> httpx.Response:
    with server.connect(token) as client:
        return client.post(WHO, json=REVIEW, headers=headers)


def test_an_administrator_acts_as_somebody_with_groups_uid_and_extra(guarded: ServerProcess) -> None:
    headers = [
        ("Impersonate-User", "carol"),
        ("Impersonate-Group", "g1"),
        ("Impersonate-Group", "g2"),
        ("Impersonate-Uid", "u-1"),
        ("Impersonate-Extra-Scopes", "a"),
        ("Impersonate-Extra-Acme.com%2fproject", "p"),
    ]
    answer = who(guarded, headers)
    assert answer.status_code == 201, answer.text
    assert answer.json()["status"]["userInfo"] == {
        "username": "carol",
        "uid": "u-1",
        "groups": ["g1", "g2", "system:authenticated"],
        "extra": {"scopes": ["a"], "acme.com/project": ["p"]},
    }


def test_a_service_account_gets_the_groups_of_its_namespace(guarded: ServerProcess) -> None:
    answer = who(guarded, {"Impersonate-User": "system:serviceaccount:shop:bot"})
    groups = answer.json()["status"]["userInfo"]["groups"]
    assert groups == ["system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"]


def test_the_rights_are_those_of_the_impersonated(guarded: ServerProcess) -> None:
    answer = guarded.get("/api/v1/namespaces/default/secrets", headers={"Impersonate-User": "carol"})
    assert answer.status_code == 403
    assert 'User "carol" cannot list resource "secrets"' in answer.json()["message"]


def test_who_may_not_impersonate_is_told_what_is_missing(guarded: ServerProcess) -> None:
    answer = who(guarded, {"Impersonate-User": "carol"}, "alice-token")
    assert answer.status_code == 403
    assert 'User "alice" cannot impersonate-on:user-info:create resource' in answer.json()["message"]


def test_headers_without_a_user_are_refused(guarded: ServerProcess) -> None:
    answer = who(guarded, {"Impersonate-Group": "system:masters"}, "alice-token")
    assert answer.status_code == 400
    assert "without impersonating a user name" in answer.json()["message"]
