"""Name resolution of a pod.

COMPAT: pkg/apis/core/validation validateDNSPolicy, validatePodDNSConfig, ValidateHostAliases
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver_plugins.resources.common.values import is_ip, is_subdomain, one_of

_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_SERVERS, _SEARCHES, _SEARCH_CHARACTERS = 3, 32, 2048


def network_errors(spec: Mapping[str, Any], path: Path) -> list[FieldError]:
    """Problems of ``dnsPolicy``, ``dnsConfig`` and ``hostAliases``."""
    errors = one_of(path / "dnsPolicy", spec.get("dnsPolicy"), _POLICIES)
    errors += _dns_config(spec.get("dnsConfig"), spec.get("dnsPolicy"), path / "dnsConfig")
    for i, alias in enumerate(spec.get("hostAliases") or ()):
        where = path / "hostAliases" / i
        errors += is_ip(where / "ip", alias.get("ip") or "")
        for j, name in enumerate(alias.get("hostnames") or ()):
            errors += is_subdomain(where / "hostnames" / j, name)
    return errors


def _dns_config(config: Mapping[str, Any] | None, policy: str | None, path: Path) -> list[FieldError]:
    if policy == "None" and config is None:
        return [FieldError.required(path, "must provide `dnsConfig` when `dnsPolicy` is None")]
    if config is None:
        return []
    servers, searches = config.get("nameservers") or [], config.get("searches") or []
    errors: list[FieldError] = []
    if policy == "None" and not servers:
        text = "must provide at least one DNS nameserver when `dnsPolicy` is None"
        errors.append(FieldError.required(path / "nameservers", text))
    if len(servers) > _SERVERS:
        text = f"must not have more than {_SERVERS} nameservers"
        errors.append(FieldError.invalid(path / "nameservers", servers, text))
    for i, server in enumerate(servers):
        errors += is_ip(path / "nameservers" / i, server)
    if len(searches) > _SEARCHES:
        errors.append(
            FieldError.invalid(path / "searches", searches, f"must not have more than {_SEARCHES} search paths")
        )
    if len(" ".join(searches)) > _SEARCH_CHARACTERS:
        text = f"must not have more than {_SEARCH_CHARACTERS} characters (including spaces) in the search list"
        errors.append(FieldError.invalid(path / "searches", searches, text))
    for i, search in enumerate(searches):
        if search != ".":
            errors += is_subdomain(path / "searches" / i, search.removesuffix("."))
    for i, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            errors.append(FieldError.required(path / "options" / i, "must not be empty"))
    return errors
