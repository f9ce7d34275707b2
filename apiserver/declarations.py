"""What plugins declare while the server is built, checked: right types, nothing twice, nothing that cannot work.

Called by :mod:`apiserver.server`, phase after phase. All problems of a phase are reported together.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from apiserver.api.health import HealthCheck
from apiserver.api.resource import Resource
from apiserver.api.server import Route
from apiserver.api.strategy import Strategy
from apiserver.manager import Plugins
from apiserver.ordering import Plugin
from apiserver.registry.kinds import Kinds

T = TypeVar("T")

CORE = "the core"
_MUST_HAVE = {"apiserver_authenticator": "authenticate", "apiserver_authorizer": "authorize"}
"""Methods of what these hooks return."""


def resources(plugins: Plugins, server: Any, kinds: Kinds) -> list[Resource]:
    """The resources of all plugins, whose kinds are made known to ``kinds``.

    :raises PluginError: something is no resource, is declared twice, has a schema that is none, or has none and is not
        a built-in kind.
    """
    problems: list[str] = []
    found = list(_each(plugins, "apiserver_resources", server, Resource, lambda r: r.gvr, {}, problems))
    kinds.add(resource for _, resource in found)
    for plugin, resource in found:
        problems += (f"{plugin.name}: {resource.gvr} {problem}" for problem in _of_resource(resource, kinds))
    plugins.refuse(problems)
    return [resource for _, resource in found]


def _of_resource(resource: Resource, kinds: Kinds) -> Iterator[str]:
    known = resource.introduced or resource.storage is not None or kinds.published(resource.gvk)
    if not known and not kinds.registered(*resource.gvk) and not kinds.published_elsewhere(resource.gvk):
        yield f"has no schema and {resource.kind} is no built-in kind: declare Resource(schema=...)"
    if resource.schema is not None and (check := kinds.check_of(resource.gvk)) and (fault := check.fault()):
        yield f"has a schema that is none: {fault}"
    strategies: list[object] = [
        resource.strategy,
        *(sub.strategy for sub in resource.subresources if sub.strategy is not None),
    ]
    yield from (
        f"has the strategy {strategy!r}, which is no instance of Strategy"
        for strategy in strategies
        if not isinstance(strategy, Strategy)
    )


def routes(plugins: Plugins, server: Any, own: Iterable[Route]) -> list[Route]:
    """``own`` and the routes of all plugins. :raises PluginError: something is no route, or a path is taken."""
    found, problems = list(own), list[str]()
    taken: dict[Hashable, str] = {_route_key(route): CORE for route in found}
    found += (r for _, r in _each(plugins, "apiserver_routes", server, Route, _route_key, taken, problems))
    plugins.refuse(problems)
    return found


def _route_key(route: Route) -> str:
    return route.path + ("*" if route.prefix else "")


def health_checks(plugins: Plugins, server: Any, own: Iterable[HealthCheck]) -> list[HealthCheck]:
    """``own`` and the checks of all plugins. :raises PluginError: something is no check, or a name is taken."""
    found, problems = list(own), list[str]()
    taken: dict[Hashable, str] = {check.name: CORE for check in found}
    checks = _each(plugins, "apiserver_health_checks", server, HealthCheck, lambda c: c.name, taken, problems)
    found += (check for _, check in checks)
    plugins.refuse(problems)
    return found


def made(plugins: Plugins, hook: str, server: Any) -> list[Any]:
    """What the implementations of an ordered hook return, in their order; who returns None is left out.

    :raises PluginError: one returned what cannot do what the hook is for.
    """
    found, problems, method = [], [], _MUST_HAVE.get(hook)
    for plugin, thing in plugins.call_each(hook, server):
        if not callable(getattr(thing, method, None) if method else thing):
            lack = f"has no {method}()" if method else "cannot be called"
            problems.append(f"{plugin.name}: {hook} returned {thing!r}, which {lack}, from {plugin.origin}")
        found.append(thing)
    plugins.refuse(problems)
    return found


def _each(
    plugins: Plugins,
    hook: str,
    server: Any,
    kind: type[T],
    key: Callable[[T], Hashable],
    taken: Mapping[Hashable, str],
    problems: list[str],
) -> Iterator[tuple[Plugin, T]]:
    """What plugins declare, each with its plugin, without what is wrong, which goes to ``problems``."""
    owners = dict(taken)
    for plugin, thing in plugins.collect(hook, server):
        if not isinstance(thing, kind):
            problems.append(f"{plugin.name}: {hook} returned {thing!r}, which is no {kind.__name__}")
        elif key(thing) in owners:
            problems.append(f"{plugin.name}: {key(thing)} is already declared by {owners[key(thing)]}")
        else:
            owners[key(thing)] = plugin.name
            yield plugin, thing
