"""IP addresses: ``ip("::1").isLoopback()``.

COMPAT: k8s.io/apiserver/pkg/cel/library/ip.go. Addresses with a zone and IPv4 in IPv6 are refused.
"""

from __future__ import annotations

import functools
import ipaddress
from collections.abc import Callable, Mapping
from typing import Final

from .declaring import EvaluationError, Library, Overload, member, opaque

IP: Final = "net.IP"

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_BROADCAST: Final = ipaddress.IPv4Address("255.255.255.255")
_LINK_LOCAL_GROUPS: Final = (ipaddress.ip_network("224.0.0.0/24"), ipaddress.ip_network("ff02::/16"))
_LINK_LOCAL: Final = (ipaddress.ip_network("169.254.0.0/16"), ipaddress.ip_network("fe80::/10"))


def quoted(text: str) -> str:
    """The text as Go's ``%q`` shows it."""
    escaped = "".join(c if c.isprintable() and c not in '"\\' else _escaped(c) for c in text)
    return f'"{escaped}"'


def _escaped(char: str) -> str:
    known = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    if char in known:
        return known[char]
    return f"\\x{ord(char):02x}" if ord(char) < 0x80 else f"\\u{ord(char):04x}"


def parse_error(text: str) -> str:
    """What Go's ``netip.ParseAddr`` says of a text that is no address."""
    shown = quoted(text)
    if ":" not in text:
        return _ipv4_error(text, shown)
    return f"ParseAddr({shown}): unexpected character (at {quoted(text[_bad_character(text) :])})"


def _ipv4_error(text: str, shown: str) -> str:
    if "." not in text:
        return f"ParseAddr({shown}): unable to parse IP"
    parts = text.split(".")
    for part in parts:
        if not part:
            return f"ParseAddr({shown}): IPv4 field must have at least one digit"
        if not (part.isascii() and part.isdigit()):
            return f"ParseAddr({shown}): unexpected character (at {quoted(text[_bad_character(text) :])})"
        if len(part) > 1 and part[0] == "0":
            return f"ParseAddr({shown}): IPv4 field has octet with leading zero"
        if int(part) > 0xFF:
            return f"ParseAddr({shown}): IPv4 field has value >255"
    return f"ParseAddr({shown}): IPv4 address too {'short' if len(parts) < 4 else 'long'}"


def _bad_character(text: str) -> int:
    allowed = "0123456789abcdefABCDEF:." if ":" in text else "0123456789."
    for place, char in enumerate(text):
        if char not in allowed or text[place : place + 3] == ":::":
            return place + 2 if char in allowed else place
    return len(text)


@functools.lru_cache(maxsize=1024)
def parse(text: str) -> Address:
    """The address.

    :raises EvaluationError: it is none that is allowed, with upstream's text.
    """
    bare, zoned, _ = text.partition("%")
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        raise EvaluationError(
            f"IP Address {quoted(text)} parse error during conversion from string: {parse_error(text)}"
        ) from None
    if zoned:
        raise EvaluationError(f"IP address {quoted(text)} with zone value is not allowed")
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        raise EvaluationError(f"IPv4-mapped IPv6 address {quoted(text)} is not allowed")
    return address


def made(address: Address) -> dict[str, str]:
    """The value of CEL's type for an address."""
    return opaque(IP, str(address))


def _is_ip(text: str) -> bool:
    try:
        parse(text)
    except EvaluationError:
        return False
    return True


def _is_global_unicast(address: Address) -> bool:
    """COMPAT: netip.Addr.IsGlobalUnicast, which counts private addresses in."""
    return not (
        address.is_unspecified
        or address.is_loopback
        or address.is_multicast
        or address == _BROADCAST
        or any(address in network for network in _LINK_LOCAL)
    )


def _question(overload_id: str, answer: Callable[[Address], bool]) -> tuple[Overload, ...]:
    def asked(value: Mapping[str, str]) -> bool:
        return answer(parse(value[IP]))

    return (member(overload_id, (IP,), "bool", asked),)


def _family(value: Mapping[str, str]) -> int:
    return parse(value[IP]).version


LIBRARY: Final = Library(
    "kubernetes.net.ip",
    {
        "ip": (Overload("string_to_ip", ("string",), IP, lambda text: made(parse(text))),),
        "family": (member("ip_family", (IP,), "int", _family),),
        "ip.isCanonical": (Overload("ip_is_canonical", ("string",), "bool", lambda text: str(parse(text)) == text),),
        "isUnspecified": _question("ip_is_unspecified", lambda a: a.is_unspecified),
        "isLoopback": _question("ip_is_loopback", lambda a: a.is_loopback),
        "isLinkLocalMulticast": _question(
            "ip_is_link_local_multicast", lambda a: any(a in network for network in _LINK_LOCAL_GROUPS)
        ),
        "isLinkLocalUnicast": _question(
            "ip_is_link_local_unicast", lambda a: any(a in network for network in _LINK_LOCAL)
        ),
        "isGlobalUnicast": _question("ip_is_global_unicast", _is_global_unicast),
        "isIP": (Overload("is_ip", ("string",), "bool", _is_ip),),
        "string": (Overload("ip_to_string", (IP,), "string", lambda value: value[IP]),),
    },
)
