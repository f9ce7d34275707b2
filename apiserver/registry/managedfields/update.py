"""What a write other than apply does to field ownership. Called by create, update and patch handlers on every write.

The manager takes what it adds or changes from everybody else, and nobody owns what it removes. Its entry gets a new
time only if it took something.

COMPAT: managedfields FieldManager.Update, merge.Updater.Update, stripMetaManager, skipNonAppliedManager
"""

from __future__ import annotations

from typing import Any, Final

import orjson

from apiserver.registry.managedfields import entries, shapes, typed
from apiserver.registry.managedfields.elements import UnkeyedError
from apiserver.registry.managedfields.entries import UPDATE, Entry, Identity, Managers
from apiserver.registry.managedfields.fieldset import Fields, difference, union
from apiserver.registry.managedfields.filters import Everything, FieldFilter
from apiserver.registry.managedfields.versions import Convert, Versions, record_of
from apiserver.schema.decode import zero
from apiserver.schema.types import Struct

Object = dict[str, Any]

_TOP_SKIPPED: Final = frozenset(("apiVersion", "kind", "metadata"))
_METADATA_SKIPPED: Final = frozenset(
    (
        *("clusterName", "creationTimestamp", "generation", "managedFields", "name", "namespace"),
        *("resourceVersion", "selfLink", "uid"),
    )
)
"""Fields that nobody owns. COMPAT: stripMetaManager"""

EVERYTHING: Final = Everything()
_MAX_AGREED: Final = 16384


def record_update(
    live: Object | None,
    new: Object,
    *,
    manager: str,
    api_version: str,
    now: str,
    type: Struct,  # noqa: A002 - the word of the domain
    subresource: str = "",
    fields: FieldFilter = EVERYTHING,
    convert: Convert | None = None,
) -> None:
    """Set ``new["metadata"]["managedFields"]`` to who owns what after this write.

    :param live: the stored object; None for a create.
    :param new: the object to be stored, as the client wants it; its managedFields may say what the client sent.
    :param manager: who writes; see :func:`apiserver.registry.managedfields.default_manager`.
    :param api_version: the version of the request, of both objects and of ``type``.
    :param now: the time for new ownership, RFC 3339 in whole seconds, UTC.
    :param subresource: "" for the main endpoint.
    :param fields: what may be owned through this endpoint.
    :param convert: how to see the objects in the versions of other entries; None: all versions have one shape.
    """
    metadata = new["metadata"]
    sent = metadata.pop("managedFields", None)
    managers = _managers_before(live, sent, ignore_sent=bool(subresource))
    if not managers and live is not None:
        # COMPAT: skipNonAppliedManager: an object without owners gets them with the first apply.
        return
    versions = Versions(api_version, type, convert)
    try:
        changes = Changes(live, new, versions, fields)
        managers = moved(reconciled(managers, live, versions), changes)
    except UnkeyedError:
        # COMPAT: structuredMergeManager.Update: what has items without their keys is written, its owners stay
        entries.write(metadata, managers)
        return
    if changes.taken:
        owner = entries.identity(manager, UPDATE, api_version, subresource)
        previous = managers.get(owner)
        owned = union(previous.fields, changes.taken) if previous else changes.taken
        managers[owner] = Entry(api_version, owned, now)
    entries.write(metadata, entries.cap(managers))


def compare(live: Object | None, new: Object, type_: Struct, fields: FieldFilter = EVERYTHING) -> tuple[Fields, Fields]:
    """What ``new`` adds or changes, and what it removes, apart from the fields that nobody owns.

    :param live: None for an object that did not exist: Go's empty object, which has the structs that are always there.
    """
    shape = record_of(type_)
    old = live if live is not None else shape.zero(lambda: zero(type_))
    taken, removed = shape.compare_entries(old, new, _TOP_SKIPPED | fields.skipped if fields.skipped else _TOP_SKIPPED)
    meta_shape = shape.entry("metadata")[1]
    if isinstance(meta_shape, shapes.Record) and "metadata" not in fields.skipped:
        below, gone = meta_shape.compare_entries(
            old.get("metadata") or {}, new.get("metadata") or {}, _METADATA_SKIPPED
        )
        taken = _with_metadata(taken, below)
        removed = _with_metadata(removed, gone)
    return fields(taken) if taken else {}, fields(removed) if removed else {}


def _with_metadata(node: Fields | None, metadata: Fields | None) -> Fields | None:
    if not metadata:
        return node
    return dict(sorted({"f:metadata": metadata, **(node or {})}.items()))


def reconciled(managers: Managers, live: Object | None, versions: Versions) -> Managers:
    """The owners, with what has become atomic since they wrote owned as a whole.

    COMPAT: reconcileManagedFieldsWithSchemaChanges
    """
    result: Managers = {}
    for owner, entry in managers.items():
        seen = versions.see(live, entry.api_version) if live is not None else (None, versions.type)
        if seen is not None:
            result[owner] = entry.owning(_reconciled(record_of(seen[1]), entry.fields))
    return result


def _reconciled(shape: shapes.Record, fields: Fields) -> Fields:
    # Sets that needed nothing are remembered: the walk costs more than all the rest of a small update.
    key = hash(orjson.dumps(fields))
    if key in shape.agreed:
        return fields
    now = typed.reconciled(shape, fields)
    if now is fields:
        if len(shape.agreed) >= _MAX_AGREED:
            shape.agreed.clear()
        shape.agreed.add(key)
    return now


def _managers_before(live: Object | None, sent: Any, *, ignore_sent: bool) -> Managers:
    """The owners that a write starts from: what the client sent if that is usable, else the stored ones.

    COMPAT: decodeLiveOrNew
    """
    stored = live["metadata"].get("managedFields") if live is not None else None
    if not ignore_sent and sent is not None and sent != stored:
        if not sent or sent == [{}]:
            return {}
        try:
            managers = entries.decode(sent, trusted=False)
        except entries.InvalidEntryError:
            managers = {}
        if managers:
            return managers
    return entries.decode(stored, trusted=True)


class Changes:
    """What a write takes and removes, in terms of any version.

    :param live: None for a create.
    """

    def __init__(self, live: Object | None, new: Object, versions: Versions, fields: FieldFilter) -> None:
        self._live = live
        self._new = new
        self._versions = versions
        self._fields = fields
        self.taken, self.removed = compare(live, new, versions.type, fields)
        self._seen: dict[str, tuple[Fields, Fields] | None] = {}

    def of(self, api_version: str) -> tuple[Fields, Fields] | None:
        """What is taken and removed in terms of a version; None if there is no such version."""
        if self._versions.same(api_version):
            return self.taken, self.removed
        if api_version not in self._seen:
            self._seen[api_version] = self._compare(api_version)
        return self._seen[api_version]

    def _compare(self, api_version: str) -> tuple[Fields, Fields] | None:
        new = self._versions.see(self._new, api_version)
        live = self._versions.see(self._live, api_version) if self._live is not None else None
        if new is None or (live is None and self._live is not None):
            return None
        return compare(live[0] if live is not None else None, new[0], new[1], self._fields)


def moved(managers: Managers, changes: Changes, keeper: Identity | None = None) -> Managers:
    """The owners after everybody but ``keeper`` lost what was taken and removed; those left without anything go."""
    result: Managers = {}
    for owner, entry in managers.items():
        left = entry.fields
        if owner != keeper:
            own = changes.of(entry.api_version)
            if own is None:
                continue
            left = difference(difference(left, own[0]), own[1])
        if left:
            result[owner] = entry.owning(left)
    return result
