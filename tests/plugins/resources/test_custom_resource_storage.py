"""Definitions that kube-apiserver has stored, in the version that it stores them in."""

from __future__ import annotations

import json
from typing import Any

import pytest

from apiserver.testing.server import LocalServer
from apiserver_plugins.resources.apiextensions_v1.v1beta1 import to_v1
from tests.plugins.resources.test_custom_resource_definitions import PATH

Object = dict[str, Any]

SCHEMA = {"openAPIV3Schema": {"type": "object"}}
COLUMN = {"name": "Size", "type": "integer", "JSONPath": ".spec.size"}
NAMES = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ({"version": "v1", "versions": [{"name": "v1", "served": True, "storage": True}], "validation": SCHEMA,
          "preserveUnknownFields": False, "conversion": {"strategy": "None"}},
         {"versions": [{"name": "v1", "served": True, "storage": True, "schema": SCHEMA}],
          "conversion": {"strategy": "None"}}),
        ({"version": "v1", "subresources": {"status": {}}, "additionalPrinterColumns": [COLUMN]},
         {"versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
                        "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]}],
          "preserveUnknownFields": True}),
        ({"version": "v1", "versions": [{"name": "v1", "schema": SCHEMA}, {"name": "v2"}],
          "preserveUnknownFields": False,
          "conversion": {"strategy": "Webhook", "conversionReviewVersions": ["v1"],
                         "webhookClientConfig": {"url": "https://h"}}},
         {"versions": [{"name": "v1", "schema": SCHEMA}, {"name": "v2"}],
          "conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
                                                            "clientConfig": {"url": "https://h"}}}}),
    ],
)  # fmt: skip
def test_the_older_version_becomes_the_newer_one(older: Object, newer: Object) -> None:
    obj = {"spec": older}
    to_v1(obj)
    assert obj["spec"] == newer


def test_what_kube_apiserver_has_stored_is_served() -> None:
    name = "widgets.kept.example.com"
    spec = {
        "group": "kept.example.com", "scope": "Cluster", "names": NAMES, "version": "v1", "validation": SCHEMA,
        "versions": [{"name": "v1", "served": True, "storage": True}], "preserveUnknownFields": False,
    }  # fmt: skip
    stored = {
        "kind": "CustomResourceDefinition",
        "apiVersion": "apiextensions.k8s.io/v1beta1",
        "metadata": {"name": name, "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z", "generation": 1},
        "spec": spec,
        "status": {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"]},
    }
    with LocalServer() as server:
        key = f"/registry/apiextensions.k8s.io/customresourcedefinitions/{name}"
        server.server.storage.create(key, json.dumps(stored).encode())
        answer = server.get(f"{PATH}/{name}")
        assert answer.status == 200, answer.text
        assert answer.json["apiVersion"] == "apiextensions.k8s.io/v1"
        assert answer.json["spec"]["versions"] == [{"name": "v1", "served": True, "storage": True, "schema": SCHEMA}]
        changed = server.patch(f"{PATH}/{name}", {"metadata": {"labels": {"a": "b"}}})
        assert changed.status == 200, changed.text
