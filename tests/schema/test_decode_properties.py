"""Properties of decoding, over values made from the types themselves."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apiserver.schema import builtin
from apiserver.schema.decode import decode
from apiserver.schema.types import List, Map, Node, Struct
from tests.schema.objects import values

KINDS = [
    ("", "v1", "Pod"),
    ("", "v1", "Service"),
    ("", "v1", "Secret"),
    ("", "v1", "Event"),
    ("", "v1", "PersistentVolume"),
    ("apps", "v1", "Deployment"),
    ("coordination.k8s.io", "v1", "Lease"),
    ("networking.k8s.io", "v1", "NetworkPolicy"),
    ("rbac.authorization.k8s.io", "v1", "ClusterRole"),
    ("autoscaling", "v2", "HorizontalPodAutoscaler"),
    ("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
]
quiet = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def copy(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind[2])
def test_decoding_twice_is_decoding_once(kind):
    node = builtin.types().kind(*kind)

    @quiet
    @given(values(node))
    def check(value):
        once = decode(copy(value), node)
        assert once.strict == []
        again = decode(copy(once.object), node)
        assert again.object == once.object
        assert again.strict == []

    check()


def _spoil(value: Any, node: Node, path: str, data: st.DataObject) -> list[str]:
    """Put unknown fields into some of the objects; the paths of all of them, in document order."""
    found: list[str] = []
    if isinstance(node, Struct) and isinstance(value, dict):
        for name in list(value):
            found += _spoil(value[name], node.fields[name].node, f"{path}.{name}" if path else name, data)
        if data.draw(st.integers(0, 3)) == 0:
            value["zz9"] = data.draw(st.sampled_from([1, None, {"a": [1]}, "x"]))
            found.append(f"{path}.zz9" if path else "zz9")
    elif isinstance(node, Map) and isinstance(value, dict):
        for name in value:
            found += _spoil(value[name], node.value, f"{path}.{name}", data)
    elif isinstance(node, List) and isinstance(value, list):
        for index, item in enumerate(value):
            found += _spoil(item, node.item, f"{path}[{index}]", data)
    return found


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind[2])
def test_unknown_fields_are_reported_exactly(kind):
    node = builtin.types().kind(*kind)

    @quiet
    @given(values(node), st.data())
    def check(value, data):
        clean = decode(copy(value), node).object
        spoiled = copy(value)
        paths = _spoil(spoiled, node, "", data)
        decoded = decode(spoiled, node)
        assert decoded.strict == [f'unknown field "{path}"' for path in paths][:100]
        assert decoded.object == clean

    check()
