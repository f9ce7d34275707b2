from __future__ import annotations

import copy

from apiserver.registry.managedfields import record_update
from apiserver.registry.managedfields.timestamps import keep_times
from tests.registry.managedfields.kinds import Object, configmap, kind

T0, T1 = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"


def owned(time: str = T0, manager: str = "m") -> Object:
    obj = configmap({"a": "1"}, resourceVersion="1")
    record_update(None, obj, manager=manager, api_version="v1", now=time, type=kind("", "v1", "ConfigMap"))
    return copy.deepcopy(obj)


def test_an_object_that_differs_in_times_only_gets_the_old_ones():
    new = owned(T1)
    keep_times(owned(T0), new)
    assert new == owned(T0)


def test_another_difference_keeps_the_new_times():
    for change in ({"data": {"a": "2"}}, {"extra": 1}):
        new = {**owned(T1), **change}
        keep_times(owned(T0), new)
        assert new == {**owned(T1), **change}


def test_another_owner_keeps_the_new_times():
    new = owned(T1, "other")
    keep_times(owned(T0), new)
    assert new == owned(T1, "other")
    bare = configmap({"a": "1"})
    keep_times(owned(T0), bare)
    assert bare == configmap({"a": "1"})
