"""Every hook a plugin can implement, in the order in which a server meets them.

A plugin is a module (or an object) with functions marked ``@hookimpl`` whose names are below. Take only the
parameters you need. Return ``None`` to stay out.

An *ordered* hook runs from the lowest priority to the highest. Each implementation must name its priority:
``@hookimpl(priority=543)``. Multiples of 100 belong to the built-in plugins. ``apiserver plugins --order HOOK``
prints the order in use.

The docstrings here are the reference: ``apiserver hooks --markdown`` makes the documentation page from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from apiserver.markers import hookspec

if TYPE_CHECKING:
    from apiserver.api.admission import AdmissionRequest
    from apiserver.api.auth import Authenticator, Authorizer
    from apiserver.api.connect import Connect
    from apiserver.api.health import HealthCheck
    from apiserver.api.request import Request
    from apiserver.api.resource import Resource
    from apiserver.api.server import DelegateMatch, Filter, Route, Server
    from apiserver.api.settings import Config, Setting

# -- once, while the server is built ------------------------------------------


@hookspec()
def apiserver_settings() -> Iterable[Setting] | None:
    """Declare settings of this plugin.

    Each becomes a command-line flag, an environment variable, a key of the config file and an entry of the settings
    page. Where kube-apiserver has a flag for the purpose, take its name; else start with the plugin's name.

    :returns: The settings, or ``None``.
    """


@hookspec()
def apiserver_configure(config: Config) -> None:
    """Check this plugin's settings before anything is built.

    :param config: All settings, read only.
    :raises ConfigError: When a setting is wrong. All plugins are asked, then every error is shown at once and the
        server does not start.
    """


@hookspec(ordered=True)
def apiserver_authenticator(server: Server) -> Authenticator | None:
    """Offer one way to tell who sent a request.

    Used by the ``authentication`` filter, which asks the authenticators in order and stops at the first that knows
    the user. One that sees a credential of its own kind and finds it bad raises ``Unauthorized``, which also stops.

    :param server: The server being built.
    :returns: An object with ``authenticate(request)``, or ``None`` when the configuration does not ask for it.
    """


@hookspec(ordered=True)
def apiserver_authorizer(server: Server) -> Authorizer | None:
    """Offer one way to tell whether a user may do something.

    Used by the ``authorization`` filter. The first that says allow or deny decides; "no opinion" passes the question
    on. Nobody's opinion means deny.

    :param server: The server being built.
    :returns: An object with ``authorize(attributes)``, or ``None`` when the configuration does not ask for it.
    """


@hookspec(ordered=True)
def apiserver_filter(server: Server) -> Filter | None:
    """Wrap every request.

    Called once per worker. The lowest priority ends up outermost: it sees the request first and the response last.

    :param server: The server being built.
    :returns: A callable that takes the inner WSGI app and returns the outer one, or ``None`` when the configuration
        does not ask for this filter. Any WSGI middleware is a filter.

    To refuse a request, answer it: ``return Forbidden("...")(environ, start_response)``. Do not raise past the
    filters outside yours; they would not see the response.

    Example: ``plugins/filters/cache_control.py``.
    """


@hookspec()
def apiserver_resources(server: Server) -> Iterable[Resource] | None:
    """Serve resources.

    :param server: The server being built.
    :returns: One ``Resource`` for each group, version and plural: its names, its scope, its schema and its strategy.
        The core adds the routes, the discovery documents, tables and OpenAPI. The same group, version and plural
        twice is an error.

    Example: ``plugins/resources/core_v1/``.
    """


@hookspec()
def apiserver_connecters(server: Server) -> Mapping[str, Connect] | None:
    """Serve connections into pods, nodes and services: logs, exec, attach, port forwarding, proxies.

    kube-apiserver hands these on to kubelets. Here nobody serves them unless a plugin does; the answer is 503 then.
    Before a connecter is called, the user was authorized, the pod, node or service was found, the options were
    checked, and a pod has a node (an address, for a proxy).

    :param server: The server being built.
    :returns: What serves a connection, by subresource: ``pods/log``, ``pods/exec``, ``pods/attach``,
        ``pods/portforward``, ``pods/proxy``, ``nodes/proxy``, ``services/proxy``. Each is called with a
        ``Connection`` of :mod:`apiserver.api.connect` and returns the WSGI app that answers the request. The same
        subresource twice is an error.
    """


@hookspec()
def apiserver_routes(server: Server) -> Iterable[Route] | None:
    """Serve paths that are not resources, such as ``/version``.

    :param server: The server being built.
    :returns: The routes. The same path twice is an error.
    """


@hookspec(ordered=True)
def apiserver_delegate(server: Server) -> Callable[[Request], DelegateMatch | None] | None:
    """Claim requests before, between or after the server's own resources.

    The router asks the delegates in order whether a request is theirs; the first that says so answers it, inside the
    one filter chain that all share. The built-in ones are the aggregator (100), the resources (200) and the custom
    resources (300); what nobody claims is not found.

    :param server: The server being built.
    :returns: A callable that takes a request and returns a ``DelegateMatch`` if it claims it, else ``None``; or
        ``None`` when the configuration does not ask for this delegate.
    """


@hookspec()
def apiserver_health_checks(server: Server) -> Iterable[HealthCheck] | None:
    """Add named checks to ``/livez``, ``/readyz`` and ``/healthz``.

    :param server: The server being built.
    :returns: The checks. The same name twice is an error.
    """


# -- for each write -----------------------------------------------------------


@hookspec(ordered=True)
def apiserver_admit(request: AdmissionRequest) -> None:
    """Change an object, or refuse it, before its strategy sees it.

    Called for create, update, delete and connect, with ``request.dry_run`` set for a dry run. Change
    ``request.object`` in place. Code with other effects must look at ``request.dry_run``.

    :param request: What is to be written, by whom.
    :raises ApiError: To refuse. The plugins after this one are not called.
    """


@hookspec(ordered=True)
def apiserver_validate(request: AdmissionRequest) -> None:
    """Refuse an object after its strategy has checked it, just before it is stored.

    ``request.object`` is what would be stored. Do not change it.

    :param request: What is to be written, by whom.
    :raises ApiError: To refuse. The plugins after this one are not called.
    """


# -- afterwards ---------------------------------------------------------------


@hookspec()
def apiserver_audit(event: Mapping[str, Any]) -> None:
    """Take note of a finished stage of a request. Must not block or raise.

    :param event: An ``audit.k8s.io/v1`` Event: the stage, who asked for what, and the answer so far. Do not change it.
    """


@hookspec()
def apiserver_started(server: Server) -> None:
    """Do something once this worker can serve, such as create default namespaces.

    Runs in every worker, perhaps at the same time, perhaps again after a crash: be ready to find the work done or
    half done. The server is ready when all have returned; an exception ends the process.

    :param server: The server, complete.
    """


@hookspec()
def apiserver_stopping(server: Server) -> None:
    """Let go of what ``apiserver_started`` took. Requests may still be in flight.

    :param server: The server that stops.
    """
