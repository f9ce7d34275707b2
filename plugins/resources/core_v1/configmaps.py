"""ConfigMaps: keys, size, and the promise of ``immutable``.

COMPAT: pkg/apis/core/validation ValidateConfigMap, ValidateConfigMapUpdate; pkg/registry/core/configmap
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column, Resource
from apiserver.api.rest import Context
from apiserver.api.server import Server
from apiserver.api.strategy import Strategy
from apiserver.api.validation import config_map_key
from apiserver_plugins.resources.common.columns import AGE, length
from apiserver_plugins.resources.common.content import MAX_SIZE, decoded_size, frozen
from apiserver_plugins.resources.common.values import invalid


class ConfigMapStrategy(Strategy):
    """Rules of ConfigMaps."""

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
        errors: list[FieldError] = []
        for field, values in (("data", data), ("binaryData", binary)):
            for key in values:
                errors += invalid(Path(field).key(key), key, config_map_key(key))
        twice = "duplicate of key present in binaryData"
        errors += [FieldError.invalid(Path("data").key(key), key, twice) for key in data if key in binary]
        size = sum(len(v.encode()) for v in data.values()) + decoded_size(binary.values())
        if size > MAX_SIZE:
            # COMPAT: the path is that of an empty key of nothing
            errors.append(FieldError.too_long("[]", MAX_SIZE))
        return errors

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        return frozen(obj, old, ("data", "binaryData")) + self.validate(ctx, obj)


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    return [
        Resource(
            group="",
            version="v1",
            kind="ConfigMap",
            plural="configmaps",
            short_names=("cm",),
            strategy=ConfigMapStrategy(),
            columns=(Column("Data", length("data", "binaryData"), field="data"), AGE),
        )
    ]
