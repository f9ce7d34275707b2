from __future__ import annotations

import orjson
import pytest

from apiserver.schema import builtin
from apiserver.schema.decode import DecodeError, decode


@pytest.fixture(scope="module")
def types():
    return builtin.types()


def refusal(value, node):
    with pytest.raises(DecodeError) as caught:
        decode(value, node)
    return caught.value.message


JSON = "json: cannot unmarshal"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"data": {"a": 1}}, f"{JSON} number into Go struct field ConfigMap.data of type string"),
        ({"data": []}, f"{JSON} array into Go struct field ConfigMap.data of type map[string]string"),
        ({"immutable": "x"}, f"{JSON} string into Go struct field ConfigMap.immutable of type bool"),
        ({"metadata": "x"}, f"{JSON} string into Go struct field ConfigMap.metadata of type v1.ObjectMeta"),
        (
            {"metadata": {"ownerReferences": [{"uid": 5}]}},
            f"{JSON} number into Go struct field OwnerReference.metadata.ownerReferences.uid of type types.UID",
        ),
        ({"metadata": {"name": True}}, f"{JSON} bool into Go struct field ObjectMeta.metadata.name of type string"),
        ({"binaryData": {"a": "not base64"}}, "illegal base64 data at input byte 3"),
        ({"binaryData": {"a": "%%%"}}, "illegal base64 data at input byte 0"),
        ({"binaryData": {"a": "YQ"}}, "illegal base64 data at input byte 0"),
        ({"binaryData": {"a": "YQ="}}, "illegal base64 data at input byte 3"),
    ],
)
def test_a_value_that_does_not_fit_a_config_map(types, value, message):
    assert refusal(value, types.kind("", "v1", "ConfigMap")) == message


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"containers": "x"}, "string into Go struct field PodSpec.spec.containers of type []v1.Container"),
        ({"containers": ["x"]}, "string into Go struct field PodSpec.spec.containers of type v1.Container"),
        (
            {"containers": [{"ports": [{"containerPort": 99999999999}]}]},
            "number 99999999999 into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32",
        ),
        (
            {"containers": [{"ports": [{"protocol": {}}]}]},
            "object into Go struct field ContainerPort.spec.containers.ports.protocol of type v1.Protocol",
        ),
        (
            {"containers": [{"livenessProbe": {"httpGet": {"port": []}}}]},
            "array into Go struct field HTTPGetAction.spec.containers.livenessProbe.httpGet.port of type int32",
        ),
        (
            {"terminationGracePeriodSeconds": "x"},
            "string into Go struct field PodSpec.spec.terminationGracePeriodSeconds of type int64",
        ),
    ],
)
def test_a_value_that_does_not_fit_a_pod(types, spec, message):
    assert refusal({"spec": spec}, types.kind("", "v1", "Pod")) == f"json: cannot unmarshal {message}"


def test_a_bad_quantity_is_refused(types):
    pod = {"spec": {"containers": [{"resources": {"limits": {"cpu": "lots"}}}]}}
    assert refusal(pod, types.kind("", "v1", "Pod")).startswith("quantities must match the regular expression")


def test_unknown_fields_are_reported_in_the_order_of_the_document_and_dropped(types):
    value = {
        "metadata": {"u4": 4},
        "spec": {"u1": 1, "template": {"u3": 3, "spec": {"containers": [{"name": "c", "colour": "red"}]}}, "u2": 2},
        'x"y': 1,
    }
    decoded = decode(value, types.kind("apps", "v1", "Deployment"))
    assert decoded.strict == [
        'unknown field "metadata.u4"',
        'unknown field "spec.u1"',
        'unknown field "spec.template.u3"',
        'unknown field "spec.template.spec.containers[0].colour"',
        'unknown field "spec.u2"',
        'unknown field "x\\"y"',
    ]
    assert decoded.object["spec"]["template"]["spec"]["containers"] == [{"name": "c", "resources": {}}]


def test_at_most_a_hundred_unknown_fields_are_reported(types):
    decoded = decode({f"f{n}": n for n in range(500)}, types.kind("", "v1", "ConfigMap"))
    assert len(decoded.strict) == 100
    assert decoded.object == {"metadata": {}}


def test_names_are_case_sensitive(types):
    decoded = decode({"Data": {"a": "b"}}, types.kind("", "v1", "ConfigMap"))
    assert decoded.strict == ['unknown field "Data"']


def test_a_deployment_is_encoded_as_go_does(types):
    value = {
        "metadata": {"name": "d", "labels": {}, "creationTimestamp": None, "generation": 0},
        "spec": {
            "replicas": 0,
            "paused": False,
            "minReadySeconds": 0,
            "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": None}},
                "spec": {
                    "containers": [{"name": "c", "args": [], "env": None}],
                    "volumes": [{"name": "v", "emptyDir": {}}],
                },
            },
        },
    }
    assert decode(value, types.kind("apps", "v1", "Deployment")).object == {
        "metadata": {"name": "d"},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"a": "b"}},
            "strategy": {},
            "template": {
                "metadata": {"labels": {"a": ""}},
                "spec": {"containers": [{"name": "c", "resources": {}}], "volumes": [{"name": "v", "emptyDir": {}}]},
            },
        },
        "status": {},
    }


def test_always_present_fields_appear_empty(types):
    role = decode(
        {"metadata": {"name": "r"}, "rules": []}, types.kind("rbac.authorization.k8s.io", "v1", "ClusterRole")
    )
    assert role.object == {"metadata": {"name": "r"}, "rules": None}
    event = decode({}, types.kind("", "v1", "Event")).object
    assert event["eventTime"] is None
    assert event["involvedObject"] == {}
    assert event["source"] == {}
    service = decode({"spec": {"ports": [{"port": 80}]}}, types.kind("", "v1", "Service")).object
    ports = [{"port": 80, "protocol": "TCP", "targetPort": 0}]
    assert service == {"metadata": {}, "spec": {"ports": ports}, "status": {"loadBalancer": {}}}


def test_declared_defaults_are_set(types):
    ports, probe = [{"containerPort": 1, "protocol": ""}], {"grpc": {"port": 1}}
    pod = {"spec": {"containers": [{"name": "c", "ports": ports, "livenessProbe": probe}]}}
    container = decode(pod, types.kind("", "v1", "Pod")).object["spec"]["containers"][0]
    assert container["ports"] == [{"containerPort": 1, "protocol": "TCP"}]
    assert container["livenessProbe"] == {"grpc": {"port": 1, "service": ""}}
    controller = decode({"spec": {}}, types.kind("", "v1", "ReplicationController")).object
    assert controller["spec"] == {"replicas": 1}


def test_quantities_times_and_bytes_become_canonical(types):
    pod = {
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": 0.5, "memory": "1024Mi", "pods": 2}}}]}
    }
    decoded = decode(pod, types.kind("", "v1", "Pod"))
    assert decoded.object["spec"]["containers"][0]["resources"]["limits"] == {
        "cpu": "500m",
        "memory": "1Gi",
        "pods": "2",
    }
    secret = {"data": {"a": "Y\nQ=="}, "metadata": {"deletionTimestamp": "2024-01-01T01:00:00.5+01:00"}}
    assert decode(secret, types.kind("", "v1", "Secret")).object == {
        "data": {"a": "YQ=="},
        "metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"},
    }


def test_free_form_parts_are_kept_as_they_are(types):
    fields = {"f:metadata": {"f:labels": {".": {}, "x": None}}}
    value = {"metadata": {"managedFields": [{"manager": "m", "fieldsV1": fields}]}}
    kept = orjson.loads(orjson.dumps(fields))
    decoded = decode(value, types.kind("", "v1", "ConfigMap"))
    assert decoded.object["metadata"]["managedFields"][0]["fieldsV1"] == kept
    assert decoded.strict == []


def test_a_type_may_contain_itself(types):
    crd = types.kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
    inner = {"type": "object", "properties": {"a": {"properties": {"b": {"type": "string", "zzz": 1}}}}}
    decoded = decode({"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": inner}}]}}, crd)
    path = "spec.versions[0].schema.openAPIV3Schema.properties.a.properties.b.zzz"
    assert decoded.strict == [f'unknown field "{path}"']


def schema_of(types, schema):
    crd = types.kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
    decoded = decode({"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}}, crd)
    return decoded.object["spec"]["versions"][0]["schema"]["openAPIV3Schema"], decoded.strict


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"items": {"type": "string", "zzz": 1}}, {"items": {"type": "string"}}),
        ({"items": [{"type": "string", "title": ""}, {}]}, {"items": [{"type": "string"}, {}]}),
        ({"items": "x"}, {"items": None}),
        ({"items": None}, {}),
        ({"additionalProperties": False}, {"additionalProperties": False}),
        ({"additionalProperties": {"not": {"zzz": 1}}}, {"additionalProperties": {"not": {}}}),
        ({"additionalItems": True}, {"additionalItems": True}),
        ({"dependencies": {"a": ["b"], "c": {"nullable": False}}}, {"dependencies": {"a": ["b"], "c": {}}}),
        ({"default": None, "enum": [None, {"a": [None]}]}, {"enum": [None, {"a": [None]}]}),
        ({"example": {"b": 1}}, {"example": {"b": 1}}),
        ({"default": {"a": [1.0, 1.5, True]}, "enum": [1e3]}, {"default": {"a": [1, 1.5, True]}, "enum": [1000]}),
        ({"x-kubernetes-list-type": "", "x-kubernetes-int-or-string": False}, {"x-kubernetes-list-type": ""}),
        ({"$ref": "", "$schema": ""}, {"$ref": ""}),
    ],
)  # fmt: skip
def test_the_shapes_that_a_part_of_a_schema_may_have(types, given, kept):
    assert schema_of(types, given) == (kept, [])


def test_a_part_of_a_schema_in_a_shape_that_it_may_not_have(types):
    crd = types.kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
    schema = {"additionalProperties": "x"}
    assert refusal({"spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}]}}, crd) == (
        "boolean or JSON schema expected"
    )
    schema = {"items": {"type": 1}}
    assert refusal({"spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}]}}, crd) == (
        f"{JSON} number into Go struct field "
        "JSONSchemaProps.spec.versions.schema.openAPIV3Schema.items.type of type string"
    )


def test_null_is_an_empty_object(types):
    assert decode(None, types.kind("", "v1", "ConfigMap")).object == {"metadata": {}}


def test_an_object_nested_too_deeply_is_refused(types):
    schema = {"type": "string"}
    for _ in range(900):
        schema = {"properties": {"a": schema}}
    crd = {"spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}]}}
    assert refusal(crd, types.kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")) == "exceeded max depth"
