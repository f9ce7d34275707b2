"""What plugins declare is checked when the server is built, and who declared it is named."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from apiserver import HealthCheck, Resource, Route, Strategy, hookimpl
from apiserver.manager import PluginError
from apiserver.testing.server import LocalServer

SCHEMA = {"type": "object"}


def returning(hook: str, value: Any, priority: int | None = None) -> SimpleNamespace:
    """A plugin whose ``hook`` returns ``value``."""

    def implementation() -> Any:
        return value

    return SimpleNamespace(**{hook: hookimpl(priority=priority, specname=hook)(implementation)})


def demo(**more: Any) -> Resource:
    return Resource("demo.example.com", "v1", "Demo", "demos", **{"schema": SCHEMA, **more})


def app(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    return []


@pytest.mark.parametrize(
    ("hook", "value", "problem"),
    [
        ("resources", [{"group": "demo"}], "apiserver_resources returned {'group': 'demo'}, which is no Resource"),
        ("resources", [demo(schema=None)], "Resource=demos has no schema and Demo is no built-in kind"),
        (
            "resources",
            [demo(schema={"type": "object", "properties": {"spec": {"type": "int"}}})],
            'Resource=demos has a schema that is none: properties.spec.type: "int" is not',
        ),
        ("resources", [demo(schema={"properties": 3})], 'a schema that is none: properties: 3 is not of type "object"'),
        ("resources", [demo(strategy=Strategy)], "which is no instance of Strategy"),
        ("resources", [demo(), demo()], "demo.example.com/v1, Resource=demos is already declared by wrong"),
        ("routes", ["/hello"], "apiserver_routes returned '/hello', which is no Route"),
        ("routes", [Route("/version", app)], "/version is already declared by the core"),
        ("health_checks", [HealthCheck("ping", str)], "ping is already declared by the core"),
    ],
)
def test_a_declaration_that_cannot_work_is_refused(hook, value, problem):
    with pytest.raises(PluginError) as caught, LocalServer(wrong=returning(f"apiserver_{hook}", value)):
        pass
    (found,) = caught.value.problems
    assert found.startswith("wrong: ")
    assert problem in found


@pytest.mark.parametrize(
    ("hook", "lack"),
    [
        ("filter", "cannot be called"),
        ("delegate", "cannot be called"),
        ("authenticator", "has no authenticate()"),
        ("authorizer", "has no authorize()"),
    ],
)
def test_what_is_offered_must_be_able_to_do_it(hook, lack):
    wrong = returning(f"apiserver_{hook}", "something", 7)
    with pytest.raises(PluginError, match=f"returned 'something', which {lack}".replace("()", r"\(\)")):
        LocalServer(wrong=wrong).__enter__()


def test_all_that_plugins_declare_wrongly_is_told_at_once():
    plugins = {"one": returning("apiserver_routes", [1]), "two": returning("apiserver_routes", [2])}
    with pytest.raises(PluginError) as caught:
        LocalServer(**plugins).__enter__()
    assert len(caught.value.problems) == 2
