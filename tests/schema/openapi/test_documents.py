from __future__ import annotations

import orjson
import pytest

from apiserver.api.names import GroupVersionKind
from apiserver.api.resource import Resource, Subresource
from apiserver.schema.openapi import Documents, Served, ServedSubresource, served
from apiserver.schema.openapi.schemas import v2_schema

ALL = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
CHANGE = ("get", "patch", "update")
RESOURCES = [
    Served(
        "apps",
        "v1",
        "Deployment",
        "deployments",
        True,
        ALL,
        subresources=[
            ServedSubresource("status", "apps", "v1", "Deployment", CHANGE),
            ServedSubresource("scale", "autoscaling", "v1", "Scale", CHANGE),
        ],
    ),
    Served("", "v1", "Node", "nodes", False, ALL),
    Served(
        "",
        "v1",
        "Pod",
        "pods",
        True,
        ALL,
        subresources=[
            ServedSubresource("eviction", "policy", "v1", "Eviction", ("create",)),
            ServedSubresource("proxy", "", "v1", "PodProxyOptions", ("get",), ("get", "post"), with_path=True),
        ],
    ),
    Served("authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", False, ("create",)),
    Served(
        "guests.example.com",
        "v1",
        "Guest",
        "guests",
        True,
        ALL,
        strategic=False,
        schema={
            "type": "object",
            "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "nullable": True}}}},
        },
    ),
]


@pytest.fixture(scope="module")
def documents():
    return Documents(RESOURCES, git_version="v1.36.2")


def load(documents, key):
    return orjson.loads(documents.document(key).body)


def test_the_index_names_every_document_with_its_hash(documents):
    paths = orjson.loads(documents.index().body)["paths"]
    assert sorted(paths) == [
        ".well-known/openid-configuration", "api", "api/v1", "apis", "apis/apps", "apis/apps/v1",
        "apis/authorization.k8s.io", "apis/authorization.k8s.io/v1", "apis/guests.example.com",
        "apis/guests.example.com/v1", "openid/v1/jwks", "version",
    ]  # fmt: skip
    for key, entry in paths.items():
        assert entry["serverRelativeURL"] == f"/openapi/v3/{key}?hash={documents.document(key).hash}"
    assert len(documents.hash("api/v1")) == 128
    assert documents.hash("api/v1").isupper()


def test_hashes_change_with_what_is_served():
    one, other = (
        Documents(RESOURCES),
        Documents([*RESOURCES[1:], Served("apps", "v1", "ReplicaSet", "replicasets", True, ALL)]),
    )
    assert one.hash("apis/apps/v1") != other.hash("apis/apps/v1")
    assert one.hash("api/v1") == other.hash("api/v1")
    assert one.hash("v2") != other.hash("v2")


def operations(document):
    return {
        operation["operationId"]: (path, method, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
    }


def test_operations_have_the_names_and_paths_that_client_generators_know(documents):
    found = operations(load(documents, "apis/apps/v1"))
    base = "/apis/apps/v1"
    one = f"{base}/namespaces/{{namespace}}/deployments/{{name}}"
    assert {name: (path, method) for name, (path, method, _) in found.items()} == {
        "getAppsV1APIResources": (f"{base}/", "get"),
        "listAppsV1DeploymentForAllNamespaces": (f"{base}/deployments", "get"),
        "listAppsV1NamespacedDeployment": (f"{base}/namespaces/{{namespace}}/deployments", "get"),
        "createAppsV1NamespacedDeployment": (f"{base}/namespaces/{{namespace}}/deployments", "post"),
        "deleteAppsV1CollectionNamespacedDeployment": (f"{base}/namespaces/{{namespace}}/deployments", "delete"),
        "readAppsV1NamespacedDeployment": (one, "get"),
        "replaceAppsV1NamespacedDeployment": (one, "put"),
        "deleteAppsV1NamespacedDeployment": (one, "delete"),
        "patchAppsV1NamespacedDeployment": (one, "patch"),
        "readAppsV1NamespacedDeploymentStatus": (f"{one}/status", "get"),
        "replaceAppsV1NamespacedDeploymentStatus": (f"{one}/status", "put"),
        "patchAppsV1NamespacedDeploymentStatus": (f"{one}/status", "patch"),
        "readAppsV1NamespacedDeploymentScale": (f"{one}/scale", "get"),
        "replaceAppsV1NamespacedDeploymentScale": (f"{one}/scale", "put"),
        "patchAppsV1NamespacedDeploymentScale": (f"{one}/scale", "patch"),
        "watchAppsV1DeploymentListForAllNamespaces": (f"{base}/watch/deployments", "get"),
        "watchAppsV1NamespacedDeploymentList": (f"{base}/watch/namespaces/{{namespace}}/deployments", "get"),
        "watchAppsV1NamespacedDeployment": (f"{base}/watch/namespaces/{{namespace}}/deployments/{{name}}", "get"),
    }
    scale = found["readAppsV1NamespacedDeploymentScale"][2]
    assert scale["x-kubernetes-group-version-kind"] == {"group": "autoscaling", "kind": "Scale", "version": "v1"}


def test_connections_and_bodies_of_other_kinds(documents):
    found = operations(load(documents, "api/v1"))
    assert {"connectCoreV1GetNamespacedPodProxy", "connectCoreV1PostNamespacedPodProxyWithPath"} <= set(found)
    eviction = found["createCoreV1NamespacedPodEviction"][2]
    assert eviction["requestBody"]["content"]["*/*"]["schema"] == {
        "$ref": "#/components/schemas/io.k8s.api.policy.v1.Eviction"
    }
    assert "listCoreV1Node" in found
    assert "deleteCoreV1CollectionNode" in found


def test_kubectl_finds_what_it_validates_with(documents):
    patch = operations(load(documents, "apis/apps/v1"))["patchAppsV1NamespacedDeployment"][2]
    assert {"fieldValidation", "dryRun", "force"} <= {parameter["name"] for parameter in patch["parameters"]}
    assert list(patch["requestBody"]["content"]) == [
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
        "application/apply-patch+yaml",
    ]


def references(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "$ref" and isinstance(inner, str):
                yield inner
            else:
                yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def resolve(document, reference):
    here = document
    for step in reference.removeprefix("#/").split("/"):
        here = here[step]
    return here


def test_every_reference_leads_somewhere(documents):
    for key in documents.paths():
        document = load(documents, key)
        for reference in references(document):
            assert resolve(document, reference) is not None
    swagger = orjson.loads(documents.v2().body)
    for reference in references(swagger):
        assert resolve(swagger, reference) is not None


def test_schemas_show_defaults_enums_and_merge_rules(documents):
    schemas = load(documents, "apis/apps/v1")["components"]["schemas"]
    container = schemas["io.k8s.api.core.v1.Container"]["properties"]
    assert container["imagePullPolicy"]["enum"] == ["Always", "IfNotPresent", "Never"]
    assert container["name"]["default"] == ""
    assert container["resources"]["default"] == {}
    assert container["resources"]["allOf"] == [{"$ref": "#/components/schemas/io.k8s.api.core.v1.ResourceRequirements"}]
    assert container["ports"]["x-kubernetes-list-map-keys"] == ["containerPort", "protocol"]
    assert schemas["io.k8s.api.core.v1.ContainerPort"]["properties"]["protocol"]["default"] == "TCP"
    deployment = schemas["io.k8s.api.apps.v1.Deployment"]
    assert deployment["type"] == "object"
    assert deployment["x-kubernetes-group-version-kind"] == [{"group": "apps", "kind": "Deployment", "version": "v1"}]
    assert "enum" not in deployment["properties"]["kind"]
    assert schemas["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]["oneOf"] == [
        {"type": "integer"},
        {"type": "string"},
    ]
    options = schemas["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"]["x-kubernetes-group-version-kind"]
    assert [gvk["group"] for gvk in options] == ["", "apps"]


def test_a_kind_with_its_own_schema_is_in_both_documents(documents):
    name = "com.example.guests.v1.Guest"
    document = load(documents, "apis/guests.example.com/v1")
    guest = document["components"]["schemas"][name]
    assert guest["properties"]["spec"]["properties"]["size"] == {"type": "integer", "nullable": True}
    assert guest["properties"]["metadata"]["allOf"][0]["$ref"].endswith("ObjectMeta")
    assert document["components"]["schemas"][f"{name}List"]["properties"]["items"]["items"]["$ref"].endswith(name)
    patch = operations(document)["patchGuestsExampleComV1NamespacedGuest"][2]
    assert "application/strategic-merge-patch+json" not in patch["requestBody"]["content"]
    swagger = orjson.loads(documents.v2().body)
    assert swagger["definitions"][name]["properties"]["spec"]["properties"]["size"] == {}


def test_the_v2_document_has_what_clients_read(documents):
    swagger = orjson.loads(documents.v2().body)
    assert set(swagger) == {"swagger", "info", "paths", "definitions", "parameters", "security", "securityDefinitions"}
    assert swagger["info"] == {"title": "Kubernetes", "version": "v1.36.2"}
    assert swagger["securityDefinitions"]["BearerToken"]["in"] == "header"
    assert {"/api/", "/apis/", "/apis/apps/", "/apis/apps/v1/", "/version/"} <= set(swagger["paths"])
    assert swagger["definitions"]["io.k8s.apimachinery.pkg.api.resource.Quantity"]["type"] == "string"
    assert "default" not in swagger["definitions"]["io.k8s.api.core.v1.Container"]["properties"]["resources"]
    names = [
        operation["operationId"]
        for item in swagger["paths"].values()
        for method, operation in item.items()
        if method != "parameters"
    ]
    assert len(names) == len(set(names))


def test_a_declaration_becomes_what_is_served():
    resource = Resource(
        "",
        "v1",
        "Pod",
        "pods",
        subresources=[
            Subresource("status"),
            Subresource("exec", kind=GroupVersionKind("", "v1", "PodExecOptions"), verbs=("get", "create")),
        ],
    )
    assert served(resource, ALL, {"status": CHANGE}) == Served(
        "",
        "v1",
        "Pod",
        "pods",
        True,
        ALL,
        subresources=[
            ServedSubresource("status", "", "v1", "Pod", CHANGE),
            ServedSubresource("exec", "", "v1", "PodExecOptions", ("get", "create"), ("get", "post")),
        ],
    )


def test_v2_drops_what_it_cannot_say():
    schema = {
        "type": "object",
        "description": "d",
        "x-kubernetes-validations": [],
        "properties": {
            "a": {"type": "string", "nullable": True, "description": "a"},
            "b": {"type": "array", "items": {"anyOf": [{"type": "string"}], "type": "string"}},
            "c": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"x": {}}},
        },
    }
    assert v2_schema(schema) == {
        "type": "object",
        "description": "d",
        "properties": {
            "a": {"description": "a"},
            "b": {"type": "array", "items": {"type": "string"}},
            "c": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    }


@pytest.mark.parametrize("minor", [25, 28, 32, 37])
def test_other_minors_have_documents_too(minor):
    documents = Documents(RESOURCES, minor=minor)
    assert documents.document("apis/apps/v1") is not None
    assert orjson.loads(documents.v2().body)["swagger"] == "2.0"
