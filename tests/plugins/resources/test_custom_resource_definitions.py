"""CustomResourceDefinitions over HTTP: what is refused, in which words, and what is kept."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from apiserver.testing.server import LocalServer
from tests.plugins.resources.cases import having

Object = dict[str, Any]

PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAME = "widgets.example.com"
LABEL = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)
MIXED = f"may have mixed case, but should otherwise match: {LABEL}"
ONLY_WEBHOOK = "Forbidden: should not be set when strategy is not set to Webhook"
SIZED = {"type": "object", "properties": {"size": {"type": "integer"}}}
SCHEMA = {"type": "object", "properties": {"spec": SIZED}}
OTHER = {"type": "object"}


def version(name: str = "v1", schema: Object | None = None, **more: Any) -> Object:
    schema = SCHEMA if schema is None else schema
    return {"name": name, "served": True, "storage": name == "v1", "schema": {"openAPIV3Schema": schema}, **more}


DEFINITION: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": NAME},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [version()],
    },
}


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    with LocalServer() as found:
        yield found


def causes(answer: Any) -> list[str]:
    if answer.status < 300:
        return []
    assert answer.status == 422, answer.text
    return sorted(f"{cause['field']}: {cause['message']}" for cause in answer.json["details"]["causes"])


def problems(server: LocalServer, definition: Object) -> list[str]:
    """What is wrong with a new definition."""
    return causes(server.post(f"{PATH}?dryRun=All", definition))


def invalid(value: str, text: str) -> str:
    return f'Invalid value: "{value}": {text}'


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"spec__group": "com", "metadata__name": "widgets.com"},
         [f"spec.group: {invalid('com', 'should be a domain with at least one dot')}"]),
        ({"spec__scope": None}, ["spec.scope: Required value"]),
        ({"spec__names__shortNames": ["W"]}, [f"spec.names.shortNames[0]: {invalid('W', LABEL)}"]),
        ({"spec__names__singular": "W"}, [f"spec.names.singular: {invalid('W', LABEL)}"]),
        ({"spec__names__listKind": "w list"}, [f"spec.names.listKind: {invalid('w list', MIXED)}"]),
        ({"spec__names__plural": None},
         ['metadata.name: Invalid value: "widgets.example.com": must be spec.names.plural+"."+spec.group',
          "spec.names.plural: Required value"]),
        ({"spec__conversion": {"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"]}}},
         [f"spec.conversion.conversionReviewVersions: {ONLY_WEBHOOK}"]),
        ({"spec__conversion": {"strategy": "None", "webhook": {"clientConfig": {"url": "https://h"}}}},
         [f"spec.conversion.webhookClientConfig: {ONLY_WEBHOOK}"]),
        ({"spec__conversion": {"webhook": None}}, ["spec.conversion.strategy: Required value"]),
    ],
)  # fmt: skip
def test_names_scope_and_conversion(server: LocalServer, changes: Object, expected: list[str]) -> None:
    assert problems(server, having(DEFINITION, **changes)) == expected


@pytest.mark.parametrize(
    ("webhook", "expected"),
    [
        ({"clientConfig": {}, "conversionReviewVersions": ["v1"]},
         ["webhookClientConfig: Required value: exactly one of url or service is required"]),
        ({"clientConfig": {"url": "http://h"}, "conversionReviewVersions": ["v1"]},
         ["webhookClientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; "
          "desired format: https://host[/path]"]),
        ({"clientConfig": {"service": {"name": "s"}}, "conversionReviewVersions": ["v1"]},
         ["webhookClientConfig.service.name: Required value: service name is required"]),
        ({"clientConfig": {"service": {"namespace": "s"}}, "conversionReviewVersions": ["v1"]},
         ["webhookClientConfig.service.namespace: Required value: service namespace is required"]),
        ({"clientConfig": {"url": "https://h"}, "conversionReviewVersions": ["v2", "v2", "V"]},
         ['conversionReviewVersions: Invalid value: ["v2","v2","V"]: must include at least one of v1, v1beta1',
          f"conversionReviewVersions[1]: {invalid('v2', 'duplicate version')}",
          f"conversionReviewVersions[2]: {invalid('V', LABEL)}"]),
        ({"clientConfig": {"url": "https://h", "caBundle": base64.b64encode(b"x").decode()},
          "conversionReviewVersions": ["v1"]}, []),
    ],
)  # fmt: skip
def test_conversion_by_a_webhook(server: LocalServer, webhook: Object, expected: list[str]) -> None:
    definition = having(DEFINITION, spec__conversion={"strategy": "Webhook", "webhook": webhook})
    assert problems(server, definition) == [f"spec.conversion.{text}" for text in expected]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"deprecationWarning": "old"}, [invalid("old", "can only be set for deprecated versions")]),
        ({"deprecated": True, "deprecationWarning": ""}, [invalid("", "must not be an empty string")]),
        ({"deprecated": True, "deprecationWarning": "x" * 257},
         [invalid("x" * 257, "must be <= 256 characters long")]),
        ({"deprecated": True, "deprecationWarning": "\u00e9\t"},
         ['Invalid value: "\u00e9\\t": must only contain printable UTF-8 characters; '
          "non-printable character found at index 2"]),
        ({"deprecated": True, "deprecationWarning": "use another"}, []),
    ],
)  # fmt: skip
def test_deprecation_warnings(server: LocalServer, more: Object, expected: list[str]) -> None:
    definition = having(DEFINITION, spec__versions=[version(**more)])
    assert problems(server, definition) == [f"spec.versions[0].deprecationWarning: {text}" for text in expected]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ({"name": "A", "type": "string", "jsonPath": ".a"}, []),
        ({}, ["JSONPath: Required value", "name: Required value",
              "type: Required value: must be one of boolean,date,integer,number,string"]),
        ({"name": "A", "type": "string", "jsonPath": ".a", "format": "f"},
         [f"format: {invalid('f', 'must be one of byte,date,date-time,double,float,int32,int64,password')}"]),
    ],
)  # fmt: skip
def test_printer_columns(server: LocalServer, column: Object, expected: list[str]) -> None:
    definition = having(DEFINITION, spec__versions=[version(additionalPrinterColumns=[column])])
    assert problems(server, definition) == [f"spec.additionalPrinterColumns[0].{text}" for text in expected]


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        ({}, ["specReplicasPath: Required value", "statusReplicasPath: Required value"]),
        ({"specReplicasPath": "spec.a", "statusReplicasPath": ".status.b"},
         [f"specReplicasPath: {invalid('spec.a', 'must be a simple json path starting with .')}"]),
        ({"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.b", "labelSelectorPath": ".metadata.c"},
         [f"labelSelectorPath: {invalid('.metadata.c', 'should be a json path under either .spec or .status')}"]),
        ({"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.b", "labelSelectorPath": ".spec.c"}, []),
    ],
)  # fmt: skip
def test_paths_of_the_scale(server: LocalServer, scale: Object, expected: list[str]) -> None:
    definition = having(DEFINITION, spec__versions=[version(subresources={"scale": scale})])
    assert problems(server, definition) == [f"spec.subresources.scale.{text}" for text in expected]


TYPED: Object = {
    "type": "object",
    "properties": {
        "metadata": {"type": "object", "properties": {"name": {"type": "string"}}},
        "spec": {
            "type": "object",
            "properties": {
                **{f"f{i}": {"type": "string"} for i in range(9)},
                "open": {"type": "object", "additionalProperties": {"type": "integer"}},
                "list": {"type": "array", "items": {"type": "string"}},
            },
        },
    },
}
NO_FIELD = "does not refer to a valid field"
WRONG_TYPE = (
    "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."
)


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ([".spec.f0", ".spec.f1", ".spec.open.any"], []),
        ([""], ["[0].jsonPath: Required value"]),
        (["spec.f0"], [f"[0].jsonPath: {invalid('spec.f0', 'is an invalid path: expected [ or . but got: spec')}"]),
        ([".spec."], [f"[0].jsonPath: {invalid('.spec.', 'is an invalid path: unexpected end of JSON path')}"]),
        ([".spec.f0.x"], [f"[0].jsonPath: {invalid('.spec.f0.x', f'is an invalid path: {NO_FIELD}')}"]),
        ([".spec['f0']"],
         ["[0].jsonPath: Invalid value: \".spec['f0']\": is an invalid path: array notation is not allowed"]),
        ([".metadata.name"], [f"[0].jsonPath: {invalid('.metadata.name', 'must not point to fields in metadata')}"]),
        ([".spec.list"], [f"[0].jsonPath: {invalid('.spec.list', WRONG_TYPE)}"]),
        ([".spec.f0", ".spec.f0"], ['[1].jsonPath: Duplicate value: ".spec.f0"']),
        ([f".spec.f{i}" for i in range(9)], [": Too many: 9: must have at most 8 items"]),
    ],
)  # fmt: skip
def test_selectable_fields(server: LocalServer, paths: list[str], expected: list[str]) -> None:
    fields = [{"jsonPath": path} for path in paths]
    definition = having(DEFINITION, spec__versions=[version(schema=TYPED, selectableFields=fields)])
    assert problems(server, definition) == [f"spec.selectableFields{text}" for text in expected]


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        # What is the same in all versions is told of once, and what is not, for the version that it is about.
        ([version(schema={"type": "array"}), version("v2", {"type": "array"})],
         ["spec.validation.openAPIV3Schema.items: Required value: must be specified",
          f"spec.validation.openAPIV3Schema.type: {invalid('array', 'must be object at the root')}"]),
        ([version(), version("v2", {"type": "string"})],
         [f"spec.versions[1].schema.openAPIV3Schema.type: {invalid('string', 'must be object at the root')}"]),
        ([version(selectableFields=[{"jsonPath": ".spec.size"}]), version("v2")],
         ["spec.versions[0].selectableFields: Invalid value: \"\": may only be set when "
          "`version.schema.openAPIV3Schema` is not included"]),
        ([version(selectableFields=[{"jsonPath": ".spec.size"}]),
          version("v2", TYPED, selectableFields=[{"jsonPath": ".spec.size"}])],
         ['spec.selectableFields: Invalid value: "": may only be set when validations.schema is included']),
        ([version(selectableFields=[{"jsonPath": ".spec.x"}]), version("v2", OTHER)],
         ["spec.versions[0].selectableFields[0].jsonPath: "
          + invalid(".spec.x", "is an invalid path: does not refer to a valid field")]),
        ([version(additionalPrinterColumns=[{"name": "A", "type": "x", "jsonPath": ".a"}]), version("v2", OTHER)],
         ["spec.versions[0].additionalPrinterColumns[0].type: "
          + invalid("x", "must be one of boolean,date,integer,number,string")]),
        ([{"name": "v1", "served": True, "storage": True}, version("v2")],
         ["spec.versions[0].schema.openAPIV3Schema: Required value"]),
    ],
)  # fmt: skip
def test_where_problems_of_several_versions_are_told(
    server: LocalServer, versions: list[Object], expected: list[str]
) -> None:
    assert problems(server, having(DEFINITION, spec__versions=versions)) == expected


# -- groups that are Kubernetes' own -----------------------------------------------------------------------------------

SEE = "see https://github.com/kubernetes/enhancements/pull/1111"
NEEDED = 'protected groups must have approval annotation "api-approved.kubernetes.io"'
REASON = 'a URL or a reason starting with "unapproved"'
AT = "metadata.annotations[api-approved.kubernetes.io]"


@pytest.mark.parametrize("group", ["k8s.io", "x.kubernetes.io"])
@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (None, [f"{AT}: Required value: {NEEDED}, {SEE}"]),
        ("yes", [f"{AT}: {invalid('yes', f'{NEEDED} with either {REASON}, {SEE}')}"]),
        ("unapproved, experimental", []),
        ("https://github.com/kubernetes/kubernetes/pull/1", []),
    ],
)  # fmt: skip
def test_kubernetes_own_groups_need_an_approval(
    server: LocalServer, group: str, annotation: str | None, expected: list[str]
) -> None:
    definition = having(DEFINITION, spec__group=group, metadata__name=f"widgets.{group}")
    if annotation is not None:
        definition["metadata"]["annotations"] = {"api-approved.kubernetes.io": annotation}
    assert problems(server, definition) == expected


def test_an_approval_that_was_missing_before_may_stay_missing(server: LocalServer) -> None:
    """An annotation that is taken away is missed; who does not touch it is not asked."""
    name = "widgets.stay.k8s.io"
    path = f"{PATH}/{name}"
    definition = having(DEFINITION, spec__group="stay.k8s.io", metadata__name=name)
    definition["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved"}
    assert server.post(PATH, definition).status == 201
    gone = {"metadata": {"annotations": {"api-approved.kubernetes.io": None}}}
    assert causes(server.patch(path, gone)) == [f"{AT}: Required value: {NEEDED}, {SEE}"]
    assert server.patch(path, {"metadata": {"labels": {"a": "b"}}}).status == 200


# -- the life of a definition ------------------------------------------------------------------------------------------


def made(server: LocalServer, group: str, **changes: Any) -> str:
    """The path of a new definition in a group of its own."""
    name = f"widgets.{group}.example.com"
    definition = having(DEFINITION, metadata__name=name, spec__group=f"{group}.example.com", **changes)
    answer = server.post(PATH, definition)
    assert answer.status == 201, answer.text
    return f"{PATH}/{name}"


def establish(server: LocalServer, path: str) -> None:
    condition = {"type": "Established", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    assert server.patch(f"{path}/status", {"status": {"conditions": [condition]}}).status == 200


def test_a_new_definition_has_defaults_and_a_status_of_the_server(server: LocalServer) -> None:
    definition = having(DEFINITION, status={"storedVersions": ["v9"], "acceptedNames": {"plural": "x", "kind": "Y"}})
    answer = server.post(f"{PATH}?dryRun=All", definition).json
    assert answer["spec"]["names"] == {
        "plural": "widgets", "kind": "Widget", "singular": "widget", "listKind": "WidgetList"
    }  # fmt: skip
    assert answer["spec"]["conversion"] == {"strategy": "None"}
    assert answer["metadata"]["generation"] == 1
    assert answer["status"] == {
        "acceptedNames": {"kind": "", "plural": ""}, "conditions": None, "storedVersions": ["v1"]
    }  # fmt: skip


def test_a_conversion_service_listens_on_443_unless_it_says_so(server: LocalServer) -> None:
    client = {"service": {"name": "s", "namespace": "n"}}
    webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
    definition = having(DEFINITION, spec__conversion={"strategy": "Webhook", "webhook": webhook})
    answer = server.post(f"{PATH}?dryRun=All", definition).json
    assert answer["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["port"] == 443


def test_what_may_not_change(server: LocalServer) -> None:
    path = made(server, "fixed")
    immutable = "field is immutable"
    group = {"spec": {"group": "other.example.com"}}
    assert causes(server.patch(path, group)) == [f"spec.group: {invalid('other.example.com', immutable)}"]
    plural = {"spec": {"names": {"plural": "gadgets"}}}
    assert causes(server.patch(path, plural)) == [f"spec.names.plural: {invalid('gadgets', immutable)}"]
    establish(server, path)
    change = {"spec": {"scope": "Cluster", "names": {"kind": "Gadget"}}}
    assert causes(server.patch(path, change)) == [
        f"spec.names.kind: {invalid('Gadget', immutable)}",
        f"spec.scope: {invalid('Cluster', immutable)}",
    ]


def test_a_version_that_was_stored_must_stay_until_its_objects_are_rewritten(server: LocalServer) -> None:
    path = made(server, "stored")
    first, second = version(storage=False), version("v2", OTHER, storage=True)
    answer = server.patch(path, {"spec": {"versions": [first, second]}})
    assert (answer.json["status"]["storedVersions"], answer.json["metadata"]["generation"]) == (["v1", "v2"], 2)
    only = {"spec": {"versions": [second]}}
    assert causes(server.patch(path, only)) == [
        'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage '
        "version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 "
        "and removes v1 from status.storedVersions"
    ]
    status = {"status": {"storedVersions": ["v2"]}, "spec": {"scope": "Cluster"}}
    answer = server.patch(f"{path}/status", status)
    assert (answer.json["status"]["storedVersions"], answer.json["spec"]["scope"]) == (["v2"], "Namespaced")
    assert server.patch(path, only).status == 200


def test_names_in_the_status_are_checked_too(server: LocalServer) -> None:
    path = made(server, "accepted")
    status = {"status": {"acceptedNames": {"plural": "Widgets", "kind": "Widget"}}}
    assert causes(server.patch(f"{path}/status", status)) == [
        f"status.acceptedNames.plural: {invalid('Widgets', LABEL)}"
    ]


def test_an_update_says_which_definition_it_has_seen(server: LocalServer) -> None:
    path = made(server, "seen")
    definition = server.get(path).json
    del definition["metadata"]["resourceVersion"]
    answer = server.put(path, definition)
    assert answer.status == 422
    assert causes(answer) == ["metadata.resourceVersion: Invalid value: 0: must be specified for an update"]


def test_a_deletion_waits_for_the_objects_of_the_definition(server: LocalServer) -> None:
    path = made(server, "waits")
    answer = server.delete(path)
    assert answer.status == 200
    obj = answer.json
    assert obj["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert obj["metadata"]["deletionTimestamp"]
    assert obj["metadata"]["generation"] == 1
    condition = next(each for each in obj["status"]["conditions"] if each["type"] == "Terminating")
    del condition["lastTransitionTime"]
    assert condition == {
        "type": "Terminating",
        "status": "True",
        "reason": "InstanceDeletionPending",
        "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    }


def test_formats_that_nobody_checks_are_warned_of(server: LocalServer) -> None:
    def warnings(answer: Any) -> str:
        assert answer.status < 300, answer.text
        found: str = answer.headers.get("warning", "")
        return found

    formats = {
        "a": {"type": "string", "format": "date-time"}, "b": {"type": "integer", "format": "int8"},
        "c": {"type": "string", "format": "k8s-short-name"}, "d": {"type": "boolean", "format": "yes"},
        "e": {"type": "number", "format": "double"},
    }  # fmt: skip
    schema = {"type": "object", "properties": formats}
    path = made(server, "plain")
    expected = '299 - "unrecognized format \\"int8\\"", 299 - "unrecognized format \\"yes\\""'
    change = {"spec": {"versions": [version(schema=schema)]}}
    assert warnings(server.patch(path, change)) == expected
    assert warnings(server.patch(path, {"metadata": {"labels": {"a": "b"}}})) == ""
    assert warnings(server.post(f"{PATH}?dryRun=All", having(DEFINITION, spec__versions=[version(schema=schema)]))) == (
        expected
    )
