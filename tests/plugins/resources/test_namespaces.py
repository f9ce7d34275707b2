"""Namespaces: phase, finalizers of their own, and the deletion that somebody else finishes."""

from __future__ import annotations

from typing import Any

from apiserver.api.rest import Context
from apiserver_plugins.resources.core_v1.namespaces import (
    NamespaceFinalizeStrategy,
    NamespaceStatusStrategy,
    NamespaceStrategy,
)
from tests.plugins.resources.rules import changed, created, errors_of

STRATEGY = NamespaceStrategy()


def namespace(**fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": "n"}, **fields}


def test_a_new_namespace_is_active_and_held_by_the_system(ctx: Context) -> None:
    stored = created(STRATEGY, ctx, namespace(status={"phase": "Terminating"}))
    assert stored["status"] == {"phase": "Active"}
    assert stored["spec"] == {"finalizers": ["kubernetes"]}
    assert stored["metadata"]["labels"] == {"kubernetes.io/metadata.name": "n"}


def test_a_finalizer_of_ones_own_comes_before_the_systems(ctx: Context) -> None:
    stored = created(STRATEGY, ctx, namespace(spec={"finalizers": ["example.com/x"]}))
    assert stored["spec"]["finalizers"] == ["example.com/x", "kubernetes"]


def test_a_finalizer_needs_a_domain(ctx: Context) -> None:
    assert errors_of(STRATEGY, ctx, namespace(spec={"finalizers": ["nodomain"]})) == [
        'spec.finalizers: Invalid value: "nodomain": name is neither a standard finalizer name nor is it fully '
        "qualified"
    ]


def test_the_name_label_is_restored(ctx: Context) -> None:
    old = created(STRATEGY, ctx, namespace())
    labels = {"kubernetes.io/metadata.name": "other", "x": "y"}
    obj, errors = changed(STRATEGY, ctx, old, {"metadata": {"name": "n", "labels": labels}})
    assert errors == []
    assert obj["metadata"]["labels"] == {"kubernetes.io/metadata.name": "n", "x": "y"}


def test_an_update_changes_neither_finalizers_nor_status(ctx: Context) -> None:
    old = created(STRATEGY, ctx, namespace())
    obj, _ = changed(STRATEGY, ctx, old, namespace(spec={}, status={"phase": "Terminating"}))
    assert (obj["spec"], obj["status"]) == (old["spec"], old["status"])


def test_deleting_marks_it_terminating_without_a_grace_period(ctx: Context) -> None:
    obj = created(STRATEGY, ctx, namespace())
    assert STRATEGY.begin_delete(ctx, obj) is True
    assert obj["status"]["phase"] == "Terminating"
    assert "deletionTimestamp" in obj["metadata"]
    assert "deletionGracePeriodSeconds" not in obj["metadata"]
    assert not STRATEGY.finished(obj)


def test_deleting_again_changes_nothing(ctx: Context) -> None:
    obj = created(STRATEGY, ctx, namespace())
    obj["metadata"]["deletionTimestamp"] = "2020-01-01T00:00:00Z"
    assert STRATEGY.begin_delete(ctx, obj) is True
    assert obj["metadata"]["deletionTimestamp"] == "2020-01-01T00:00:00Z"


def test_finalize_removes_finalizers_and_nothing_else_can(ctx: Context) -> None:
    old = created(STRATEGY, ctx, namespace())
    STRATEGY.begin_delete(ctx, old)
    obj, errors = changed(NamespaceFinalizeStrategy(STRATEGY), ctx, old, namespace(spec={"finalizers": []}))
    assert errors == []
    assert obj["status"]["phase"] == "Terminating"
    assert NamespaceFinalizeStrategy(STRATEGY).finished(obj)


def test_the_phase_follows_from_the_deletion(ctx: Context) -> None:
    old = created(STRATEGY, ctx, namespace())
    _, errors = changed(NamespaceStatusStrategy(STRATEGY), ctx, old, namespace(status={"phase": "Terminating"}))
    assert errors == [
        "status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"
    ]
