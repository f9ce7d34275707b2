"""Bodies, patches and queries of hostile or clumsy clients: each gets a Status, and the server stays well."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.server import ServerProcess

PROTOBUF = "application/vnd.kubernetes.protobuf"
DIGITS = "9" * 5000
"""More than Python's ``int`` reads."""


@pytest.fixture(autouse=True)
def healthy(server: ServerProcess) -> Iterator[None]:
    """Nothing in a test may make the server panic or stop it."""
    begin = server.log.stat().st_size
    yield
    assert server.get("/readyz").status_code == 200
    with server.log.open("rb") as log:
        log.seek(begin)
        assert b"Traceback" not in log.read()


@pytest.fixture
def config_maps(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps"


@pytest.fixture
def revisions(namespace: str) -> str:
    """Controller revisions have a field that takes any JSON."""
    return f"/apis/apps/v1/namespaces/{namespace}/controllerrevisions"


def send(server: ServerProcess, path: str, body: str | bytes, media_type: str, method: str = "POST") -> httpx.Response:
    return server.client.request(method, path, content=body, headers={"Content-Type": media_type})


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


def refused(answer: httpx.Response, code: int, text: str = "") -> None:
    status = answer.json()
    assert (status["kind"], status["code"]) == ("Status", code), answer.text[:500]
    assert answer.status_code == code
    assert text in status["message"]


# -- numbers that are too long -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("media_type", "body", "text"),
    [
        ("application/json", '{"metadata":{"name":"a","generation":%s}}', f"cannot unmarshal number {DIGITS} into"),
        ("application/yaml", "metadata: {name: a, generation: %s}", "cannot unmarshal string into"),
        ("application/yaml", "metadata: {name: a, generation: 0x%s}", "cannot unmarshal string into"),
        ("application/yaml", "metadata: {name: a, generation: 1e%s}", "cannot unmarshal string into"),
    ],
)
def test_a_number_of_thousands_of_digits_in_a_body(
    server: ServerProcess, config_maps: str, media_type: str, body: str, text: str
) -> None:
    refused(send(server, config_maps, body % DIGITS, media_type), 400, text)


def test_a_number_of_thousands_of_digits_in_an_apply(server: ServerProcess, config_maps: str) -> None:
    body = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, generation: {DIGITS}}}"
    answer = send(server, f"{config_maps}/a?fieldManager=m", body, "application/apply-patch+yaml", "PATCH")
    refused(answer, 500, "failed to create typed patch object")


@pytest.mark.parametrize("query", [f"resourceVersion={DIGITS}", f"resourceVersion={DIGITS}&watch=1"])
def test_a_resource_version_of_thousands_of_digits(server: ServerProcess, config_maps: str, query: str) -> None:
    answer = server.get(f"{config_maps}?{query}")
    refused(answer, answer.status_code, f'strconv.ParseUint: parsing "{DIGITS}": value out of range')


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (DIGITS[:3000], "value out of range"),
        ("9223372036854775808", "value out of range"),
        ("\u0661", "invalid syntax"),
        ("1_0", "invalid syntax"),
    ],
)
def test_a_limit_that_go_does_not_read(server: ServerProcess, config_maps: str, value: str, why: str) -> None:
    refused(server.get(config_maps, params={"limit": value}), 400, f'strconv.ParseInt: parsing "{value}": {why}')


@pytest.mark.parametrize("token", ['{"v":"meta.k8s.io/v1","rv":%s,"start":"a"}' % (1 << 63), "[" * 5000])
def test_a_continue_token_with_a_number_or_a_depth_that_is_too_large(
    server: ServerProcess, config_maps: str, token: str
) -> None:
    text = base64.urlsafe_b64encode(token.encode()).rstrip(b"=").decode()
    refused(
        server.get(config_maps, params={"continue": text}), 400, "invalid continue token: continue key is not valid"
    )


@pytest.mark.parametrize("quantity", [DIGITS, f"0.{DIGITS}", f"1e{DIGITS}"])
def test_a_quantity_of_thousands_of_digits(server: ServerProcess, namespace: str, quantity: str) -> None:
    container = {"name": "c", "image": "i", "resources": {"limits": {"cpu": quantity}}}
    answer = server.post(f"/api/v1/namespaces/{namespace}/pods", {"spec": {"containers": [container]}})
    refused(answer, 400)


# -- depth -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [230, 250, 1000])
@pytest.mark.parametrize("media_type", ["application/json", "application/yaml"])
def test_what_is_stored_can_be_read_in_every_form_however_deep(
    server: ServerProcess, revisions: str, media_type: str, depth: int
) -> None:
    body = f'{{"metadata":{{"name":"deep"}},"revision":1,"data":{nested(depth)}}}'
    answer = send(server, revisions, body, media_type)
    if depth > 230:
        refused(answer, 400, "exceeded max")
    else:
        assert answer.status_code == 201
    for accept in ("application/json", "application/yaml", PROTOBUF, "application/json;as=Table;v=v1;g=meta.k8s.io"):
        answer = server.get(revisions, params={"includeObject": "Object"}, headers={"Accept": accept})
        assert answer.status_code == 200


def test_a_deep_body_that_is_no_utf_8(server: ServerProcess, revisions: str) -> None:
    body = b'{"metadata":{"name":"deep"},"x":"\xff","revision":1,"data":%b}' % nested(300).encode()
    refused(send(server, revisions, body, "application/json"), 400, "exceeded max depth")


@pytest.mark.parametrize("kind", ["merge", "strategic"])
def test_a_deep_patch(server: ServerProcess, revisions: str, kind: str) -> None:
    server.post(revisions, {"metadata": {"name": "a"}, "revision": 1})
    refused(server.patch(f"{revisions}/a", {"data": json.loads(nested(300))}, kind), 400, "exceeded max depth")


@pytest.mark.parametrize("times", [239, 300, 10_000])
def test_a_patch_that_copies_a_map_into_itself(server: ServerProcess, revisions: str, times: int) -> None:
    server.post(revisions, {"metadata": {"name": "a"}, "revision": 1, "data": {"a": {}}})
    bomb = [{"op": "copy", "from": "/data/a", "path": "/data/a/a"}] * times
    refused(server.patch(f"{revisions}/a", bomb, "json"), 422)


# -- patches -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": f"/metadata/managedFields/{DIGITS}", "value": 1},
        {"op": "add", "path": f"/metadata/managedFields/-{DIGITS}", "value": {}},
        {"op": "replace", "path": "", "value": []},
        {"op": "replace", "path": "/kind", "value": {}},
        {"op": "replace", "path": "/apiVersion", "value": "a/b/c"},
    ],
)
def test_a_json_patch_that_makes_no_object(server: ServerProcess, config_maps: str, operation: dict[str, Any]) -> None:
    server.post(config_maps, {"metadata": {"name": "a"}})
    refused(server.patch(f"{config_maps}/a", [operation], "json"), 422)


@pytest.mark.parametrize("metadata", [5, "text", [], None])
def test_an_apply_of_an_object_that_is_missing_without_metadata(
    server: ServerProcess, config_maps: str, metadata: Any
) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    answer = server.patch(f"{config_maps}/missing?fieldManager=m", body, "apply")
    refused(answer, answer.status_code)
    assert server.get(f"{config_maps}/missing").status_code == 404


@pytest.mark.parametrize("version", ["x", DIGITS, "-1", "1_0", "\u0661", "9" * 20])
def test_an_update_with_a_resource_version_that_is_none(server: ServerProcess, config_maps: str, version: str) -> None:
    server.post(config_maps, {"metadata": {"name": "a"}})
    update = server.put(f"{config_maps}/a", {"metadata": {"name": "a", "resourceVersion": version}})
    refused(update, 500, "resourceVersion: Invalid value")
    token = config_maps.replace("configmaps", "serviceaccounts/default/token")
    answer = server.post(token, {"metadata": {"resourceVersion": version}, "spec": {"audiences": ["a"]}})
    assert answer.status_code in (201, 404), answer.text


def test_an_apply_to_an_object_that_has_items_without_their_keys(server: ServerProcess, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    assert server.post(path, {"metadata": {"name": "a"}, "secrets": [{"namespace": "x"}]}).status_code == 201
    body = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}}
    refused(server.patch(f"{path}/a?fieldManager=m", body, "apply"), 500, "failed to create typed live object")
    assert server.patch(f"{path}/a", {"secrets": None}).status_code == 200
    assert server.patch(f"{path}/a?fieldManager=m", body, "apply").status_code == 200


# -- warnings ----------------------------------------------------------------------------------------------------------


def test_a_key_that_is_there_fifty_thousand_times_costs_no_more_than_reading_it(
    server: ServerProcess, config_maps: str
) -> None:
    body = "metadata: {name: a}\ndata:\n" + "  a: b\n" * 50_000
    answer = send(server, config_maps, body, "application/yaml")
    assert answer.status_code == 201
    assert 0 < len(answer.headers.get_list("Warning")) < 200


# -- protobuf ----------------------------------------------------------------------------------------------------------


def field(number: int, *parts: bytes) -> bytes:
    """A field of bytes, a string or a message."""
    data = b"".join(parts)
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def message(api_version: bytes, kind: bytes, raw: bytes) -> bytes:
    return b"k8s\0" + field(1, field(1, api_version), field(2, kind)) + field(2, raw)


def named(*more: bytes) -> bytes:
    return field(1, field(1, b"a"), *more)


def fields_v1(raw: bytes) -> bytes:
    return field(
        17, field(1, b"m"), field(2, b"Update"), field(3, b"v1"), field(6, b"FieldsV1"), field(7, field(1, raw))
    )


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (message(b"\xff", b"ConfigMap", named()), ""),
        (message(b"v1", b"\xff", named()), ""),
        (message(b"v1", b"ConfigMap", named(field(8, b"\x08" + varint(1 << 62)))), "year outside of range"),
        (message(b"v1", b"ConfigMap", named(fields_v1(b'{"f:data":'))), "unexpected end of JSON input"),
        (message(b"v1", b"ConfigMap", named(fields_v1(b'{"\xff":{}}'))), "UTF-8"),
        (message(b"v1", b"ConfigMap", named(fields_v1(nested(250).encode()))), "exceeded max depth"),
        (message(b"v1", b"ConfigMap", field(1, b"\xff" * 20)), "proto"),
        (message(b"v1", b"ConfigMap", named())[:-3], "proto"),
    ],
)
def test_a_protobuf_body_that_is_malformed_inside(
    server: ServerProcess, config_maps: str, body: bytes, text: str
) -> None:
    refused(send(server, config_maps, body, PROTOBUF), 400, text)


def test_a_key_of_a_map_in_a_protobuf_body_that_is_no_utf_8(server: ServerProcess, config_maps: str) -> None:
    body = message(b"v1", b"ConfigMap", named(field(11, field(1, b"k\xff"), field(2, b"v"))))
    refused(send(server, config_maps, body, PROTOBUF), 422, 'metadata.labels: Invalid value: "k\ufffd"')


def test_strings_of_a_protobuf_body_that_are_no_utf_8(server: ServerProcess, config_maps: str) -> None:
    body = message(b"v1", b"ConfigMap", named() + field(2, field(1, b"k"), field(2, b"v\xff")))
    answer = send(server, config_maps, body, PROTOBUF)
    assert answer.status_code == 201, answer.text
    assert server.get(f"{config_maps}/a").json()["data"] == {"k": "v\ufffd"}


def test_times_of_a_protobuf_body_out_of_the_ordinary(server: ServerProcess, namespace: str) -> None:
    """Long ago, and with fewer than no nanoseconds."""
    for name, moment, text in (
        (b"old", b"\x08" + varint((1 << 64) - 62_135_596_799), "0001-01-01T00:00:01.000000Z"),
        (b"minus", b"\x08\x01\x10" + varint((1 << 64) - 1000), "1970-01-01T00:00:00.999999Z"),
    ):
        path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        lease = message(b"coordination.k8s.io/v1", b"Lease", field(1, field(1, name)) + field(2, field(4, moment)))
        answer = send(server, path, lease, PROTOBUF)
        assert answer.status_code == 201, answer.text
        assert server.get(f"{path}/{name.decode()}").json()["spec"]["renewTime"] == text


# -- bodies that never come ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("token", "code"), [("admin-token", 413), ("wrong", 401)])
def test_a_body_that_says_it_is_too_large_is_not_waited_for(
    server: ServerProcess, config_maps: str, token: str, code: int
) -> None:
    head = (
        f"POST {config_maps} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Length: 99999999\r\n\r\n"
    )
    port = int(server.url.rpartition(":")[2])
    with (
        socket.create_connection(("127.0.0.1", port), timeout=20) as plain,
        server.context.wrap_socket(plain, server_hostname="localhost") as sock,
    ):
        sock.sendall(head.encode())
        assert sock.recv(4096).startswith(f"HTTP/1.1 {code} ".encode())
