"""PodTemplates.

COMPAT: pkg/apis/core/validation ValidatePodTemplate; pkg/registry/core/podtemplate
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy, bump_generation
from apiserver_plugins.resources.common.columns import format_labels, format_names, value_at
from apiserver_plugins.resources.common.pod_defaults import set_template_defaults
from apiserver_plugins.resources.common.pod_validation import template_errors


class PodTemplateStrategy(Strategy):
    """Rules of PodTemplates."""

    def default(self, obj: dict[str, Any]) -> None:
        set_template_defaults(obj.setdefault("template", {}))

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        obj["metadata"]["generation"] = 1

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        bump_generation(obj, old, "template")

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        return template_errors(obj["template"], Path("template"))


def _containers(obj: dict[str, Any]) -> str:
    return format_names(value_at(obj, "template", "spec", "containers"), "name")


def _images(obj: dict[str, Any]) -> str:
    return format_names(value_at(obj, "template", "spec", "containers"), "image")


def _labels(obj: dict[str, Any]) -> str:
    return format_labels(value_at(obj, "template", "metadata", "labels"))


STRATEGY = PodTemplateStrategy()
COLUMNS = (
    Column("Containers", _containers, description="Names of each container in the template."),
    Column("Images", _images, description="Images referenced by each container in the template."),
    Column("Pod Labels", _labels, description="The labels for the pod template."),
)
