"""The built-in admission plugins, one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from apiserver.api.admission import CREATE, DELETE, UPDATE, AdmissionRequest
from apiserver.api.auth import User
from apiserver.api.errors import ApiError
from apiserver.api.names import GroupVersionKind, GroupVersionResource
from apiserver.api.request import Request
from apiserver.api.server import Server
from apiserver_plugins.admission import default_toleration_seconds, namespace_lifecycle, priority, service_account
from tests.plugins.resources.fake_server import FakeServer, FakeStore

Object = dict[str, Any]
PODS = GroupVersionResource("", "v1", "pods")
NAMESPACES = GroupVersionResource("", "v1", "namespaces")


def phase(obj: Object) -> Mapping[str, str]:
    return {"status.phase": obj["status"]["phase"]}


@pytest.fixture
def server() -> FakeServer:
    fake = FakeServer()
    namespaces = fake.serve("", "namespaces", phase)
    for name, state in (("ns", "Active"), ("going", "Terminating")):
        namespaces.add({"metadata": {"name": name}, "status": {"phase": state}})
    fake.serve("", "serviceaccounts")
    return fake


def accounts(server: FakeServer) -> FakeStore:
    return next(store for name, store in server.stores.items() if name.resource == "serviceaccounts")


def ask(
    server: FakeServer,
    operation: str,
    obj: Object | None,
    *,
    resource: GroupVersionResource = PODS,
    namespace: str = "ns",
    name: str = "p",
    old: Object | None = None,
) -> AdmissionRequest:
    return AdmissionRequest(
        operation=operation, kind=GroupVersionKind("", "v1", "Pod"), resource=resource, subresource="", name=name,
        namespace=namespace, object=obj, old_object=old, user=User("somebody"), dry_run=False, options={},
        request=Request({"REQUEST_METHOD": "POST"}), server=cast(Server, server),
    )  # fmt: skip


def pod(**spec: Any) -> Object:
    return {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}], **spec}}


def refusal(plugin: Any, request: AdmissionRequest) -> tuple[int, str]:
    with pytest.raises(ApiError) as caught:
        plugin.apiserver_admit(request)
    return caught.value.http_code, caught.value.message


# -- NamespaceLifecycle -----------------------------------------------------------------------------------------------


def test_an_active_namespace_takes_objects(server: FakeServer) -> None:
    namespace_lifecycle.apiserver_admit(ask(server, CREATE, pod()))


def test_a_missing_namespace_is_not_found(server: FakeServer) -> None:
    request = ask(server, CREATE, pod(), namespace="none")
    assert refusal(namespace_lifecycle, request) == (404, 'namespaces "none" not found')


def test_a_terminating_namespace_takes_no_new_objects(server: FakeServer) -> None:
    with pytest.raises(ApiError) as caught:
        namespace_lifecycle.apiserver_admit(ask(server, CREATE, pod(), namespace="going"))
    assert caught.value.http_code == 403
    assert caught.value.message == (
        'pods "p" is forbidden: unable to create new content in namespace going because it is being terminated'
    )
    assert caught.value.details is not None
    assert caught.value.details["causes"] == [
        {
            "reason": "NamespaceTerminating",
            "message": "namespace going is being terminated",
            "field": "metadata.namespace",
        }
    ]


@pytest.mark.parametrize("operation", [UPDATE, DELETE])
def test_what_is_in_a_terminating_namespace_may_change_and_go(server: FakeServer, operation: str) -> None:
    namespace_lifecycle.apiserver_admit(ask(server, operation, pod(), namespace="going"))


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_some_namespaces_stay(server: FakeServer, name: str) -> None:
    request = ask(server, DELETE, None, resource=NAMESPACES, namespace=name, name=name)
    assert refusal(namespace_lifecycle, request) == (
        403,
        f'namespaces "{name}" is forbidden: this namespace may not be deleted',
    )


def test_a_namespace_that_was_just_deleted_is_read_from_the_store(server: FakeServer) -> None:
    class Stale(FakeServer):
        """Its cache says Active, its store Terminating."""

        def lister(self, resource: Any) -> Any:
            return self.cached if resource.resource == "namespaces" else self.store(resource)

    stale = Stale()
    stale.serve("", "namespaces", phase).add({"metadata": {"name": "ns"}, "status": {"phase": "Terminating"}})
    stale.cached = FakeServer().serve("", "namespaces", phase)  # type: ignore[attr-defined]  # a test's shortcut
    stale.cached.add({"metadata": {"name": "ns"}, "status": {"phase": "Active"}})  # type: ignore[attr-defined]
    namespace_lifecycle.apiserver_admit(ask(stale, CREATE, pod()))
    namespace_lifecycle.apiserver_admit(ask(stale, DELETE, None, resource=NAMESPACES, namespace="ns", name="ns"))
    assert refusal(namespace_lifecycle, ask(stale, CREATE, pod()))[0] == 403


# -- ServiceAccount ---------------------------------------------------------------------------------------------------


def test_a_pod_runs_as_default_and_gets_its_token(server: FakeServer) -> None:
    accounts(server).add({"metadata": {"name": "default", "namespace": "ns"}, "imagePullSecrets": [{"name": "reg"}]})
    obj = pod()
    service_account.apiserver_admit(ask(server, CREATE, obj))
    spec = obj["spec"]
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("default", "default")
    assert spec["imagePullSecrets"] == [{"name": "reg"}]
    (volume,) = spec["volumes"]
    assert volume["name"].startswith("kube-api-access-")
    assert spec["containers"][0]["volumeMounts"] == [
        {"name": volume["name"], "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
    ]
    assert [list(source) for source in volume["projected"]["sources"]] == [
        ["serviceAccountToken"],
        ["configMap"],
        ["downwardAPI"],
    ]


@pytest.mark.parametrize(
    ("in_pod", "in_account", "mounted"),
    [(None, None, True), (False, True, False), (True, False, True), (None, False, False)],
)
def test_the_pods_word_on_mounting_counts_first(
    server: FakeServer, in_pod: bool | None, in_account: bool | None, mounted: bool
) -> None:
    account: Object = {"metadata": {"name": "default", "namespace": "ns"}}
    if in_account is not None:
        account["automountServiceAccountToken"] = in_account
    accounts(server).add(account)
    obj = pod() if in_pod is None else pod(automountServiceAccountToken=in_pod)
    service_account.apiserver_admit(ask(server, CREATE, obj))
    assert ("volumes" in obj["spec"]) is mounted


def test_a_mount_of_ones_own_prevents_the_tokens(server: FakeServer) -> None:
    accounts(server).add({"metadata": {"name": "default", "namespace": "ns"}})
    mount = {"name": "v", "mountPath": service_account.MOUNT_PATH}
    obj = pod(containers=[{"name": "c", "volumeMounts": [mount]}])
    service_account.apiserver_admit(ask(server, CREATE, obj))
    assert "volumes" not in obj["spec"]


def test_a_missing_account_is_refused(server: FakeServer) -> None:
    request = ask(server, CREATE, pod(serviceAccountName="robot"))
    assert refusal(service_account, request) == (
        403,
        'pods "p" is forbidden: error looking up service account ns/robot: serviceaccount "robot" not found',
    )


def test_a_mirror_pod_gets_nothing(server: FakeServer) -> None:
    obj = {**pod(), "metadata": {"name": "p", "annotations": {"kubernetes.io/config.mirror": "x"}}}
    service_account.apiserver_admit(ask(server, CREATE, obj))
    assert "serviceAccountName" not in obj["spec"]
    obj["spec"]["serviceAccountName"] = "default"
    assert refusal(service_account, ask(server, CREATE, obj))[1].endswith(
        "a mirror pod may not reference service accounts"
    )


# -- Priority ---------------------------------------------------------------------------------------------------------


def with_classes(server: FakeServer) -> FakeServer:
    classes = server.serve("scheduling.k8s.io", "priorityclasses")
    classes.add({"metadata": {"name": "high"}, "value": 777, "preemptionPolicy": "Never"})
    return server


def test_without_classes_the_priority_is_zero(server: FakeServer) -> None:
    obj = pod()
    priority.apiserver_admit(ask(server, CREATE, obj))
    assert (obj["spec"]["priority"], obj["spec"]["preemptionPolicy"]) == (0, "PreemptLowerPriority")


def test_a_class_gives_number_and_policy(server: FakeServer) -> None:
    obj = pod(priorityClassName="high")
    priority.apiserver_admit(ask(with_classes(server), CREATE, obj))
    assert (obj["spec"]["priority"], obj["spec"]["preemptionPolicy"]) == (777, "Never")


def test_the_default_class_is_named(server: FakeServer) -> None:
    classes = next(s for name, s in with_classes(server).stores.items() if name.resource == "priorityclasses")
    classes.add({"metadata": {"name": "usual"}, "value": 5, "globalDefault": True})
    obj = pod()
    priority.apiserver_admit(ask(server, CREATE, obj))
    assert (obj["spec"]["priorityClassName"], obj["spec"]["priority"]) == ("usual", 5)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"priorityClassName": "none"}, "no PriorityClass with name none was found"),
        (
            {"priorityClassName": "high", "priority": 5},
            "the integer value of priority (5) must not be provided in pod spec; priority admission controller "
            "computed 777 from the given PriorityClass name",
        ),
    ],
)
def test_a_number_of_ones_own_and_an_unknown_class_are_refused(server: FakeServer, spec: Object, why: str) -> None:
    request = ask(with_classes(server), CREATE, pod(**spec))
    assert refusal(priority, request) == (403, f'pods "p" is forbidden: {why}')


def test_an_update_without_priority_keeps_it(server: FakeServer) -> None:
    obj = pod()
    priority.apiserver_admit(ask(server, UPDATE, obj, old=pod(priority=7, preemptionPolicy="Never")))
    assert (obj["spec"]["priority"], obj["spec"]["preemptionPolicy"]) == (7, "Never")


# -- DefaultTolerationSeconds -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tolerations", "added"),
    [
        ([], ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]),
        ([{"key": "k", "operator": "Exists"}], ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]),
        ([{"operator": "Exists"}], []),
        ([{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}], ["node.kubernetes.io/unreachable"]),
        (
            [{"operator": "Exists", "effect": "NoSchedule"}],
            ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"],
        ),
    ],
)
def test_tolerations_are_added_where_none_says_more(
    server: FakeServer, tolerations: list[Object], added: list[str]
) -> None:
    obj = pod(tolerations=list(tolerations))
    default_toleration_seconds.apiserver_admit(ask(server, CREATE, obj))
    new = obj["spec"]["tolerations"][len(tolerations) :]
    assert [toleration["key"] for toleration in new] == added
    assert all(t["tolerationSeconds"] == 300 and t["effect"] == "NoExecute" for t in new)
