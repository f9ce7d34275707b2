"""Custom resources over HTTP, on each store: from the definition to the last object."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.conftest import STORES, store_arguments
from tests.server import ServerProcess

Object = dict[str, Any]
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SECONDS = 15.0
_numbers = itertools.count()

SCHEMA: Object = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 1},
                "colour": {"type": "string", "default": "red"},
                "replicas": {"type": "integer", "default": 1},
                "ports": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": {"type": "string"}, "port": {"type": "integer"}},
                    },
                },
                "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            },
        },
        "status": {
            "type": "object",
            "properties": {"ready": {"type": "integer"}, "selector": {"type": "string"}, "note": {"type": "string"}},
        },
    },
}


def version(name: str = "v1", *, storage: bool = True, **more: Any) -> Object:
    return {"name": name, "served": True, "storage": storage, "schema": {"openAPIV3Schema": SCHEMA}, **more}


def definition(*versions: Object, kind: str = "Box", scope: str = "Namespaced", **names: Any) -> Object:
    group = f"g{next(_numbers)}x{os.getpid()}.example.com"
    plural = names.pop("plural", f"{kind.lower()}es")
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{names.pop('group', group)}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"plural": plural, "kind": kind, **names},
            "versions": list(versions or (version(),)),
        },
    }


def group_of(crd: Object) -> str:
    return str(crd["spec"]["group"])


def path(crd: Object, namespace: str = "default", name: str = "", api: str = "v1") -> str:
    plural = crd["spec"]["names"]["plural"]
    scope = f"namespaces/{namespace}/" if crd["spec"]["scope"] == "Namespaced" else ""
    return f"/apis/{group_of(crd)}/{api}/{scope}{plural}" + (f"/{name}" if name else "")


def eventually(test: Callable[[], bool]) -> bool:
    ends = time.monotonic() + SECONDS
    while not test():
        if time.monotonic() > ends:
            return False
        time.sleep(0.01)
    return True


def is_true(server: ServerProcess, crd: Object, condition: str) -> bool:
    found = server.get(f"{CRDS}/{crd['metadata']['name']}").json()
    conditions = (found.get("status") or {}).get("conditions") or ()
    return any(c["type"] == condition and c["status"] == "True" for c in conditions)


def establish(server: ServerProcess, crd: Object) -> Object:
    made = server.post(CRDS, crd)
    assert made.status_code == 201, made.text
    assert eventually(lambda: is_true(server, crd, "Established"))
    return crd


def box(name: str, **spec: Any) -> Object:
    return {"metadata": {"name": name}, "spec": {"size": 1, **spec}}


def created(answer: httpx.Response) -> Object:
    assert answer.status_code == 201, answer.text
    found: Object = answer.json()
    return found


@pytest.fixture(scope="module", params=STORES)
def workers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with three workers, each of which must know at once what another has accepted."""
    arguments = [*store_arguments(request.param, request), "--workers=3"]
    with ServerProcess(tmp_path_factory.mktemp("custom"), *arguments) as server:
        yield server


def test_what_is_established_is_served_at_once_by_every_worker(workers: ServerProcess) -> None:
    for _ in range(10):
        crd = establish(workers, definition())
        name = f"/apis/{group_of(crd)}"
        for _connection in range(6):
            with workers.connect() as client:  # some worker's
                assert client.get(path(crd)).status_code == 200
                assert client.get(name).json()["versions"][0]["version"] == "v1"
                assert group_of(crd) in [group["name"] for group in client.get("/apis").json()["groups"]]
                assert f"apis/{group_of(crd)}/v1" in client.get("/openapi/v3").json()["paths"]


def test_a_definition_takes_its_objects_along_when_it_goes(workers: ServerProcess) -> None:
    crd = establish(workers, definition())
    names = [created(workers.post(path(crd), box(f"b{i}")))["metadata"]["name"] for i in range(5)]
    held = created(workers.post(path(crd), {**box("held"), "metadata": {"name": "held", "finalizers": ["x.io/y"]}}))
    deleted = workers.delete(f"{CRDS}/{crd['metadata']['name']}").json()
    assert deleted["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert eventually(lambda: [o["metadata"]["name"] for o in workers.get(path(crd)).json()["items"]] == ["held"])
    refused = workers.post(path(crd), box("late"))
    assert refused.status_code == 405
    assert refused.json()["message"] == "create not allowed while custom resource definition is terminating"
    assert len(names) == 5
    patch = {"metadata": {"finalizers": None}}
    assert workers.patch(path(crd, name=held["metadata"]["name"]), patch).status_code == 200
    assert eventually(lambda: workers.get(f"{CRDS}/{crd['metadata']['name']}").status_code == 404)
    assert eventually(lambda: workers.get(path(crd)).text == "404 page not found\n")
    again = {**crd, "metadata": {"name": crd["metadata"]["name"]}}
    establish(workers, again)
    assert workers.get(path(crd)).json()["items"] == []


def test_a_definition_that_never_got_its_names_goes_too(workers: ServerProcess) -> None:
    first = establish(workers, definition())
    second = definition(kind="Box", plural="others")
    second["spec"]["group"] = group_of(first)
    second["metadata"]["name"] = f"others.{group_of(first)}"
    created(workers.post(CRDS, second))
    conflict = f"{CRDS}/{second['metadata']['name']}"
    assert eventually(lambda: bool(workers.get(conflict).json()["status"].get("conditions")))
    assert not is_true(workers, second, "NamesAccepted")
    assert workers.get(path(second)).text == "404 page not found\n"
    workers.delete(conflict)
    assert eventually(lambda: workers.get(conflict).status_code == 404)


def test_objects_are_pruned_completed_and_checked(server: ServerProcess) -> None:
    crd = establish(server, definition())
    answer = server.post(path(crd), {**box("a", unknown=1), "top": 2})
    assert created(answer)["spec"] == {"size": 1, "colour": "red", "replicas": 1}
    assert answer.headers["warning"] == '299 - "unknown field \\"spec.unknown\\"", 299 - "unknown field \\"top\\""'
    twice = [{"name": "x", "port": 1}, {"name": "x", "port": 2}]
    refused = server.post(path(crd), box("b", size=0, ports=twice, tags=["t", "u", "t"])).json()
    causes = [f"{cause['field']}: {cause['message']}" for cause in refused["details"]["causes"]]
    assert causes == [
        "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1",
        'spec.ports[1]: Duplicate value: {"name":"x"}',
        'spec.tags[2]: Duplicate value: "t"',
    ]


def test_what_was_wrong_before_does_not_block_an_update(server: ServerProcess) -> None:
    crd = establish(server, definition())
    created(server.post(path(crd), box("a", size=3)))
    stricter = {"op": "replace", "value": 5}
    where = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/minimum"
    changed = server.patch(f"{CRDS}/{crd['metadata']['name']}", [{**stricter, "path": where}], "json")
    assert changed.status_code == 200, changed.text
    name = path(crd, name="a")
    assert server.patch(name, {"spec": {"colour": "blue"}}).status_code == 200
    assert server.patch(name, {"spec": {"size": 4}}).status_code == 422
    assert server.patch(name, {"spec": {"size": 6}}).status_code == 200


def test_a_new_default_shows_in_old_objects(server: ServerProcess) -> None:
    crd = establish(server, definition())
    created(server.post(path(crd), box("a")))
    where = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/shape"
    shape = {"type": "string", "default": "round"}
    patch = [{"op": "add", "path": where, "value": shape}]
    assert server.patch(f"{CRDS}/{crd['metadata']['name']}", patch, "json").status_code == 200
    assert eventually(lambda: server.get(path(crd, name="a")).json()["spec"].get("shape") == "round")
    assert server.get(path(crd)).json()["items"][0]["spec"]["shape"] == "round"


def test_status_and_scale_are_subresources(server: ServerProcess) -> None:
    scale = {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.ready",
        "labelSelectorPath": ".status.selector",
    }
    crd = establish(server, definition(version(subresources={"status": {}, "scale": scale})))
    made = created(server.post(path(crd), {**box("a"), "status": {"ready": 9}}))
    assert "status" not in made
    assert made["metadata"]["generation"] == 1
    name = path(crd, name="a")
    status = {"spec": {"size": 7}, "status": {"ready": 2, "selector": "a=b"}}
    seen = server.patch(f"{name}/status", status).json()
    assert (seen["spec"]["size"], seen["status"]["ready"], seen["metadata"]["generation"]) == (1, 2, 1)
    shown = server.get(f"{name}/scale").json()
    assert (shown["kind"], shown["spec"], shown["status"]) == (
        "Scale",
        {"replicas": 1},
        {"replicas": 2, "selector": "a=b"},
    )
    assert server.patch(f"{name}/scale", {"spec": {"replicas": 5}}).json()["spec"] == {"replicas": 5}
    seen = server.get(name).json()
    assert (seen["spec"]["replicas"], seen["metadata"]["generation"]) == (5, 2)


def test_versions_are_converted_and_told(server: ServerProcess) -> None:
    spec = {"type": "object", "properties": {"size": {"type": "integer"}}}
    small = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    old = {**version("v1beta1", storage=False), "schema": small, "deprecated": True}
    crd = establish(server, definition(version(), old))
    created(server.post(path(crd), box("a", colour="blue")))
    answer = server.get(path(crd, name="a", api="v1beta1"))
    assert answer.json()["spec"] == {"size": 1}
    assert answer.json()["apiVersion"] == f"{group_of(crd)}/v1beta1"
    assert answer.headers["warning"] == f'299 - "{group_of(crd)}/v1beta1 Box is deprecated; use {group_of(crd)}/v1 Box"'
    watch = server.watch(path(crd, api="v1beta1"), resourceVersion="0")
    assert next(watch)["object"]["apiVersion"] == f"{group_of(crd)}/v1beta1"
    watch.close()


def test_columns_short_names_and_selectable_fields(server: ServerProcess) -> None:
    columns = [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]
    fields = [{"jsonPath": ".spec.colour"}]
    made = version(additionalPrinterColumns=columns, selectableFields=fields)
    crd = establish(server, definition(made, shortNames=["bx"], categories=["all"]))
    for name, colour in (("a", "red"), ("b", "blue")):
        created(server.post(path(crd), box(name, colour=colour)))
    table = server.get(path(crd), headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}).json()
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Size"]
    assert [row["cells"] for row in table["rows"]] == [["a", 1], ["b", 1]]
    listed = server.get(path(crd), params={"fieldSelector": "spec.colour=blue"}).json()["items"]
    assert [item["metadata"]["name"] for item in listed] == ["b"]
    (entry,) = server.get(f"/apis/{group_of(crd)}/v1").json()["resources"]
    assert (entry["shortNames"], entry["categories"]) == (["bx"], ["all"])


def test_apply_merges_lists_by_their_keys(server: ServerProcess) -> None:
    crd = establish(server, definition())
    target = path(crd, name="a")

    def apply(manager: str, **spec: Any) -> Object:
        body = {"apiVersion": f"{group_of(crd)}/v1", "kind": "Box", "metadata": {"name": "a"}, "spec": spec}
        answer = server.patch(f"{target}?fieldManager={manager}", body, "apply")
        assert answer.status_code in (200, 201), answer.text
        found: Object = answer.json()
        return found

    apply("one", size=1, ports=[{"name": "x", "port": 1}], tags=["t"])
    both = apply("two", ports=[{"name": "y", "port": 2}], tags=["u"])
    assert both["spec"]["ports"] == [{"name": "x", "port": 1}, {"name": "y", "port": 2}]
    assert both["spec"]["tags"] == ["t", "u"]
    assert apply("two", ports=[])["spec"]["ports"] == [{"name": "x", "port": 1}]


def test_what_would_need_a_conversion_webhook_is_refused(
    server: ServerProcess,
) -> None:
    crd = definition(version(), version("v2", storage=False))
    client = {"url": "https://127.0.0.1:1/convert"}
    webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
    crd["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    establish(server, crd)
    created(server.post(path(crd), box("a")))
    assert server.get(path(crd, name="a")).status_code == 200
    answer = server.get(path(crd, name="a", api="v2"))
    assert answer.status_code == 500
    kind = f"{group_of(crd)}/v2, Kind=Box"
    assert answer.json()["message"].endswith(
        f"conversion webhook for {kind} failed: this server does not call conversion webhooks"
    )
    assert server.post(path(crd, api="v2"), box("b")).status_code == 500
