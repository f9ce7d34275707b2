"""What a plugin sees of the server it is built into.

The object behind this protocol is :class:`apiserver.server.Server`. Hooks that are called while the server is built
(filters, routes, authenticators) keep a reference and use it when requests come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from apiserver.api.auth import Attributes, Decision, Rules, User
from apiserver.api.names import GroupResource, GroupVersionResource
from apiserver.api.request import Request
from apiserver.api.rest import Context

if TYPE_CHECKING:
    from apiserver.api.connect import Connect
    from apiserver.api.encoded import EncodedObject
    from apiserver.api.resource import Resource
    from apiserver.api.settings import Config
    from apiserver.api.storage import Storage

WsgiApp = Callable[[dict[str, Any], Any], Iterable[bytes]]
Filter = Callable[[WsgiApp], WsgiApp]


@dataclass(frozen=True, slots=True)
class Route:
    """A path that is not a resource, such as ``/version``.

    ``path`` is exact; with ``prefix`` everything below it too. ``app`` is a plain WSGI app. ``listed``: whether
    ``GET /`` shows it. ``methods`` empty = all.
    """

    path: str
    app: WsgiApp
    prefix: bool = False
    listed: bool = True
    methods: Sequence[str] = ()


class Lister(Protocol):
    """Reads of one resource from the watch cache, for admission plugins and controllers. Never blocks for long.

    What it returns is as new as the cache; nothing is read from the store.
    """

    def get(self, namespace: str, name: str) -> EncodedObject | None:
        """One object, or None."""

    def list(self, namespace: str = "", labels: Mapping[str, str] | None = None) -> Sequence[EncodedObject]:
        """All objects (of a namespace) that carry ``labels``, in key order."""

    @property
    def revision(self) -> int:
        """Of the newest change of this resource that the cache has; 0 before it is loaded. Costs next to nothing."""

    def wait_until_newest(self) -> None:
        """Return when every write acknowledged before this call, by any server, is in the cache. Asks the store.

        :raises StorageError: the store is away.
        :raises Timeout: it takes too long.
        """


@dataclass(frozen=True, slots=True)
class DelegateMatch:
    """A delegate's answer to "is this request yours?": who answers it.

    Either ``app``, a WSGI app, or ``responders``: Falcon responders ``(req, resp)`` by HTTP method.
    """

    app: WsgiApp | None = None
    responders: Mapping[str, Callable[..., None]] | None = None
    delegate: str = ""


class ChangingResources(Protocol):
    """Resources that come and go while the server runs: routes, discovery and OpenAPI follow at once."""

    def serve(self, resources: Sequence[Resource]) -> None:
        """From now on serve these and no others.

        A declaration that is the very same object as before goes on undisturbed. Any other one is installed anew,
        together with all that share its ``storage_prefix``: open watches of it end.
        """

    def claim(self, request: Request) -> DelegateMatch | None:
        """For the hook ``apiserver_delegate``: who answers a request for these resources, None for others."""


class Lifecycle(Protocol):
    """Signals of start and stop. COMPAT: k8s.io/apiserver/pkg/server lifecycleSignals."""

    def is_set(self, signal: str) -> bool:
        """Signals: MuxAndDiscoveryComplete, HasBeenReady, ShutdownInitiated, AfterShutdownDelayDuration,
        PreShutdownHooksStopped, NotAcceptingNewRequest, InFlightRequestsDrained, HTTPServerStoppedListening."""

    def request_started(self) -> bool:
        """Count a non-long-running request; False when the server drains and the request must be refused."""

    def request_finished(self) -> None:
        """The counterpart of :meth:`request_started`."""

    def watch_started(self) -> bool:
        """Count a watch; False when the server ends watches and this one must be refused."""

    def watch_finished(self) -> None:
        """The counterpart of :meth:`watch_started`."""


class Server(Protocol):
    """The server, for plugins."""

    config: Config
    storage: Storage

    @property
    def lifecycle(self) -> Lifecycle:
        """Signals of start and stop."""

    @property
    def resource_delegate(self) -> Callable[[Request], DelegateMatch | None]:
        """Claims requests for declared resources, discovery documents and routes."""

    @property
    def resources(self) -> Sequence[Resource]:
        """All resources that are served."""

    def resource(self, resource: GroupVersionResource) -> Resource | None:
        """One of them."""

    def store(self, resource: GroupResource) -> Any:
        """The storage object of a resource (its protocols are those of :mod:`apiserver.api.rest`).

        It may be one that is not served: of a kind that the emulated minor does not have, or switched off.

        :raises KeyError: there is no such resource.
        """

    def lister(self, resource: GroupResource) -> Lister:
        """Read access from the watch cache."""

    def changing_resources(self, name: str, refresh: Callable[[], None]) -> ChangingResources:
        """A new set of resources that may change, empty at first.

        :param name: of the delegate that answers for them.
        :param refresh: called before discovery and OpenAPI documents are made, so that they show what is newest.
        """

    def connecter(self, subresource: str) -> Connect | None:
        """What a plugin serves connections of ``pods/exec`` or the like with, None if there is none."""

    def system_context(self, namespace: str = "") -> Context:
        """A context for calls made by the server itself, as user ``system:apiserver`` in ``system:masters``."""

    def authenticate(self, request: Request) -> User | None:
        """Ask the authenticators in order. :raises Unauthorized:"""

    def authorize(self, attributes: Attributes) -> tuple[Decision, str]:
        """Ask the authorizers in order; nobody's opinion is NO_OPINION, which means no."""

    def rules_for(self, user: User, namespace: str) -> Rules:
        """The rules of those authorizers that can tell them."""

    @property
    def audited(self) -> bool:
        """Whether any plugin implements ``apiserver_audit``: without one nobody needs to make events."""

    def audit(self, event: Mapping[str, Any]) -> None:
        """Hand an audit event to every ``apiserver_audit`` hook."""

    def post_start_hook(self, name: str, run: Callable[[], None]) -> None:
        """Run ``run`` in a thread after the server listens; ``readyz`` has a check ``poststarthook/<name>``.

        An exception ends the process with its name. Call it from ``apiserver_started``.
        """

    def background(self, name: str, run: Callable[[Callable[[float], bool]], None]) -> None:
        """Run a loop in a daemon thread until shutdown: ``run(wait)``, where ``wait(seconds)`` returns False when
        it is time to end. An exception is logged and ``run`` is called again after a pause."""
