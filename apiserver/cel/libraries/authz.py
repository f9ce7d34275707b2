"""Questions to the authorizer: ``authorizer.group('').resource('pods').namespace('x').check('list').allowed()``.

The variable ``authorizer`` is a value made by :func:`authorizer`; who answers is set around an evaluation with
:func:`answering`. COMPAT: k8s.io/apiserver/pkg/cel/library/authz.go
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from .declaring import EvaluationError, Library, Overload, member, opaque

_PACKAGE: Final = "kubernetes.authorization"
AUTHORIZER: Final = f"{_PACKAGE}.Authorizer"
PATH_CHECK: Final = f"{_PACKAGE}.PathCheck"
GROUP_CHECK: Final = f"{_PACKAGE}.GroupCheck"
RESOURCE_CHECK: Final = f"{_PACKAGE}.ResourceCheck"
DECISION: Final = f"{_PACKAGE}.Decision"

_Value = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Decision:
    """What an authorizer says."""

    allowed: bool
    reason: str = ""
    error: str = ""


Authorize = Callable[[Mapping[str, Any]], Decision]
"""Answers a question: ``verb`` with ``path``, or with ``group``, ``resource``, ``subresource``, ``namespace``,
``name``, ``fieldSelector``, ``labelSelector``; ``serviceAccount`` is (namespace, name) if it is not about the request's
user."""

_authorize: ContextVar[Authorize] = ContextVar("authorize")


@contextlib.contextmanager
def answering(authorize: Authorize) -> Iterator[None]:
    """Whatever is evaluated inside asks this authorizer."""
    token = _authorize.set(authorize)
    try:
        yield
    finally:
        _authorize.reset(token)


def authorizer() -> dict[str, str]:
    """The value of the variable ``authorizer``: it asks about the request's user."""
    return _made(AUTHORIZER, {})


def resource_check(**attributes: str) -> dict[str, str]:
    """The value of ``authorizer.requestResource``: a question about the request's own resource."""
    return _made(RESOURCE_CHECK, attributes)


def _made(kind: str, attributes: Mapping[str, Any]) -> dict[str, str]:
    return opaque(kind, json.dumps(attributes, sort_keys=True))


def _with(from_kind: str, to_kind: str, name: str) -> Callable[[_Value, str], dict[str, str]]:
    def made(value: _Value, text: str) -> dict[str, str]:
        return _made(to_kind, json.loads(value[from_kind]) | {name: text})

    return made


def _service_account(value: _Value, namespace: str, name: str) -> dict[str, str]:
    return _made(AUTHORIZER, json.loads(value[AUTHORIZER]) | {"serviceAccount": [namespace, name]})


def _check(kind: str) -> Callable[[_Value, str], dict[str, str]]:
    def checked(value: _Value, verb: str) -> dict[str, str]:
        authorize = _authorize.get(None)
        if authorize is None:
            raise EvaluationError("no authorizer")
        decision = authorize(json.loads(value[kind]) | {"verb": verb})
        told = {"allowed": decision.allowed, "reason": decision.reason, "error": decision.error}
        return _made(DECISION, told)

    return checked


def _part(name: str) -> Callable[[_Value], Any]:
    return lambda value: json.loads(value[DECISION])[name]


def _step(overload_id: str, from_kind: str, to_kind: str, name: str) -> tuple[Overload, ...]:
    return (member(overload_id, (from_kind, "string"), to_kind, _with(from_kind, to_kind, name)),)


def _narrowed(overload_id: str, name: str) -> tuple[Overload, ...]:
    return _step(overload_id, RESOURCE_CHECK, RESOURCE_CHECK, name)


LIBRARY: Final = Library(
    "kubernetes.authz",
    {
        "path": _step("authorizer_path", AUTHORIZER, PATH_CHECK, "path"),
        "group": _step("authorizer_group", AUTHORIZER, GROUP_CHECK, "group"),
        "serviceAccount": (
            member("authorizer_serviceaccount", (AUTHORIZER, "string", "string"), AUTHORIZER, _service_account),
        ),
        "resource": _step("groupcheck_resource", GROUP_CHECK, RESOURCE_CHECK, "resource"),
        "subresource": _narrowed("resourcecheck_subresource", "subresource"),
        "namespace": _narrowed("resourcecheck_namespace", "namespace"),
        "name": _narrowed("resourcecheck_name", "name"),
        "fieldSelector": _narrowed("authorizer_fieldselector", "fieldSelector"),
        "labelSelector": _narrowed("authorizer_labelselector", "labelSelector"),
        "check": (
            member("pathcheck_check", (PATH_CHECK, "string"), DECISION, _check(PATH_CHECK)),
            member("resourcecheck_check", (RESOURCE_CHECK, "string"), DECISION, _check(RESOURCE_CHECK)),
        ),
        "errored": (member("decision_errored", (DECISION,), "bool", lambda value: bool(_part("error")(value))),),
        "error": (member("decision_error", (DECISION,), "string", _part("error")),),
        "allowed": (member("decision_allowed", (DECISION,), "bool", _part("allowed")),),
        "reason": (member("decision_reason", (DECISION,), "string", _part("reason")),),
    },
)
