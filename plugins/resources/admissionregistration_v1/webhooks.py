"""ValidatingWebhookConfigurations and MutatingWebhookConfigurations.

COMPAT: pkg/apis/admissionregistration/validation ValidateValidatingWebhookConfiguration and its like
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy, bump_generation
from apiserver.api.validation import dns_1035_label, dns_subdomain
from apiserver_plugins.resources.admissionregistration_v1 import matching
from apiserver_plugins.resources.common.columns import AGE, length
from apiserver_plugins.resources.common.values import invalid
from apiserver_plugins.resources.common.webhook_clients import service_errors, url_errors

Object = dict[str, Any]

REVIEWS = ("v1", "v1beta1")
_EFFECTS = frozenset(("None", "NoneOnDryRun"))
_REINVOCATIONS = frozenset(("IfNeeded", "Never"))


def _name_errors(name: str, path: Path) -> list[FieldError]:
    """COMPAT: IsFullyQualifiedName."""
    if not name:
        return [FieldError.required(path)]
    errors = invalid(path, name, dns_subdomain(name))
    if not errors and name.count(".") < 2:
        text = "should be a domain with at least three segments separated by dots"
        errors.append(FieldError.invalid(path, name, text))
    return errors


def _client_errors(client: Object, path: Path) -> list[FieldError]:
    url, service = client.get("url"), client.get("service")
    if url is not None and service is None:
        return url_errors(url, path / "url")
    if url is None and service is not None:
        return service_errors(service, path / "service")
    return [FieldError.required(path, "exactly one of url or service is required")]


def _review_errors(versions: list[str], path: Path) -> list[FieldError]:
    if not versions:
        return [FieldError.required(path, f"must specify one of {', '.join(REVIEWS)}")]
    errors: list[FieldError] = []
    for i, version in enumerate(versions):
        if version in versions[:i]:
            errors.append(FieldError.duplicate(path / i, version))
        errors += invalid(path / i, version, dns_1035_label(version))
    if not any(version in REVIEWS for version in versions):
        text = f"must include at least one of {', '.join(REVIEWS)}"
        errors.append(FieldError.invalid(path, versions, text))
    return errors


class WebhookConfigurationStrategy(Strategy):
    """Rules of both kinds.

    :param mutating: whether its webhooks may change objects.
    """

    def __init__(self, *, mutating: bool) -> None:
        self.mutating = mutating

    def default(self, obj: Object) -> None:
        for hook in obj.get("webhooks") or ():
            if hook.get("failurePolicy") is None:
                hook["failurePolicy"] = "Fail"
            matching.set_matching_defaults(hook)
            if hook.get("timeoutSeconds") is None:
                hook["timeoutSeconds"] = 10
            if self.mutating and hook.get("reinvocationPolicy") is None:
                hook["reinvocationPolicy"] = "Never"
            matching.set_rule_defaults(hook.get("rules"))
            service = (hook.get("clientConfig") or {}).get("service")
            if service is not None and service.get("port") is None:
                service["port"] = 443

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        obj["metadata"]["generation"] = 1

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        bump_generation(obj, old, "webhooks")

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        errors: list[FieldError] = []
        names: set[str] = set()
        for i, hook in enumerate(obj.get("webhooks") or ()):
            path, name = Path("webhooks") / i, hook.get("name") or ""
            errors += self._hook_errors(hook, path)
            if name and name in names:
                errors.append(FieldError.duplicate(path / "name", name))
            names.add(name)
        return errors

    def _hook_errors(self, hook: Object, path: Path) -> list[FieldError]:
        errors = _name_errors(hook.get("name") or "", path / "name")
        errors += _review_errors(hook.get("admissionReviewVersions") or [], path / "admissionReviewVersions")
        for i, rule in enumerate(hook.get("rules") or ()):
            errors += matching.rule_errors(rule, path / "rules" / i)
        policy, effects = hook.get("failurePolicy"), hook.get("sideEffects")
        if policy not in matching.FAILURE_POLICIES:
            errors.append(FieldError.not_supported(path / "failurePolicy", policy, matching.FAILURE_POLICIES))
        if effects is None:
            shown = ", ".join(sorted(_EFFECTS))
            errors.append(FieldError.required(path / "sideEffects", f"must specify one of {shown}"))
        elif effects not in _EFFECTS:
            errors.append(FieldError.not_supported(path / "sideEffects", effects, _EFFECTS))
        seconds = hook.get("timeoutSeconds")
        if seconds is not None and not 1 <= seconds <= 30:
            text = "the timeout value must be between 1 and 30 seconds"
            errors.append(FieldError.invalid(path / "timeoutSeconds", seconds, text))
        again = hook.get("reinvocationPolicy")
        if self.mutating and again not in _REINVOCATIONS:
            errors.append(FieldError.not_supported(path / "reinvocationPolicy", again, _REINVOCATIONS))
        errors += matching.selectors_errors(hook, path)
        errors += _client_errors(hook.get("clientConfig") or {}, path / "clientConfig")
        return errors + matching.condition_errors(hook.get("matchConditions") or (), path / "matchConditions")


MUTATING = WebhookConfigurationStrategy(mutating=True)
VALIDATING = WebhookConfigurationStrategy(mutating=False)
COLUMNS = (
    Column(
        "Webhooks",
        length("webhooks"),
        "integer",
        description="Webhooks indicates the number of webhooks registered in this configuration",
    ),
    AGE,
)
