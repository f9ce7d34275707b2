"""What all connections into pods, nodes and services share: options from the query, names with ports, the handing on.

COMPAT: k8s.io/apimachinery/pkg/runtime conversions of queries; .../util/net SplitSchemeNamePort
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from apiserver.api.connect import Connection, unconnected
from apiserver.api.durations import parse_time
from apiserver.api.errors import BadRequest, UnknownError
from apiserver.api.names import GroupResource
from apiserver.api.numbers import parse_int
from apiserver.api.rest import Context, GetOptions
from apiserver.api.server import Server, WsgiApp

Object = dict[str, Any]
Values = Sequence[str]
Option = Callable[[Values], Any]
"""Reads an option from its values in the query, at least one. :raises BadRequest:"""

NODES = GroupResource("", "nodes")
STREAMED = ("GET", "POST")
PROXIED = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")

_SCHEMES = ("", "http", "https")
_ADDRESS_TYPES = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")
_HOST_NAME = "kubernetes.io/hostname"


# -- options -----------------------------------------------------------------------------------------------------------


def boolean(values: Values) -> bool:
    """COMPAT: Convert_Slice_string_To_bool."""
    return values[0].lower() not in ("false", "0")


def text(values: Values) -> str:
    return values[0]


def texts(values: Values) -> list[str]:
    return list(values)


def integer(values: Values) -> int:
    return _parse(values[0])


def integers(values: Values) -> list[int]:
    """Numbers, one or several in each value. COMPAT: Convert_Slice_string_To_Slice_int32."""
    return [_parse(part, 32) for value in values for part in value.split(",")]


def moment(values: Values) -> str:
    """A time as it was given."""
    if values[0] and parse_time(values[0]) is None:
        layout = "2006-01-02T15:04:05Z07:00"
        raise BadRequest(f'parsing time "{values[0]}" as "{layout}": cannot parse "{values[0]}" as "2006"')
    return values[0]


def _parse(value: str, bits: int = 64) -> int:
    try:
        return parse_int(value, bits)
    except ValueError as error:
        raise BadRequest(str(error)) from None


def options(ctx: Context, known: Mapping[str, Option]) -> Object:
    """The options that the query gives, without those that are false or empty.

    :raises BadRequest: one can't be read.
    """
    query = ctx.request.query
    found = {name: read(query[name]) for name, read in known.items() if query.get(name)}
    return {name: value for name, value in found.items() if value is not False and value not in ("", [])}


# -- names and addresses -----------------------------------------------------------------------------------------------


class Target:
    """What ``scheme:name:port`` in a URL means; scheme and port may be ""."""

    def __init__(self, scheme: str, name: str, port: str) -> None:
        self.scheme = scheme
        self.name = name
        self.port = port

    def location(self, host: str, port: str, path: str, scheme: str = "http") -> str:
        """Where a request goes. :param scheme: if the target has none."""
        host = f"[{host}]" if ":" in host else host
        return f"{self.scheme or scheme}://{host}{f':{port}' if port else ''}{path}"


def target(name: str, what: str) -> Target:
    """Take a name apart: ``name``, ``name:port`` or ``scheme:name:port``.

    :param what: for the text of the refusal.
    :raises BadRequest: it is none of these.
    """
    parts = name.split(":")
    if len(parts) == 1:
        parts = ["", *parts, ""]
    elif len(parts) == 2:
        parts = ["", *parts]
    if len(parts) != 3 or parts[0] not in _SCHEMES or not parts[1]:
        raise BadRequest(f'invalid {what} request "{name}"')
    return Target(*parts)


def proxied(address: str) -> str:
    """``address``, if requests may be sent there. :raises BadRequest: COMPAT: proxyutil.IsProxyableIP"""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        raise BadRequest("address not allowed") from None
    if ip.is_loopback or ip.is_link_local or ip.is_multicast or ip.is_unspecified or str(ip) == "255.255.255.255":
        raise BadRequest("address not allowed")
    return address


# -- handing on --------------------------------------------------------------------------------------------------------


def wants_upgrade(ctx: Context) -> bool:
    """Whether the client wants to leave HTTP."""
    return "upgrade" in ctx.request.environ.get("HTTP_CONNECTION", "").lower()


def hand_on(server: Server, connection: Connection, what: str) -> WsgiApp:
    """The plugin's app for a connection, or the answer that there is none.

    :param what: what would be reached, for the text.
    """
    connect = server.connecter(connection.subresource)
    return connect(connection) if connect is not None else unconnected(connection.subresource, what)


def hand_to_kubelet(server: Server, connection: Connection, node: str, *, upgrade: bool = False) -> WsgiApp:
    """The plugin's app for a connection through the kubelet of a node; without one, what upstream says of the node.

    :param upgrade: the connection is more than a request and an answer.
    :raises NotFound: there is no such node.
    :raises BadRequest: the client wants no upgrade where it must.
    """
    if server.connecter(connection.subresource) is None:
        check_node(server, node)
        if upgrade and not wants_upgrade(connection.ctx):
            raise BadRequest("Upgrade request required")
    return hand_on(server, connection, f'the kubelet of node "{node}"')


def check_node(server: Server, name: str) -> Object:
    """A node with an address for its kubelet.

    :raises NotFound: there is no such node.
    :raises UnknownError: it has no address. COMPAT: nodeutil.GetPreferredNodeAddress
    """
    node: Object = server.store(NODES).get(server.system_context(), name, GetOptions()).decode()
    addresses = (node.get("status") or {}).get("addresses") or []
    labels = node["metadata"].get("labels") or {}
    if not labels.get(_HOST_NAME) and not any(a.get("type") in _ADDRESS_TYPES for a in addresses):
        shown = " ".join(f"{{{a.get('type', '')} {a.get('address', '')}}}" for a in addresses)
        raise UnknownError(f"no preferred addresses found; known addresses: [{shown}]")
    return node
