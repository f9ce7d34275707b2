"""A Kubernetes-compatible API server made of plugins: the names a plugin needs most, from one place.

Everything else a plugin may import is in :mod:`apiserver.api`. Names are looked up when they are first used, so that
importing any module of the package costs no more than that module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from apiserver.api.admission import AdmissionRequest
    from apiserver.api.auth import Attributes, Authenticator, Authorizer, Decision, User
    from apiserver.api.errors import (
        AlreadyExists,
        ApiError,
        BadRequest,
        Conflict,
        Forbidden,
        InternalError,
        Invalid,
        NotFound,
        ServiceUnavailable,
        TooManyRequests,
        Unauthorized,
    )
    from apiserver.api.fields import FieldError, Path
    from apiserver.api.health import HealthCheck
    from apiserver.api.names import GroupResource, GroupVersion, GroupVersionKind, GroupVersionResource
    from apiserver.api.request import Request, RequestInfo
    from apiserver.api.resource import Column, Resource, Subresource
    from apiserver.api.server import DelegateMatch, Filter, Route, Server, WsgiApp
    from apiserver.api.settings import Config, ConfigError, Setting
    from apiserver.api.strategy import SpecStatusStrategy, StatusStrategy, Strategy
    from apiserver.markers import hookimpl
    from apiserver.schema.check import SchemaCheck

_HOMES = {
    "admission": "AdmissionRequest",
    "auth": "Attributes Authenticator Authorizer Decision User",
    "errors": "AlreadyExists ApiError BadRequest Conflict Forbidden InternalError Invalid NotFound "
    "ServiceUnavailable TooManyRequests Unauthorized",
    "fields": "FieldError Path",
    "health": "HealthCheck",
    "names": "GroupResource GroupVersion GroupVersionKind GroupVersionResource",
    "request": "Request RequestInfo",
    "resource": "Column Resource Subresource",
    "server": "DelegateMatch Filter Route Server WsgiApp",
    "settings": "Config ConfigError Setting",
    "strategy": "SpecStatusStrategy StatusStrategy Strategy",
}
_MODULES = {name: f"apiserver.api.{module}" for module, names in _HOMES.items() for name in names.split()}
_MODULES["hookimpl"] = "apiserver.markers"
_MODULES["SchemaCheck"] = "apiserver.schema.check"

__all__ = [
    "AdmissionRequest",
    "AlreadyExists",
    "ApiError",
    "Attributes",
    "Authenticator",
    "Authorizer",
    "BadRequest",
    "Column",
    "Config",
    "ConfigError",
    "Conflict",
    "Decision",
    "DelegateMatch",
    "FieldError",
    "Filter",
    "Forbidden",
    "GroupResource",
    "GroupVersion",
    "GroupVersionKind",
    "GroupVersionResource",
    "HealthCheck",
    "InternalError",
    "Invalid",
    "NotFound",
    "Path",
    "Request",
    "RequestInfo",
    "Resource",
    "Route",
    "SchemaCheck",
    "Server",
    "ServiceUnavailable",
    "Setting",
    "SpecStatusStrategy",
    "StatusStrategy",
    "Strategy",
    "Subresource",
    "TooManyRequests",
    "Unauthorized",
    "User",
    "WsgiApp",
    "hookimpl",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'apiserver' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
