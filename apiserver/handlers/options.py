"""Options of verbs, from the query (and for DELETE from the body), checked as upstream checks them.

Called by the verbs; what comes out is plain data for the storage protocols.

COMPAT: k8s.io/apimachinery/pkg/apis/meta/v1/validation; .../internalversion/validation ValidateListOptions
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apiserver.api.errors import BadRequest, Invalid
from apiserver.api.fields import FieldError
from apiserver.api.names import GroupKind
from apiserver.api.numbers import parse_int
from apiserver.api.resource import Resource
from apiserver.api.rest import DeleteOptions, GetOptions, ListOptions, WriteOptions
from apiserver.handlers.queries import Query, boolean, first
from apiserver.registry.selectors import parse_field_selector, parse_label_selector

META = "meta.k8s.io"
FIELD_MANAGER_MAX = 128
VALIDATIONS = ("", "Ignore", "Strict", "Warn")
PROPAGATIONS = ("Foreground", "Background", "Orphan")


def integer(query: Query, name: str) -> int | None:
    """A number.

    :raises BadRequest: with Go's text.
    """
    text = first(query, name)
    if not text:
        return None
    try:
        return parse_int(text)
    except ValueError as error:
        raise BadRequest(str(error)) from None


def get_options(query: Query) -> GetOptions:
    """:raises BadRequest: the removed export parameter."""
    if "export" in query and boolean(query, "export"):
        raise BadRequest("the export parameter, deprecated since v1.14, is no longer supported")
    return GetOptions(first(query, "resourceVersion"))


def list_options(query: Query, resource: Resource, *, watch: bool = False, name: str = "") -> ListOptions:
    """Options of list, watch and deletecollection.

    :param name: restricts to one object, for the watch paths that name it.
    :raises BadRequest: something can't be parsed.
    :raises Invalid: a combination that is not allowed (kind ListOptions).
    """
    if not query and not watch and not name:
        return _EVERYTHING
    limit = integer(query, "limit") or 0
    timeout = integer(query, "timeoutSeconds")
    send_initial = boolean(query, "sendInitialEvents")
    version, match = first(query, "resourceVersion"), first(query, "resourceVersionMatch")
    token = first(query, "continue")
    labels = parse_label_selector(first(query, "labelSelector"))
    errors = check_list_options(version, match, token, send_initial, watch)
    if errors:
        raise Invalid(GroupKind(META, "ListOptions"), "", errors)
    if token and not watch and version not in ("", "0"):
        raise BadRequest("specifying resource version is not allowed when using continue")
    fields_text = first(query, "fieldSelector")
    if name:
        fields_text = f"metadata.name={name}" + (f",{fields_text}" if fields_text else "")
    fields = parse_field_selector(fields_text, selectable(resource), unsupported_text(resource))
    return ListOptions(
        label_selector=labels,
        field_selector=fields,
        resource_version=version,
        resource_version_match=match,
        limit=max(limit, 0),
        continue_token=token,
        timeout=float(timeout) if timeout else None,
        watch=watch,
        allow_watch_bookmarks=bool(boolean(query, "allowWatchBookmarks")),
        send_initial_events=send_initial,
    )


_EVERYTHING = ListOptions()


def selectable(resource: Resource) -> tuple[str, ...]:
    """What field selectors may name."""
    return ("metadata.name", "metadata.namespace", *resource.selectable_fields)


def unsupported_text(resource: Resource) -> Any:
    """The text for a field that can't be selected by.

    COMPAT: kinds with fields of their own have a conversion function with another text than the default one.
    """
    if resource.selectable_fields:
        return lambda field: f"field label not supported: {field}"
    return lambda field: f'"{field}" is not a known field selector: only "metadata.name", "metadata.namespace"'


def check_list_options(
    version: str, match: str, token: str, send_initial: bool | None, watch: bool
) -> list[FieldError]:
    """The matrix of resourceVersion, resourceVersionMatch, continue and sendInitialEvents."""
    if watch:
        return _check_watch(match, token, send_initial)
    errors = []
    field = "resourceVersionMatch"
    if match:
        if token:
            errors.append(FieldError.forbidden(field, f"{field} is forbidden when continue is provided"))
        if not version:
            errors.append(FieldError.forbidden(field, f"{field} is forbidden unless resourceVersion is provided"))
        if match not in ("Exact", "NotOlderThan"):
            errors.append(FieldError.not_supported(field, match, ("Exact", "NotOlderThan", "")))
        elif match == "Exact" and version == "0":
            errors.append(FieldError.forbidden(field, f'{field} "exact" is forbidden for resourceVersion "0"'))
    if send_initial is not None:
        errors.append(FieldError.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    return errors


def _check_watch(match: str, token: str, send_initial: bool | None) -> list[FieldError]:
    field = "resourceVersionMatch"
    errors = []
    if send_initial is not None:
        if match != "NotOlderThan":
            text = f"sendInitialEvents requires setting {field} to NotOlderThan"
            errors.append(FieldError.forbidden(field, text))
        if match and match != "NotOlderThan":
            errors.append(FieldError.not_supported(field, match, ("NotOlderThan",)))
        if token:
            errors.append(FieldError.forbidden(field, f"{field} is forbidden when continue is provided"))
    elif match:
        errors.append(
            FieldError.forbidden(field, f"{field} is forbidden for watch unless sendInitialEvents is provided")
        )
    return errors


def write_options(query: Query, kind: str, *, apply: bool = False) -> WriteOptions:
    """Options of create, update and patch.

    :param kind: CreateOptions, UpdateOptions or PatchOptions, for the error.
    :param apply: the patch is a server-side apply.
    :raises Invalid: a value that is not allowed.
    """
    dry_run = query.get("dryRun") or ()
    manager, validation = first(query, "fieldManager"), first(query, "fieldValidation")
    force = boolean(query, "force") if kind == "PatchOptions" else None
    errors = [*_dry_run(dry_run), *_field_manager(manager), *_field_validation(validation)]
    if kind == "PatchOptions":
        if apply and not manager:
            errors.append(FieldError.required("fieldManager", "is required for apply patch"))
        if not apply and force is not None:
            errors.append(FieldError.forbidden("force", "may not be specified for non-apply patch"))
    if errors:
        raise Invalid(GroupKind(META, kind), "", errors)
    return WriteOptions(bool(dry_run), manager, validation or "Warn", force)


def _dry_run(values: Any) -> list[FieldError]:
    # COMPAT: ValidateDryRun compares the whole list with the set of known values
    if all(v == "All" for v in values):
        return []
    return [FieldError.not_supported("dryRun", list(values), ("All",))]


def _field_manager(manager: str) -> list[FieldError]:
    errors = []
    if len(manager) > FIELD_MANAGER_MAX:
        errors.append(FieldError.too_long("fieldManager", FIELD_MANAGER_MAX))
    bad = next((i for i, c in enumerate(manager) if not c.isprintable()), None)
    if bad is not None:
        text = f"invalid character U+{ord(manager[bad]):04X} (at position {bad})"
        errors.append(FieldError.invalid("fieldManager", manager, text))
    return errors


def _field_validation(value: str) -> list[FieldError]:
    if value in VALIDATIONS:
        return []
    return [FieldError.not_supported("fieldValidation", value, VALIDATIONS)]


def delete_options(query: Query, body: Mapping[str, Any] | None) -> DeleteOptions:
    """Options of DELETE: from the body if there is one, else from the query.

    COMPAT: a body makes the query ignored.

    :raises Invalid: values that contradict each other.
    """
    raw = dict(body) if body is not None else _from_query(query)
    errors = []
    orphan, policy = raw.get("orphanDependents"), raw.get("propagationPolicy")
    if orphan is not None and policy is not None:
        text = "orphanDependents and deletionPropagation cannot be both set"
        errors.append(FieldError.invalid("propagationPolicy", policy, text))
    elif policy is not None and policy not in PROPAGATIONS:
        errors.append(FieldError.not_supported("propagationPolicy", policy, (*PROPAGATIONS, "nil")))
    dry_run = raw.get("dryRun") or ()
    errors += _dry_run(dry_run)
    if errors:
        raise Invalid(GroupKind(META, "DeleteOptions"), "", errors)
    preconditions = raw.get("preconditions") or {}
    return DeleteOptions(
        dry_run=bool(dry_run),
        grace_period_seconds=raw.get("gracePeriodSeconds"),
        uid=preconditions.get("uid"),
        resource_version=preconditions.get("resourceVersion"),
        propagation_policy=policy,
        orphan_dependents=orphan,
        raw=raw,
    )


def _from_query(query: Query) -> dict[str, Any]:
    raw: dict[str, Any] = {}
    grace = integer(query, "gracePeriodSeconds")
    if grace is not None:
        raw["gracePeriodSeconds"] = grace
    if (orphan := boolean(query, "orphanDependents")) is not None:
        raw["orphanDependents"] = orphan
    if policy := first(query, "propagationPolicy"):
        raw["propagationPolicy"] = policy
    if dry_run := query.get("dryRun"):
        raw["dryRun"] = dry_run
    return raw
