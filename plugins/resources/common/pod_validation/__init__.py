"""What a pod, or a template of one, must look like; one module for each subject.

:func:`pod_errors` is for Pods, :func:`template_errors` for workloads.

COMPAT: pkg/apis/core/validation ValidatePodSpec, ValidatePodTemplateSpec
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.validation import qualified_name
from apiserver_plugins.resources.common.pod_validation.spec import spec_errors
from apiserver_plugins.resources.common.selectors import Selector, is_empty, label_errors, matches
from apiserver_plugins.resources.common.values import invalid

__all__ = ["pod_errors", "replicated_template_errors", "spec_errors", "template_errors"]


def pod_errors(pod: dict[str, Any]) -> list[FieldError]:
    """Problems of a Pod, metadata excepted."""
    spec = pod.get("spec") or {}
    errors = spec_errors(spec, Path("spec"))
    for name in ("containers", "initContainers"):
        for i, container in enumerate(spec.get(name) or ()):
            image = container.get("image") or ""
            if image != image.strip():
                text = "must not have leading or trailing whitespace"
                errors.append(FieldError.invalid(Path("spec") / name / i / "image", image, text))
    return errors


def template_errors(template: dict[str, Any], path: Path) -> list[FieldError]:
    """Problems of a pod template. COMPAT: ValidatePodTemplateSpec."""
    meta, spec = template.get("metadata") or {}, template.get("spec") or {}
    # COMPAT: the paths of a template's labels and annotations do not go through metadata
    errors = label_errors(path / "labels", meta.get("labels"))
    for key in meta.get("annotations") or ():
        errors += invalid(path / "annotations", key, qualified_name(key.lower()))
    errors += spec_errors(spec, path / "spec")
    if spec.get("ephemeralContainers"):
        text = "ephemeral containers not allowed in pod template"
        errors.append(FieldError.forbidden(path / "spec" / "ephemeralContainers", text))
    return errors


def replicated_template_errors(
    template: dict[str, Any] | None, selector: Selector | None, path: Path
) -> list[FieldError]:
    """Problems of a template whose pods are kept running. COMPAT: ValidatePodTemplateSpecForReplicaSet.

    :param selector: of the workload; it must select what the template makes.
    """
    if template is None:
        template = {}
    errors: list[FieldError] = []
    labels = (template.get("metadata") or {}).get("labels")
    if (selector is None or not is_empty(selector)) and matches(selector, labels) is False:
        text = "`selector` does not match template `labels`"
        errors.append(FieldError.invalid(path / "metadata" / "labels", labels, text))
    errors += template_errors(template, path)
    spec = template.get("spec") or {}
    if spec.get("restartPolicy") != "Always":
        errors.append(FieldError.not_supported(path / "spec" / "restartPolicy", spec.get("restartPolicy"), ("Always",)))
    if spec.get("activeDeadlineSeconds") is not None:
        text = "activeDeadlineSeconds in ReplicaSet is not Supported"
        errors.append(FieldError.forbidden(path / "spec" / "activeDeadlineSeconds", text))
    return errors
