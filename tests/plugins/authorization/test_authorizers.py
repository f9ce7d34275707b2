"""Masters, AlwaysAllow, AlwaysDeny and RBAC."""

# ruff: noqa: E501 - tables read better with one case on a line

from __future__ import annotations

from typing import Any

import pytest

from apiserver.api.auth import Attributes, Decision, User
from apiserver.api.requestinfo import parse
from apiserver_plugins.authorization import always_allow, always_deny, masters, rbac
from apiserver_plugins.authorization.rules import Policy
from apiserver_plugins.controllers import bootstrap_roles
from apiserver_plugins.filters import authorization
from apiserver_plugins.filters.authorization import attributes_of
from tests.wsgi import server

ANONYMOUS = User("system:anonymous", groups=("system:unauthenticated",))
ALICE = User("alice", groups=("team-a", "system:authenticated"))
BOT = User("system:serviceaccount:x:bot", groups=("system:serviceaccounts", "system:authenticated"))


def _asked(user: User, method: str, path: str) -> Attributes:
    return attributes_of(user, parse(method, path))


def _role(name: str, *rules: dict[str, Any], namespace: str = "") -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"kind": "Role" if namespace else "ClusterRole", "metadata": metadata, "rules": list(rules)}


def _binding(name: str, role: str, *subjects: str, namespace: str = "", kind: str = "ClusterRole") -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    bound = []
    for subject in subjects:
        what, _, who = subject.partition("=")
        where, slash, who_there = who.partition("/")
        bound.append({"kind": what, "name": who_there, "namespace": where} if slash else {"kind": what, "name": who})
    return {
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding", "metadata": metadata,
        "roleRef": {"kind": kind, "name": role}, "subjects": bound,
    }  # fmt: skip


READ_PODS = {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]}


def default_policy() -> Policy:
    """What every cluster has."""
    return Policy(one for listed in bootstrap_roles.objects().values() for one in listed)


def _allows(policy: Policy, user: User, method: str, path: str) -> bool:
    return rbac.Rbac(lambda: policy).authorize(_asked(user, method, path))[0] is Decision.ALLOW


def test_masters_may_do_everything_and_others_are_left_to_others() -> None:
    authorizer = masters.apiserver_authorizer()
    assert authorizer.authorize(_asked(User("a", groups=("system:masters",)), "PUT", "/x")) == (Decision.ALLOW, "")
    assert authorizer.authorize(_asked(ALICE, "PUT", "/x")) == (Decision.NO_OPINION, "")


def test_modes_switch_authorizers_on() -> None:
    hooks = {"AlwaysAllow": always_allow, "AlwaysDeny": always_deny, "RBAC": rbac}
    for mode in hooks:
        on = server(authorization, authorization_mode=(mode,))
        assert [name for name, plugin in hooks.items() if plugin.apiserver_authorizer(on)] == [mode]
    assert always_allow.apiserver_authorizer(server(authorization)), "the default"


def test_always_deny_says_why() -> None:
    assert always_deny.AlwaysDeny().authorize(_asked(ALICE, "GET", "/")) == (
        Decision.NO_OPINION,
        "Everything is forbidden.",
    )


@pytest.mark.parametrize(
    ("user", "method", "path", "allowed"),
    [
        (ANONYMOUS, "GET", "/healthz", True), (ANONYMOUS, "GET", "/livez", True), (ANONYMOUS, "GET", "/readyz", True),
        (ANONYMOUS, "GET", "/version", True), (ANONYMOUS, "GET", "/version/", True),
        (ANONYMOUS, "GET", "/livez/ping", False), (ANONYMOUS, "GET", "/api", False), (ANONYMOUS, "GET", "/apis", False),
        (ANONYMOUS, "POST", "/livez", False), (ANONYMOUS, "GET", "/openapi/v2", False),
        (ANONYMOUS, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", False),
        (ALICE, "GET", "/apis", True), (ALICE, "GET", "/api/v1", True), (ALICE, "GET", "/openapi/v3", True),
        (ALICE, "GET", "/readyz", True), (ALICE, "GET", "/readyz/ping", False), (ALICE, "GET", "/metrics", False),
        (ALICE, "GET", "/", False), (ALICE, "GET", "/apis/apps/v1", True),
        (ALICE, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", True),
        (ALICE, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", True),
        (ALICE, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", False),
        (ALICE, "GET", "/api/v1/namespaces/x/configmaps", False),
        (User("m", groups=("system:monitoring",)), "GET", "/metrics", True),
        (User("a", groups=("system:masters",)), "DELETE", "/api/v1/nodes/n", True),
    ],
)  # fmt: skip
def test_the_roles_that_every_cluster_has(user: User, method: str, path: str, allowed: bool) -> None:
    assert _allows(default_policy(), user, method, path) is allowed


def test_the_reason_names_binding_role_and_subject() -> None:
    authorizer = rbac.Rbac(default_policy)
    assert authorizer.authorize(_asked(ALICE, "GET", "/apis")) == (
        Decision.ALLOW,
        'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" '
        'to Group "system:authenticated"',
    )
    policy = Policy(
        [_role("r", READ_PODS, namespace="x"), _binding("b", "r", "ServiceAccount=x/bot", namespace="x", kind="Role")]
    )
    assert rbac.Rbac(lambda: policy).authorize(_asked(BOT, "GET", "/api/v1/namespaces/x/pods"))[1] == (
        'RBAC: allowed by RoleBinding "b/x" of Role "r" to ServiceAccount "bot/x"'
    )


def test_a_role_binding_counts_in_its_namespace_only() -> None:
    policy = Policy([_role("reader", READ_PODS), _binding("b", "reader", "User=alice", namespace="x")])
    assert _allows(policy, ALICE, "GET", "/api/v1/namespaces/x/pods")
    assert not _allows(policy, ALICE, "GET", "/api/v1/namespaces/y/pods")
    assert not _allows(policy, ALICE, "GET", "/api/v1/pods")
    assert not _allows(policy, ANONYMOUS, "GET", "/api/v1/namespaces/x/pods")


def test_a_role_is_found_in_the_namespace_of_its_binding() -> None:
    policy = Policy([
        _role("r", READ_PODS, namespace="x"),
        _binding("b", "r", "Group=team-a", namespace="x", kind="Role"),
        _binding("b", "r", "Group=team-a", namespace="y", kind="Role"),
    ])  # fmt: skip
    assert _allows(policy, ALICE, "GET", "/api/v1/namespaces/x/pods/p")
    assert rbac.Rbac(lambda: policy).authorize(_asked(ALICE, "GET", "/api/v1/namespaces/y/pods")) == (
        Decision.NO_OPINION,
        'RBAC: role.rbac.authorization.k8s.io "r" not found',
    )


# fmt: off
RULES = [
    ({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}, "PATCH", "/apis/a.b/v1/things/x/status", True),
    ({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}, "GET", "/api/v1/namespaces/x/pods/p", True),
    ({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}, "GET", "/api/v1/namespaces/x/pods", False),
    ({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}, "GET", "/api/v1/namespaces/x/pods/p/log", False),
    ({"verbs": ["get"], "apiGroups": [""], "resources": ["pods/log"]}, "GET", "/api/v1/namespaces/x/pods/p/log", True),
    ({"verbs": ["get"], "apiGroups": [""], "resources": ["pods/log"]}, "GET", "/api/v1/namespaces/x/pods/p", False),
    ({"verbs": ["get"], "apiGroups": ["*"], "resources": ["*/scale"]}, "GET", "/apis/apps/v1/namespaces/x/deployments/d/scale", True),
    ({"verbs": ["get"], "apiGroups": ["*"], "resources": ["*/scale"]}, "GET", "/apis/apps/v1/namespaces/x/deployments/d", False),
    ({"verbs": ["get"], "apiGroups": ["*"], "resources": ["*/scale"]}, "GET", "/apis/apps/v1/namespaces/x/deployments/d/status", False),
    ({"verbs": ["get"], "apiGroups": ["apps"], "resources": ["*"]}, "GET", "/api/v1/namespaces/x/pods/p", False),
    ({"verbs": ["get"], "apiGroups": ["apps"], "resources": ["*"]}, "GET", "/apis/apps/v1/namespaces/x/deployments/d/scale", True),
    ({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["p"]}, "GET", "/api/v1/namespaces/x/pods/p", True),
    ({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["p"]}, "GET", "/api/v1/namespaces/x/pods/q", False),
    ({"verbs": ["list"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["p"]}, "GET", "/api/v1/namespaces/x/pods", False),
    ({"verbs": ["create"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["p"]}, "POST", "/api/v1/namespaces/x/pods", False),
    ({"verbs": ["get"], "nonResourceURLs": ["/a"]}, "GET", "/a", True),
    ({"verbs": ["get"], "nonResourceURLs": ["/a"]}, "GET", "/a/b", False),
    ({"verbs": ["get"], "nonResourceURLs": ["/a"]}, "POST", "/a", False),
    ({"verbs": ["get"], "nonResourceURLs": ["/a/*"]}, "GET", "/a/b/c", True),
    ({"verbs": ["get"], "nonResourceURLs": ["/a/*"]}, "GET", "/a", False),
    ({"verbs": ["*"], "nonResourceURLs": ["*"]}, "POST", "/anything", True),
    ({"verbs": ["*"], "nonResourceURLs": ["*"]}, "GET", "/api/v1/nodes", False),
    ({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}, "GET", "/metrics", False),
]
# fmt: on


@pytest.mark.parametrize(("rule", "method", "path", "allowed"), RULES)
def test_what_a_rule_allows(rule: dict[str, Any], method: str, path: str, allowed: bool) -> None:
    policy = Policy([_role("r", rule), _binding("b", "r", "User=alice")])
    assert _allows(policy, ALICE, method, path) is allowed


def test_changes_of_roles_and_bindings_count_at_once() -> None:
    policy = Policy()
    asked = (ALICE, "GET", "/api/v1/namespaces/x/pods")
    binding = _binding("b", "r", "User=alice")
    policy.put(binding)
    assert not _allows(policy, *asked)
    policy.put(_role("r", READ_PODS))
    assert _allows(policy, *asked)
    policy.put(_role("r"))
    assert not _allows(policy, *asked)
    policy.put(_role("r", READ_PODS))
    policy.put(_binding("b", "r", "User=bob"))
    assert not _allows(policy, *asked)
    policy.put(binding)
    policy.remove({"kind": "ClusterRoleBinding", "metadata": {"name": "b"}})
    assert not _allows(policy, *asked)
    policy.put(binding)
    policy.remove({"kind": "ClusterRole", "metadata": {"name": "r"}})
    assert not _allows(policy, *asked)


def test_the_first_binding_by_name_is_the_reason_and_cluster_bindings_come_first() -> None:
    policy = Policy([
        _role("r", READ_PODS),
        _binding("a", "r", "User=alice", namespace="x"), _binding("c", "r", "User=alice"),
        _binding("b", "r", "Group=team-a"),
    ])  # fmt: skip
    reason = rbac.Rbac(lambda: policy).authorize(_asked(ALICE, "GET", "/api/v1/namespaces/x/pods"))[1]
    assert reason == 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to Group "team-a"'
