"""Roles and bindings as objects."""

from __future__ import annotations

from typing import Any, cast

import pytest

from apiserver.api.rest import Context
from apiserver.api.server import Server
from apiserver_plugins.resources.rbac_v1 import clusterrolebindings, clusterroles, rolebindings, roles
from apiserver_plugins.resources.rbac_v1.rules import GROUP
from tests.plugins.resources.cases import cells, having
from tests.plugins.resources.fake_server import FakeServer
from tests.plugins.resources.rules import changed, created, errors_of

SERVER = cast(Server, FakeServer())
BINDING: dict[str, Any] = {
    "metadata": {"name": "b"},
    "roleRef": {"kind": "ClusterRole", "name": "r"},
    "subjects": [{"kind": "User", "name": "carol"}, {"kind": "ServiceAccount", "name": "s", "namespace": "n"}],
}


def test_names_are_whatever_stands_in_a_path() -> None:
    for module in (roles, clusterroles, rolebindings, clusterrolebindings):
        assert module.strategy(SERVER).validate_name("system:Node Reader", prefix=False) == []
        assert module.strategy(SERVER).validate_name("a/b", prefix=False) == ["may not contain '/'"]
        assert module.strategy(SERVER).allow_create_on_update


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"nonResourceURLs": ["/x"], "verbs": ["get"]}, []),
        ({"nonResourceURLs": ["/x"], "verbs": ["get"], "resources": ["pods"]},
         ['rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and '
          "non-resource URLs"]),
        ({"verbs": []},
         ["rules[0].apiGroups: Required value: resource rules must supply at least one api group",
          "rules[0].resources: Required value: resource rules must supply at least one resource",
          "rules[0].verbs: Required value: verbs must contain at least one value"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_rules_of_the_cluster(ctx: Context, rule: dict[str, Any], expected: list[str]) -> None:
    assert errors_of(clusterroles.strategy(SERVER), ctx, {"metadata": {"name": "r"}, "rules": [rule]}) == expected


def test_a_role_made_of_others_says_which(ctx: Context) -> None:
    obj: dict[str, Any] = {"metadata": {"name": "r"}, "aggregationRule": {"clusterRoleSelectors": []}}
    path = "aggregationRule.clusterRoleSelectors"
    assert errors_of(clusterroles.strategy(SERVER), ctx, obj) == [
        f"{path}: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil"
    ]
    unusable = {"matchExpressions": [{"key": "a", "operator": "Near"}]}
    errors = errors_of(
        clusterroles.strategy(SERVER), ctx, having(obj, aggregationRule__clusterRoleSelectors=[unusable])
    )
    assert len(errors) == 2
    assert errors[1].endswith("invalid label selector.")


def test_groups_of_references_and_subjects_are_filled_in(ctx: Context) -> None:
    stored = created(clusterrolebindings.strategy(SERVER), ctx, BINDING)
    assert stored["roleRef"]["apiGroup"] == stored["subjects"][0]["apiGroup"] == GROUP
    assert "apiGroup" not in stored["subjects"][1]
    assert cells(clusterrolebindings.COLUMNS, stored) == {
        "Role": "ClusterRole/r", "Users": "carol", "Groups": "", "ServiceAccounts": "n/s",
    }  # fmt: skip


def test_a_binding_of_the_cluster_is_stricter(ctx: Context) -> None:
    obj = having(BINDING, roleRef__kind="Role", subjects=[{"kind": "ServiceAccount", "name": "s", "apiGroup": "x"}])
    assert errors_of(clusterrolebindings.strategy(SERVER), ctx, obj) == [
        'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
        'subjects[0].apiGroup: Unsupported value: "x": supported values: ""',
        "subjects[0].namespace: Required value",
    ]
    assert len(errors_of(rolebindings.strategy(SERVER), ctx, obj)) == 1


def test_a_binding_keeps_its_role(ctx: Context) -> None:
    old = created(rolebindings.strategy(SERVER), ctx, BINDING)
    errors = changed(rolebindings.strategy(SERVER), ctx, old, having(old, roleRef__name="other"))[1]
    assert len(errors) == 1
    assert errors[0].endswith("cannot change roleRef")
    assert changed(rolebindings.strategy(SERVER), ctx, old, having(old, subjects=[]))[1] == []
