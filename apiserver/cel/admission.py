"""The variables of admission: what match conditions of webhooks and expressions of policies may use.

Called by the kinds of ``admissionregistration.k8s.io`` to check expressions, and by whoever evaluates them.

COMPAT: k8s.io/apiserver/pkg/admission/plugin/cel BuildRequestType, BuildNamespaceType, mustBuildEnvs
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

from .expressions import ANY, Compiler
from .libraries import authz
from .schema_types import DeclaredType

_UNKNOWN_SIZE: Final = -1


def _leaf(kind: str) -> DeclaredType:
    return DeclaredType(kind, 2, _UNKNOWN_SIZE)


def _list(element: DeclaredType) -> DeclaredType:
    return DeclaredType("list", 2, _UNKNOWN_SIZE, element)


def _map(element: DeclaredType) -> DeclaredType:
    return DeclaredType("map", 2, _UNKNOWN_SIZE, element)


def _struct(strings: str = "", **fields: DeclaredType) -> DeclaredType:
    named = dict.fromkeys(strings.split(), _leaf("string"))
    return DeclaredType("object", 2, _UNKNOWN_SIZE, fields=named | fields)


_KIND: Final = _struct("group version kind")
_RESOURCE: Final = _struct("group version resource")
REQUEST: Final = _struct(
    "subResource requestSubResource name namespace operation",
    kind=_KIND,
    resource=_RESOURCE,
    requestKind=_KIND,
    requestResource=_RESOURCE,
    userInfo=_struct("username uid", groups=_list(_leaf("string")), extra=_map(_list(_leaf("string")))),
    dryRun=_leaf("bool"),
    options=_leaf("dyn"),
)
NAMESPACE: Final = _struct(
    metadata=_struct(
        "name generateName namespace UID resourceVersion",
        labels=_map(_leaf("string")),
        annotations=_map(_leaf("string")),
        creationTimestamp=_leaf("timestamp"),
        deletionGracePeriodSeconds=_leaf("int"),
        deletionTimestamp=_leaf("timestamp"),
        generation=_leaf("int"),
        finalizers=_list(_leaf("string")),
    ),
    spec=_struct(finalizers=_list(_leaf("string"))),
    status=_struct(
        "phase",
        conditions=_list(_struct("status type message reason", lastTransitionTime=_leaf("timestamp"))),
    ),
)


def variables(*, params: bool, authorizer: bool) -> dict[str, str | DeclaredType]:
    """The variables of an expression that may use parameters, or ask the authorizer."""
    declared: dict[str, str | DeclaredType] = {
        "object": "dyn",
        "oldObject": "dyn",
        "namespaceObject": NAMESPACE,
        "request": REQUEST,
    }
    if params:
        declared["params"] = "dyn"
    if authorizer:
        declared["authorizer"] = authz.AUTHORIZER
        declared["authorizer.requestResource"] = authz.RESOURCE_CHECK
    return declared


@functools.cache
def compiler(*, params: bool, authorizer: bool, makes_patches: bool = False) -> Compiler:
    """For expressions that use no composed variables."""
    return Compiler(variables(params=params, authorizer=authorizer), makes_patches=makes_patches)


class Composition:
    """A policy's variables, each of which may use those before it: ``variables.name``.

    COMPAT: CompositedCompiler
    """

    def __init__(self, *, params: bool) -> None:
        self._params = params
        self._types: dict[str, str] = {}

    def add(self, name: str, expression: str) -> None:
        """Compile a variable and declare it for what follows.

        :raises expressions.ExpressionError: it is wrong; it is declared all the same, as dyn.
        """
        kind = "dyn"
        try:
            kind = self.compiler(authorizer=True).compile(expression, ANY).result
        finally:
            if name.isidentifier():
                self._types[name] = kind

    def compiler(self, *, authorizer: bool, makes_patches: bool = False) -> Compiler:
        """For expressions that come after the variables that have been added."""
        if not self._types:
            return compiler(params=self._params, authorizer=authorizer, makes_patches=makes_patches)
        declared: dict[str, str | DeclaredType] = variables(params=self._params, authorizer=authorizer)
        fields: Mapping[str, DeclaredType] = {name: _leaf("dyn") for name in self._types}
        declared["variables"] = DeclaredType("object", 2, _UNKNOWN_SIZE, fields=fields)
        # Exact types: the longest name is looked for first.
        for name, kind in self._types.items():
            declared[f"variables.{name}"] = kind.replace("(", "<").replace(")", ">").replace(", ", ",")
        return Compiler(declared, makes_patches=makes_patches)
