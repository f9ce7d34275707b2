"""CustomResourceDefinitions: defaults, what clients may not set, and what their deletion waits for.

What is wrong with a definition say the other modules of this package, put together by :mod:`.validation`. Conditions
and accepted names are set by the controller that serves what is defined.

COMPAT: apiextensions-apiserver pkg/apis/apiextensions/v1 defaults; pkg/registry/customresourcedefinition
"""

from __future__ import annotations

from typing import Any

from apiserver.api.durations import now
from apiserver.api.fields import FieldError
from apiserver.api.rest import Context
from apiserver.api.strategy import StatusStrategy, Strategy, bump_generation, keep_status
from apiserver_plugins.apiextensions import removal
from apiserver_plugins.resources.apiextensions_v1 import validation
from apiserver_plugins.resources.apiextensions_v1.warnings import format_warnings

Object = dict[str, Any]


def storage_version(spec: Object) -> str | None:
    """The first version that is marked to be stored."""
    marked = (version.get("name", "") for version in spec.get("versions") or () if version.get("storage"))
    return next(marked, None)


class DefinitionStrategy(Strategy):
    """Rules of CustomResourceDefinitions."""

    allow_unconditional_update = False
    any_finalizer = True
    returns_deleted_object = True

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        names = spec.setdefault("names", {})
        kind = names.get("kind") or ""
        if not names.get("singular") and kind:
            names["singular"] = kind.lower()
        if not names.get("listKind") and kind:
            names["listKind"] = f"{kind}List"
        conversion = spec.get("conversion")
        if conversion is None:
            conversion = spec["conversion"] = {"strategy": "None"}
        service = ((conversion.get("webhook") or {}).get("clientConfig") or {}).get("service")
        if service is not None and service.get("port") is None:
            service["port"] = 443
        stored = storage_version(spec)
        if stored is not None and not (obj.get("status") or {}).get("storedVersions"):
            obj.setdefault("status", {})["storedVersions"] = [stored]

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        obj["status"] = {"acceptedNames": {"kind": "", "plural": ""}, "conditions": None, "storedVersions": None}
        obj["metadata"]["generation"] = 1
        _remember_stored(obj)

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        keep_status(obj, old)
        bump_generation(obj, old)
        _remember_stored(obj)

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        return validation.create_errors(obj)

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        return validation.update_errors(obj, old)

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        return format_warnings(obj["spec"])

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        known = format_warnings(old["spec"])
        return [text for text in format_warnings(obj["spec"]) if text not in known]

    def begin_delete(self, ctx: Context, obj: Object) -> bool:
        """COMPAT: REST.Delete: the first request marks the definition, and leaves the rest to the finalizer."""
        metadata = obj["metadata"]
        if metadata.get("deletionTimestamp"):
            return False
        metadata["deletionTimestamp"] = now()
        removal.ask(obj)
        return True


def _remember_stored(obj: Object) -> None:
    """A version that was stored once stays in the status until somebody has rewritten its objects."""
    stored, status = storage_version(obj["spec"]), obj.setdefault("status", {})
    known = status.get("storedVersions") or []
    if stored is not None and stored not in known:
        obj["status"] = {**status, "storedVersions": [*known, stored]}


class DefinitionStatusStrategy(StatusStrategy):
    """Rules of ``/status``."""

    allow_unconditional_update = False
    any_finalizer = True

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        return validation.status_errors(obj)


STRATEGY = DefinitionStrategy()
STATUS = DefinitionStatusStrategy(STRATEGY)
