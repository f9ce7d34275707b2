"""Where a webhook is: the URL or the service in its client configuration.

Used by the kinds that name webhooks. COMPAT: apiserver/pkg/util/webhook ValidateWebhookURL, ValidateWebhookService
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from apiserver.api.fields import FieldError, Path
from apiserver.api.validation import dns_subdomain
from apiserver_plugins.resources.common.values import invalid, port_number

Object = dict[str, Any]

_FORM = "; desired format: https://host[/path]"


def url_errors(url: str, path: Path) -> list[FieldError]:
    """Problems of the URL of a webhook. COMPAT: ValidateWebhookURL."""
    try:
        parts = urlsplit(url)
    except ValueError as ex:
        return [FieldError.required(path, f"url must be a valid URL: {ex}{_FORM}")]
    errors = []
    if parts.scheme != "https":
        errors.append(FieldError.invalid(path, parts.scheme, f"'https' is the only allowed URL scheme{_FORM}"))
    if not parts.netloc:
        errors.append(FieldError.invalid(path, "", f"host must be specified{_FORM}"))
    if "@" in parts.netloc:
        user = parts.netloc.rpartition("@")[0]
        errors.append(FieldError.invalid(path, user, "user information is not permitted in the URL"))
    if parts.fragment:
        errors.append(FieldError.invalid(path, parts.fragment, "fragments are not permitted in the URL"))
    if parts.query:
        errors.append(FieldError.invalid(path, parts.query, "query parameters are not permitted in the URL"))
    return errors


def service_errors(service: Object, path: Path) -> list[FieldError]:
    """Problems of a reference to the service of a webhook. COMPAT: ValidateWebhookService."""
    missing = [field for field in ("name", "namespace") if not service.get(field)]
    errors = [FieldError.required(path / field, f"service {field} is required") for field in missing]
    for problem in port_number(path / "port", service.get("port")):
        head, _, text = problem.body.rpartition(": ")
        errors.append(FieldError(problem.reason, problem.field, f"{head}: port is not valid: {text}"))
    where, url = path / "path", service.get("path")
    if not url or url == "/":
        return errors
    if not url.startswith("/"):
        return [*errors, FieldError.invalid(where, url, "must start with a '/'")]
    for i, step in enumerate(url.removesuffix("/")[1:].split("/")):
        if not step:
            errors.append(FieldError.invalid(where, url, f"segment[{i}] may not be empty"))
        else:
            errors += invalid(where, url, [f"segment[{i}]: {text}" for text in dns_subdomain(step)])
    return errors
