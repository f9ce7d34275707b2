"""Which service account tokens are good, and who they are; the server is made of dictionaries."""

from __future__ import annotations

import base64
import hmac
import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from apiserver.api.auth import MATCHED_AUDIENCES, WANTED_AUDIENCES
from apiserver.api.errors import Unauthorized
from apiserver.api.request import Request
from apiserver.api.settings import Config, ConfigError
from apiserver.api.tokens import TokenSettings, sign
from apiserver_plugins.authentication import service_account_tokens
from tests.plugins.resources.fake_server import FakeServer

ISSUER = "https://kubernetes.default.svc"
UID = "11111111-0000-4000-8000-000000000000"


class World:
    """A server with an account, and tokens for it."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.config = {
            "data-dir": str(folder),
            "cert-dir": "",
            "service-account-issuer": (ISSUER, "https://old.example"),
            "api-audiences": (),
            "service-account-signing-key-file": "",
            "service-account-key-file": (),
            "service-account-lookup": True,
            **settings,
        }
        self.server = FakeServer(**self.config)
        self.stores = {name: self.server.serve("", name) for name in ("serviceaccounts", "secrets", "pods", "nodes")}
        self.settings = TokenSettings(self.server.config)
        self.authenticator = service_account_tokens.apiserver_authenticator(self.server)
        self.add("serviceaccounts", "bot", UID)

    def add(self, resource: str, name: str, uid: str, namespace: str = "ns", **more: Any) -> None:
        meta = {"name": name, "namespace": namespace, "uid": uid, **more.pop("metadata", {})}
        self.stores[resource].add({"metadata": meta, **more})

    def claims(self, **changes: Any) -> dict[str, Any]:
        now = int(time.time())
        private = {"namespace": "ns", "serviceaccount": {"name": "bot", "uid": UID}, **changes.pop("private", {})}
        claims = {"iss": ISSUER, "aud": [ISSUER], "exp": now + 600, "iat": now, "nbf": now, "jti": "j"}
        claims |= {"sub": "system:serviceaccount:ns:bot", "kubernetes.io": private}
        return {**claims, **changes}

    def token(self, **changes: Any) -> str:
        return sign(self.claims(**changes), self.settings.keys.signing)

    def who(self, token: str, **state: Any) -> Any:
        self.request = Request({"REQUEST_METHOD": "GET", "HTTP_AUTHORIZATION": f"Bearer {token}"})
        self.request.state.update(state)
        return self.authenticator.authenticate(self.request)

    def refusal(self, token: str, **state: Any) -> str:
        with pytest.raises(Unauthorized) as caught:
            self.who(token, **state)
        text = caught.value.message
        assert text.startswith("[invalid bearer token, ")
        return text.removeprefix("[invalid bearer token, ").removesuffix("]")


def handmade(head: dict[str, Any], claims: dict[str, Any], secret: bytes | None = None) -> str:
    """A token that no library would make."""

    def encoded(data: bytes) -> str:
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    text = f"{encoded(orjson.dumps(head))}.{encoded(orjson.dumps(claims))}"
    return f"{text}.{encoded(hmac.digest(secret, text.encode(), 'sha256')) if secret else ''}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys")


@pytest.fixture
def world(folder: Path) -> World:
    return World(folder)


def test_a_good_token_is_the_account_with_its_groups_and_the_name_of_the_token(world: World):
    user = world.who(world.token())
    assert (user.name, user.uid) == ("system:serviceaccount:ns:bot", UID)
    assert user.groups == ("system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated")
    assert user.extra == {"authentication.kubernetes.io/credential-id": ("JTI=j",)}
    assert world.request.state[MATCHED_AUDIENCES] == (ISSUER,)


@pytest.mark.parametrize("token", ["", "a", "a.b", "a.b.c", "e30.e30.", "e30.WzFd.x", "ü.ü.ü"])
def test_what_is_no_token_of_ours_is_left_to_others(world: World, token: str):
    assert world.who(token) is None


def test_a_token_after_two_spaces_is_none_and_its_sender_is_told(world: World):
    assert world.who(f" {world.token()}") is None
    assert list(world.request.warnings) == [service_account_tokens.SPACES]
    assert world.who("") is None
    assert not world.request.warnings


def test_a_token_of_another_issuer_is_left_to_others(world: World):
    assert world.who(world.token(iss="https://elsewhere.example")) is None
    assert world.who(handmade({"alg": "RS256"}, world.claims(iss=[ISSUER]))) is None


def test_a_former_issuer_is_still_believed(world: World):
    assert world.who(world.token(iss="https://old.example")) is not None


def test_a_changed_token_is_refused(world: World):
    head, _, signature = world.token().split(".")
    forged = base64.urlsafe_b64encode(orjson.dumps(world.claims(sub="system:serviceaccount:ns:admin"))).rstrip(b"=")
    assert "cryptographic primitive" in world.refusal(f"{head}.{forged.decode()}.{signature}")


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_a_token_cannot_choose_a_weaker_algorithm(world: World, algorithm: str):
    from cryptography.hazmat.primitives import serialization

    encoding, form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    public = world.settings.keys.signing.key.public_key().public_bytes(encoding, form)
    token = handmade({"alg": algorithm}, world.claims(), public if algorithm == "HS256" else None)
    assert "cryptographic primitive" in world.refusal(token)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"exp": 1}, "service account token has expired"),
        ({"nbf": 1 << 40}, "service account token is not valid yet"),
        ({"iat": 1 << 40}, "service account token is issued in the future"),
        ({"exp": "soon"}, "unexpected validation error"),
        ({"kubernetes.io": None}, "kubernetes.io is missing"),
        ({"private": {"namespace": "other"}}, 'serviceaccounts "bot" not found'),
        ({"private": {"serviceaccount": "bot"}}, 'serviceaccounts "" not found'),
    ],
)
def test_claims_that_do_not_hold_are_refused(world: World, changes: dict[str, Any], text: str):
    assert text in world.refusal(world.token(**changes))


def test_clocks_may_differ_by_a_minute(world: World):
    now = int(time.time())
    assert world.who(world.token(exp=now - 30)) is not None
    assert world.who(world.token(nbf=now + 30, iat=now + 30)) is not None


def test_a_token_for_others_is_refused_unless_they_ask(world: World):
    token = world.token(aud=["vault", "x"])
    assert world.refusal(token) == (
        f'token audiences ["vault" "x"] is invalid for the target audiences ["{ISSUER}" "https://old.example"]'
    )
    assert world.who(token, **{WANTED_AUDIENCES: ("y", "vault")}) is not None
    assert world.request.state[MATCHED_AUDIENCES] == ("vault",)


def test_the_same_token_is_judged_anew_each_time(world: World):
    token = world.token()
    assert world.who(token) is not None
    world.stores["serviceaccounts"].objects.clear()
    assert world.refusal(token) == 'serviceaccounts "bot" not found'
    world.add("serviceaccounts", "bot", "another")
    assert world.refusal(token) == f"service account UID (another) does not match claim ({UID})"


def test_an_account_in_deletion_is_good_for_another_minute(world: World):
    world.add("serviceaccounts", "bot", UID, metadata={"deletionTimestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ")})
    assert world.who(world.token()) is not None
    world.add("serviceaccounts", "bot", UID, metadata={"deletionTimestamp": "2020-01-01T00:00:00Z"})
    assert world.refusal(world.token()) == "service account has been deleted"


def test_a_token_of_a_pod_names_pod_and_node_and_dies_with_the_pod(world: World):
    world.add("pods", "p", "pod-uid")
    token = world.token(private={"pod": {"name": "p", "uid": "pod-uid"}, "node": {"name": "n", "uid": "node-uid"}})
    user = world.who(token)
    assert {key.partition("/")[2]: value for key, value in user.extra.items()} == {
        "credential-id": ("JTI=j",), "pod-name": ("p",), "pod-uid": ("pod-uid",), "node-name": ("n",),
        "node-uid": ("node-uid",),
    }  # fmt: skip
    world.add("pods", "p", "second")
    assert world.refusal(token) == "pod UID (second) does not match service account pod ref claim (pod-uid)"
    world.stores["pods"].objects.clear()
    assert world.refusal(token) == "service account token has been invalidated"


@pytest.mark.parametrize(("kind", "namespace"), [("secret", "ns"), ("node", "")])
def test_a_token_dies_with_what_it_is_bound_to(world: World, kind: str, namespace: str):
    token = world.token(private={kind: {"name": "x", "uid": "u"}})
    assert world.refusal(token) == "service account token has been invalidated"
    world.add(f"{kind}s", "x", "u", namespace)
    assert world.who(token) is not None
    world.add(f"{kind}s", "x", "u", namespace, metadata={"deletionTimestamp": "2020-01-01T00:00:00Z"})
    assert world.refusal(token) == "service account token has been invalidated"


def test_the_late_use_of_an_extended_token_is_noted(world: World):
    assert world.who(world.token(private={"warnafter": int(time.time()) - 5})) is not None
    assert world.request.annotations["authentication.k8s.io/stale-token"].startswith(
        "subject: system:serviceaccount:ns:bot, seconds after warning threshold: "
    )
    assert world.who(world.token(private={"warnafter": int(time.time()) + 60})) is not None
    assert not world.request.annotations


def legacy(world: World, **changes: Any) -> str:
    claims = {
        "iss": "kubernetes/serviceaccount",
        "sub": "system:serviceaccount:ns:bot",
        "kubernetes.io/serviceaccount/namespace": "ns",
        "kubernetes.io/serviceaccount/secret.name": "s",
        "kubernetes.io/serviceaccount/service-account.name": "bot",
        "kubernetes.io/serviceaccount/service-account.uid": UID,
    }
    return sign({k: v for k, v in {**claims, **changes}.items() if v is not None}, world.settings.keys.signing)


def keep(world: World, token: str) -> None:
    world.add("secrets", "s", "secret-uid", data={"token": base64.b64encode(token.encode()).decode()})


def test_a_token_in_a_secret_is_good_as_long_as_the_secret_holds_it(world: World):
    token = legacy(world)
    assert world.refusal(token) == "service account token has been invalidated"
    keep(world, token)
    user = world.who(token)
    assert (user.name, user.uid, user.extra) == ("system:serviceaccount:ns:bot", UID, {})
    assert world.request.annotations["authentication.k8s.io/legacy-token"] == user.name
    keep(world, "another")
    assert world.refusal(token) == "service account token does not match server's copy"


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("sub", "sub claim is missing"),
        ("kubernetes.io/serviceaccount/namespace", "namespace claim is missing"),
        ("kubernetes.io/serviceaccount/secret.name", "secretName claim is missing"),
        ("kubernetes.io/serviceaccount/service-account.uid", "serviceAccountUID claim is missing"),
    ],
)
def test_a_token_in_a_secret_must_say_all(world: World, claim: str, text: str):
    assert world.refusal(legacy(world, **{claim: None})) == text


def test_a_token_in_a_secret_must_not_contradict_itself(world: World):
    assert world.refusal(legacy(world, sub="system:serviceaccount:ns:admin")) == "sub claim is invalid"


def test_without_lookup_a_token_in_a_secret_is_believed(folder: Path):
    world = World(folder, **{"service-account-lookup": False})
    world.stores["serviceaccounts"].objects.clear()
    assert world.who(legacy(world)) is not None


def test_keys_that_cannot_be_used_stop_the_start(tmp_path: Path):
    (tmp_path / "bad.pem").write_text("no key")
    settings = {
        "service-account-signing-key-file": str(tmp_path / "missing.pem"),
        "service-account-key-file": (str(tmp_path / "bad.pem"),),
    }
    with pytest.raises(ConfigError) as caught:
        service_account_tokens.apiserver_configure(Config(settings))
    assert len(caught.value.problems) == 2
    assert "missing.pem" in caught.value.problems[0]
    assert "bad.pem" in caught.value.problems[1]
