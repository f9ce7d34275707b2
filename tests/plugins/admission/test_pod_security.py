"""PodSecurity over HTTP on both stores: refusals, warnings, and labels that change."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plugins.admission.test_limit_ranger import until
from tests.server import ServerProcess

Object = dict[str, Any]
ENFORCE = "pod-security.kubernetes.io/enforce"
PRIVILEGED = 'privileged (container "c" must not set securityContext.privileged=true)'


def pod(name: str = "p", *, privileged: bool = True, **spec: Any) -> Object:
    container = {"name": "c", "image": "i", "securityContext": {"privileged": privileged}}
    return {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}


@pytest.fixture
def base(server: ServerProcess, namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}"


def label(server: ServerProcess, base: str, **labels: str) -> list[str]:
    """Set labels; the warnings of the answer."""
    named = {f"pod-security.kubernetes.io/{key.replace('_', '-')}": value for key, value in labels.items()}
    answer = server.patch(base, {"metadata": {"labels": named}})
    assert answer.status_code == 200, answer.text
    return answer.headers.get_list("warning")


def test_a_pod_that_breaks_the_enforced_standard_is_refused(server: ServerProcess, base: str) -> None:
    label(server, base, enforce="baseline")
    refused = until(lambda: server.post(f"{base}/pods?dryRun=All", pod()), lambda answer: answer.status_code == 403)
    assert refused.json()["message"] == (f'pods "p" is forbidden: violates PodSecurity "baseline:latest": {PRIVILEGED}')
    assert server.post(f"{base}/pods", pod(privileged=False)).status_code == 201


def test_a_pod_keeps_what_it_has_when_labels_and_images_do_not_change(server: ServerProcess, base: str) -> None:
    server.post(f"{base}/pods", pod()).raise_for_status()
    label(server, base, enforce="baseline")
    until(lambda: server.post(f"{base}/pods?dryRun=All", pod("q")), lambda answer: answer.status_code == 403)
    assert server.patch(f"{base}/pods/p", {"metadata": {"labels": {"a": "b"}}}).status_code == 200
    image = {"spec": {"containers": [{"name": "c", "image": "other"}]}}
    assert server.patch(f"{base}/pods/p", image, "strategic").status_code == 403
    assert server.patch(f"{base}/pods/p/status", {"status": {"phase": "Running"}}).status_code == 200


def test_a_template_is_stored_with_a_warning(server: ServerProcess, namespace: str, base: str) -> None:
    label(server, base, enforce="privileged", warn="baseline", warn_version="v1.30")
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {**pod()["spec"], "restartPolicy": "OnFailure"}}
    body = {
        "metadata": {"name": "j"},
        "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": template}}},
    }
    path = f"/apis/batch/v1/namespaces/{namespace}/cronjobs"
    answer = until(lambda: server.post(f"{path}?dryRun=All", body), lambda made: "warning" in made.headers)
    text = f'would violate PodSecurity "baseline:v1.30": {PRIVILEGED}'.replace('"', '\\"')
    assert (answer.status_code, answer.headers["warning"]) == (201, f'299 - "{text}"')
    body["metadata"]["name"] = "k"
    body["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["securityContext"] = {}
    assert "warning" not in server.post(path, body).headers


def test_new_labels_tell_which_pods_they_would_refuse(server: ServerProcess, namespace: str, base: str) -> None:
    for name in ("b", "a", "c"):
        server.post(f"{base}/pods", pod(name, hostPID=name == "c")).raise_for_status()
    until(lambda: server.get(f"{base}/pods?resourceVersion=0"), lambda found: len(found.json()["items"]) == 3)
    assert label(server, base, enforce="baseline") == [
        f'299 - "existing pods in namespace \\"{namespace}\\" violate the new PodSecurity enforce level '
        '\\"baseline:latest\\""',
        '299 - "a (and 1 other pod): privileged"',
        '299 - "c: host namespaces, privileged"',
    ]
    assert label(server, base, enforce="privileged") == []


def test_labels_have_to_make_sense_when_they_change(server: ServerProcess, namespace: str, base: str) -> None:
    answer = server.patch(base, {"metadata": {"labels": {ENFORCE: "strict"}}})
    assert (answer.status_code, answer.json()["message"]) == (
        422,
        f'Namespace "{namespace}" is invalid: metadata.labels[{ENFORCE}]: Invalid value: "strict": must be one of '
        "privileged, baseline, restricted",
    )
    made = server.post("/api/v1/namespaces", {"metadata": {"name": f"{namespace}-x", "labels": {ENFORCE: "strict"}}})
    assert made.status_code == 422
