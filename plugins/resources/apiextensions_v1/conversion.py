"""How objects come from one version to another: problems of ``spec.conversion``.

Called by :mod:`.validation`.

COMPAT: validateCustomResourceConversion; apiserver/pkg/util/webhook ValidateCABundle
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.validation import dns_1035_label
from apiserver_plugins.resources.common.certificates import bundle_problem
from apiserver_plugins.resources.common.webhook_clients import service_errors, url_errors

Object = Mapping[str, Any]
STRATEGIES = ("None", "Webhook")
REVIEWS = ("v1", "v1beta1")
_ONLY_WEBHOOK = "should not be set when strategy is not set to Webhook"


def conversion_errors(conversion: Object, path: Path, *, recognized: bool, any_bundle: bool) -> list[FieldError]:
    """Problems of a conversion.

    :param recognized: whether one of the review versions must be one that this server speaks.
    :param any_bundle: whether the caBundle need not be one.
    """
    strategy, webhook = conversion.get("strategy") or "", conversion.get("webhook") or {}
    client, reviews = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    errors: list[FieldError] = []
    if not strategy:
        errors.append(FieldError.required(path / "strategy"))
    elif strategy not in STRATEGIES:
        errors.append(FieldError.not_supported(path / "strategy", strategy, STRATEGIES))
    # COMPAT: the paths are those of the internal version, in which these two stand in the conversion itself
    at, reviews_at = path / "webhookClientConfig", path / "conversionReviewVersions"
    if strategy == "Webhook":
        errors += _client_errors(client, at, any_bundle)
        return errors + _review_errors(reviews, reviews_at, recognized)
    if client is not None:
        errors.append(FieldError.forbidden(at, _ONLY_WEBHOOK))
    if reviews:
        errors.append(FieldError.forbidden(reviews_at, _ONLY_WEBHOOK))
    return errors


def _client_errors(client: Object | None, path: Path, any_bundle: bool) -> list[FieldError]:
    if client is None:
        return [FieldError.required(path, "required when strategy is set to Webhook")]
    url, service = client.get("url"), client.get("service")
    if url is not None and service is None:
        errors = url_errors(url, path / "url")
    elif url is None and service is not None:
        # COMPAT: name and namespace are handed over in the wrong order, and a missing one is told of as the other
        swapped = {**service, "name": service.get("namespace"), "namespace": service.get("name")}
        errors = service_errors(swapped, path / "service")
    else:
        errors = [FieldError.required(path, "exactly one of url or service is required")]
    problem = "" if any_bundle else bundle_error(client)
    return [*errors, FieldError.invalid(path / "caBundle", client["caBundle"], problem)] if problem else errors


def bundle_error(client: Object) -> str:
    """What is wrong with the certificates in a client's configuration; "" when there are none."""
    bundle = client.get("caBundle")
    problem = bundle_problem(base64.b64decode(bundle)) if bundle else ""
    return f"unable to load root certificates: {problem}" if problem else ""


def is_recognized(versions: Sequence[str]) -> bool:
    """Whether this server speaks one of the review versions."""
    return any(version in REVIEWS for version in versions)


def _review_errors(versions: Sequence[str], path: Path, recognized: bool) -> list[FieldError]:
    if not versions:
        return [FieldError.required(path)]
    errors: list[FieldError] = []
    for i, version in enumerate(versions):
        if version in versions[:i]:
            errors.append(FieldError.invalid(path / i, version, "duplicate version"))
            continue
        errors += [FieldError.invalid(path / i, version, text) for text in dns_1035_label(version)]
    if recognized and not is_recognized(versions):
        text = f"must include at least one of {', '.join(REVIEWS)}"
        errors.append(FieldError.invalid(path, list(versions), text))
    return errors
