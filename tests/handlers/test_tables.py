"""Tables: what ``kubectl get`` prints."""

from __future__ import annotations

from typing import Any

import pytest

from tests.handlers.kit import Object, created, deployment, labelled, named, pod
from tests.server import ServerProcess

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def table(server: ServerProcess, path: str, accept: str = TABLE, **query: Any) -> Object:
    answer = server.get(path, params=query, headers={"Accept": accept})
    assert answer.status_code == 200, answer.text
    found: Object = answer.json()
    assert found["kind"] == "Table"
    return found


def columns(found: Object, priority: int = 0) -> list[str]:
    """The names of the columns that are printed, with priority 1 those of ``-o wide``, too."""
    return [column["name"] for column in found["columnDefinitions"] if column["priority"] <= priority]


def test_a_list_is_a_row_for_each_object(server: ServerProcess, configmaps: str) -> None:
    for name in "ab":
        created(server, configmaps, labelled(name, mine=""))
    found = table(server, configmaps, labelSelector="mine")
    assert found["apiVersion"] == "meta.k8s.io/v1"
    assert columns(found) == ["Name", "Data", "Age"]
    assert [row["cells"][0] for row in found["rows"]] == ["a", "b"]
    assert [row["cells"][1] for row in found["rows"]] == [0, 0]
    assert int(found["metadata"]["resourceVersion"]) > 0


def test_one_object_is_one_row(server: ServerProcess, configmaps: str) -> None:
    made = created(server, configmaps, named("a", data={"x": "1", "y": "2"}))
    found = table(server, f"{configmaps}/a")
    (row,) = found["rows"]
    assert row["cells"][:2] == ["a", 2]
    assert row["object"]["kind"] == "PartialObjectMetadata"
    assert row["object"]["metadata"] == made["metadata"]


def test_columns_say_what_they_hold(server: ServerProcess, configmaps: str) -> None:
    first = table(server, configmaps)["columnDefinitions"][0]
    assert (first["name"], first["type"], first["format"], first["priority"]) == ("Name", "string", "name", 0)
    assert first["description"].startswith("Name must be unique within a namespace.")


@pytest.mark.parametrize(
    ("include", "kind"), [("None", None), ("Metadata", "PartialObjectMetadata"), ("Object", "ConfigMap")]
)
def test_rows_hold_as_much_of_the_object_as_asked_for(
    server: ServerProcess, configmaps: str, include: str, kind: str | None
) -> None:
    created(server, configmaps, named("a"))
    (row,) = table(server, f"{configmaps}/a", includeObject=include)["rows"]
    assert (row["object"] or {}).get("kind") == kind


def test_an_unknown_part_of_the_object_is_refused(server: ServerProcess, configmaps: str) -> None:
    created(server, configmaps, named("a"))
    answer = server.get(f"{configmaps}/a?includeObject=All", headers={"Accept": TABLE})
    assert answer.status_code == 400


def test_the_older_version_of_tables_can_be_had(server: ServerProcess, configmaps: str) -> None:
    assert table(server, configmaps, TABLE.replace("v=v1", "v=v1beta1"))["apiVersion"] == "meta.k8s.io/v1beta1"


def test_pages_are_tables_too(server: ServerProcess, secrets: str) -> None:
    for name in "abc":
        created(server, secrets, named(name))
    first = table(server, secrets, limit=2)
    assert [row["cells"][0] for row in first["rows"]] == ["a", "b"]
    assert first["metadata"]["remainingItemCount"] == 1
    rest = table(server, secrets, **{"continue": first["metadata"]["continue"]})
    assert [row["cells"][0] for row in rest["rows"]] == ["c"]


def test_deployments_show_how_far_they_are(server: ServerProcess, deployments: str) -> None:
    created(server, deployments, deployment("web"))
    found = table(server, deployments)
    assert columns(found) == ["Name", "Ready", "Up-to-date", "Available", "Age"]
    assert columns(found, 1)[5:] == ["Containers", "Images", "Selector"]
    assert found["rows"][0]["cells"][:4] == ["web", "0/1", 0, 0]
    assert found["rows"][0]["cells"][5:] == ["main", "nginx:1", "app=web"]


def test_pods_show_what_happens_to_them(server: ServerProcess, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/pods"
    created(server, path, pod("a", nodeName="node-1"))
    assert columns(table(server, path)) == ["Name", "Ready", "Status", "Restarts", "Age"]
    assert table(server, path)["rows"][0]["cells"][:4] == ["a", "0/1", "Pending", "0"]
    server.delete(f"{path}/a")
    assert table(server, path)["rows"][0]["cells"][2] == "Terminating"


def test_an_empty_table_has_columns(server: ServerProcess, secrets: str) -> None:
    found = table(server, secrets)
    assert columns(found) == ["Name", "Type", "Data", "Age"]
    assert found["rows"] == []


def test_those_who_can_not_read_tables_get_objects(server: ServerProcess, secrets: str) -> None:
    answer = server.get(secrets, headers={"Accept": f"{TABLE.replace('Table', 'Chart')},application/json"})
    assert answer.json()["kind"] == "SecretList"
