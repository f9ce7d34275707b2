"""The filters authentication and authorization."""

# ruff: noqa: E501 - tables read better with one case on a line

from __future__ import annotations

from typing import Any

import pytest

from apiserver.api.auth import AUTHENTICATED, UNAUTHENTICATED, Attributes, Decision, User
from apiserver_plugins.filters import authentication, authorization, request_info
from tests.wsgi import FakeServer, answering, call, chain, environ, server

ALL = (request_info, authentication, authorization)


def _on(user: User | None = None, decision: Decision = Decision.ALLOW, reason: str = "") -> FakeServer:
    on = server(*ALL)
    if user:
        on.user = user
    on.decide = lambda _attributes: (decision, reason)
    return on


def test_somebody_who_was_authenticated_is_in_the_group_of_those() -> None:
    on = _on(User("alice", groups=("team-a",)))
    request = call(chain(answering(), *ALL, on=on), "/api").request
    assert request.user == User("alice", groups=("team-a", AUTHENTICATED))


def test_anonymous_is_not() -> None:
    on = _on(User("system:anonymous", groups=(UNAUTHENTICATED,)))
    request = call(chain(answering(), *ALL, on=on), "/api").request
    assert request.user
    assert request.user.groups == (UNAUTHENTICATED,)


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer bad"}])
def test_nobody_known_or_a_bad_credential_is_401(headers: dict[str, str]) -> None:
    on = _on()
    on.user = None
    answer = call(chain(answering(), *ALL, on=on), "/api/v1/namespaces/x/configmaps/c", headers=headers)
    assert answer.code == 401
    assert answer.json == {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "Unauthorized",
        "reason": "Unauthorized", "code": 401,
    }  # fmt: skip
    assert answer.header("WWW-Authenticate") is None


def test_nobody_further_in_sees_credentials() -> None:
    seen: dict[str, Any] = {}

    def app(env: dict[str, Any], start_response: Any) -> Any:
        seen.update(env)
        return answering()(env, start_response)

    headers = {
        "Authorization": "Bearer good", "X-Remote-User": "root", "X-Remote-Group": "system:masters",
        "X-Remote-Extra-Scopes": "all", "X-Remote-Uid": "0", "X-Proxy-User": "root", "X-Remote-Control": "stays",
    }  # fmt: skip
    on = server(*ALL, requestheader_username_headers=("X-Remote-User", "X-Proxy-User"))
    call(chain(app, *ALL, on=on), "/api", headers=headers)
    assert {key for key in seen if key.startswith("HTTP_")} == {"HTTP_X_REMOTE_CONTROL"}


# fmt: off
REFUSED = [
    ("GET", "/metrics", 'forbidden: User "alice" cannot get path "/metrics"', {}),
    ("GET", "/api/v1/namespaces/x/configmaps", 'configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" in the namespace "x"', {"kind": "configmaps"}),
    ("GET", "/api/v1/nodes/n", 'nodes "n" is forbidden: User "alice" cannot get resource "nodes" in API group "" at the cluster scope', {"name": "n", "kind": "nodes"}),
    ("POST", "/apis/apps/v1/namespaces/x/deployments", 'deployments.apps is forbidden: User "alice" cannot create resource "deployments" in API group "apps" in the namespace "x"', {"group": "apps", "kind": "deployments"}),
    ("GET", "/api/v1/namespaces/x/pods/p/log", 'pods "p" is forbidden: User "alice" cannot get resource "pods/log" in API group "" in the namespace "x"', {"name": "p", "kind": "pods"}),
    ("OPTIONS", "/api/v1/nodes", 'nodes is forbidden: User "alice" cannot  resource "nodes" in API group "" at the cluster scope', {"kind": "nodes"}),
]
# fmt: on


@pytest.mark.parametrize(("method", "path", "message", "details"), REFUSED)
def test_a_refusal_says_who_cannot_do_what(method: str, path: str, message: str, details: dict[str, str]) -> None:
    app = chain(answering(), *ALL, on=_on(decision=Decision.NO_OPINION))
    answer = call(app, path, method)
    assert answer.code == 403
    assert answer.json["message"] == message
    assert answer.json["reason"] == "Forbidden"
    assert answer.json["details"] == details
    assert answer.header("X-Content-Type-Options") == "nosniff"
    assert answer.request.annotations["authorization.k8s.io/decision"] == "forbid"


def test_the_authorizers_reason_is_appended() -> None:
    answer = call(chain(answering(), *ALL, on=_on(decision=Decision.DENY, reason="because")), "/x")
    assert answer.json["message"] == 'forbidden: User "alice" cannot get path "/x": because'


def test_user_names_are_made_harmless_for_browsers() -> None:
    answer = call(chain(answering(), *ALL, on=_on(User("<b>&"), Decision.DENY)), "/x")
    assert 'User "&lt;b&gt;&amp;" cannot' in answer.json["message"]


def test_an_authorizer_that_breaks_is_an_internal_error() -> None:
    on = _on()

    def broken(_attributes: Attributes) -> tuple[Decision, str]:
        raise RuntimeError("webhook is down")

    on.decide = broken
    answer = call(chain(answering(), *ALL, on=on), "/api?x=1")
    assert (answer.code, answer.text) == (500, 'Internal Server Error: "/api?x=1": webhook is down\n')


def test_an_allowed_request_goes_on_with_its_decision_noted() -> None:
    answer = call(chain(answering(), *ALL, on=_on(reason="may")), "/api")
    assert answer.code == 200
    assert answer.request.annotations == {
        "authorization.k8s.io/decision": "allow",
        "authorization.k8s.io/reason": "may",
    }


def test_without_authentication_nobody_is_let_in() -> None:
    assert call(chain(answering(), request_info, authorization, on=_on()), "/api").code == 401


def test_all_of_the_request_reaches_the_authorizer() -> None:
    asked: list[Attributes] = []
    on = _on()
    on.decide = lambda attributes: (asked.append(attributes), (Decision.ALLOW, ""))[1]
    call(chain(answering(), *ALL, on=on), "/apis/apps/v1/namespaces/x/deployments?labelSelector=a%3Db")
    assert asked[0]._replace(user=User("u")) == Attributes(
        User("u"), "list", "/apis/apps/v1/namespaces/x/deployments", True, "apps", "v1", "deployments",
        namespace="x", label_selector="a=b",
    )  # fmt: skip
    assert environ("/")["PATH_INFO"] == "/"
