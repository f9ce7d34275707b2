"""A namespace annotated ``policy.example.com/required-labels: owner,team`` takes only objects with these labels."""

from __future__ import annotations

from collections.abc import Iterable

from apiserver import AdmissionRequest, Config, ConfigError, GroupResource, Setting, hookimpl

NAMESPACES = GroupResource("", "namespaces")
ANNOTATION = "policy.example.com/required-labels"


@hookimpl
def apiserver_settings() -> Iterable[Setting]:
    yield Setting("required-labels-exempt", "list", help="Namespaces that are never looked at.")


@hookimpl
def apiserver_configure(config: Config) -> None:
    if "default" in config.strings("required-labels-exempt"):
        raise ConfigError("--required-labels-exempt: the namespace default can't be exempt")


@hookimpl(priority=3650)
def apiserver_validate(request: AdmissionRequest) -> None:
    if request.operation != "CREATE" or request.subresource or not request.namespace or request.object is None:
        return
    if request.namespace in request.server.config.strings("required-labels-exempt"):
        return
    namespace = request.server.lister(NAMESPACES).get("", request.namespace)
    annotations = namespace.decode()["metadata"].get("annotations", {}) if namespace else {}
    labels = request.object["metadata"].get("labels", {})
    missing = [name for name in annotations.get(ANNOTATION, "").split(",") if name and name not in labels]
    if missing:
        raise request.forbidden(f"namespace {request.namespace} requires the label {missing[0]!r}")
