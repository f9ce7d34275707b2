"""Objects that hypothesis makes from the types: whatever is in them, they are stored as answered, or refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apiserver.schema import builtin
from apiserver.schema.types import Node
from apiserver.testing.server import LocalServer
from tests.fuzz.test_requests import FLAGS
from tests.fuzz.traffic import NAMESPACES, Kind, Traffic
from tests.schema.objects import values

DEPTH = 3


@pytest.fixture(scope="module")
def traffic() -> Iterator[Traffic]:
    with LocalServer(*FLAGS) as server:
        yield Traffic(server, 0)


def typed(kind: Kind) -> Node | None:
    group, _, version = kind.api_version.rpartition("/")
    return builtin.types().kind(group, version, kind.kind)


# Threads of the server use the random module while values are drawn.
@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisDeprecationWarning")
@settings(
    derandomize=True, max_examples=400, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)  # fmt: skip
@given(data=st.data())
def test_an_object_of_a_kind_s_type_is_stored_as_answered_or_refused(traffic: Traffic, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([kind for kind in traffic.kinds if "create" in kind.verbs and typed(kind)]))
    node = typed(kind)
    assert node is not None
    obj: dict[str, Any] = data.draw(values(node, DEPTH))
    metadata = obj.get("metadata") if isinstance(obj.get("metadata"), dict) else {}
    body = {
        **obj,
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {**metadata, "name": f"n{traffic.sent}"},
    }
    body["metadata"].pop("namespace", None)
    body["metadata"].pop("resourceVersion", None)
    path = kind.path(NAMESPACES[0])
    answer = traffic.send("POST", path, body, Content_Type="application/json")
    if answer.status == 201 and "get" in kind.verbs:
        traffic.is_stored(path, answer)
