"""Server-side apply: a configuration merged into the live object, with ownership. Called by the PATCH handler.

The manager owns what its configuration sets. What it set last time and leaves out now goes away, unless somebody else
owns it too; what others own with another value is a conflict.

COMPAT: managedfields FieldManager.Apply with its chain of managers; merge.Updater.Apply
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from apiserver.api.errors import BadRequest, UnknownError
from apiserver.api.names import GroupVersion, GroupVersionKind
from apiserver.registry.managedfields import entries, last_applied, typed, validate
from apiserver.registry.managedfields.conflicts import ApplyConflict
from apiserver.registry.managedfields.elements import UnkeyedError
from apiserver.registry.managedfields.entries import APPLY, BEFORE_FIRST_APPLY, UPDATE, Entry, Identity, Managers
from apiserver.registry.managedfields.fieldset import EMPTY, Fields, difference, intersection, union
from apiserver.registry.managedfields.filters import FieldFilter
from apiserver.registry.managedfields.update import EVERYTHING, Changes, compare, moved, reconciled
from apiserver.registry.managedfields.versions import Convert, Object, Versions, record_of
from apiserver.schema.types import Struct

KUBECTL: Final = "kubectl"
"""The manager that takes over from client-side apply without conflicts."""

_NEVER_OWNED: Final[Fields] = {
    "f:apiVersion": EMPTY,
    "f:kind": EMPTY,
    "f:metadata": {
        ".": EMPTY,
        **dict.fromkeys(
            (
                *("f:clusterName", "f:creationTimestamp", "f:generation", "f:managedFields", "f:name", "f:namespace"),
                *("f:resourceVersion", "f:selfLink", "f:uid"),
            ),
            EMPTY,
        ),
    },
}
"""COMPAT: stripMetaManager"""


def apply(
    live: Object | None,
    patch: Object,
    *,
    gvk: GroupVersionKind,
    manager: str,
    force: bool,
    now: str,
    type: Struct,  # noqa: A002 - the word of the domain
    subresource: str = "",
    fields: FieldFilter = EVERYTHING,
    convert: Convert | None = None,
) -> Object:
    """The object after an apply, before decoding, defaulting and validation, with its managedFields.

    Nulls in it mean fields without a value. It shares parts with ``live`` and ``patch``, neither of which is changed
    here; who goes on to change the result must not use them afterwards.

    :param live: the stored object in the version of ``gvk``; None to create.
    :param patch: the configuration, decoded.
    :param gvk: the kind that the endpoint serves; ``type`` is its type.
    :param manager: as the request says.
    :param force: take fields from other managers.
    :param now: the time for new ownership, RFC 3339 in whole seconds, UTC.
    :param subresource: "" for the main endpoint.
    :param fields: what may be owned through this endpoint.
    :param convert: how to see the object in the versions of other entries; None: all versions have one shape.
    :raises BadRequest: another kind, or managedFields in the configuration.
    :raises UnknownError: 500; the configuration does not fit the type, or the stored object has items without keys.
    :raises ApplyConflict: 409.
    """
    _check_kind(patch, gvk)
    operation = _Apply(live, patch, gvk, manager, now, type, subresource, fields, convert)
    try:
        result = operation.run(force)
    except ApplyConflict as conflict:
        if manager != KUBECTL or live is None:
            raise
        # COMPAT: lastAppliedManager: what client-side apply set is kubectl's to change.
        left = conflict.without(last_applied.owned_by_annotation(live, gvk, type))
        if left is not None:
            raise left from None
        result = operation.run(force=True)
    except UnkeyedError as error:
        # COMPAT: structuredMergeManager.Apply; what was written by other means may have items without their keys
        problem = (live and validate.explain(_bare(live), type)) or str(error)
        raise UnknownError(f"failed to create typed live object ({_named_as(live or patch, gvk)}): {problem}") from None
    if manager == KUBECTL:
        last_applied.refresh(result, patch)
    return result


class _Apply:
    """One apply; :meth:`run` may be called again."""

    def __init__(
        self,
        live: Object | None,
        patch: Object,
        gvk: GroupVersionKind,
        manager: str,
        now: str,
        type_: Struct,
        subresource: str,
        fields: FieldFilter,
        convert: Convert | None,
    ) -> None:
        self.live = live
        self.patch = patch
        self.gvk = gvk
        self.now = now
        self.fields = fields
        self.api_version = str(gvk.group_version)
        self.subresource = subresource
        self.owner = entries.identity(manager, APPLY, self.api_version, subresource)
        self.shape = record_of(type_)
        self.versions = Versions(self.api_version, type_, convert)

    def run(self, force: bool) -> Object:
        managers = self._managers_before()
        _check_configuration(self.patch, self.gvk, self.versions.type)
        managers = reconciled(managers, self.live, self.versions)
        last = managers.get(self.owner)
        configured = self.fields(typed.applied(self.shape, self.patch))
        managers[self.owner] = Entry(self.api_version, configured, last.time if last else "")
        merged: Object = typed.merge(self.shape, _bare(self.live) if self.live else None, self.patch)
        if last and difference(last.fields, configured):
            merged = self._pruned(merged, managers, last)
        managers = self._settled(managers, merged, force)
        return self._result(merged, managers)

    def _managers_before(self) -> Managers:
        """The stored owners; fields of an object that never had any belong to ``before-first-apply``.

        COMPAT: skipNonAppliedManager.Apply
        """
        if self.live is None:
            return {}
        managers = entries.decode(self.live["metadata"].get("managedFields"), trusted=True)
        if managers:
            return managers
        taken, _ = compare(None, self.live, self.versions.type, self.fields)
        if not taken:
            return {}
        owner = entries.identity(BEFORE_FIRST_APPLY, UPDATE, self.api_version, self.subresource)
        return {owner: Entry(self.api_version, taken, self.now)}

    def _pruned(self, merged: Object, managers: Managers, last: Entry) -> Object:
        """Without what this manager applied last time, does not apply now, and nobody else owns.

        COMPAT: merge.Updater.prune
        """
        seen = self.versions.see(merged, last.api_version)
        if seen is None:
            return merged
        base, type_ = seen
        shape = record_of(type_)
        former = typed.with_named_fields(shape, last.fields)
        pruned = typed.remove(shape, base, former) or {}
        pruned = self._with_owned(base, pruned, managers, last.api_version)
        again = self.versions.see(pruned, last.api_version)
        if again is None:
            return merged
        lost = difference(_named(shape, base), _named(shape, again[0]))
        # Only what this manager had applied may go; anything else that went along comes back.
        kept: Object = typed.remove(shape, base, intersection(lost, former)) or {}
        back = self.versions.see(kept, self.api_version)
        return back[0] if back is not None else merged

    def _with_owned(self, merged: Object, pruned: Object, managers: Managers, version: str) -> Object:
        """``pruned`` with what somebody owns put back. COMPAT: addBackOwnedItems"""
        owned: dict[str, Fields] = {version: EMPTY}
        for entry in managers.values():
            at = version if self.versions.same(version) and self.versions.same(entry.api_version) else entry.api_version
            owned[at] = union(owned.get(at, EMPTY), entry.fields)
        for at, fields in owned.items():
            full, part = self.versions.see(merged, at), self.versions.see(pruned, at)
            if full is None or part is None:
                continue
            merged, type_ = full
            shape = record_of(type_)
            stay = union(_named(shape, part[0]), typed.with_named_fields(shape, fields))
            pruned = typed.remove(shape, merged, difference(_named(shape, merged), stay)) or {}
        return pruned

    def _settled(self, managers: Managers, merged: Object, force: bool) -> Managers:
        """The owners after the others lost what changed.

        :raises ApplyConflict: they would lose something, and ``force`` is not given.
        """
        if self.live is not None and len(managers) > 1:
            changes = Changes(self.live, merged, self.versions, self.fields)
            if not force:
                conflicts = _conflicts(managers, changes, self.owner)
                if conflicts:
                    raise ApplyConflict(conflicts)
            managers = moved(managers, changes, keeper=self.owner)
        own = managers.pop(self.owner, None)
        if own is not None:
            left = difference(own.fields, _NEVER_OWNED)
            if left:
                managers[self.owner] = own.owning(left)
        return managers

    def _result(self, merged: Object, managers: Managers) -> Object:
        result = {**merged, "metadata": {**(merged.get("metadata") or {})}}
        own = managers.get(self.owner)
        if own is not None and (self.live is None or result != _bare(self.live)):
            # COMPAT: managedFieldsUpdater: without a change there is no new time, not even for a new owner.
            managers[self.owner] = Entry(own.api_version, own.fields, self.now)
        entries.write(result["metadata"], managers)
        return result


def _bare(obj: Object) -> Object:
    """An object without its managedFields."""
    metadata = {name: value for name, value in obj["metadata"].items() if name != "managedFields"}
    return {**obj, "metadata": metadata}


def _named(shape: Any, obj: Object) -> Fields:
    return typed.with_named_fields(shape, typed.applied(shape, obj))


def _conflicts(managers: Managers, changes: Changes, owner: Identity) -> Mapping[Identity, Fields]:
    found = {}
    for other, entry in managers.items():
        own = changes.of(entry.api_version) if other != owner else None
        lost = intersection(entry.fields, own[0]) if own is not None else EMPTY
        if lost:
            found[other] = lost
    return found


def _check_kind(patch: Object, gvk: GroupVersionKind) -> None:
    """COMPAT: versionCheckManager.Apply"""
    given = _kind_of(patch)
    if given != gvk:
        raise BadRequest(f"invalid object type: {given}")


def _kind_of(patch: Object) -> GroupVersionKind:
    api_version, kind = patch.get("apiVersion"), patch.get("kind")
    try:
        version = GroupVersion.parse(api_version if isinstance(api_version, str) else "")
    except ValueError:
        return GroupVersionKind("", "", "")
    return version.kind(kind if isinstance(kind, str) else "")


def _check_configuration(patch: Object, gvk: GroupVersionKind, type_: Struct) -> None:
    """:raises BadRequest: it has managedFields. / :raises UnknownError: it does not fit the type."""
    metadata = patch.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    if isinstance(metadata.get("managedFields"), list):
        raise BadRequest("metadata.managedFields must be nil")
    problem = validate.explain(patch, type_)
    if problem:
        raise UnknownError(f"failed to create typed patch object ({_named_as(patch, gvk)}): {problem}")


def _named_as(obj: Object, gvk: GroupVersionKind) -> str:
    metadata = obj.get("metadata")
    namespace, name = (_text(metadata.get(key) if isinstance(metadata, dict) else "") for key in ("namespace", "name"))
    return f"{namespace}/{name}; {gvk}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
