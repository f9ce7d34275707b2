"""Tokens on request: what is asked for, what is in them, and that they open the door."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest

from apiserver.api.keys import ensure_private
from apiserver.testing.server import Answer, LocalServer

ISSUER = "https://kubernetes.default.svc"
_numbers = itertools.count()


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    with LocalServer("--disable-admission-plugins=ServiceAccount", "--authorization-mode=RBAC") as running:
        yield running


class Accounts:
    """A namespace with an account ``bot``."""

    def __init__(self, server: LocalServer) -> None:
        self.server = server
        self.namespace = f"ns-{next(_numbers)}"
        self.path = f"/api/v1/namespaces/{self.namespace}"
        server.post("/api/v1/namespaces", {"metadata": {"name": self.namespace}})
        self.uid = self.made("serviceaccounts", {"metadata": {"name": "bot"}})["uid"]

    def made(self, resource: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self.server.post(f"{self.path}/{resource}", body)
        assert answer.status == 201, answer.text
        return answer.json["metadata"]

    def pod(self, name: str = "p", account: str = "bot", **spec: Any) -> str:
        spec = {"serviceAccountName": account, "containers": [{"name": "c", "image": "x"}], **spec}
        return self.made("pods", {"metadata": {"name": name}, "spec": spec})["uid"]

    def ask(self, name: str = "bot", metadata: Any = None, **spec: Any) -> Answer:
        return self.server.post(f"{self.path}/serviceaccounts/{name}/token", {"metadata": metadata or {}, "spec": spec})

    def claims(self, **spec: Any) -> dict[str, Any]:
        answer = self.ask(**spec)
        assert answer.status == 201, answer.text
        return decoded(answer)

    def refusal(self, **spec: Any) -> dict[str, Any]:
        return self.ask(**spec).json


def decoded(answer: Answer) -> dict[str, Any]:
    return jwt.decode(answer.json["status"]["token"], options={"verify_signature": False})


@pytest.fixture
def accounts(server: LocalServer) -> Accounts:
    return Accounts(server)


def bound(kind: str, name: str, **more: str) -> dict[str, str]:
    return {"kind": kind, "apiVersion": "v1", "name": name, **more}


def test_a_token_says_who_it_is_for_whom_and_how_long(accounts: Accounts) -> None:
    answer = accounts.ask()
    request, claims = answer.json, decoded(answer)
    assert request["spec"] == {"audiences": [ISSUER], "expirationSeconds": 3600, "boundObjectRef": None}
    meta = request["metadata"]
    assert (meta["name"], meta["namespace"], meta["uid"]) == ("bot", accounts.namespace, accounts.uid)
    assert abs(claims["iat"] - time.time()) < 60
    assert (claims["nbf"], claims["exp"]) == (claims["iat"], claims["iat"] + 3600)
    assert (claims["iss"], claims["aud"]) == (ISSUER, [ISSUER])
    assert claims["sub"] == f"system:serviceaccount:{accounts.namespace}:bot"
    assert claims["kubernetes.io"] == {
        "namespace": accounts.namespace,
        "serviceaccount": {"name": "bot", "uid": accounts.uid},
    }
    head = jwt.get_unverified_header(request["status"]["token"])
    assert sorted(head) == ["alg", "kid"]
    assert head["alg"] == "RS256"


def test_two_tokens_are_never_the_same(accounts: Accounts) -> None:
    assert accounts.claims()["jti"] != accounts.claims()["jti"]


def test_a_token_opens_the_door_until_its_account_is_gone(accounts: Accounts) -> None:
    token = accounts.ask().json["status"]["token"]
    headers = {"Authorization": f"Bearer {token}"}
    answer = accounts.server.get(f"{accounts.path}/configmaps", user=None, headers=headers)
    assert answer.status == 403
    assert f'User "system:serviceaccount:{accounts.namespace}:bot" cannot list' in answer.json["message"]
    assert accounts.server.delete(f"{accounts.path}/serviceaccounts/bot").status == 200
    deadline = time.monotonic() + 10
    while accounts.server.get("/api", user=None, headers=headers).status != 401:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_token_for_others_does_not_open_it(accounts: Accounts) -> None:
    token = accounts.ask(audiences=["vault"]).json["status"]["token"]
    assert accounts.server.get("/api", user=None, headers={"Authorization": f"Bearer {token}"}).status == 401


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (599, "may not specify a duration less than 10 minutes"),
        (1 << 33, "may not specify a duration larger than 2^32 seconds"),
    ],
)
def test_a_token_lives_neither_too_short_nor_too_long(accounts: Accounts, seconds: int, text: str) -> None:
    status = accounts.refusal(expirationSeconds=seconds)
    assert status["code"] == 422
    assert status["message"] == (
        f'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: {seconds}: {text}'
    )


@pytest.mark.parametrize("field", ["name", "namespace"])
def test_metadata_must_not_mean_another_account(accounts: Accounts, field: str) -> None:
    status = accounts.ask(metadata={field: "other"}).json
    if field == "namespace":
        assert status["code"] == 400
        return
    assert status["message"] == (
        'TokenRequest.authentication.k8s.io "bot" is invalid: metadata.name: Invalid value: "other": '
        "must match the service account name if specified"
    )


def test_an_unknown_account_has_no_tokens(accounts: Accounts) -> None:
    assert accounts.refusal(name="none")["message"] == 'serviceaccounts "none" not found'


def test_a_token_can_be_bound_to_a_pod_and_dies_with_it(accounts: Accounts) -> None:
    uid = accounts.pod(nodeName="nowhere")
    answer = accounts.ask(boundObjectRef=bound("Pod", "p", uid=uid))
    private = decoded(answer)["kubernetes.io"]
    assert (private["pod"], private["node"]) == ({"name": "p", "uid": uid}, {"name": "nowhere"})
    headers = {"Authorization": f"Bearer {answer.json['status']['token']}"}
    assert accounts.server.get("/api", user=None, headers=headers).status == 200
    accounts.server.delete(f"{accounts.path}/pods/p?gracePeriodSeconds=0")
    deadline = time.monotonic() + 10
    while accounts.server.get("/api", user=None, headers=headers).status != 401:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_token_of_a_pod_names_its_node_with_its_uid(accounts: Accounts) -> None:
    node = f"n-{accounts.namespace}"
    made = accounts.server.post("/api/v1/nodes", {"metadata": {"name": node}}).json["metadata"]
    accounts.pod(nodeName=node)
    claims = accounts.claims(boundObjectRef=bound("Pod", "p"))
    assert claims["kubernetes.io"]["node"] == {"name": node, "uid": made["uid"]}
    claims = accounts.claims(boundObjectRef=bound("Node", node))
    assert claims["kubernetes.io"]["node"] == {"name": node, "uid": made["uid"]}


def test_a_token_can_be_bound_to_a_secret(accounts: Accounts) -> None:
    uid = accounts.made("secrets", {"metadata": {"name": "s"}})["uid"]
    claims = accounts.claims(boundObjectRef=bound("Secret", "s"))
    assert claims["kubernetes.io"]["secret"] == {"name": "s", "uid": uid}


@pytest.mark.parametrize(
    ("reference", "code", "text"),
    [
        (bound("ConfigMap", "x"), 400, "cannot bind token to object of type /v1, Kind=ConfigMap"),
        ({**bound("Pod", "x"), "apiVersion": "apps/v1"}, 400, "cannot bind token to object of type apps/v1, Kind=Pod"),
        (bound("Pod", "none"), 404, 'pods "none" not found'),
        (bound("Node", "none"), 404, 'nodes "none" not found'),
        (bound("Secret", "none"), 404, 'secrets "none" not found'),
        (bound("Pod", "other"), 400, 'cannot bind token for serviceaccount "bot" to pod running with different '
         "serviceaccount name."),
        (bound("Pod", "p", uid="x"), 409, 'Operation cannot be fulfilled on Pod "p": the UID in the bound object '
         "reference (x) does not match the UID in record. The object might have been deleted and then recreated"),
    ],
)  # fmt: skip
def test_what_a_token_cannot_be_bound_to(accounts: Accounts, reference: Any, code: int, text: str) -> None:
    accounts.pod()
    accounts.pod("other", account="somebody")
    status = accounts.refusal(boundObjectRef=reference)
    assert (status["code"], status["message"]) == (code, text)


def test_tokens_of_volumes_live_longer_than_they_say(accounts: Accounts) -> None:
    accounts.pod()
    answer = accounts.ask(boundObjectRef=bound("Pod", "p"), expirationSeconds=3607)
    claims = decoded(answer)
    assert claims["exp"] - claims["iat"] == 365 * 24 * 3600
    assert claims["kubernetes.io"]["warnafter"] - claims["iat"] == 3607
    assert answer.json["spec"]["expirationSeconds"] == 3607
    for other in ({"audiences": ["vault"]}, {"expirationSeconds": 3600}):
        claims = accounts.claims(**{"boundObjectRef": bound("Pod", "p"), "expirationSeconds": 3607, **other})
        assert claims["exp"] - claims["iat"] < 4000


def test_a_dry_run_of_nothing_kept_still_answers(accounts: Accounts) -> None:
    path = f"{accounts.path}/serviceaccounts/bot/token?dryRun=All"
    assert accounts.server.post(path, {"spec": {}}).status == 201


def test_settings_decide_about_issuer_audiences_key_and_length(tmp_path: Path) -> None:
    key = ensure_private(tmp_path / "own.pem")
    flags = (
        "--service-account-issuer=https://one.example,https://two.example",
        "--api-audiences=api,other",
        f"--service-account-signing-key-file={tmp_path / 'own.pem'}",
        "--service-account-max-token-expiration=2h",
        "--disable-admission-plugins=ServiceAccount",
    )
    with LocalServer(*flags) as server:
        accounts = Accounts(server)
        answer = accounts.ask(expirationSeconds=90000)
        assert answer.headers["warning"] == ('299 - "requested expiration of 90000 seconds shortened to 7200 seconds"')
        assert answer.json["spec"]["expirationSeconds"] == 7200
        claims = jwt.decode(answer.json["status"]["token"], key.key.public_key(), algorithms=["RS256"], audience="api")
        assert (claims["iss"], claims["aud"]) == ("https://one.example", ["api", "other"])
        configuration = server.get("/.well-known/openid-configuration").json
        assert configuration["issuer"] == "https://one.example"


# -- the documents about the issuer ---------------------------------------------------------------------------------


def test_others_can_verify_a_token_with_the_published_keys(accounts: Accounts) -> None:
    server = accounts.server
    configuration = server.get("/.well-known/openid-configuration")
    assert configuration.headers["cache-control"] == "public, max-age=3600"
    assert configuration.json["id_token_signing_alg_values_supported"] == ["RS256"]
    assert configuration.json["jwks_uri"].endswith("/openid/v1/jwks")
    keys = server.get("/openid/v1/jwks")
    assert keys.headers["content-type"] == "application/jwk-set+json"
    token = accounts.ask().json["status"]["token"]
    published = {key["kid"]: key for key in keys.json["keys"]}
    key = jwt.PyJWK(published[jwt.get_unverified_header(token)["kid"]])
    assert jwt.decode(token, key.key, algorithms=["RS256"], audience=ISSUER)["iss"] == ISSUER


@pytest.mark.parametrize(
    ("path", "accept", "status"),
    [
        ("/openid/v1/jwks", "application/json", 406),
        ("/openid/v1/jwks", "application/jwk-set+json", 200),
        ("/openid/v1/jwks", "text/html, */*;q=0.1", 200),
        ("/.well-known/openid-configuration", "text/html", 406),
    ],
)
def test_documents_come_as_what_they_are(server: LocalServer, path: str, accept: str, status: int) -> None:
    assert server.get(path, headers={"Accept": accept}).status == status


def test_an_issuer_that_is_no_url_has_no_documents() -> None:
    with LocalServer("--service-account-issuer=somebody") as server:
        assert server.get("/.well-known/openid-configuration").status == 404
        assert server.get("/openid/v1/jwks").status == 404
