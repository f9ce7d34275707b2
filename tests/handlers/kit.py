"""Objects to send, and what answers are made of."""

from __future__ import annotations

from typing import Any

import httpx

from tests.server import ServerProcess

Object = dict[str, Any]


def named(name: str, **fields: Any) -> Object:
    """An object with a name, and further fields."""
    return {"metadata": {"name": name}, **fields}


def labelled(name: str, **labels: str) -> Object:
    """An object with a name and labels."""
    return {"metadata": {"name": name, "labels": labels}}


def deployment(name: str, image: str = "nginx:1") -> Object:
    """A Deployment with what is required."""
    labels = {"app": name}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": image}]}}
    return named(name, spec={"selector": {"matchLabels": labels}, "template": pod})


def pod(name: str, **spec: Any) -> Object:
    """A Pod with what is required."""
    return named(name, spec={"containers": [{"name": "main", "image": "nginx:1"}], **spec})


def created(server: ServerProcess, path: str, body: Object, **options: Any) -> Object:
    """Create it; what the server answers."""
    answer = server.post(path, body, **options)
    assert answer.status_code == 201, answer.text
    made: Object = answer.json()
    return made


def refused(answer: httpx.Response, code: int, reason: str) -> Object:
    """The Status that refuses a request."""
    assert answer.status_code == code, answer.text
    status: Object = answer.json()
    expected = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": code}
    assert {key: status[key] for key in expected} == expected
    assert status.get("reason", "") == reason, status
    return status


def names(answer: httpx.Response) -> list[str]:
    """The names of a list's items."""
    assert answer.status_code == 200, answer.text
    return [item["metadata"]["name"] for item in answer.json()["items"]]


def warnings(answer: httpx.Response) -> list[str]:
    """The texts of the Warning headers."""
    return [value.removeprefix("299 - ") for value in answer.headers.get_list("Warning")]
