from __future__ import annotations

import pytest

from apiserver.schema import builtin, definitions
from apiserver.schema.types import Struct


def test_every_minor_from_1_25_on_has_definitions():
    assert definitions.minors()[0] == 25
    assert builtin.DEFAULT_MINOR in definitions.minors()


@pytest.mark.parametrize("minor", definitions.minors())
def test_every_definition_becomes_a_type(minor):
    types = builtin.types(minor)
    for name in types.definitions.names():
        node = types.definition(name)
        if isinstance(node, Struct):
            assert all(field.node is not None for field in node.fields.values())
    assert types.kind("", "v1", "Pod") is not None
    assert types.kind("apps", "v1", "Deployment") is not None


def test_a_minor_serves_what_it_had():
    assert builtin.types(25).kind("autoscaling", "v2beta2", "HorizontalPodAutoscaler")
    assert builtin.types(36).kind("autoscaling", "v2beta2", "HorizontalPodAutoscaler") is None
    assert builtin.types(36).kind("", "v1", "Gadget") is None


def test_kinds_are_found_by_rule_and_by_the_published_table():
    types = builtin.types()
    for (group, version, kind), name in types.kinds().items():
        node = types.kind(group, version, kind)
        assert node is not None, (group, version, kind)
        if not name.startswith(builtin.META):
            assert node.name == name


@pytest.mark.parametrize(
    ("group", "version", "kind", "known"),
    [
        ("", "v1", "List", True),
        ("", "v1", "PodExecOptions", True),
        ("apps", "v1", "DeleteOptions", True),
        ("apps", "v1beta1", "Deployment", True),
        ("apps", "v1", "List", False),
        ("", "v1", "Gadget", False),
        ("apps", "v1", "ConfigMap", False),
        ("apps", "v1beta1", "Gadget", False),
    ],
)
def test_the_scheme_knows_more_than_is_published(group, version, kind, known):
    assert builtin.types().registered(group, version, kind) is known


def test_an_unknown_minor_names_the_known_ones():
    with pytest.raises(ValueError, match=r"no definitions of Kubernetes 1.9; there are 1.25"):
        definitions.Definitions(9)


def test_merge_rules_are_part_of_the_type():
    pod_spec = builtin.types().definition("io.k8s.api.core.v1.PodSpec")
    containers = pod_spec.fields["containers"]
    assert containers.patch_merge_key == "name"
    assert containers.patch_strategies == ("merge",)
    assert (containers.node.list_type, containers.node.map_keys) == ("map", ("name",))
    volumes = pod_spec.fields["volumes"]
    assert set(volumes.patch_strategies) == {"merge", "retainKeys"}
    assert builtin.types().definition("io.k8s.api.core.v1.ObjectReference").atomic


def test_lists_of_old_minors_are_merged_as_their_patches_say():
    def lists(minor):
        spec = builtin.types(minor).definition("io.k8s.api.core.v1.PodSpec")
        container = builtin.types(minor).definition("io.k8s.api.core.v1.Container")
        fields = {"containers": spec, "tolerations": spec, "ports": container, "volumeMounts": container}
        nodes = {name: struct.fields[name].node for name, struct in fields.items()}
        return {name: (node.list_type, tuple(node.map_keys)) for name, node in nodes.items()}

    expected = {
        "containers": ("map", ("name",)),
        "tolerations": ("atomic", ()),
        "ports": ("map", ("containerPort", "protocol")),
        "volumeMounts": ("map", ("mountPath",)),
    }
    assert lists(28) == lists(36) == expected
    meta = builtin.types(28).definition("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")
    assert meta.fields["finalizers"].node.list_type == "set"
