"""IngressClasses.

COMPAT: pkg/apis/networking/v1 SetDefaults_IngressClass; pkg/apis/networking/validation ValidateIngressClass
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy, bump_generation
from apiserver.api.validation import dns_label
from apiserver_plugins.resources.common.columns import AGE, NONE, cell, value_at
from apiserver_plugins.resources.common.values import domain_prefixed_path, immutable, invalid
from apiserver_plugins.resources.networking_v1.references import reference_errors

CLUSTER, NAMESPACE = "Cluster", "Namespace"
_SPEC = Path("spec")
_LONGEST = 250


def _parameter_errors(parameters: dict[str, Any], path: Path) -> list[FieldError]:
    errors = reference_errors(parameters, path)
    scope, namespace = parameters.get("scope"), parameters.get("namespace")
    if scope is None:
        return [*errors, FieldError.required(path / "scope")]
    if scope not in (CLUSTER, NAMESPACE):
        errors.append(FieldError.not_supported(path / "scope", scope, (CLUSTER, NAMESPACE)))
    if scope == NAMESPACE:
        if namespace is None:
            errors.append(FieldError.required(path / "namespace", "`parameters.scope` is set to 'Namespace'"))
        else:
            errors += invalid(path / "namespace", namespace, dns_label(namespace))
    if scope == CLUSTER and namespace is not None:
        errors.append(FieldError.forbidden(path / "namespace", "`parameters.scope` is set to 'Cluster'"))
    return errors


class IngressClassStrategy(Strategy):
    """Rules of IngressClasses."""

    def default(self, obj: dict[str, Any]) -> None:
        parameters = value_at(obj, "spec", "parameters")
        if parameters is not None and parameters.get("scope") is None:
            parameters["scope"] = CLUSTER

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        obj["metadata"]["generation"] = 1

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        bump_generation(obj, old)

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        spec = obj.get("spec") or {}
        controller = spec.get("controller") or ""
        errors: list[FieldError] = []
        if len(controller) > _LONGEST:
            errors.append(FieldError.too_long(_SPEC / "controller", _LONGEST))
        errors += domain_prefixed_path(_SPEC / "controller", controller)
        if spec.get("parameters") is not None:
            errors += _parameter_errors(spec["parameters"], _SPEC / "parameters")
        return errors

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        controller, before = value_at(obj, "spec", "controller"), value_at(old, "spec", "controller")
        return self.validate(ctx, obj) + immutable(_SPEC / "controller", controller, before)


def _parameters(obj: dict[str, Any]) -> str:
    parameters = value_at(obj, "spec", "parameters")
    if parameters is None:
        return NONE
    group = f".{parameters['apiGroup']}" if parameters.get("apiGroup") is not None else ""
    return f"{parameters.get('kind', '')}{group}/{parameters.get('name', '')}"


STRATEGY = IngressClassStrategy()
COLUMNS = (
    Column(
        "Controller",
        cell("spec", "controller"),
        description="Controller that is responsible for handling this class",
    ),
    Column("Parameters", _parameters, description="A reference to a resource with additional parameters"),
    AGE,
)
