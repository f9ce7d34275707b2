"""What a resource's storage can do: one protocol per ability, after upstream's rest package.

Which routes and verbs exist follows from which of these a resource's storage object has: one without ``create`` has no
POST. The generic store of :mod:`apiserver.registry` has all of them; a virtual resource (a review, say) has few.
Handlers call these; ``options`` are parsed and checked already.

COMPAT: k8s.io/apiserver/pkg/registry/rest
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

from apiserver.api.encoded import EncodedObject
from apiserver.api.request import Request
from apiserver.api.stream import WatchStream


@dataclass(frozen=True, slots=True)
class GetOptions:
    """``resource_version``: "" newest, "0" any, else not older than this."""

    resource_version: str = ""


@dataclass(frozen=True, slots=True)
class ListOptions:
    """Options of list and watch, after the checks of the ListOptions matrix.

    ``label_selector`` and ``field_selector`` are parsed selectors (``apiserver.registry.selectors``), None for
    everything. ``timeout`` is in seconds, None = the server's choice.
    """

    label_selector: Any = None
    field_selector: Any = None
    resource_version: str = ""
    resource_version_match: str = ""
    limit: int = 0
    continue_token: str = ""
    timeout: float | None = None
    watch: bool = False
    allow_watch_bookmarks: bool = False
    send_initial_events: bool | None = None


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Options of create, update and patch."""

    dry_run: bool = False
    field_manager: str = ""
    field_validation: str = "Warn"
    force: bool | None = None


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """Options of delete. ``raw`` is the DeleteOptions object for admission and audit."""

    dry_run: bool = False
    grace_period_seconds: int | None = None
    uid: str | None = None
    resource_version: str | None = None
    propagation_policy: str | None = None
    orphan_dependents: bool | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)


class Context(NamedTuple):
    """Where a storage call is aimed. ``namespace`` is "" for cluster-scoped things and lists of all namespaces."""

    request: Request
    namespace: str = ""


class ListResult(NamedTuple):
    """A page of objects in key order, all as of ``resource_version``.

    ``remaining`` is None where it is not known (selectors) or where nothing remains.
    """

    items: Sequence[EncodedObject]
    resource_version: str
    continue_token: str = ""
    remaining: int | None = None


class DeleteResult(NamedTuple):
    """The object as deleted or as left (finalizers, grace), and whether it is gone."""

    object: EncodedObject
    gone: bool


@runtime_checkable
class Getter(Protocol):
    """GET of one object."""

    def get(self, ctx: Context, name: str, options: GetOptions) -> EncodedObject:
        """:raises NotFound:"""


@runtime_checkable
class Lister(Protocol):
    """GET of a collection."""

    def list(self, ctx: Context, options: ListOptions) -> ListResult:
        """:raises Expired: / :raises Timeout: for the resource version asked for."""


class WatchSource(Protocol):
    """What a watch encodes its events with: made by the handler from the negotiated form.

    ``frame(kind, object)`` returns the bytes of one event; ``key`` is equal for sources whose frames are equal, so
    that a frame is built once for all watchers of the same key.
    """

    key: object

    def frame(self, kind: str, obj: EncodedObject) -> bytes: ...

    def bookmark(self, resource_version: int, initial_events_end: bool) -> bytes: ...

    def error(self, status: Mapping[str, Any]) -> bytes: ...


@runtime_checkable
class Watcher(Protocol):
    """Watch of a collection or of one object."""

    def watch(self, ctx: Context, options: ListOptions, source: WatchSource) -> WatchStream:
        """:raises Timeout: the resource version asked for is in the future."""


Validator = Callable[[dict[str, Any], dict[str, Any] | None], None]
"""Validating admission, called with (new object, old object or None) just before storing."""


@runtime_checkable
class Creater(Protocol):
    """POST to a collection.

    ``validate`` runs validating admission on what would be stored; storage that stores nothing calls it too.
    """

    def create(self, ctx: Context, obj: dict[str, Any], options: WriteOptions, validate: Validator) -> EncodedObject:
        """:raises AlreadyExists: / :raises Invalid:"""


@runtime_checkable
class NamedCreater(Protocol):
    """POST to a subresource of a named object, such as ``pods/x/binding``."""

    def create_named(
        self, ctx: Context, name: str, obj: dict[str, Any], options: WriteOptions, validate: Validator
    ) -> EncodedObject:
        """:raises NotFound:"""


Transform = Callable[[dict[str, Any] | None, EncodedObject | None], dict[str, Any]]
"""Makes the new object from the stored one (dict the transform may keep, encoded form); None when it does not exist.

Called again after a storage conflict, with what is stored then.
"""


@runtime_checkable
class Updater(Protocol):
    """PUT, and what PATCH is built on."""

    def update(
        self,
        ctx: Context,
        name: str,
        transform: Transform,
        options: WriteOptions,
        validate: Validator,
        create: Validator | None = None,
    ) -> tuple[EncodedObject, bool]:
        """The stored object, and whether it was created.

        :param create: checks that the user may create, and validating admission for it; None = an update never
            creates (a strategy may allow PUT to create; apply always does).
        :raises NotFound: / :raises Conflict: / :raises Invalid:
        """


@runtime_checkable
class Patcher(Getter, Updater, Protocol):
    """PATCH: read, change, update."""


@runtime_checkable
class GracefulDeleter(Protocol):
    """DELETE of one object."""

    def delete(
        self, ctx: Context, name: str, options: DeleteOptions, validate: Callable[[dict[str, Any]], None]
    ) -> DeleteResult:
        """:raises NotFound: / :raises Conflict: preconditions."""


@runtime_checkable
class CollectionDeleter(Protocol):
    """DELETE of a collection."""

    def delete_collection(
        self,
        ctx: Context,
        options: DeleteOptions,
        list_options: ListOptions,
        validate: Callable[[dict[str, Any]], None],
    ) -> ListResult:
        """Deletes what the list options select; returns what was deleted."""


WsgiApp = Callable[[dict[str, Any], Any], Iterable[bytes]]


@runtime_checkable
class Connecter(Protocol):
    """A subresource that takes over the connection, such as ``pods/x/exec``. ``methods`` are HTTP's."""

    methods: Sequence[str]

    def connect(self, ctx: Context, name: str, path: str) -> WsgiApp:
        """A WSGI app that answers this request.

        :param path: what follows the subresource in the URL, with the slash before it; "" for nothing.
        """


@runtime_checkable
class ConnectOptions(Protocol):
    """A connecter that says what its query means, so that admission sees it."""

    def connect_options(self, ctx: Context, path: str) -> dict[str, Any]:
        """The options as an object, of the kind of the subresource.

        :raises BadRequest: the query makes no sense.
        """


@runtime_checkable
class Streamer(Protocol):
    """A subresource whose GET answers with something that is no object, such as ``pods/x/log``.

    COMPAT: rest.GetterWithOptions that returns a ResourceStreamer
    """

    def stream(self, ctx: Context, name: str) -> WsgiApp:
        """A WSGI app that answers this request."""
