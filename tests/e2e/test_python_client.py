"""The Python client ``kubernetes`` and what is built on it, unchanged, against a real server on each store."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kubernetes import client, config, watch
from kubernetes.client.exceptions import ApiException
from kubernetes.informer.informer import ADDED, DELETED, ERROR, MODIFIED, SharedInformer
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock

from tests.conftest import STORES, store_arguments
from tests.server import ServerProcess

SECONDS = 30.0


def wait_until(done: Callable[[], object], what: str = "") -> None:
    """Wait until ``done()`` is true."""
    deadline = time.monotonic() + SECONDS
    while not done():
        assert time.monotonic() < deadline, what or done
        time.sleep(0.02)


@contextlib.contextmanager
def connected(server: ServerProcess) -> Iterator[client.ApiClient]:
    """The client, from the kubeconfig that the server wrote."""
    with config.new_client_from_config(config_file=str(server.kubeconfig)) as made:
        yield made


@pytest.fixture
def api(server: ServerProcess) -> Iterator[client.ApiClient]:
    with connected(server) as made:
        yield made


@pytest.fixture
def core(api: client.ApiClient) -> client.CoreV1Api:
    return client.CoreV1Api(api)


def configmap(name: str, labels: dict[str, str] | None = None, **data: str) -> client.V1ConfigMap:
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels=labels), data=data)


# -- objects ---------------------------------------------------------------------------------------------------------


def test_an_object_is_created_read_replaced_patched_and_deleted(core: client.CoreV1Api, namespace: str) -> None:
    made = core.create_namespaced_config_map(namespace, configmap("one", colour="red"))
    assert made.metadata.uid
    made.data["colour"] = "blue"
    replaced = core.replace_namespaced_config_map("one", namespace, made)
    with pytest.raises(ApiException) as stale:
        core.replace_namespaced_config_map("one", namespace, made)
    assert (stale.value.status, stale.value.reason) == (409, "Conflict")
    patched = core.patch_namespaced_config_map("one", namespace, {"data": {"size": "big"}})
    assert patched.data == {"colour": "blue", "size": "big"}
    assert int(patched.metadata.resource_version) > int(replaced.metadata.resource_version)
    assert core.read_namespaced_config_map("one", namespace) == patched
    assert core.delete_namespaced_config_map("one", namespace)["status"] == "Success"
    with pytest.raises(ApiException) as gone:
        core.read_namespaced_config_map("one", namespace)
    assert gone.value.status == 404


def test_a_deployment_comes_back_with_its_defaults_as_the_model_reads_them(
    api: client.ApiClient, namespace: str
) -> None:
    apps = client.AppsV1Api(api)
    labels = {"app": "web"}
    template = client.V1PodTemplateSpec(
        metadata=client.V1ObjectMeta(labels=labels),
        spec=client.V1PodSpec(containers=[client.V1Container(name="web", image="nginx:1")]),
    )
    spec = client.V1DeploymentSpec(selector=client.V1LabelSelector(match_labels=labels), template=template)
    body = client.V1Deployment(metadata=client.V1ObjectMeta(name="web"), spec=spec)
    made = apps.create_namespaced_deployment(namespace, body)
    assert (made.spec.replicas, made.spec.revision_history_limit) == (1, 10)
    assert made.spec.strategy.rolling_update.max_surge == "25%"
    assert made.spec.template.spec.containers[0].image_pull_policy == "IfNotPresent"
    scale = apps.patch_namespaced_deployment_scale("web", namespace, {"spec": {"replicas": 3}})
    assert scale.spec.replicas == 3
    image = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "nginx:2"}]}}}}
    changed = apps.patch_namespaced_deployment("web", namespace, image)
    assert (changed.spec.replicas, changed.spec.template.spec.containers[0].image) == (3, "nginx:2")
    assert changed.metadata.generation == 3


def test_deletion_takes_preconditions_policies_and_dry_run(core: client.CoreV1Api, namespace: str) -> None:
    body = configmap("kept")
    body.metadata.finalizers = ["example.com/keep"]
    made = core.create_namespaced_config_map(namespace, body)
    core.delete_namespaced_config_map("kept", namespace, dry_run="All")
    wrong = client.V1DeleteOptions(preconditions=client.V1Preconditions(uid="other"))
    with pytest.raises(ApiException) as refused:
        core.delete_namespaced_config_map("kept", namespace, body=wrong)
    assert refused.value.status == 409
    right = client.V1DeleteOptions(
        preconditions=client.V1Preconditions(uid=made.metadata.uid, resource_version=made.metadata.resource_version),
        propagation_policy="Foreground",
    )
    waiting = core.delete_namespaced_config_map("kept", namespace, body=right)
    assert waiting["metadata"]["finalizers"] == ["example.com/keep", "foregroundDeletion"]
    assert core.read_namespaced_config_map("kept", namespace).metadata.deletion_timestamp is not None
    core.patch_namespaced_config_map("kept", namespace, {"metadata": {"finalizers": None}})
    with pytest.raises(ApiException) as gone:
        core.read_namespaced_config_map("kept", namespace)
    assert gone.value.status == 404


def test_pages_show_one_state_however_much_changes_meanwhile(core: client.CoreV1Api, namespace: str) -> None:
    names = [f"item-{number:02}" for number in range(25)]
    for name in names:
        core.create_namespaced_config_map(namespace, configmap(name, {"test": "pages"}))
    selected = {"label_selector": "test=pages"}
    page = core.list_namespaced_config_map(namespace, limit=10, **selected)
    first = page.metadata.resource_version
    found = [item.metadata.name for item in page.items]
    core.delete_namespaced_config_map("item-20", namespace)
    core.create_namespaced_config_map(namespace, configmap("item-zz", {"test": "pages"}))
    while page.metadata._continue:
        page = core.list_namespaced_config_map(namespace, limit=10, _continue=page.metadata._continue, **selected)
        assert page.metadata.resource_version == first
        found += [item.metadata.name for item in page.items]
    assert found == names
    now = [item.metadata.name for item in core.list_namespaced_config_map(namespace, **selected).items]
    assert now == [name for name in names if name != "item-20"] + ["item-zz"]


# -- watches ---------------------------------------------------------------------------------------------------------

MINE = {"test": "mine"}
SELECTED = {"label_selector": "test=mine"}
"""Without the ConfigMap that each namespace gets by itself."""


def test_a_watch_goes_on_where_it_was_cut(core: client.CoreV1Api, namespace: str) -> None:
    seen: list[tuple[str, str]] = []

    def follow(start: str, count: int) -> str:
        """Take ``count`` events after ``start``, then cut the connection; returns where it was cut."""
        stream = watch.Watch()
        arguments = {"resource_version": start, **SELECTED}
        for event in stream.stream(core.list_namespaced_config_map, namespace, **arguments):
            seen.append((event["type"], event["object"].metadata.name))
            count -= 1
            if not count:
                stream.stop()
        last: str = stream.resource_version
        return last

    begin = core.list_namespaced_config_map(namespace).metadata.resource_version
    for name in "abc":
        core.create_namespaced_config_map(namespace, configmap(name, MINE))
    cut = follow(begin, 2)
    core.patch_namespaced_config_map("a", namespace, {"data": {"x": "1"}})
    core.delete_namespaced_config_map("b", namespace)
    core.patch_namespaced_config_map("c", namespace, {"metadata": {"labels": {"test": "other"}}})
    follow(cut, 4)
    assert seen == [
        ("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c"), ("MODIFIED", "a"), ("DELETED", "b"), ("DELETED", "c"),
    ]  # fmt: skip


def test_a_watch_ends_when_its_time_is_over(core: client.CoreV1Api, namespace: str) -> None:
    core.create_namespaced_config_map(namespace, configmap("a", MINE))
    stream = watch.Watch().stream(core.list_namespaced_config_map, namespace, timeout_seconds=1, **SELECTED)
    assert [(event["type"], event["object"].metadata.name) for event in stream] == [("ADDED", "a")]


@pytest.fixture(scope="module", params=STORES)
def forgetful_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    """A server that forgets what was superseded after a moment."""
    arguments = [*store_arguments(request.param, request), "--etcd-compaction-interval=200ms"]
    with ServerProcess(tmp_path_factory.mktemp("forgetful"), *arguments) as server:
        yield server


def first_event(server: ServerProcess, path: str, version: str) -> dict[str, Any]:
    query = {"resourceVersion": version, "timeoutSeconds": 1}
    return next(server.watch(path, **query), {"type": "", "object": {}})


def forget(server: ServerProcess, path: str, version: str) -> None:
    """Restart the server, whose cache knows only what is new then, when the store has forgotten ``version``."""
    server.stop()
    server.start()
    wait_until(lambda: first_event(server, path, version)["object"].get("code") == 410, "nothing is forgotten")


def test_a_watch_from_a_forgotten_version_is_told_so_and_begins_again(forgetful_server: ServerProcess) -> None:
    server = forgetful_server
    namespace = server.namespace("forgotten")
    begin = server.get("/api/v1/configmaps").json()["metadata"]["resourceVersion"]
    for number in range(3):
        server.post(f"/api/v1/namespaces/{namespace}/configmaps", {"metadata": {"name": f"x-{number}", "labels": MINE}})
    forget(server, f"/api/v1/namespaces/{namespace}/configmaps", begin)
    with connected(server) as api:
        core = client.CoreV1Api(api)
        with pytest.raises(ApiException) as gone:
            list(watch.Watch().stream(core.list_namespaced_config_map, namespace, resource_version=begin))
        assert gone.value.status == 410
        assert gone.value.reason.startswith(f"Expired: too old resource version: {begin} (")
        listed = core.list_namespaced_config_map(namespace, **SELECTED)
        assert [item.metadata.name for item in listed.items] == ["x-0", "x-1", "x-2"]
        again = watch.Watch()
        events = again.stream(
            core.list_namespaced_config_map, namespace, resource_version=listed.metadata.resource_version, **SELECTED
        )
        core.create_namespaced_config_map(namespace, configmap("x-3", MINE))
        assert next(events)["object"].metadata.name == "x-3"
        again.stop()


# -- informers -------------------------------------------------------------------------------------------------------


class Followed:
    """An informer and what it told."""

    def __init__(self, core: client.CoreV1Api, namespace: str) -> None:
        self.informer = SharedInformer(core.list_namespaced_config_map, namespace, label_selector="test=mine")
        self.told: list[tuple[str, str]] = []
        self.errors: list[Exception] = []
        for kind in (ADDED, MODIFIED, DELETED):
            self.informer.add_event_handler(kind, lambda obj, kind=kind: self.told.append((kind, obj.metadata.name)))
        self.informer.add_event_handler(ERROR, self.errors.append)

    @property
    def data(self) -> dict[str, dict[str, str] | None]:
        """What the informer holds."""
        return {obj.metadata.name: obj.data for obj in self.informer.cache.list()}

    def __enter__(self) -> Followed:
        self.informer.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self.informer.stop()


def test_an_informer_holds_what_the_server_holds(core: client.CoreV1Api, namespace: str) -> None:
    core.create_namespaced_config_map(namespace, configmap("early", MINE, n="0"))
    with Followed(core, namespace) as followed:
        wait_until(lambda: "early" in followed.data)
        for number in range(20):
            core.create_namespaced_config_map(namespace, configmap(f"item-{number}", MINE))
        for number in range(20):
            core.patch_namespaced_config_map(f"item-{number}", namespace, {"data": {"n": str(number)}})
        for number in range(0, 20, 2):
            core.delete_namespaced_config_map(f"item-{number}", namespace)
        expected = {"early": {"n": "0"}} | {f"item-{number}": {"n": str(number)} for number in range(1, 20, 2)}
        wait_until(lambda: followed.data == expected)
        assert followed.told[1:] == [
            *((ADDED, f"item-{number}") for number in range(20)),
            *((MODIFIED, f"item-{number}") for number in range(20)),
            *((DELETED, f"item-{number}") for number in range(0, 20, 2)),
        ]
        assert not followed.errors


def test_an_informer_survives_a_restart_that_forgets_where_it_was(
    forgetful_server: ServerProcess, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)  # while the server is away it logs without pause
    server = forgetful_server
    namespace = server.namespace("informed")
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    with connected(server) as api, Followed(client.CoreV1Api(api), namespace) as followed:
        server.post(path, {"metadata": {"name": "old", "labels": MINE}})
        wait_until(lambda: "old" in followed.data)
        position = server.get(f"{path}/old").json()["metadata"]["resourceVersion"]
        server.post(path, {"metadata": {"name": "unseen"}})
        forget(server, path, position)
        server.post(path, {"metadata": {"name": "new", "labels": MINE}})
        wait_until(lambda: set(followed.data) == {"old", "new"})
        server.delete(f"{path}/old")
        wait_until(lambda: set(followed.data) == {"new"})


# -- leader election -------------------------------------------------------------------------------------------------


class Contender:
    """One that wants to lead, with the client's own leader election on a Lease."""

    def __init__(self, server: ServerProcess, namespace: str, name: str, leaders: list[str]) -> None:
        self.name, self._leaders = name, leaders
        self._stop = threading.Event()
        self.stopped = threading.Event()
        lock = LeaseLock("the-lock", namespace, name)
        lock.api_instance = client.CoordinationV1Api(config.new_client_from_config(config_file=str(server.kubeconfig)))
        wanted = electionconfig.Config(
            lock, lease_duration=3, renew_deadline=2, retry_period=1, onstarted_leading=self._lead,
            onstopped_leading=self._stopped,
        )  # fmt: skip
        self._election = leaderelection.LeaderElection(wanted)
        threading.Thread(target=self._election.run, daemon=True).start()

    def _lead(self) -> None:
        self._leaders.append(self.name)
        self._stop.wait(SECONDS * 2)
        # How the client's election is told that its leader is gone.
        raise InterruptedError

    def _stopped(self) -> None:
        self._leaders.remove(self.name)
        self.stopped.set()

    def stop(self) -> None:
        """Stop leading, without telling anybody."""
        self._stop.set()


def test_one_contender_leads_and_the_other_takes_over(server: ServerProcess, namespace: str) -> None:
    leaders: list[str] = []
    contenders = {name: Contender(server, namespace, name, leaders) for name in ("anna", "ben")}
    wait_until(lambda: leaders)
    path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/the-lock"
    first = leaders[0]
    renewed = server.get(path).json()["spec"]["renewTime"]
    wait_until(lambda: server.get(path).json()["spec"]["renewTime"] > renewed, "the leader does not renew its lease")
    assert leaders == [first]
    assert server.get(path).json()["spec"]["holderIdentity"] == first
    contenders[first].stop()
    assert contenders[first].stopped.wait(SECONDS)
    (other,) = set(contenders) - {first}
    wait_until(lambda: leaders == [other], "nobody takes over")
    assert server.get(path).json()["spec"]["holderIdentity"] == other
    contenders[other].stop()
    assert contenders[other].stopped.wait(SECONDS)


def test_of_many_that_want_one_lease_at_once_one_gets_it(server: ServerProcess, namespace: str) -> None:
    path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
    lease = server.post(path, {"metadata": {"name": "wanted"}, "spec": {"leaseDurationSeconds": 3}}).json()
    statuses: list[int] = []
    barrier = threading.Barrier(8)

    def contend(name: str) -> None:
        with server.connect() as http:
            http.get("/version")
            barrier.wait(SECONDS)
            body = {**lease, "spec": {**lease["spec"], "holderIdentity": name}}
            statuses.append(http.put(f"{path}/wanted", json=body).status_code)

    threads = [threading.Thread(target=contend, args=(f"contender-{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200, *([409] * 7)]
