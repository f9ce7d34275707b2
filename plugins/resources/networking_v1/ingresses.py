"""Ingresses.

COMPAT: pkg/apis/networking/validation ValidateIngressCreate; pkg/registry/networking/ingress; printIngress
"""

from __future__ import annotations

import re
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import SpecStatusStrategy, StatusStrategy
from apiserver.api.validation import dns_1035_label, dns_subdomain
from apiserver_plugins.resources.common.columns import AGE, NONE, cell, value_at
from apiserver_plugins.resources.common.values import invalid, is_ip, parse_ip, port_name, port_number
from apiserver_plugins.resources.networking_v1.references import reference_errors

CLASS_ANNOTATION = "kubernetes.io/ingress.class"
SHOWN = 3
_SPEC = Path("spec")
_PATH_TYPES = frozenset(("Exact", "Prefix", "ImplementationSpecific"))
_WILDCARD = r"\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_WILDCARD_RE = re.compile(_WILDCARD)
_WILDCARD_TEXT = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character "
    f"(e.g. '*.example.com', regex used for validation is '{_WILDCARD}')"
)
_NOT_IN_PATH = ("//", "/./", "/../", "%2f", "%2F")
_NOT_AT_END = ("/..", "/.")
_NO_IP = "must be a DNS name, not an IP address"


def _host_errors(host: str, path: Path) -> list[FieldError]:
    if "*" not in host:
        return invalid(path, host, dns_subdomain(host))
    return [] if len(host) <= 253 and _WILDCARD_RE.fullmatch(host) else [FieldError.invalid(path, host, _WILDCARD_TEXT)]


def _backend_errors(backend: dict[str, Any], path: Path) -> list[FieldError]:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        return [FieldError.invalid(path, "", "cannot set both resource and service backends")]
    if resource is not None:
        return reference_errors(resource, path / "resource")
    if service is None:
        return [FieldError.invalid(path, "", "resource or service backend is required")]
    name, where = service.get("name") or "", path / "service"
    errors = invalid(where / "name", name, dns_1035_label(name)) if name else [FieldError.required(where / "name")]
    port = service.get("port") or {}
    if port.get("name") and port.get("number"):
        errors.append(FieldError.invalid(path, "", "cannot set both port name & port number"))
    elif port.get("name"):
        errors += invalid(where / "port" / "name", port["name"], port_name(port["name"]))
    elif port.get("number"):
        errors += port_number(where / "port" / "number", port["number"])
    else:
        errors.append(FieldError.required(path, "port name or number is required"))
    return errors


def _http_path_errors(entry: dict[str, Any], path: Path) -> list[FieldError]:
    kind, value, where = entry.get("pathType"), entry.get("path") or "", path / "path"
    if kind is None:
        return [FieldError.required(path / "pathType", "pathType must be specified")]
    errors: list[FieldError] = []
    relative = not value.startswith("/")
    if kind in ("Exact", "Prefix"):
        if relative:
            errors.append(FieldError.invalid(where, value, "must be an absolute path"))
        errors += [FieldError.invalid(where, value, f"must not contain '{s}'") for s in _NOT_IN_PATH if s in value]
        ends = [end for end in _NOT_AT_END if value.endswith(end)]
        errors += [FieldError.invalid(where, value, f"cannot end with '{end}'") for end in ends]
    elif kind == "ImplementationSpecific":
        if value and relative:
            errors.append(FieldError.invalid(where, value, "must be an absolute path"))
    else:
        errors.append(FieldError.not_supported(path / "pathType", kind, _PATH_TYPES))
    return errors + _backend_errors(entry.get("backend") or {}, path / "backend")


def _rule_errors(rule: dict[str, Any], path: Path) -> list[FieldError]:
    host, http = rule.get("host") or "", rule.get("http")
    errors: list[FieldError] = []
    if host:
        if parse_ip(host):
            errors.append(FieldError.invalid(path / "host", host, _NO_IP))
        errors += _host_errors(host, path / "host")
    if http is None:
        return errors
    paths, where = http.get("paths") or (), path / "http" / "paths"
    if not paths:
        errors.append(FieldError.required(where))
    for i, entry in enumerate(paths):
        errors += _http_path_errors(entry, where / i)
    return errors


def _tls_errors(tls: dict[str, Any], path: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    for i, host in enumerate(tls.get("hosts") or ()):
        errors += _host_errors(host, path / "hosts" / i)
    secret = tls.get("secretName")
    return errors + (invalid(path / "secretName", secret, dns_subdomain(secret)) if secret else [])


class IngressStrategy(SpecStatusStrategy):
    """Rules of Ingresses."""

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        super().prepare_for_create(ctx, obj)
        obj["status"] = {"loadBalancer": {}}

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        errors = self._spec_errors(obj.get("spec") or {})
        chosen = (obj["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION)
        name = value_at(obj, "spec", "ingressClassName")
        if chosen is not None and name is not None and chosen != name:
            text = "must match `ingressClassName` when both are specified"
            errors.append(FieldError.invalid(f"annotations.{CLASS_ANNOTATION}", chosen, text))
        return errors

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        return self._spec_errors(obj.get("spec") or {})

    def _spec_errors(self, spec: dict[str, Any]) -> list[FieldError]:
        errors: list[FieldError] = []
        backend, rules = spec.get("defaultBackend"), spec.get("rules") or ()
        if not rules and backend is None:
            text = "either `defaultBackend` or `rules` must be specified"
            errors.append(FieldError.invalid(_SPEC, None, text))
        if backend is not None:
            errors += _backend_errors(backend, _SPEC / "defaultBackend")
        for i, rule in enumerate(rules):
            errors += _rule_errors(rule, _SPEC / "rules" / i)
        for i, tls in enumerate(spec.get("tls") or ()):
            errors += _tls_errors(tls, _SPEC / "tls" / i)
        name = spec.get("ingressClassName")
        return errors + (invalid(_SPEC / "ingressClassName", name, dns_subdomain(name)) if name is not None else [])


class IngressStatusStrategy(StatusStrategy):
    """Rules of ``/status``. COMPAT: ValidateIngressLoadBalancerStatus."""

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        errors: list[FieldError] = []
        for i, entry in enumerate(value_at(obj, "status", "loadBalancer", "ingress") or ()):
            path = Path("status.loadBalancer.ingress") / i
            if entry.get("ip"):
                errors += is_ip(path / "ip", entry["ip"])
            host = entry.get("hostname")
            if host:
                errors += invalid(path / "hostname", host, dns_subdomain(host))
                if parse_ip(host):
                    errors.append(FieldError.invalid(path / "hostname", host, _NO_IP))
        return errors


def _hosts(obj: dict[str, Any]) -> str:
    """COMPAT: formatHosts."""
    rules = value_at(obj, "spec", "rules") or ()
    hosts = [rule["host"] for rule in rules if rule.get("host")]
    if not hosts:
        return "*"
    shown = ",".join(hosts[:SHOWN])
    return f"{shown} + {len(rules) - SHOWN} more..." if len(hosts) > SHOWN else shown


def _address(obj: dict[str, Any]) -> str:
    entries = value_at(obj, "status", "loadBalancer", "ingress") or ()
    return ",".join(sorted({entry.get("ip") or entry.get("hostname") or "" for entry in entries} - {""}))


def _ports(obj: dict[str, Any]) -> str:
    return "80, 443" if value_at(obj, "spec", "tls") else "80"


STRATEGY = IngressStrategy()
STATUS = IngressStatusStrategy(STRATEGY)
COLUMNS = (
    Column(
        "Class",
        cell("spec", "ingressClassName", default=NONE),
        description="The name of the IngressClass resource that should be used for additional configuration",
    ),
    Column("Hosts", _hosts, description="Hosts that incoming requests are matched against before the ingress rule"),
    Column("Address", _address, description="Address is a list containing ingress points for the load-balancer"),
    Column("Ports", _ports, description="Ports of TLS configurations that open"),
    AGE,
)
