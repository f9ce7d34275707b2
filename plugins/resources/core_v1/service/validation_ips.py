"""Checks of ``clusterIP``, ``clusterIPs``, ``ipFamilies`` and ``ipFamilyPolicy``, alone and against the old ones.

Called twice: loosely before addresses are allocated, and with everything else.

COMPAT: ValidateServiceClusterIPsRelatedFields, validateUpgradeDowngradeClusterIPs, validateUpgradeDowngradeIPFamilies
"""

from __future__ import annotations

from apiserver.api.fields import FieldError, Path
from apiserver_plugins.resources.common.values import is_ip, parse_ip
from apiserver_plugins.resources.core_v1.service import needs
from apiserver_plugins.resources.core_v1.service.needs import Spec

_SPEC = Path("spec")
_IPS = _SPEC / "clusterIPs"
_FAMILIES = _SPEC / "ipFamilies"
_POLICY = _SPEC / "ipFamilyPolicy"
_SUPPORTED_FAMILIES = frozenset(("IPv4", "IPv6"))
_SUPPORTED_POLICIES = frozenset(("SingleStack", "PreferDualStack", "RequireDualStack"))
_FIXED = "may not change once set"


def cluster_ip_errors(spec: Spec) -> list[FieldError]:
    """Problems of the four fields."""
    if spec.get("type") == needs.EXTERNAL_NAME:
        return []
    ips = spec.get("clusterIPs") or []
    errors = _agreement(spec.get("clusterIP") or "", ips) + _family_errors(spec)
    wrong = _address_errors(ips)
    errors += wrong
    if len(ips) > 2:
        errors.append(FieldError.invalid(_IPS, ips, "may only hold up to 2 values"))
    if wrong:
        return errors
    parsed = [parse_ip(ip) for ip in ips if ip != needs.NO_IP]
    versions: list[int] = [ip.version for ip in parsed if ip is not None]
    if len(ips) > 1 and sorted(versions) != [4, 6]:
        errors.append(FieldError.invalid(_IPS, ips, "may specify no more than one IP for each IP family"))
    return errors if needs.headless(spec) else errors + _match(ips, versions, spec.get("ipFamilies") or [])


def _agreement(ip: str, ips: list[str]) -> list[FieldError]:
    if not ip:
        text = "must be empty when `clusterIP` is not specified"
        return [FieldError.invalid(_IPS, ips, text)] if ips else []
    if not ips:
        return [FieldError.required(_IPS)]
    return [] if ips[0] == ip else [FieldError.invalid(_IPS, ips, "first value must match `clusterIP`")]


def _family_errors(spec: Spec) -> list[FieldError]:
    errors, seen = [], set()
    for i, family in enumerate(spec.get("ipFamilies") or ()):
        if family not in _SUPPORTED_FAMILIES:
            errors.append(FieldError.not_supported(_FAMILIES / i, family, _SUPPORTED_FAMILIES))
        if family in seen:
            errors.append(FieldError.duplicate(_FAMILIES / i, family))
        seen.add(family)
    policy = spec.get("ipFamilyPolicy")
    if policy and policy not in _SUPPORTED_POLICIES:
        errors.append(FieldError.not_supported(_POLICY, policy, _SUPPORTED_POLICIES))
    return errors


def _address_errors(ips: list[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    for i, ip in enumerate(ips):
        if i == 0 and ip == needs.NO_IP:
            if len(ips) > 1:
                errors.append(FieldError.invalid(_IPS, ips, "'None' must be the first and only value"))
            continue
        errors += is_ip(_IPS / i, ip)
    return errors


def _match(ips: list[str], versions: list[int], families: list[str]) -> list[FieldError]:
    return [
        FieldError.invalid(_IPS / i, ip, f"expected an {family} value as indicated by `ipFamilies[{i}]`")
        for i, (ip, version, family) in enumerate(zip(ips, versions, families, strict=False))
        if family in _SUPPORTED_FAMILIES and family != f"IPv{version}"
    ]


def change_errors(spec: Spec, old: Spec) -> list[FieldError]:
    """Changes of addresses and families that are not allowed: the first ones stay for life."""
    if needs.EXTERNAL_NAME in (spec.get("type"), old.get("type")):
        return []
    errors: list[FieldError] = []
    if not (needs.headless(spec) and needs.headless(old)):
        errors += _kept(_IPS, spec.get("clusterIPs") or [], old.get("clusterIPs") or [], spec, "clusterIP")
    if not (needs.headless(spec) and not spec.get("selector")):
        errors += _kept(_FAMILIES, spec.get("ipFamilies") or [], old.get("ipFamilies") or [], spec, "ipFamily")
    return errors


def _kept(path: Path, now: list[str], then: list[str], spec: Spec, what: str) -> list[FieldError]:
    if len(now) == len(then):
        return [FieldError.invalid(path / i, now, _FIXED) for i in range(len(then)) if now[i] != then[i]]
    if not now:
        return [FieldError.invalid(path / 0, now, f"primary {what} can not be unset")]
    errors = [FieldError.invalid(path / 0, now, _FIXED)] if then and now[0] != then[0] else []
    if len(now) < len(then) and len(now) == 1 and spec.get("ipFamilyPolicy") != "SingleStack":
        text = f"must be set to 'SingleStack' when releasing the secondary {what}"
        errors.append(FieldError.invalid(_POLICY, spec.get("ipFamilyPolicy"), text))
    return errors
