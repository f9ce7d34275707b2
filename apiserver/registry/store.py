"""The generic store of a resource: the order of a write, and reads from the watch cache.

Handlers call it through the protocols of :mod:`apiserver.api.rest`; it calls the strategy, the storage driver and
the watch cache. What comes before (decoding, defaults, managedFields, mutating admission) is the handlers', what comes
in between (validating admission) is handed in as ``validate``.

COMPAT: k8s.io/apiserver/pkg/registry/generic/registry Store; .../registry/rest BeforeCreate, BeforeUpdate
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import AlreadyExists, ApiError, Conflict, Invalid, NotFound, UnknownError
from apiserver.api.fields import FieldError
from apiserver.api.names import GroupKind
from apiserver.api.resource import Resource
from apiserver.api.rest import (
    Context,
    DeleteOptions,
    DeleteResult,
    GetOptions,
    ListOptions,
    ListResult,
    Transform,
    Validator,
    WatchSource,
    WriteOptions,
)
from apiserver.api.storage import KeyExistsError, RevisionMismatchError, Storage, ValueTooLargeError
from apiserver.api.strategy import Strategy
from apiserver.api.stream import WatchStream
from apiserver.registry import deletion, metadata, names
from apiserver.registry.codec import Codec
from apiserver.registry.deletion import Grace
from apiserver.registry.managedfields.timestamps import keep_times
from apiserver.registry.problems import problems
from apiserver.registry.translate import parse_revision, storage_errors
from apiserver.schema.check import PartCheck, SchemaCheck
from apiserver.storage.cache.feed import Feed
from apiserver.storage.cache.resource import ResourceCache

Object = dict[str, Any]

MODIFIED_TEXT = "the object has been modified; please apply your changes to the latest version and try again"


class Store:
    """Everything a stored resource can do.

    :param resource: the declaration.
    :param storage: the driver.
    :param feed: the process's watch cache.
    :param root: the key prefix of everything, such as ``/registry/``.
    :param ttl: seconds until an object vanishes, None = never.
    :param check: of the schema that the kind brings; objects that do not fit never get to the strategy's checks.
    :param seen: takes from an object of the storage version, in place, what this version does not have; ``settle`` the
        other way. For a kind whose versions have schemas of their own: its rules are those of the version that is
        written, not those of the stored one.
    """

    def __init__(
        self,
        resource: Resource,
        storage: Storage,
        feed: Feed,
        codec: Codec,
        root: str,
        ttl: int | None = None,
        check: SchemaCheck | None = None,
        seen: Callable[[Object], None] | None = None,
        settle: Callable[[Object], None] | None = None,
    ) -> None:
        self.resource = resource
        self.strategy: Strategy = resource.strategy
        self.storage = storage
        self.feed = feed
        self.codec = codec
        self.prefix = f"{root}{resource.key_prefix}/"
        self.ttl = ttl
        self._check: SchemaCheck | PartCheck | None = check
        self._seen = seen
        self._settle = settle

    @functools.cached_property
    def cache(self) -> ResourceCache:
        """Where all reads go; shared by the resources of one prefix."""
        return self.feed.cache(self.prefix, self.codec, namespaced=self.resource.namespaced)

    def with_strategy(self, strategy: Strategy, check: PartCheck | None = None) -> Store:
        """The same objects under other rules, for subresources; ``check``: instead of the schema's."""
        other = copy.copy(self)
        other.strategy = strategy
        if check is not None:
            other._check = check
        return other

    # -- reads ----------------------------------------------------------------

    def get(self, ctx: Context, name: str, options: GetOptions) -> EncodedObject:
        """One object, as new as ``options`` ask."""
        with storage_errors(self.resource.group_resource, "get"):
            found = self.cache.get(self.key(ctx, name), options.resource_version)
        if found is None:
            raise NotFound.for_object(self.resource.group_resource, name)
        return found

    def list(self, ctx: Context, options: ListOptions) -> ListResult:
        """A page of objects in key order."""
        with storage_errors(self.resource.group_resource, "list"):
            return self.cache.list(self._scope(ctx), options)

    def watch(self, ctx: Context, options: ListOptions, source: WatchSource) -> WatchStream:
        """A stream of changes."""
        with storage_errors(self.resource.group_resource, "watch"):
            return self.cache.watch(self._watched(ctx, options), options, source)

    # -- create ---------------------------------------------------------------

    def create(self, ctx: Context, obj: Object, options: WriteOptions, validate: Validator) -> EncodedObject:
        """Store a new object; a name is made from generateName if it has none."""
        meta = obj["metadata"]
        if meta.get("resourceVersion"):
            # COMPAT: etcd3 store.Create, errResourceVersionSetOnCreate: a plain error, so 500
            raise UnknownError("resourceVersion should not be set on objects to be created")
        metadata.fill_system_fields(meta)
        if meta.get("name") or not meta.get("generateName"):
            return self._create(ctx, obj, options, validate)
        again = orjson.dumps(obj)
        for _ in range(names.ATTEMPTS):
            obj = orjson.loads(again)
            obj["metadata"]["name"] = names.generate_name(meta["generateName"])
            try:
                return self._create(ctx, obj, options, validate)
            except AlreadyExists:
                continue
        raise AlreadyExists.generated(self.resource.group_resource, obj["metadata"]["name"])

    def _create(self, ctx: Context, obj: Object, options: WriteOptions, validate: Validator) -> EncodedObject:
        strategy = self.strategy
        finish = strategy.begin_create(ctx, obj, options)
        stored = False
        try:
            strategy.prepare_for_create(ctx, obj)
            errors = [
                *metadata.validate(
                    obj["metadata"], self.resource.namespaced, strategy.validate_name, strategy.any_finalizer
                ),
                *problems(self.resource, self.strategy, self._check, ctx, obj),
            ]
            self._refuse(obj, errors)
            for warning in strategy.warnings_on_create(ctx, obj):
                ctx.request.warn(warning)
            self._canonicalize(obj)
            validate(obj, None)
            result = self._insert(ctx, obj, options.dry_run)
            stored = not options.dry_run
            return result
        finally:
            if finish is not None:
                finish(stored)

    def _insert(self, ctx: Context, obj: Object, dry_run: bool) -> EncodedObject:
        name = obj["metadata"]["name"]
        key = self.key(ctx, name)
        resource = self.resource.group_resource
        with storage_errors(resource, "create"):
            if dry_run:
                if self.storage.get(key) is not None:
                    raise AlreadyExists.for_object(resource, name)
                return self.codec.encoded(obj, 0, key)
            try:
                return self._write(obj, key, lambda value: self.storage.create(key, value, ttl=self.ttl))
            except KeyExistsError:
                raise self._already_exists(key, name) from None

    def _already_exists(self, key: str, name: str) -> AlreadyExists:
        present = self._live(key)
        if present is not None and "deletionTimestamp" in present.decode()["metadata"]:
            return AlreadyExists.being_deleted(self.resource.group_resource, name)
        return AlreadyExists.for_object(self.resource.group_resource, name)

    # -- update ---------------------------------------------------------------

    def update(
        self,
        ctx: Context,
        name: str,
        transform: Transform,
        options: WriteOptions,
        validate: Validator,
        create: Validator | None = None,
    ) -> tuple[EncodedObject, bool]:
        """Change an object, again and again until nobody wrote in between.

        The first try starts from what is at hand; whatever goes wrong with that object, or leaves it as it is, is tried
        again with the stored one if it was too old. COMPAT: etcd3 store.GuaranteedUpdate
        """
        key = self.key(ctx, name)
        with storage_errors(self.resource.group_resource, "update"):
            cached = self._at_hand(key)
            if cached is not None:
                try:
                    made, created = self._update(ctx, key, cached, transform, options, validate)
                    written = made is not cached and not options.dry_run
                    if written or self._is_newest(cached):
                        return made, created
                except (ApiError, RevisionMismatchError):
                    if self._is_newest(cached):
                        raise
            current = self._live(key)
            while True:
                try:
                    if current is not None:
                        return self._update(ctx, key, current, transform, options, validate)
                    return self._create_on_update(ctx, name, transform, options, create), True
                except RevisionMismatchError as ex:
                    ctx.request.remaining()
                    kv = ex.current
                    current = self.codec.decode_stored(kv.key, kv.value, kv.mod_revision) if kv else None
                except AlreadyExists:
                    current = self._live(key)

    def _create_on_update(
        self, ctx: Context, name: str, transform: Transform, options: WriteOptions, create: Validator | None
    ) -> EncodedObject:
        if create is None:
            raise NotFound.for_object(self.resource.group_resource, name)
        obj = transform(None, None)
        obj["metadata"].pop("resourceVersion", None)
        metadata.fill_system_fields(obj["metadata"])
        return self._create(ctx, obj, options, create)

    def _update(
        self,
        ctx: Context,
        key: str,
        current: EncodedObject,
        transform: Transform,
        options: WriteOptions,
        validate: Validator,
    ) -> tuple[EncodedObject, bool]:
        """One try; :class:`RevisionMismatchError` when somebody else wrote in between."""
        old = current.decode()
        obj = transform(old, current)
        self._check_version(obj, old, current)
        finish = self.strategy.begin_update(ctx, obj, old, options)
        stored = False
        try:
            self._check_update(ctx, obj, old)
            validate(obj, old)
            if self._deleted_by(obj):
                self._remove(ctx, obj, current, options.dry_run)
                # COMPAT: deleteWithoutFinalizers answers with the object as it was updated, not with the deletion
                return self.codec.encoded(obj, current.revision, key), False
            obj["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
            keep_times(old, obj)
            if obj == old:
                return current, False
            if options.dry_run:
                return self.codec.encoded(obj, current.revision, key), False
            written = self._write(
                obj, key, lambda value: self.storage.update(key, value, current.revision, ttl=self.ttl)
            )
            stored = True
            return written, False
        finally:
            if finish is not None:
                finish(stored)

    def _check_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """Prepare and check a changed object, in upstream's order."""
        if self._seen is not None:
            old = self.seen(orjson.loads(orjson.dumps(old)))
        metadata.keep_server_fields(
            obj["metadata"], old["metadata"], lambda: self.strategy.prepare_for_update(ctx, obj, old)
        )
        errors = metadata.validate_update(obj["metadata"], old["metadata"], self.strategy.any_finalizer)
        # COMPAT: upstream checks metadata twice, in BeforeUpdate and in each kind's ValidateUpdate
        errors = [*errors, *errors, *problems(self.resource, self.strategy, self._check, ctx, obj, old)]
        self._refuse(obj, errors)
        for warning in self.strategy.warnings_on_update(ctx, obj, old):
            ctx.request.warn(warning)
        self._canonicalize(obj)

    def seen(self, obj: Object) -> Object:
        """An object of the storage version, changed in place to what the rules of this version see of it."""
        if self._seen is not None:
            self._seen(obj)
        return obj

    def _canonicalize(self, obj: Object) -> None:
        """Bring a checked object into the form to be stored."""
        self.strategy.canonicalize(obj)
        if self._settle is not None:
            self._settle(obj)

    def _check_version(self, obj: Object, old: Object, current: EncodedObject) -> None:
        """The resourceVersion in the body must be the stored one, or absent where the kind allows that."""
        given = obj["metadata"].get("resourceVersion") or ""
        if not given or given == "0":
            if not self.strategy.allow_unconditional_update:
                path = "metadata.resourceVersion"
                error = FieldError("FieldValueInvalid", path, "Invalid value: 0: must be specified for an update")
                # COMPAT: Store.Update puts the resource where other refusals have the kind
                kind = GroupKind(self.resource.group, self.resource.plural)
                raise Invalid(kind, obj["metadata"].get("name", ""), [error])
            return
        if parse_revision(given) != current.revision:
            raise Conflict.for_object(self.resource.group_resource, old["metadata"]["name"], MODIFIED_TEXT)

    def _deleted_by(self, obj: Object) -> bool:
        """COMPAT: ShouldDeleteDuringUpdate: the last finalizer of a deleted object went."""
        meta = obj["metadata"]
        return (
            bool(meta.get("deletionTimestamp"))
            and not meta.get("finalizers")
            and not meta.get("deletionGracePeriodSeconds")
            and self.strategy.finished(obj)
        )

    # -- delete ---------------------------------------------------------------

    def delete(
        self, ctx: Context, name: str, options: DeleteOptions, validate: Callable[[Object], None]
    ) -> DeleteResult:
        """Delete an object, or begin to, as grace, finalizers and propagation have it."""
        key = self.key(ctx, name)
        with storage_errors(self.resource.group_resource, "delete"):
            current = self._live(key)
            while True:
                if current is None:
                    raise NotFound.for_object(self.resource.group_resource, name)
                try:
                    return self._delete(ctx, current, options, validate)
                except RevisionMismatchError as ex:
                    ctx.request.remaining()
                    kv = ex.current
                    current = self.codec.decode_stored(kv.key, kv.value, kv.mod_revision) if kv else None

    def _delete(
        self, ctx: Context, current: EncodedObject, options: DeleteOptions, validate: Callable[[Object], None]
    ) -> DeleteResult:
        obj = current.decode()
        deletion.check_preconditions(self.codec.gvk.group_kind, obj, options)
        validate(obj)
        self.strategy.check_delete(ctx, obj)
        if self.strategy.begin_delete(ctx, obj):
            return DeleteResult(self._mark(obj, current, options.dry_run), gone=False)
        grace, seconds = deletion.begin_grace(self.strategy, ctx, obj, options)
        if grace is Grace.PENDING:
            return DeleteResult(current, gone=False)
        changed = deletion.propagation_finalizers(self.strategy, obj, options)
        finalizers = bool(obj["metadata"].get("finalizers"))
        if grace is Grace.NONE and finalizers:
            deletion.mark_deleting(obj)
        if grace is Grace.BEGUN or finalizers or changed:
            current = self._mark(obj, current, options.dry_run)
        if finalizers or seconds > 0:
            return DeleteResult(current, gone=False)
        return DeleteResult(self._remove(ctx, obj, current, options.dry_run), gone=True)

    def _mark(self, obj: Object, current: EncodedObject, dry_run: bool) -> EncodedObject:
        """Store what a deletion in progress changed."""
        if obj == current.decode():
            return current
        if dry_run:
            return self.codec.encoded(obj, current.revision, current.key)
        key = current.key
        return self._write(obj, key, lambda value: self.storage.update(key, value, current.revision))

    def _remove(self, ctx: Context, obj: Object, current: EncodedObject, dry_run: bool) -> EncodedObject:
        if dry_run:
            return self.codec.encoded(obj, current.revision, current.key)
        revision = self.storage.delete(current.key, current.revision)
        self.codec.forget(current.key)
        self.strategy.after_delete(ctx, obj)
        return self.codec.encoded(obj, revision, current.key)

    def delete_collection(
        self, ctx: Context, options: DeleteOptions, list_options: ListOptions, validate: Callable[[Object], None]
    ) -> ListResult:
        """Delete what the list options select, one by one; what vanished meanwhile is passed over."""
        listed = self.list(ctx, list_options)
        for item in listed.items:
            try:
                self.delete(Context(ctx.request, item.namespace), item.name, options, validate)
            except NotFound:
                continue
        return listed

    # -- shared ---------------------------------------------------------------

    def key(self, ctx: Context, name: str) -> str:
        """The storage key of an object."""
        return f"{self.prefix}{ctx.namespace}/{name}" if self.resource.namespaced else self.prefix + name

    def _scope(self, ctx: Context) -> str:
        return f"{self.prefix}{ctx.namespace}/" if ctx.namespace and self.resource.namespaced else self.prefix

    def _watched(self, ctx: Context, options: ListOptions) -> str:
        """The prefix to watch, or the one key that the field selector leaves."""
        name = options.field_selector.exact("metadata.name") if options.field_selector else None
        if name and (ctx.namespace or not self.resource.namespaced):
            return self.key(ctx, name)
        return self._scope(ctx)

    def _live(self, key: str) -> EncodedObject | None:
        kv = self.storage.get(key)
        return self.codec.decode_stored(key, kv.value, kv.mod_revision) if kv else None

    def _at_hand(self, key: str) -> EncodedObject | None:
        """The newest state that is known without asking: the cache's, or what was written here a moment ago."""
        cached, written = self.cache.peek(key), self.codec.last_written(key)
        if written is None or (cached is not None and cached.revision >= written.revision):
            return cached
        return written

    def _is_newest(self, obj: EncodedObject) -> bool:
        kv = self.storage.get(obj.key)
        return kv is not None and kv.mod_revision == obj.revision

    def _write(self, obj: Object, key: str, write: Callable[[bytes], int]) -> EncodedObject:
        """Store; an object that is too large loses its managedFields and is tried once more (COMPAT: 1.36)."""
        value = self.codec.encode(obj)
        try:
            revision = write(value)
        except ValueTooLargeError:
            if obj["metadata"].pop("managedFields", None) is None:
                raise
            value = self.codec.encode(obj)
            revision = write(value)
        return self.codec.written(value, obj, revision, key)

    def _refuse(self, obj: Object, errors: Sequence[FieldError]) -> None:
        if errors:
            own = self.codec.gvk
            kind = GroupKind(own.group, obj.get("kind") or own.kind) if self.resource.unstructured else own.group_kind
            raise Invalid(kind, obj["metadata"].get("name", ""), errors)
