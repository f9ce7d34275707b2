"""The table of contents of the program: :func:`build` makes a server of settings and plugins.

Called once in each worker process by :mod:`apiserver.wsgi`, and by commands that only look at what would be served.
The object it returns is what plugins see (:class:`apiserver.api.server.Server`) and is itself the WSGI application,
with the two methods that our worker class calls at the end (:mod:`apiserver.api.serving`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from apiserver import declarations
from apiserver.api.auth import (
    MASTERS,
    Attributes,
    Authenticator,
    Authorizer,
    Decision,
    RuleResolver,
    Rules,
    User,
)
from apiserver.api.connect import Connect
from apiserver.api.health import HealthCheck
from apiserver.api.names import GroupResource, GroupVersionResource
from apiserver.api.request import Request, RequestInfo
from apiserver.api.resource import Resource
from apiserver.api.rest import Context
from apiserver.api.server import Lister, Route, WsgiApp
from apiserver.api.settings import Config
from apiserver.api.storage import Storage
from apiserver.chain import wrap
from apiserver.changing import ChangingResources
from apiserver.configure import Setup
from apiserver.enablement import Enablement
from apiserver.handlers.discovery import Discovery
from apiserver.handlers.endpoints import Endpoint, describe
from apiserver.handlers.routes import standard_routes
from apiserver.installation import Installation, Shared
from apiserver.lifecycle import Lifecycle
from apiserver.manager import Plugins
from apiserver.opening import open_storage
from apiserver.registry.admission import Admission
from apiserver.registry.kinds import Kinds
from apiserver.router import ResourceDelegate, make_app
from apiserver.settings import emulated_minor
from apiserver.storage.cache.feed import Feed
from apiserver.storage.cache.lister import CacheLister
from apiserver.storage.compaction import Compactor

SYSTEM_USER = User("system:apiserver", groups=(MASTERS, "system:authenticated"))


class Server:
    """A server of one worker process: what plugins see, and the WSGI application."""

    def __init__(self, setup: Setup, storage: Storage | None = None) -> None:
        """Build everything; nothing runs before :meth:`start`.

        :param storage: instead of the one that the settings name.
        :raises PluginError: plugins declare what does not fit together.
        :raises ConfigError: settings name resources that there are not.
        """
        self.config: Config = setup.config
        self.plugins: Plugins = setup.plugins
        self.root = "/" + self.config.text("etcd-prefix").strip("/") + "/"
        self.storage: Storage = storage if storage is not None else open_storage(setup)
        self.feed = Feed(self.storage, self.root)
        self.lifecycle = Lifecycle(self)
        self.compactor = Compactor(self.storage, self.config.seconds("etcd-compaction-interval"))
        self.minor = emulated_minor(self.config.text("emulated-version"))
        self.kinds = Kinds(self.minor)
        self._installation = self._install()
        self.authenticators: Sequence[Authenticator] = self._made("apiserver_authenticator")
        self.authorizers: Sequence[Authorizer] = self._made("apiserver_authorizer")
        self._connecters = self._collect_connecters()
        self.health_checks = self._health_checks()
        self._discovery = Discovery((), "")
        self._changing: list[ChangingResources] = []
        self.resource_delegate = ResourceDelegate(self._installation.endpoints, self.discovery, self._routes())
        self._app = self._chain()

    # -- building, in order ---------------------------------------------------

    def _install(self) -> Installation:
        """Resources of all plugins, those that the settings leave enabled, become stores and endpoints."""
        declared = declarations.resources(self.plugins, self, self.kinds)
        enablement = Enablement(self.minor, self.config.mapping("runtime-config"), self.config.mapping("feature-gates"))
        shared = Shared(
            server=self,
            kinds=self.kinds,
            admission=Admission(self._named("apiserver_admit"), self._named("apiserver_validate")),
            authorize=self.authorize,
            root=self.root,
            min_request_timeout=float(self.config.integer("min-request-timeout")),
        )
        installation = Installation(shared)
        self._installation = installation
        installation.add(enablement.apply(declared, self.kinds), declared)
        return installation

    def _collect_connecters(self) -> dict[str, Connect]:
        owners: dict[str, str] = {}
        problems, found = [], {}
        for plugin, served in self.plugins.call_each("apiserver_connecters", self):
            for subresource, connect in served.items():
                if subresource in owners:
                    problems.append(f"{plugin.name}: {subresource} is already served by {owners[subresource]}")
                owners.setdefault(subresource, plugin.name)
                found[subresource] = connect
        Plugins.refuse(problems)
        return found

    def _named(self, hook: str) -> list[tuple[str, Callable[..., Any]]]:
        return [(plugin.name, func) for plugin, func in self.plugins.calls(hook)]

    def _made(self, hook: str) -> list[Any]:
        return declarations.made(self.plugins, hook, self)

    def _health_checks(self) -> list[HealthCheck]:
        return declarations.health_checks(self.plugins, self, self.lifecycle.health_checks())

    def _routes(self) -> list[Route]:
        return declarations.routes(self.plugins, self, standard_routes(self))

    def _chain(self) -> WsgiApp:
        delegates = self._made("apiserver_delegate")
        return wrap(make_app(delegates), self.plugins.calls("apiserver_filter"), self)

    def _address(self) -> str:
        host = self.config.text("advertise-address") or self.config.text("bind-address")
        return f"{host}:{self.config.integer('secure-port')}"

    # -- running --------------------------------------------------------------

    def start(self) -> None:
        """Begin to follow the store and run what plugins do at start. Requests may come at once."""
        self.feed.start()
        self.compactor.start()
        self.lifecycle.start()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        return self._app(environ, start_response)

    def begin_shutdown(self) -> None:
        """See :class:`apiserver.api.serving.BeginsShutdown`."""
        self.lifecycle.begin_shutdown()

    def close(self) -> None:
        """See :class:`apiserver.api.serving.Closes`."""
        self.lifecycle.close()
        self.compactor.stop()
        self.feed.stop()
        self.storage.close()

    # -- what plugins use -----------------------------------------------------

    @property
    def resources(self) -> Sequence[Resource]:
        """All resources that are served."""
        return self._installation.resources

    @property
    def installation(self) -> Installation:
        """Endpoints and stores."""
        return self._installation

    def resource(self, resource: GroupVersionResource) -> Resource | None:
        """One of them."""
        return self._installation.resource(resource)

    def routes(self) -> list[dict[str, Any]]:
        """Every path of declared resources, documents and routes, with who answers it."""
        rows = []
        for delegate in self.delegates():
            rows += [{**row, "delegate": delegate.name} for e in delegate.endpoints for row in describe(e)]
            rows += [{"path": p, "delegate": delegate.name, "verbs": ["get"], "kind": ""} for p in delegate.paths()]
        return sorted(rows, key=lambda row: str(row["path"]))

    def delegates(self) -> Sequence[ResourceDelegate]:
        """Who answers for resources: declared ones, and those that may change."""
        return [self.resource_delegate, *(changing.delegate for changing in self._changing)]

    def endpoints(self) -> Sequence[Endpoint]:
        """All that is served at this moment; another sequence when something has changed."""
        for changing in self._changing:
            changing.refresh()
        return self._installation.endpoints

    def discovery(self) -> Discovery:
        """The discovery documents of all that is served at this moment."""
        endpoints = self.endpoints()
        found = self._discovery
        if found.endpoints is not endpoints:
            found = self._discovery = Discovery(endpoints, self._address())
        return found

    def changing_resources(self, name: str, refresh: Callable[[], None]) -> ChangingResources:
        """A new set of resources that may change."""
        changing = ChangingResources(name, refresh, self._installation, self.discovery)
        self._changing.append(changing)
        return changing

    def store(self, resource: GroupResource) -> Any:
        """The storage object of a resource."""
        return self._installation.store(resource)

    def lister(self, resource: GroupResource) -> Lister:
        """Read access from the watch cache."""
        return CacheLister(self.store(resource).cache)

    def connecter(self, subresource: str) -> Connect | None:
        """What a plugin serves connections with."""
        return self._connecters.get(subresource)

    def system_context(self, namespace: str = "") -> Context:
        """A context for calls made by the server itself."""
        request = Request({"REQUEST_METHOD": "", "QUERY_STRING": ""})
        request.user = SYSTEM_USER
        request.info = RequestInfo(is_resource=True, path="", verb="", namespace=namespace)
        request.received = time.monotonic()
        return Context(request, namespace)

    def authenticate(self, request: Request) -> User | None:
        """Ask the authenticators in order."""
        for authenticator in self.authenticators:
            user = authenticator.authenticate(request)
            if user is not None:
                return user
        return None

    def authorize(self, attributes: Attributes) -> tuple[Decision, str]:
        """Ask the authorizers in order."""
        reasons = []
        for authorizer in self.authorizers:
            decision, reason = authorizer.authorize(attributes)
            if decision is not Decision.NO_OPINION:
                return decision, reason
            if reason:
                reasons.append(reason)
        return Decision.NO_OPINION, "\n".join(reasons)

    def rules_for(self, user: User, namespace: str) -> Rules:
        """Ask the authorizers that have rules."""
        told = [a.rules_for(user, namespace) for a in self.authorizers if isinstance(a, RuleResolver)]
        return Rules(
            [rule for rules in told for rule in rules.resources],
            [rule for rules in told for rule in rules.non_resources],
            any(rules.incomplete for rules in told),
            "\n".join(filter(None, (rules.problem for rules in told))),
        )

    @property
    def audited(self) -> bool:
        """Whether any plugin takes audit events."""
        return bool(self.plugins.calls("apiserver_audit"))

    def audit(self, event: Mapping[str, Any]) -> None:
        """Hand an audit event to every plugin that takes them."""
        for _, call in self.plugins.calls("apiserver_audit"):
            call(event)

    def post_start_hook(self, name: str, run: Callable[[], None]) -> None:
        """See :meth:`apiserver.api.server.Server.post_start_hook`."""
        self.lifecycle.post_start_hook(name, run)

    def background(self, name: str, run: Callable[[Callable[[float], bool]], None]) -> None:
        """See :meth:`apiserver.api.server.Server.background`."""
        self.lifecycle.background(name, run)


def build(setup: Setup, storage: Storage | None = None) -> Server:
    """A server of ``setup``, complete but not started."""
    return Server(setup, storage)
