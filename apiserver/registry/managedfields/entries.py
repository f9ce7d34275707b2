"""The entries of ``metadata.managedFields``: who owns fields, since when, by which operation.

Read from an object, changed and written back by :mod:`apiserver.registry.managedfields.update` and ``apply``. An entry
that nobody touched goes back as the very dict it came from.

COMPAT: k8s.io/apimachinery/pkg/util/managedfields/internal managedfields.go, capmanagers.go
"""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from apiserver.registry.managedfields import elements
from apiserver.registry.managedfields.fieldset import MEMBER, Fields, union

APPLY: Final = "Apply"
UPDATE: Final = "Update"
FIELDS_TYPE: Final = "FieldsV1"

MAX_UPDATE_MANAGERS: Final = 10
"""Entries of operation Update that an object keeps; the oldest beyond are merged."""

ANCIENT_CHANGES: Final = "ancient-changes"
BEFORE_FIRST_APPLY: Final = "before-first-apply"


class InvalidEntryError(ValueError):
    """An entry cannot be used; the message is upstream's."""


class Identity(NamedTuple):
    """Whose entry it is. ``api_version`` is "" for Apply: a manager has one such entry, whatever the version."""

    manager: str
    operation: str
    api_version: str
    subresource: str

    def sort_key(self) -> str:
        """COMPAT: BuildManagerIdentifier, which managers are sorted by in messages."""
        parts = {"manager": self.manager, "operation": self.operation, "apiVersion": self.api_version}
        if self.subresource:
            parts["subresource"] = self.subresource
        return json.dumps({name: value for name, value in parts.items() if value}, ensure_ascii=False)


class Entry(NamedTuple):
    """What somebody owns. ``raw`` is the entry's dict while nothing of it changed, None afterwards."""

    api_version: str
    fields: Fields
    time: str
    raw: dict[str, Any] | None = None

    def owning(self, fields: Fields) -> Entry:
        """The same entry with other fields."""
        return self if fields is self.fields else Entry(self.api_version, fields, self.time)


Managers = dict[Identity, Entry]


def identity(manager: str, operation: str, api_version: str, subresource: str) -> Identity:
    """The identity of an operation's entry."""
    return Identity(manager or "unknown", operation, "" if operation == APPLY else api_version, subresource)


def decode(encoded: Any, *, trusted: bool) -> Managers:
    """The entries by owner.

    :param encoded: ``metadata.managedFields``, or None.
    :param trusted: they are from the store: their fields are spelled our way.
    :raises InvalidEntryError: they are malformed.
    """
    managers: Managers = {}
    for i, raw in enumerate(encoded or ()):
        operation = raw.get("operation", "")
        api_version = raw.get("apiVersion", "")
        if not trusted:
            _check(i, operation, api_version, raw.get("fieldsType", ""))
        fields = raw.get("fieldsV1") or {}
        clean = fields if trusted else _normalised(fields)
        owner = Identity(
            raw.get("manager", ""), operation, "" if operation == APPLY else api_version, raw.get("subresource", "")
        )
        managers[owner] = Entry(api_version, clean, raw.get("time") or "", raw if clean is fields else None)
    return managers


def problem(encoded: Any) -> str:
    """What is wrong with entries that came from outside, "" if nothing. COMPAT: ValidateManagedFields"""
    try:
        decode(encoded, trusted=False)
    except InvalidEntryError as error:
        return str(error)
    return ""


def _check(i: int, operation: Any, api_version: Any, fields_type: Any) -> None:
    if operation not in (APPLY, UPDATE):
        raise InvalidEntryError("operation must be `Apply` or `Update`")
    if not api_version:
        raise InvalidEntryError("apiVersion must not be empty")
    if not fields_type:
        raise InvalidEntryError(f"missing fieldsType in managed fields entry {i}")
    if fields_type != FIELDS_TYPE:
        raise InvalidEntryError(f"invalid fieldsType {json.dumps(fields_type)} in managed fields entry {i}")


def _normalised(fields: Any) -> Fields:
    try:
        return _normalised_below(fields)[1]
    except ValueError as error:
        raise InvalidEntryError(f"error decoding set: {error}") from None


def _normalised_below(node: Any) -> tuple[bool, Fields]:
    """Whether the node is a member, and what is below it, as a set. COMPAT: readIterV1"""
    if not isinstance(node, dict):
        raise ValueError("expected an object")
    below: Fields = {}
    for element, child in node.items():
        if element == ".":
            continue
        spelled = elements.normalise(element)
        if spelled is None:
            continue
        member, inner = _normalised_below(child)
        if member:
            below[spelled] = {".": MEMBER, **inner} if inner else MEMBER
        elif inner:
            below[spelled] = inner
    return "." in node or not below, dict(sorted(below.items()))


def encode(managers: Managers) -> list[dict[str, Any]]:
    """The list for ``metadata.managedFields``, in upstream's order. COMPAT: sortEncodedManagedFields"""
    rows = list(managers.items())
    if len(rows) > 1:
        rows.sort(
            key=lambda row: (row[0].operation, row[1].time, row[0].manager, row[1].api_version, row[0].subresource)
        )
    return [entry.raw if entry.raw is not None else _encode(owner, entry) for owner, entry in rows]


def _encode(owner: Identity, entry: Entry) -> dict[str, Any]:
    encoded: dict[str, Any] = {
        "manager": owner.manager,
        "operation": owner.operation,
        "apiVersion": entry.api_version,
    }
    if entry.time:
        encoded["time"] = entry.time
    encoded["fieldsType"] = FIELDS_TYPE
    encoded["fieldsV1"] = entry.fields
    if owner.subresource:
        encoded["subresource"] = owner.subresource
    return encoded


def write(metadata: dict[str, Any], managers: Managers) -> None:
    """Set ``metadata.managedFields``, or remove it when nobody owns anything."""
    if managers:
        metadata["managedFields"] = encode(managers)
    else:
        metadata.pop("managedFields", None)


def cap(managers: Managers) -> Managers:
    """At most :data:`MAX_UPDATE_MANAGERS` entries of updates: the oldest of a version go into one.

    COMPAT: capManagersManager.capUpdateManagers
    """
    if len(managers) <= MAX_UPDATE_MANAGERS:
        return managers
    updaters = [owner for owner in managers if owner.operation == UPDATE]
    surplus = len(updaters) - MAX_UPDATE_MANAGERS
    if surplus <= 0:
        return managers
    updaters.sort(key=lambda owner: (managers[owner].time, owner.sort_key()))
    result = dict(managers)
    first_of: dict[str, Identity] = {}
    for owner in updaters:
        if surplus <= 0:
            break
        entry = result[owner]
        first = first_of.setdefault(entry.api_version, owner)
        if first is owner:
            continue
        bucket = identity(ANCIENT_CHANGES, UPDATE, entry.api_version, "")
        if bucket not in result:
            result[bucket] = result.pop(first)
        merged = union(result[bucket].fields, entry.fields)
        if owner != bucket:
            del result[owner]
        # The time of the younger one.
        result[bucket] = Entry(entry.api_version, merged, entry.time)
        surplus -= 1
    return result
