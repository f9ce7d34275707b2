"""RBAC with roles and bindings that are stored: over HTTP, on both stores and in several processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import STORES, store_arguments
from tests.plugins.authorization.requests import certificate_request
from tests.server import ServerProcess

Object = dict[str, Any]
GROUP = "/apis/rbac.authorization.k8s.io/v1"
REF = "rbac.authorization.k8s.io"
READ = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}
ALICE = {"kind": "User", "name": "alice", "apiGroup": REF}
HELD = 'user "alice" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n'


def eventually(test: Callable[[], bool]) -> bool:
    ends = time.monotonic() + 15
    while not test():
        if time.monotonic() > ends:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture(scope="module", params=STORES)
def rbac(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    arguments = store_arguments(request.param, request)
    folder = tmp_path_factory.mktemp("rbac")
    with ServerProcess(folder, "--authorization-mode=RBAC", "--workers=2", *arguments) as server:
        yield server


class Space:
    """A namespace, and alice in it."""

    def __init__(self, server: ServerProcess, alice: httpx.Client, name: str) -> None:
        self.server, self.alice, self.name = server, alice, name
        self.path = f"{GROUP}/namespaces/{name}"

    def role(self, name: str, *rules: Object) -> Object:
        body = {"metadata": {"name": name}, "rules": list(rules)}
        return self.made(self.server.post(f"{self.path}/roles", body))

    def bind(self, name: str, role: str, kind: str = "Role", *subjects: Object) -> Object:
        body = binding(name, role, kind, *subjects)
        return self.made(self.server.post(f"{self.path}/rolebindings", body))

    def made(self, answer: httpx.Response) -> Object:
        assert answer.status_code == 201, answer.text
        found: Object = answer.json()
        return found

    def may(self, verb: str, resource: str, group: str = "", **more: Any) -> bool:
        """Whether a review tells alice so."""
        attributes = {"namespace": self.name, "verb": verb, "resource": resource, "group": group, **more}
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        answer = self.alice.post(path, json={"spec": {"resourceAttributes": attributes}})
        allowed: bool = answer.json()["status"]["allowed"]
        return allowed

    def grant(self, *rules: Object) -> None:
        """Let alice do something, and wait until every process knows."""
        self.role("granted", *rules)
        self.bind("granted", "granted")
        probe = rules[-1]
        resource, group = probe["resources"][0], probe["apiGroups"][0]
        assert eventually(lambda: all(self.may(probe["verbs"][0], resource, group) for _ in range(6)))


def binding(name: str, role: str, kind: str = "Role", *subjects: Object) -> Object:
    ref = {"apiGroup": REF, "kind": kind, "name": role}
    return {"metadata": {"name": name}, "roleRef": ref, "subjects": list(subjects) or [ALICE]}


@pytest.fixture
def space(rbac: ServerProcess, request: pytest.FixtureRequest) -> Iterator[Space]:
    name = f"s{abs(hash(request.node.nodeid)) % 10**9}"
    with rbac.connect("alice-token") as alice:
        yield Space(rbac, alice, rbac.namespace(name))


def test_a_grant_counts_until_it_is_taken_back(space: Space) -> None:
    path = f"/api/v1/namespaces/{space.name}/configmaps"
    assert space.alice.get(path).json()["message"] == (
        f'configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" in the namespace '
        f'"{space.name}"'
    )
    space.grant(READ)
    assert space.alice.get(path).status_code == 200
    assert space.alice.post(path, json={"metadata": {"name": "x"}}).status_code == 403
    assert space.alice.get("/api/v1/namespaces/default/configmaps").status_code == 403
    space.server.delete(f"{space.path}/rolebindings/granted").raise_for_status()
    assert eventually(lambda: all(space.alice.get(path).status_code == 403 for _ in range(6)))


def test_changes_of_roles_and_subjects_count_too(space: Space) -> None:
    space.grant(READ)
    more = {"rules": [{**READ, "verbs": ["*"]}]}
    space.server.patch(f"{space.path}/roles/granted", more).raise_for_status()
    assert eventually(lambda: space.may("delete", "configmaps"))
    others = {"subjects": [{"kind": "Group", "name": "team", "apiGroup": REF}]}
    space.server.patch(f"{space.path}/rolebindings/granted", others).raise_for_status()
    assert eventually(lambda: not space.may("get", "configmaps"))


def test_a_cluster_role_is_granted_in_a_namespace_or_everywhere(space: Space) -> None:
    space.bind("viewer", "view", "ClusterRole")
    assert eventually(lambda: space.may("list", "pods"))
    assert not space.may("list", "pods", namespace="default")
    assert not space.may("list", "secrets")
    name = f"all-{space.name}"
    body = binding(name, "view", "ClusterRole")
    space.made(space.server.post(f"{GROUP}/clusterrolebindings", body))
    try:
        assert eventually(lambda: space.may("list", "pods", namespace=""))
    finally:
        space.server.delete(f"{GROUP}/clusterrolebindings/{name}").raise_for_status()


def test_a_service_account_is_a_subject(space: Space) -> None:
    space.role("r", READ)
    space.bind("b", "r", "Role", {"kind": "ServiceAccount", "name": "default"})
    account = f"/api/v1/namespaces/{space.name}/serviceaccounts/default/token"
    assert eventually(lambda: space.server.post(account, {"spec": {}}).status_code == 201)
    token = space.server.post(account, {"spec": {}}).json()["status"]["token"]
    with space.server.connect(token) as client:
        path = f"/api/v1/namespaces/{space.name}/configmaps"
        assert eventually(lambda: client.get(path).status_code == 200)
        assert client.get(f"/api/v1/namespaces/{space.name}/secrets").status_code == 403


def test_the_review_of_rules_agrees_with_what_is_allowed(space: Space) -> None:
    space.grant({**READ, "resourceNames": ["mine"]}, {"apiGroups": ["apps"], "resources": ["*"], "verbs": ["list"]})
    path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
    status = space.alice.post(path, json={"spec": {"namespace": space.name}}).json()["status"]
    assert {**READ, "resourceNames": ["mine"]} in status["resourceRules"]
    assert {"apiGroups": ["apps"], "resources": ["*"], "verbs": ["list"]} in status["resourceRules"]
    assert not status["incomplete"]
    assert space.may("get", "configmaps", name="mine")
    assert not space.may("get", "configmaps", name="other")
    assert space.may("list", "deployments", "apps")


def test_nobody_grants_what_they_do_not_hold(space: Space) -> None:
    write = {"apiGroups": [REF], "resources": ["roles", "rolebindings"], "verbs": ["create", "update", "patch"]}
    space.grant(READ, write)
    roles = f"{space.path}/roles"

    def write_role(name: str, *rules: Object) -> httpx.Response:
        return space.alice.post(roles, json={"metadata": {"name": name}, "rules": list(rules)})

    assert write_role("same", {**READ, "verbs": ["get"]}).status_code == 201
    narrow = {**READ, "resourceNames": ["a"], "resources": ["configmaps"]}
    assert write_role("narrow", narrow).status_code == 201
    refused = write_role("more", {**READ, "resources": ["configmaps", "secrets"]}, {**narrow, "verbs": ["delete"]})
    assert (refused.status_code, refused.json()["message"]) == (
        403,
        f'roles.{REF} "more" is forbidden: {HELD}'
        '{APIGroups:[""], Resources:["configmaps"], ResourceNames:["a"], Verbs:["delete"]}\n'
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
    )
    headers = {"Content-Type": "application/merge-patch+json"}
    widened = space.alice.patch(f"{roles}/same", content='{"rules":[]}', headers=headers)
    assert widened.status_code == 200
    widened = space.alice.patch(
        f"{roles}/same", json={"rules": [{**READ, "verbs": ["*"]}]}, headers=headers
    )  # fmt: skip
    assert widened.status_code == 403
    put = {"metadata": {"name": "made"}, "rules": [{**READ, "verbs": ["*"]}]}
    assert space.alice.put(f"{roles}/made", json=put).status_code == 403


def test_nobody_binds_what_they_do_not_hold(space: Space) -> None:
    write = {"apiGroups": [REF], "resources": ["roles", "rolebindings"], "verbs": ["create"]}
    space.grant(READ, write)
    path = f"{space.path}/rolebindings"
    space.role("readers", READ)
    assert space.alice.post(path, json=binding("held", "readers")).status_code == 201
    refused = space.alice.post(path, json=binding("nay", "cluster-admin", "ClusterRole"))
    assert (refused.status_code, refused.json()["message"]) == (
        403,
        f'rolebindings.{REF} "nay" is forbidden: {HELD}'
        '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}',
    )
    missing = space.alice.post(path, json=binding("nay", "none"))
    assert (missing.status_code, missing.json()["message"]) == (404, f'rolebindings.{REF} "none" not found')


def test_who_may_bind_or_escalate_grants_more(space: Space) -> None:
    write = {"apiGroups": [REF], "resources": ["roles", "rolebindings"], "verbs": ["create"]}
    bind = {"apiGroups": [REF], "resources": ["clusterroles"], "resourceNames": ["edit"], "verbs": ["bind"]}
    escalate = {"apiGroups": [REF], "resources": ["roles"], "verbs": ["escalate"]}
    space.grant(bind, escalate, write)
    path = f"{space.path}/rolebindings"
    assert space.alice.post(path, json=binding("e", "edit", "ClusterRole")).status_code == 201
    assert space.alice.post(path, json=binding("a", "admin", "ClusterRole")).status_code == 403
    body = {"metadata": {"name": "any"}, "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]}
    assert space.alice.post(f"{space.path}/roles", json=body).status_code == 201


def test_only_who_may_do_everything_writes_roles_that_gather_others(space: Space) -> None:
    name = f"gather-{space.name}"
    roles = {"apiGroups": [REF], "resources": ["clusterroles"], "verbs": ["create"]}
    space.made(space.server.post(f"{GROUP}/clusterroles", {"metadata": {"name": name}, "rules": [roles]}))
    space.made(space.server.post(f"{GROUP}/clusterrolebindings", binding(name, name, "ClusterRole")))
    assert eventually(lambda: all(space.may("create", "clusterroles", REF, namespace="") for _ in range(6)))
    rule = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}
    refused = space.alice.post(f"{GROUP}/clusterroles", json={"metadata": {"name": "x"}, "aggregationRule": rule})
    assert refused.status_code == 403
    assert "must have cluster-admin privileges to use the aggregationRule: user" in refused.json()["message"]
    for plural in ("clusterrolebindings", "clusterroles"):
        space.server.delete(f"{GROUP}/{plural}/{name}").raise_for_status()


def test_a_role_gathers_the_rules_of_those_that_it_chooses(space: Space) -> None:
    label, path = {f"gather-{space.name}": "true"}, f"{GROUP}/clusterroles"
    whole, part = f"whole-{space.name}", f"part-{space.name}"
    rule = {"clusterRoleSelectors": [{"matchLabels": label}]}
    space.made(space.server.post(path, {"metadata": {"name": whole}, "aggregationRule": rule}))
    space.made(space.server.post(path, {"metadata": {"name": part, "labels": label}, "rules": [READ]}))
    assert eventually(lambda: space.server.get(f"{path}/{whole}").json()["rules"] == [READ])
    other = {**READ, "verbs": ["watch"]}
    space.server.patch(f"{path}/{part}", {"rules": [READ, other]}).raise_for_status()
    assert eventually(lambda: space.server.get(f"{path}/{whole}").json()["rules"] == [READ, other])
    space.server.delete(f"{path}/{part}").raise_for_status()
    assert eventually(lambda: not space.server.get(f"{path}/{whole}").json()["rules"])
    space.server.delete(f"{path}/{whole}").raise_for_status()


def test_signers_need_the_right_to_approve_and_to_sign(space: Space) -> None:
    name = f"csr-{space.name}"
    path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
    spec = {"signerName": "example.com/signer", "request": certificate_request("bob"), "usages": ["client auth"]}
    space.made(space.server.post(path, {"metadata": {"name": name}, "spec": spec}))
    rules = [
        {
            "apiGroups": ["certificates.k8s.io"], "verbs": ["get", "patch", "update"],
            "resources": [f"certificatesigningrequests{sub}" for sub in ("", "/approval", "/status")],
        }
    ]  # fmt: skip
    space.made(space.server.post(f"{GROUP}/clusterroles", {"metadata": {"name": name}, "rules": rules}))
    space.made(space.server.post(f"{GROUP}/clusterrolebindings", binding(name, name, "ClusterRole")))
    group = "certificates.k8s.io"
    assert eventually(
        lambda: all(space.may("patch", "certificatesigningrequests", group, namespace="") for _ in range(6))
    )
    headers = {"Content-Type": "application/merge-patch+json"}
    approved = {"status": {"conditions": [{"type": "Approved", "status": "True", "reason": "r", "message": "m"}]}}
    failed = {"status": {"conditions": [{"type": "Failed", "status": "True", "reason": "r", "message": "m"}]}}

    def change(subresource: str, body: Object) -> tuple[int, str]:
        answer = space.alice.patch(f"{path}/{name}/{subresource}", json=body, headers=headers)
        return answer.status_code, answer.json().get("message", "")

    prefix = f'certificatesigningrequests.certificates.k8s.io "{name}" is forbidden: user not permitted to'
    assert change("approval", approved) == (403, f'{prefix} approve requests with signerName "example.com/signer"')
    assert change("status", failed) == (403, f'{prefix} sign requests with signerName "example.com/signer"')
    domain = {"apiGroups": [group], "resources": ["signers"], "resourceNames": ["example.com/*"], "verbs": ["approve"]}
    space.server.patch(f"{GROUP}/clusterroles/{name}", {"rules": [*rules, domain]}).raise_for_status()
    assert eventually(lambda: change("approval", approved)[0] == 200)
    for resource in (f"{GROUP}/clusterrolebindings", f"{GROUP}/clusterroles", path):
        space.server.delete(f"{resource}/{name}").raise_for_status()


def test_nobody_asks_the_signer_of_clients_for_the_masters_group(space: Space) -> None:
    path, name = "/apis/certificates.k8s.io/v1/certificatesigningrequests", f"m-{space.name}"
    spec = {"signerName": "kubernetes.io/kube-apiserver-client", "usages": ["client auth"]}
    body = {"metadata": {"name": name}, "spec": {**spec, "request": certificate_request("bob", "system:masters")}}
    refused = space.server.post(path, body)
    assert (refused.status_code, refused.json()["message"]) == (
        403,
        f'certificatesigningrequests.certificates.k8s.io "{name}" is forbidden: use of '
        "kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed",
    )
    body["spec"]["request"] = certificate_request("bob", "team")
    assert space.server.post(f"{path}?dryRun=All", body).status_code == 201


@pytest.mark.parametrize("store", STORES)
def test_what_every_cluster_has_is_completed_at_start_and_what_was_added_stays(
    store: str, folder: Path, request: pytest.FixtureRequest
) -> None:
    arguments = ["--authorization-mode=RBAC", *store_arguments(store, request)]
    roles, bindings = f"{GROUP}/clusterroles", f"{GROUP}/clusterrolebindings"
    extra = {"nonResourceURLs": ["/extra"], "verbs": ["get"]}
    keep = {"annotations": {"rbac.authorization.kubernetes.io/autoupdate": "false"}}
    with ServerProcess(folder, *arguments) as server:
        assert "poststarthook/rbac/bootstrap-roles ok" in server.get("/readyz?verbose").text
        assert server.get(f"{roles}/system:discovery").json()["rules"][0]["verbs"] == ["get"]
        server.patch(f"{roles}/system:discovery", {"rules": [extra]}).raise_for_status()
        server.patch(f"{roles}/system:basic-user", {"rules": [], "metadata": keep}).raise_for_status()
        server.delete(f"{roles}/system:monitoring").raise_for_status()
        server.delete(f"{bindings}/system:discovery").raise_for_status()
        wrong = binding("system:discovery", "view", "ClusterRole")
        server.post(bindings, wrong).raise_for_status()
        server.patch(f"{bindings}/system:basic-user", {"subjects": [ALICE]}).raise_for_status()
    with ServerProcess(folder, *arguments) as server:
        rules = server.get(f"{roles}/system:discovery").json()["rules"]
        assert rules[0] == extra
        assert {"nonResourceURLs": ["/version"], "verbs": ["get"]} in rules
        assert not server.get(f"{roles}/system:basic-user").json()["rules"]
        assert server.get(f"{roles}/system:monitoring").status_code == 200
        assert server.get(f"{bindings}/system:discovery").json()["roleRef"]["name"] == "system:discovery"
        subjects = server.get(f"{bindings}/system:basic-user").json()["subjects"]
        assert [subject["name"] for subject in subjects] == ["alice", "system:authenticated"]
