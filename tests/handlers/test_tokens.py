"""Service account tokens over HTTP, also when several processes sign and verify them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.handlers.kit import created, named, pod, refused
from tests.server import ServerProcess


def token_of(server: ServerProcess, namespace: str, name: str) -> str:
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
    token: str = created(server, path, {"spec": {}})["status"]["token"]
    return token


def test_a_requested_token_is_good_and_a_changed_one_is_not(server: ServerProcess, namespace: str) -> None:
    created(server, f"/api/v1/namespaces/{namespace}/serviceaccounts", named("bot"))
    token = token_of(server, namespace, "bot")
    with server.connect(token) as client:
        assert client.get("/api").status_code == 200
    with server.connect(f"{token[:-4]}AAAA") as client:
        refused(client.get("/api"), 401, "Unauthorized")


def test_processes_that_share_a_folder_believe_each_other(tmp_path: Path) -> None:
    with ServerProcess(tmp_path, "--workers=3") as server:
        namespace = server.namespace("shared")
        created(server, f"/api/v1/namespaces/{namespace}/serviceaccounts", named("bot"))

        def ask_and_use(_number: int) -> int:
            with server.connect() as client:
                path = f"/api/v1/namespaces/{namespace}/serviceaccounts/bot/token"
                token = client.post(path, json={"spec": {}}).json()["status"]["token"]
            with server.connect(token) as client:
                return client.get("/api").status_code

        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(ask_and_use, range(24))) == {200}


def test_the_log_of_a_pod_on_no_node_is_an_empty_answer(server: ServerProcess, namespace: str) -> None:
    pods = f"/api/v1/namespaces/{namespace}/pods"
    created(server, pods, pod("web", serviceAccountName="default"))
    answer = server.get(f"{pods}/web/log")
    assert (answer.status_code, answer.content) == (204, b"")
    assert "content-type" not in answer.headers
    status = refused(server.post(f"{pods}/web/exec?command=ls", None), 400, "BadRequest")
    assert status["message"] == "pod web does not have a host assigned"
