"""Containers that join a running pod to look into it: ``pods/x/ephemeralcontainers``.

COMPAT: pkg/registry/core/pod podEphemeralContainersStrategy; ValidatePodEphemeralContainersUpdate
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.rest import Context
from apiserver.api.strategy import bump_generation
from apiserver_plugins.resources.common.pod_validation import pod_errors
from apiserver_plugins.resources.core_v1.pod.parts import PartStrategy, is_mirror

FIELD = "ephemeralContainers"
_PATH = Path("spec") / FIELD


class EphemeralContainersStrategy(PartStrategy):
    """Rules of ``pods/x/ephemeralcontainers``: some may come, none may go or change."""

    owned_fields = (f"spec.{FIELD}",)

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        wanted = (obj.get("spec") or {}).get(FIELD)
        self.keep_rest(obj, old)
        obj["spec"] = {name: value for name, value in old["spec"].items() if name != FIELD}
        if wanted:
            obj["spec"][FIELD] = wanted
        bump_generation(obj, old)

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        if is_mirror(old):
            return [FieldError.forbidden("", "static pods do not support ephemeral containers")]
        wanted = {container.get("name"): container for container in obj["spec"].get(FIELD) or ()}
        errors = pod_errors(obj)
        for container in old["spec"].get(FIELD) or ():
            name = container.get("name", "")
            if name not in wanted:
                errors.append(
                    FieldError.forbidden(_PATH, f'existing ephemeral containers "{name}" may not be removed\n')
                )
            elif wanted[name] != container:
                # COMPAT: upstream adds a difference of Go structs in a form that it calls unstable
                errors.append(
                    FieldError.forbidden(_PATH, f'existing ephemeral containers "{name}" may not be changed\n')
                )
        return errors
