"""Which names a CustomResourceDefinition gets, and the conditions that tell."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver_plugins.apiextensions.naming import accept, is_true, set_condition

Object = dict[str, Any]


def definition(plural: str, *, group: str = "a.example.com", annotations: Object | None = None, **names: Any) -> Object:
    kind = names.pop("kind", plural.removesuffix("s").capitalize())
    asked = {"plural": plural, "kind": kind, "singular": kind.lower(), "listKind": f"{kind}List", **names}
    return {
        "metadata": {"name": f"{plural}.{group}", "annotations": annotations or {}},
        "spec": {"group": group, "names": asked},
        "status": {"acceptedNames": {"kind": "", "plural": ""}, "conditions": None, "storedVersions": ["v1"]},
    }


def told(definition: Object) -> dict[str, tuple[str, str, str]]:
    return {c["type"]: (c["status"], c["reason"], c["message"]) for c in definition["status"]["conditions"]}


def accepted(*definitions: Object) -> list[Object]:
    """Accept them one after the other."""
    for one in definitions:
        accept(one, [other for other in definitions if other is not one])
    return list(definitions)


def test_names_that_nobody_has_are_accepted_and_establish_the_definition() -> None:
    (one,) = accepted(definition("widgets", shortNames=["wd"], categories=["all"]))
    assert one["status"]["acceptedNames"] == {
        "plural": "widgets", "kind": "Widget", "singular": "widget", "listKind": "WidgetList", "shortNames": ["wd"],
        "categories": ["all"],
    }  # fmt: skip
    assert told(one) == {
        "NamesAccepted": ("True", "NoConflicts", "no conflicts found"),
        "Established": ("True", "InitialNamesAccepted", "the initial names have been accepted"),
    }


@pytest.mark.parametrize(
    ("names", "reason", "message"),
    [
        ({"kind": "Other", "singular": "widget"}, "SingularConflict", '"widget" is already in use'),
        ({"kind": "Other", "shortNames": ["wd"]}, "ShortNamesConflict", '"wd" is already in use'),
        ({"kind": "Other", "shortNames": ["widgets", "x", "wd"]}, "ShortNamesConflict",
         '["widgets" is already in use, "wd" is already in use]'),
        ({"kind": "Widget", "singular": "o", "listKind": "OList"}, "KindConflict", '"Widget" is already in use'),
        ({"kind": "Widget", "singular": "o"}, "ListKindConflict", '"WidgetList" is already in use'),
        ({"kind": "WidgetList", "singular": "o", "listKind": "L"}, "KindConflict", '"WidgetList" is already in use'),
    ],
)  # fmt: skip
def test_a_name_that_another_has_is_refused_and_nothing_is_established(
    names: Object, reason: str, message: str
) -> None:
    _, second = accepted(definition("widgets", shortNames=["wd"]), definition("others", **names))
    assert told(second) == {
        "NamesAccepted": ("False", reason, message),
        "Established": ("False", "NotAccepted", "not all names are accepted"),
    }
    assert second["status"]["acceptedNames"]["plural"] == "others"


def test_a_plural_may_not_be_a_short_name_of_another() -> None:
    _, second = accepted(definition("widgets", shortNames=["others"]), definition("others"))
    assert told(second)["NamesAccepted"] == ("False", "PluralConflict", '"others" is already in use')
    assert second["status"]["acceptedNames"] == {
        "kind": "Other", "plural": "", "singular": "other", "listKind": "OtherList",
    }  # fmt: skip


def test_other_groups_have_names_of_their_own() -> None:
    _, second = accepted(definition("widgets"), definition("widgets", group="b.example.com"))
    assert is_true(second, "Established")


def test_what_was_refused_is_accepted_when_the_other_has_gone() -> None:
    _, second = accepted(definition("widgets"), definition("others", kind="Widget"))
    assert not is_true(second, "Established")
    accept(second, [])
    assert is_true(second, "NamesAccepted")
    assert is_true(second, "Established")


def test_an_established_definition_stays_so_when_new_names_are_refused() -> None:
    first, second = accepted(definition("widgets"), definition("others"))
    second["spec"]["names"]["shortNames"] = ["widgets"]
    accept(second, [first])
    assert told(second)["NamesAccepted"][:2] == ("False", "ShortNamesConflict")
    assert is_true(second, "Established")
    assert "shortNames" not in second["status"]["acceptedNames"]


def test_accepting_again_changes_nothing() -> None:
    (one,) = accepted(definition("widgets", shortNames=["wd"]))
    before = {**one["status"]}
    accept(one, [])
    assert one["status"] == before


@pytest.mark.parametrize(
    ("annotation", "status", "reason", "message"),
    [
        ("https://github.com/kubernetes/x/pull/1", "True", "ApprovedAnnotation",
         "approved in https://github.com/kubernetes/x/pull/1"),
        ("unapproved, experimental", "False", "UnapprovedAnnotation", 'not approved: "unapproved, experimental"'),
        ("yes", "False", "InvalidAnnotation",
         'protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason '
         'starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111'),
        ("", "False", "MissingAnnotation",
         'protected groups must have approval annotation "api-approved.kubernetes.io", '
         "see https://github.com/kubernetes/enhancements/pull/1111"),
    ],
)  # fmt: skip
def test_groups_of_kubernetes_say_whether_they_were_approved(
    annotation: str, status: str, reason: str, message: str
) -> None:
    one = definition("widgets", group="x.k8s.io", annotations={"api-approved.kubernetes.io": annotation})
    accept(one, [])
    assert told(one)["KubernetesAPIApprovalPolicyConformant"] == (status, reason, message)
    assert [c["type"] for c in one["status"]["conditions"]][1] == "KubernetesAPIApprovalPolicyConformant"
    assert is_true(one, "Established")


def test_the_time_of_a_condition_is_that_of_its_last_change() -> None:
    one = definition("widgets")
    set_condition(one, "Established", "False", "A", "a")
    one["status"]["conditions"][0]["lastTransitionTime"] = "2020-01-01T00:00:00Z"
    set_condition(one, "Established", "False", "B", "b")
    assert one["status"]["conditions"][0]["lastTransitionTime"] == "2020-01-01T00:00:00Z"
    assert one["status"]["conditions"][0]["reason"] == "B"
    set_condition(one, "Established", "True", "B", "b")
    assert one["status"]["conditions"][0]["lastTransitionTime"] != "2020-01-01T00:00:00Z"
