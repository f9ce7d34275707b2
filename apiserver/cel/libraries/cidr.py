"""Networks: ``cidr("10.0.0.0/8").containsIP("10.1.2.3")``.

COMPAT: k8s.io/apiserver/pkg/cel/library/cidr.go. A network keeps its address as it was written; ``masked`` drops the
bits behind the mask.
"""

from __future__ import annotations

import functools
import ipaddress
from collections.abc import Mapping
from typing import Final

from . import ip
from .declaring import EvaluationError, Library, Overload, member, opaque

CIDR: Final = "net.CIDR"

_Interface = ipaddress.IPv4Interface | ipaddress.IPv6Interface
_Value = Mapping[str, str]


def _wrong(text: str, why: str) -> EvaluationError:
    # Both the conversion and the parser put this in front. COMPAT: stringToCIDR around parseCIDR
    head = "network address parse error during conversion from string: "
    return EvaluationError(f"{head}{head}netip.ParsePrefix({ip.quoted(text)}): {why}")


@functools.lru_cache(maxsize=1024)
def _parse(text: str) -> _Interface:
    address, slash, bits = text.rpartition("/")
    if not slash:
        raise _wrong(text, "no '/'")
    if "%" in address:
        raise _wrong(text, "IPv6 zones cannot be present in a prefix")
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        raise _wrong(text, ip.parse_error(address)) from None
    if not (bits.isascii() and bits.isdigit()) or (len(bits) > 1 and bits[0] == "0"):
        raise _wrong(text, f"bad bits after slash: {ip.quoted(bits)}")
    if int(bits) > parsed.max_prefixlen:
        raise _wrong(text, "prefix length out of range")
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        raise EvaluationError(
            "network address parse error during conversion from string: "
            f"IPv4-mapped IPv6 address {ip.quoted(text)} is not allowed"
        )
    return ipaddress.ip_interface(f"{parsed}/{bits}")


def _made(interface: _Interface) -> dict[str, str]:
    return opaque(CIDR, str(interface))


def _is_cidr(text: str) -> bool:
    try:
        _parse(text)
    except EvaluationError:
        return False
    return True


def _contains_address(value: _Value, address: ip.Address) -> bool:
    return address in _parse(value[CIDR]).network


def _contains_network(value: _Value, inner: _Interface) -> bool:
    outer = _parse(value[CIDR]).network
    return outer.version == inner.version and outer.prefixlen <= inner.network.prefixlen and inner.ip in outer


def _masked(value: _Value) -> dict[str, str]:
    return opaque(CIDR, str(_parse(value[CIDR]).network))


def _prefix_length(value: _Value) -> int:
    return _parse(value[CIDR]).network.prefixlen


LIBRARY: Final = Library(
    "kubernetes.net.cidr",
    {
        "cidr": (Overload("string_to_cidr", ("string",), CIDR, lambda text: _made(_parse(text))),),
        "containsIP": (
            member(
                "cidr_contains_ip_string",
                (CIDR, "string"),
                "bool",
                lambda value, text: _contains_address(value, ip.parse(text)),
            ),
            member(
                "cidr_contains_ip_ip",
                (CIDR, ip.IP),
                "bool",
                lambda value, other: _contains_address(value, ip.parse(other[ip.IP])),
            ),
        ),
        "containsCIDR": (
            member(
                "cidr_contains_cidr_string",
                (CIDR, "string"),
                "bool",
                lambda value, text: _contains_network(value, _parse(text)),
            ),
            member(
                "cidr_contains_cidr",
                (CIDR, CIDR),
                "bool",
                lambda value, other: _contains_network(value, _parse(other[CIDR])),
            ),
        ),
        "ip": (member("cidr_ip", (CIDR,), ip.IP, lambda value: ip.made(_parse(value[CIDR]).ip)),),
        "prefixLength": (member("cidr_prefix_length", (CIDR,), "int", _prefix_length),),
        "masked": (member("cidr_masked", (CIDR,), CIDR, _masked),),
        "isCIDR": (Overload("is_cidr", ("string",), "bool", _is_cidr),),
        "string": (Overload("cidr_to_string", (CIDR,), "string", lambda value: value[CIDR]),),
    },
)
