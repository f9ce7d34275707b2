"""NetworkPolicies.

COMPAT: pkg/apis/networking/v1 SetDefaults_NetworkPolicy; pkg/apis/networking/validation ValidateNetworkPolicySpec
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.resource import Column
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy, bump_generation
from apiserver_plugins.resources.common.addresses import cidr_errors, parse_cidr
from apiserver_plugins.resources.common.columns import AGE, value_at
from apiserver_plugins.resources.common.selectors import format_selector, selector_errors
from apiserver_plugins.resources.common.values import invalid, port_name, port_number

INGRESS, EGRESS = "Ingress", "Egress"
_SPEC = Path("spec")
_PROTOCOLS = ("TCP", "UDP", "SCTP")
# The rules of each direction and their peers.
_DIRECTIONS = (("ingress", "from"), ("egress", "to"))


def _port_errors(entry: dict[str, Any], path: Path) -> list[FieldError]:
    protocol, port, end = entry.get("protocol"), entry.get("port"), entry.get("endPort")
    errors: list[FieldError] = []
    if protocol is not None and protocol not in _PROTOCOLS:
        errors.append(FieldError.not_supported(path / "protocol", protocol, _PROTOCOLS))
    if port is None:
        text = "may not be specified when `port` is not specified"
        return errors + ([FieldError.invalid(path / "endPort", end, text)] if end is not None else [])
    if isinstance(port, str):
        if end is not None:
            text = "may not be specified when `port` is non-numeric"
            errors.append(FieldError.invalid(path / "endPort", end, text))
        return errors + invalid(path / "port", port, port_name(port))
    errors += port_number(path / "port", port)
    if end is not None:
        if end < port:
            # COMPAT: the value shown is that of port
            errors.append(FieldError.invalid(path / "endPort", port, "must be greater than or equal to `port`"))
        errors += port_number(path / "endPort", end)
    return errors


def _block_errors(block: dict[str, Any], path: Path) -> list[FieldError]:
    value = block.get("cidr") or ""
    if not value:
        return [FieldError.required(path / "cidr")]
    errors, network = cidr_errors(path / "cidr", value), parse_cidr(value)
    if network is None:
        return errors
    for i, text in enumerate(block.get("except") or ()):
        where, part = path / "except" / i, parse_cidr(text)
        if part is None:
            errors += cidr_errors(where, text)
        elif part.network_address not in network or part.prefixlen <= network.prefixlen:
            errors.append(FieldError.invalid(where, text, "must be a strict subset of `cidr`"))
    return errors


def _peer_errors(peer: dict[str, Any], path: Path) -> list[FieldError]:
    present = [field for field in ("podSelector", "namespaceSelector", "ipBlock") if peer.get(field) is not None]
    errors: list[FieldError] = []
    for field in present:
        check = _block_errors if field == "ipBlock" else None
        errors += check(peer[field], path / field) if check else selector_errors(path / field, peer[field])
    if not present:
        errors.append(FieldError.required(path, "must specify a peer"))
    elif len(present) > 1 and "ipBlock" in present:
        errors.append(FieldError.forbidden(path, "may not specify both ipBlock and another peer"))
    return errors


def _type_errors(types: list[str], path: Path) -> list[FieldError]:
    if len(types) > 2:
        return [FieldError.invalid(path, types, "may not specify more than two policyTypes")]
    wrong = [(i, kind) for i, kind in enumerate(types) if kind not in (INGRESS, EGRESS)]
    return [FieldError.not_supported(path / i, kind, (INGRESS, EGRESS)) for i, kind in wrong]


class NetworkPolicyStrategy(Strategy):
    """Rules of NetworkPolicies."""

    def default(self, obj: dict[str, Any]) -> None:
        spec = obj.setdefault("spec", {})
        for direction, _ in _DIRECTIONS:
            for rule in spec.get(direction) or ():
                for port in rule.get("ports") or ():
                    port["protocol"] = port["protocol"] if port.get("protocol") is not None else "TCP"
        if not spec.get("policyTypes"):
            spec["policyTypes"] = [INGRESS, EGRESS] if spec.get("egress") else [INGRESS]

    def prepare_for_create(self, ctx: Context, obj: dict[str, Any]) -> None:
        obj["metadata"]["generation"] = 1

    def prepare_for_update(self, ctx: Context, obj: dict[str, Any], old: dict[str, Any]) -> None:
        bump_generation(obj, old)

    def validate(self, ctx: Context, obj: dict[str, Any]) -> list[FieldError]:
        spec = obj["spec"]
        errors = selector_errors(_SPEC / "podSelector", spec.get("podSelector"))
        for direction, peers in _DIRECTIONS:
            for i, rule in enumerate(spec.get(direction) or ()):
                path = _SPEC / direction / i
                for j, port in enumerate(rule.get("ports") or ()):
                    errors += _port_errors(port, path / "ports" / j)
                for j, peer in enumerate(rule.get(peers) or ()):
                    errors += _peer_errors(peer, path / peers / j)
        return errors + _type_errors(spec.get("policyTypes") or [], _SPEC / "policyTypes")


def _pod_selector(obj: dict[str, Any]) -> str:
    return format_selector(value_at(obj, "spec", "podSelector"))


STRATEGY = NetworkPolicyStrategy()
COLUMNS = (Column("Pod-Selector", _pod_selector, field="spec.podSelector"), AGE)
