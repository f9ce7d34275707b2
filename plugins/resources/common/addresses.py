"""IP addresses and ranges, checked in upstream's words; used by the kinds that carry traffic.

COMPAT: pkg/apis/core/validation ValidateNonSpecialIP; k8s.io/apimachinery/pkg/util/validation IsValidCIDR
"""

from __future__ import annotations

import ipaddress

from apiserver.api.fields import FieldError
from apiserver_plugins.resources.common.values import parse_ip

CIDR_TEXT = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def special_ip_errors(path: str, ip: str) -> list[FieldError]:
    """Addresses that can't be anybody's. COMPAT: ValidateNonSpecialIP."""
    parsed = parse_ip(ip)
    if parsed is None:
        return [FieldError.invalid(path, ip, "must be a valid IP address")]
    rules = (
        (parsed.is_unspecified, f"may not be unspecified ({ip})"),
        (parsed.is_loopback, "may not be in the loopback range (127.0.0.0/8, ::1/128)"),
        (
            parsed.is_link_local and not parsed.is_multicast,
            "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
        ),
        (
            parsed in _LINK_LOCAL_MULTICAST[parsed.version],
            "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
        ),
    )
    return [FieldError.invalid(path, ip, text) for broken, text in rules if broken]


_LINK_LOCAL_MULTICAST = {4: ipaddress.ip_network("224.0.0.0/24"), 6: ipaddress.ip_network("ff02::/16")}


def parse_cidr(value: str) -> Network | None:
    """The range, host bits cut off; None for what is none (a plain address is none)."""
    if "/" not in value:
        return None
    try:
        return ipaddress.ip_network(value, strict=False)
    except ValueError:
        return None


def cidr_errors(path: str, value: str) -> list[FieldError]:
    """COMPAT: IsValidCIDR."""
    return [] if parse_cidr(value) else [FieldError.invalid(path, value, CIDR_TEXT)]
