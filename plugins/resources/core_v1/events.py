"""Events, in both of their APIs: one storage, time to live, and stricter rules for what comes by the newer one.

COMPAT: pkg/apis/core/validation/events.go; pkg/registry/core/event
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apiserver import hookimpl
from apiserver.api.durations import since
from apiserver.api.fields import FieldError
from apiserver.api.names import GroupVersionKind
from apiserver.api.resource import Column, Resource
from apiserver.api.rest import Context
from apiserver.api.server import Server
from apiserver.api.settings import Config, Setting
from apiserver.api.strategy import Strategy
from apiserver.api.validation import dns_subdomain, qualified_name
from apiserver_plugins.resources.common.columns import NAME, cell, value_at
from apiserver_plugins.resources.common.values import immutable, invalid
from apiserver_plugins.resources.events_v1.conversion import from_core, to_core

GROUP = "events.k8s.io"
_REFERENCE = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_COMMON_FIELDS = ("reason", "source", "type")
_CORE_FIELDS = (*(f"involvedObject.{f}" for f in _REFERENCE), *_COMMON_FIELDS, "reportingComponent")
_NEW_FIELDS = (*(f"regarding.{f}" for f in _REFERENCE), *_COMMON_FIELDS, "reportingController")
_LIMIT = 128
_NOTE_LIMIT = 1024
_FIXED = (
    "involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "type", "eventTime",
    "action", "related", "reportingController", "reportingInstance",
)  # fmt: skip


# -- rules ----------------------------------------------------------------------------------------------------------


def _too_long(obj: dict[str, Any], field: str, limit: int) -> list[FieldError]:
    text = f"can have at most {limit} characters"
    return [FieldError.invalid(field, "", text)] if len(obj.get(field) or "") > limit else []


def _reporting(obj: dict[str, Any], namespace: str) -> list[FieldError]:
    """Rules of events that have an eventTime."""
    errors: list[FieldError] = []
    if not value_at(obj, "involvedObject", "namespace") and namespace not in ("default", "kube-system"):
        errors.append(FieldError.invalid("involvedObject.namespace", "", "does not match event.namespace"))
    controller = obj.get("reportingComponent") or ""
    if not controller:
        errors.append(FieldError.required("reportingController"))
    errors += invalid("reportingController", controller, qualified_name(controller))
    for field in ("reportingInstance", "action", "reason"):
        if not obj.get(field):
            errors.append(FieldError.required(field))
        errors += _too_long(obj, field, _LIMIT)
    return errors + _too_long(obj, "message", _NOTE_LIMIT)


def _legacy(obj: dict[str, Any]) -> list[FieldError]:
    """COMPAT: legacyValidateEvent."""
    namespace = obj["metadata"].get("namespace") or ""
    if obj.get("eventTime"):
        errors = _reporting(obj, namespace)
    else:
        about = value_at(obj, "involvedObject", "namespace") or ""
        fits = namespace == about or (not about and namespace == "default")
        text = "does not match event.namespace"
        errors = [] if fits else [FieldError.invalid("involvedObject.namespace", about, text)]
    return errors + invalid("namespace", namespace, dns_subdomain(namespace))


def _series(obj: dict[str, Any]) -> list[FieldError]:
    series = obj.get("series")
    if series is None:
        return []
    errors = []
    if (series.get("count") or 0) < 2:
        errors.append(FieldError.invalid("series.count", "", "should be at least 2"))
    if not series.get("lastObservedTime"):
        errors.append(FieldError.required("series.lastObservedTime"))
    return errors


def _by_new_api(ctx: Context) -> bool:
    info = ctx.request.info
    return info is not None and info.group == GROUP and info.version == "v1"


class EventStrategy(Strategy):
    """Rules of Events, stored as ``v1``."""

    allow_create_on_update = True

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        errors = _legacy(obj)
        if not _by_new_api(ctx):
            return errors
        errors += _series(obj)
        if not obj.get("eventTime"):
            errors.append(FieldError.required("eventTime"))
        kind = obj.get("type") or ""
        if kind not in ("Normal", "Warning"):
            errors.append(FieldError.invalid("type", "", f"has invalid value: {kind}"))
        unset = "needs to be unset"
        for field in ("firstTimestamp", "lastTimestamp", "count", "source"):
            if obj.get(field):
                errors.append(FieldError.invalid(field, "", unset))
        return errors

    def validate_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        errors = _legacy(obj)
        if not _by_new_api(ctx):
            return errors
        if obj.get("series") != old.get("series"):
            errors += _series(obj)
        for field in _FIXED:
            name = "reportingComponent" if field == "reportingController" else field
            errors += immutable(field, obj.get(name), old.get(name))
        return errors

    def selectable_fields(self, obj: dict[str, Any]) -> dict[str, str]:
        about = obj.get("involvedObject") or {}
        reporter = obj.get("reportingComponent") or ""
        fields = {
            "reason": obj.get("reason") or "",
            "source": value_at(obj, "source", "component") or reporter,
            "type": obj.get("type") or "",
            "reportingComponent": reporter,
            "reportingController": reporter,
        }
        for field in _REFERENCE:
            fields[f"involvedObject.{field}"] = fields[f"regarding.{field}"] = about.get(field) or ""
        return fields


# -- columns; both forms of an event are shown alike ------------------------------------------------------------------


def _either(obj: dict[str, Any], core: str, new: str) -> Any:
    value = obj.get(core)
    return obj.get(new) if value is None else value


def _about(obj: dict[str, Any]) -> dict[str, Any]:
    return _either(obj, "involvedObject", "regarding") or {}


def _first_seen(obj: dict[str, Any]) -> str:
    return since(_either(obj, "firstTimestamp", "deprecatedFirstTimestamp") or obj.get("eventTime"))


def _last_seen(obj: dict[str, Any]) -> str:
    if obj.get("series"):
        return since(obj["series"].get("lastObservedTime"))
    last = _either(obj, "lastTimestamp", "deprecatedLastTimestamp")
    return since(last) if last else _first_seen(obj)


def _object(obj: dict[str, Any]) -> str:
    about = _about(obj)
    kind = (about.get("kind") or "").lower()
    return f"{kind}/{about['name']}" if about.get("name") else kind


def _source(obj: dict[str, Any]) -> str:
    source = _either(obj, "source", "deprecatedSource") or {}
    component = source.get("component") or _either(obj, "reportingComponent", "reportingController") or ""
    instance = source.get("host") or obj.get("reportingInstance")
    return f"{component}, {instance}" if instance else component


def _count(obj: dict[str, Any]) -> int:
    if obj.get("series"):
        return obj["series"].get("count") or 0
    return _either(obj, "count", "deprecatedCount") or 1


def _columns(names: dict[str, str]) -> tuple[Column, ...]:
    """The columns; ``names`` maps names of the core API's fields to the other's."""

    def field(path: str) -> str:
        head, dot, rest = path.partition(".")
        return names.get(head, head) + dot + rest

    def message(obj: dict[str, Any]) -> str:
        return (_either(obj, "message", "note") or "").strip()

    def subobject(obj: dict[str, Any]) -> str:
        return _about(obj).get("fieldPath") or ""

    return (
        Column("Last Seen", _last_seen, field=field("lastTimestamp")),
        Column("Type", cell("type"), field=field("type")),
        Column("Reason", cell("reason"), field=field("reason")),
        Column("Object", _object, field=field("involvedObject")),
        Column("Subobject", subobject, priority=1, field=field("involvedObject.fieldPath")),
        Column("Source", _source, priority=1, field=field("source")),
        Column("Message", message, field=field("message")),
        Column("First Seen", _first_seen, priority=1, field=field("firstTimestamp")),
        Column("Count", _count, priority=1, field=field("count")),
        Column(NAME.name, NAME.cell, format="name", priority=1, field=NAME.field),
    )


_RENAMED = {
    "lastTimestamp": "deprecatedLastTimestamp", "firstTimestamp": "deprecatedFirstTimestamp",
    "count": "deprecatedCount", "source": "deprecatedSource", "involvedObject": "regarding", "message": "note",
}  # fmt: skip


# -- declarations ---------------------------------------------------------------------------------------------------


@hookimpl
def apiserver_settings() -> Iterable[Setting]:
    return [Setting("event-ttl", "duration", "1h0m0s", help="How long events are kept; 0 = for ever.", group="etcd")]


def _ttl(config: Config) -> int:
    return int(config.seconds("event-ttl"))


@hookimpl
def apiserver_resources(server: Server) -> Iterable[Resource]:
    strategy = EventStrategy()
    return [
        Resource(
            group="",
            version="v1",
            kind="Event",
            plural="events",
            short_names=("ev",),
            strategy=strategy,
            selectable_fields=_CORE_FIELDS,
            columns=_columns({}),
            ttl=_ttl,
        ),
        Resource(
            group=GROUP,
            version="v1",
            kind="Event",
            plural="events",
            short_names=("ev",),
            strategy=strategy,
            selectable_fields=_NEW_FIELDS,
            columns=_columns(_RENAMED),
            storage_prefix="events",
            storage_version=GroupVersionKind("", "v1", "Event"),
            from_storage=from_core,
            to_storage=to_core,
            ttl=_ttl,
        ),
    ]
