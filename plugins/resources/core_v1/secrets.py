"""Secrets: ``stringData``, what each type must contain, and the promise of ``immutable``.

COMPAT: pkg/apis/core/validation ValidateSecret, ValidateSecretUpdate; pkg/apis/core/v1 Convert_v1_Secret_To_core_Secret
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column, Resource
from apiserver.api.rest import Context
from apiserver.api.server import Server
from apiserver.api.strategy import Strategy
from apiserver.api.validation import config_map_key
from apiserver_plugins.resources.common.columns import AGE, cell, length
from apiserver_plugins.resources.common.content import MAX_SIZE, decoded_size, frozen
from apiserver_plugins.resources.common.gojson import explain_object
from apiserver_plugins.resources.common.tlspair import explain_pair
from apiserver_plugins.resources.common.values import immutable, invalid

OPAQUE = "Opaque"
TLS = "kubernetes.io/tls"
TOKEN = "kubernetes.io/service-account-token"
ACCOUNT_NAME = "kubernetes.io/service-account.name"
DATA = Path("data")

_DOCKER = {"kubernetes.io/dockercfg": ".dockercfg", "kubernetes.io/dockerconfigjson": ".dockerconfigjson"}
_REDACTED = "<secret contents redacted>"


def _bytes(obj: dict[str, Any], key: str) -> bytes | None:
    value = (obj.get("data") or {}).get(key)
    return None if value is None else base64.b64decode(value)


def _docker(obj: dict[str, Any], key: str) -> list[FieldError]:
    content = _bytes(obj, key)
    if content is None:
        return [FieldError.required(DATA.key(key))]
    problem = explain_object(content)
    return [FieldError.invalid(DATA.key(key), _REDACTED, problem)] if problem else []


def _content(obj: dict[str, Any]) -> list[FieldError]:
    """What the type asks for."""
    kind, data = obj.get("type", ""), obj.get("data") or {}
    required: Iterable[str] = ()
    if kind == TOKEN:
        if not (obj["metadata"].get("annotations") or {}).get(ACCOUNT_NAME):
            return [FieldError.required(Path("metadata.annotations").key(ACCOUNT_NAME))]
    elif kind in _DOCKER:
        return _docker(obj, _DOCKER[kind])
    elif kind == "kubernetes.io/basic-auth":
        keys = ("username", "password")
        required = () if any(key in data for key in keys) else keys
    elif kind == "kubernetes.io/ssh-auth":
        required = () if data.get("ssh-privatekey") else ("ssh-privatekey",)
    elif kind == TLS:
        required = [key for key in ("tls.crt", "tls.key") if key not in data]
    return [FieldError.required(DATA.key(key)) for key in required]


class SecretStrategy(Strategy):
    """Rules of Secrets."""

    def default(self, obj: dict[str, Any]) -> None:
        # COMPAT: stringData is write-only and wins over data
        texts = obj.pop("stringData", None)
        if texts:
            data = obj["data"] = dict(obj.get("data") or {})
            data.update({key: base64.b64encode(text.encode()).decode() for key, text in texts.items()})
        if not obj.get("type"):
            obj["type"] = OPAQUE

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        data = obj.get("data") or {}
        errors: list[FieldError] = []
        for key in data:
            errors += invalid(DATA.key(key), key, config_map_key(key))
        if decoded_size(value or "" for value in data.values()) > MAX_SIZE:
            errors.append(FieldError.too_long(DATA, MAX_SIZE))
        return errors + _content(obj)

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        errors = immutable("type", obj.get("type"), old.get("type"))
        return errors + frozen(obj, old, ("data",)) + self.validate(ctx, obj)

    def warnings_on_create(self, ctx: Context, obj: dict[str, Any]) -> list[str]:
        if obj.get("type") != TLS:
            return []
        problem = explain_pair(_bytes(obj, "tls.crt") or b"", _bytes(obj, "tls.key") or b"")
        return [problem] if problem else []

    def warnings_on_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[str]:
        return self.warnings_on_create(ctx, obj)

    def selectable_fields(self, obj: dict[str, Any]) -> dict[str, str]:
        return {"type": obj.get("type", "")}


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    return [
        Resource(
            group="",
            version="v1",
            kind="Secret",
            plural="secrets",
            strategy=SecretStrategy(),
            selectable_fields=("type",),
            columns=(Column("Type", cell("type"), field="type"), Column("Data", length("data"), field="data"), AGE),
        )
    ]
