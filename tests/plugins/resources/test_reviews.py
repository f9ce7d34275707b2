"""Reviews: questions about users and their rights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from apiserver.api.auth import MATCHED_AUDIENCES, WANTED_AUDIENCES, Attributes, Decision, Rules, User
from apiserver.api.errors import BadRequest, Invalid, Unauthorized
from apiserver.api.request import Request
from apiserver.api.rest import Context, WriteOptions
from apiserver.api.server import Server
from apiserver_plugins.resources.authentication_v1 import reviews as authentication
from apiserver_plugins.resources.authorization_v1 import reviews as authorization
from apiserver_plugins.resources.common.deferred import answered
from tests.plugins.resources.fake_server import FakeServer

Answer = Callable[..., dict[str, Any]]
CAROL = User("carol", "u", ("team",), {"k": ("v",)})
PODS = {"verb": "get", "resource": "pods", "namespace": "ns"}


class Judge(FakeServer):
    """Answers that are known beforehand; remembers what was asked."""

    def __init__(self, decision: Decision = Decision.ALLOW, reason: str = "") -> None:
        super().__init__(**{"api-audiences": (), "service-account-issuer": ("https://us",)})
        self.answer = (decision, reason)
        self.asked: list[Attributes] = []

    def authorize(self, attributes: Attributes) -> tuple[Decision, str]:
        self.asked.append(attributes)
        if attributes.verb == "fail":
            raise RuntimeError("out of order")
        return self.answer

    def rules_for(self, user: User, namespace: str) -> Rules:
        return Rules([{"verbs": ["get"], "resources": [namespace]}], [], incomplete=True, problem="half")

    def authenticate(self, request: Request) -> User | None:
        token = request.environ["HTTP_AUTHORIZATION"].removeprefix("Bearer ")
        if token == "bad":
            raise Unauthorized("invalid bearer token")
        if token == "bound":
            request.state[MATCHED_AUDIENCES] = tuple(a for a in ("vault",) if a in request.state[WANTED_AUDIENCES])
        return CAROL


def ask(answer: Answer, ctx: Context, server: Judge, meta: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    obj = {"kind": "Review", "apiVersion": "x/v1", "metadata": meta or {}, "spec": spec}
    return answer(cast(Server, server), ctx, obj, lambda _obj: None)


def test_somebody_is_asked_about(ctx: Context) -> None:
    server = Judge(Decision.ALLOW, "because")
    logs = {**PODS, "subresource": "log", "fieldSelector": {"rawSelector": "a=b"}}
    who = {"user": "carol", "groups": ["team"], "uid": "u", "extra": {"k": ["v"]}}
    review = ask(authorization.subject, ctx, server, **who, resourceAttributes=logs)
    assert review["status"] == {"allowed": True, "reason": "because"}
    assert server.asked == [
        Attributes(CAROL, "get", "", True, version="*", resource="pods", subresource="log", namespace="ns",
                   field_selector="a=b")
    ]  # fmt: skip


def test_a_path_is_asked_about(ctx: Context) -> None:
    server = Judge(Decision.DENY)
    review = ask(authorization.own, ctx, server, nonResourceAttributes={"path": "/x", "verb": "get"})
    assert review["status"] == {"allowed": False, "denied": True}
    assert (server.asked[0].path, server.asked[0].user.name) == ("/x", "somebody")


def test_an_authorizer_that_fails_is_told_about(ctx: Context) -> None:
    review = ask(authorization.own, ctx, Judge(), resourceAttributes={"verb": "fail"})
    assert review["status"] == {"allowed": False, "evaluationError": "out of order"}


@pytest.mark.parametrize(
    ("answer", "meta", "spec", "expected"),
    [
        (authorization.subject, {}, {"resourceAttributes": PODS},
         ['spec.user: Invalid value: "": at least one of user or group must be specified']),
        (authorization.subject, {"name": "x"}, {"user": "a", "resourceAttributes": PODS},
         ['metadata: Invalid value: {"name":"x"}: must be empty']),
        (authorization.own, {}, {"resourceAttributes": {**PODS, "labelSelector": {}}},
         ["spec.resourceAttributes.labelSelector.requirements: Required value: when "
          "spec.resourceAttributes.labelSelector is specified, requirements or rawSelector is required"]),
        (authorization.local, {"namespace": "ns"}, {"user": "a", "nonResourceAttributes": {}},
         ["spec.nonResourceAttributes: Invalid value: {}: disallowed on this kind of request"]),
        (authorization.local, {"namespace": "other"}, {"user": "a", "resourceAttributes": PODS},
         ['spec.resourceAttributes.namespace: Invalid value: "ns": must match metadata.namespace']),
    ],
)  # fmt: skip
def test_questions_that_make_no_sense_are_refused(
    ctx: Context, answer: Answer, meta: dict[str, Any], spec: dict[str, Any], expected: list[str]
) -> None:
    with pytest.raises(Invalid) as caught:
        ask(answer, ctx, Judge(), meta, **spec)
    assert list(map(str, caught.value.errors)) == expected
    assert caught.value.message.startswith('.authorization.k8s.io "" is invalid: ')


def test_all_rules_in_a_namespace(ctx: Context) -> None:
    review = ask(authorization.own_rules, ctx, Judge(), namespace="ns")
    assert review["spec"] == {}
    assert review["status"] == {
        "resourceRules": [{"verbs": ["get"], "resources": ["ns"]}], "nonResourceRules": [], "incomplete": True,
        "evaluationError": "half",
    }  # fmt: skip
    with pytest.raises(BadRequest, match="no namespace on request"):
        ask(authorization.own_rules, ctx, Judge())


INFO = {"username": "carol", "uid": "u", "groups": ["team", "system:authenticated"], "extra": {"k": ["v"]}}
UNKNOWN = {"user": {}, "error": "invalid bearer token"}


@pytest.mark.parametrize(
    ("spec", "status"),
    [
        ({"token": "good"}, {"authenticated": True, "user": INFO, "audiences": ["https://us"]}),
        ({"token": "good", "audiences": ["vault"]}, UNKNOWN),
        (
            {"token": "bound", "audiences": ["vault", "x"]},
            {"authenticated": True, "user": INFO, "audiences": ["vault"]},
        ),
        ({"token": "bad"}, UNKNOWN),
    ],
)
def test_tokens(ctx: Context, spec: dict[str, Any], status: dict[str, Any]) -> None:
    review = ask(authentication.token, ctx, Judge(), **spec)
    assert review["status"] == status
    assert review["spec"] == spec


def test_a_review_without_a_token_is_refused(ctx: Context) -> None:
    with pytest.raises(BadRequest, match="token is required for TokenReview in authentication"):
        ask(authentication.token, ctx, Judge())


def test_who_am_i(ctx: Context) -> None:
    ctx.request.user = CAROL
    review = ask(authentication.own, ctx, Judge())
    assert review["status"]["userInfo"]["username"] == "carol"
    assert set(review["metadata"]) == {"creationTimestamp"}
    assert "spec" not in review


def test_answers_are_made_by_a_function_of_a_module_imported_then(ctx: Context) -> None:
    declaration = answered("authentication_v1.reviews", "own")
    assert declaration["verbs"] == ("create",)
    storage = declaration["storage"](cast(Server, Judge()), None)
    seen = []
    obj = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1", "metadata": {}}
    answer = storage.create(ctx, obj, WriteOptions(), lambda new, old: seen.append((new, old)))
    assert answer.decode()["status"]["userInfo"] == {"username": "somebody"}
    assert seen == [(obj, None)]
