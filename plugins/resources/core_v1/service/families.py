"""IP families of a Service: what the author asked for, brought together with what this cluster has.

Called while addresses are allocated, so before validation; raises what is wrong at once.

COMPAT: pkg/registry/core/service/storage/alloc.go initIPFamilyFields
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from apiserver.api.errors import Invalid
from apiserver.api.fields import FieldError, Path
from apiserver.api.names import GroupKind
from apiserver_plugins.resources.common.values import parse_ip
from apiserver_plugins.resources.core_v1.service import needs
from apiserver_plugins.resources.core_v1.service.needs import Spec
from apiserver_plugins.resources.core_v1.service.validation_ips import cluster_ip_errors

IPV4, IPV6 = "IPv4", "IPv6"
SINGLE, PREFER, REQUIRE = "SingleStack", "PreferDualStack", "RequireDualStack"

_SPEC = Path("spec")
_POLICY = _SPEC / "ipFamilyPolicy"
_BOTH = "must be 'RequireDualStack' or 'PreferDualStack' when multiple {} are specified"
_RELEASE = "must be 'SingleStack' to release the secondary {}"


def family_of(ip: str) -> str:
    """The family of a valid address."""
    parsed = parse_ip(ip)
    return IPV6 if parsed is not None and parsed.version == 6 else IPV4


def other(family: str) -> str:
    """The other family."""
    return IPV6 if family == IPV4 else IPV4


def init_families(obj: dict[str, Any], old: dict[str, Any] | None, configured: Sequence[str]) -> None:
    """Set ``ipFamilyPolicy`` and ``ipFamilies``, in place.

    :param configured: the families this cluster has service addresses of, the default one first.
    :raises Invalid: what is asked for does not fit together or is not to be had here.
    """
    spec, before = needs.spec_of(obj), (old or {}).get("spec")
    if not needs.cluster_ip(spec) and spec.get("type") == needs.EXTERNAL_NAME:
        return
    if before is not None and _unchanged_prefer(spec, before):
        return
    _default_policy(spec, before)
    _refuse(obj, cluster_ip_errors(spec))
    errors = _shrink(spec, before) if before is not None else []
    errors += _single_means_one(spec) + _infer(spec, configured)
    _refuse(obj, errors)
    if spec.get("clusterIP") == needs.NO_IP and not spec.get("selector"):
        # COMPAT: a headless service without a selector may name families that this cluster does not have
        _complete(spec, configured[0], spec["ipFamilyPolicy"] != SINGLE)
        return
    _refuse(obj, _unavailable(spec, configured))
    _complete(spec, configured[0], spec["ipFamilyPolicy"] != SINGLE and len(configured) == 2)


def _refuse(obj: dict[str, Any], errors: list[FieldError]) -> None:
    if errors:
        raise Invalid(GroupKind("", "Service"), obj["metadata"].get("name", ""), errors)


def _unchanged_prefer(spec: Spec, old: Spec) -> bool:
    """COMPAT: isMatchingPreferDualStackClusterIPFields."""
    fields = ("type", "ipFamilyPolicy", "clusterIP", "clusterIPs", "ipFamilies")
    return spec.get("ipFamilyPolicy") == PREFER and all(spec.get(f) == old.get(f) for f in fields)


def _default_policy(spec: Spec, old: Spec | None) -> None:
    if spec.get("ipFamilyPolicy"):
        return
    if old is not None and old.get("ipFamilyPolicy"):
        spec["ipFamilyPolicy"] = old["ipFamilyPolicy"]
    elif spec.get("clusterIP") == needs.NO_IP and not spec.get("selector"):
        spec["ipFamilyPolicy"] = REQUIRE
    else:
        spec["ipFamilyPolicy"] = SINGLE


def _shrink(spec: Spec, old: Spec) -> list[FieldError]:
    """Going to one family: dropping the second one is what SingleStack asks for; else it is a mistake."""
    errors = []
    for field, what in (("clusterIPs", "cluster IP"), ("ipFamilies", "IP family")):
        now, then = spec.get(field) or [], old.get(field) or []
        if spec["ipFamilyPolicy"] == SINGLE:
            if now == then and len(now) > 1:
                spec[field] = now[:1]
        elif now and len(now) == 1 and len(then) == 2 and now[0] == then[0]:
            errors.append(FieldError.invalid(_POLICY, spec["ipFamilyPolicy"], _RELEASE.format(what)))
    return errors


def _single_means_one(spec: Spec) -> list[FieldError]:
    if spec["ipFamilyPolicy"] != SINGLE:
        return []
    many = [
        what
        for f, what in (("clusterIPs", "cluster IPs"), ("ipFamilies", "IP families"))
        if len(spec.get(f) or ()) == 2
    ]
    return [FieldError.invalid(_POLICY, SINGLE, _BOTH.format(what)) for what in many]


def _infer(spec: Spec, configured: Sequence[str]) -> list[FieldError]:
    """Families that only the addresses tell."""
    ips, families, errors = spec.get("clusterIPs") or [], list(spec.get("ipFamilies") or ()), []
    for i, ip in enumerate(ips):
        if ip == needs.NO_IP:
            break
        family = family_of(ip)
        if i < len(families):
            continue
        if family in configured:
            families.append(family)
        else:
            text = f"{family} is not configured on this cluster"
            errors.append(FieldError.invalid((_SPEC / "clusterIPs") / i, ips, text))
    if families:
        spec["ipFamilies"] = families
    return errors


def _unavailable(spec: Spec, configured: Sequence[str]) -> list[FieldError]:
    errors = []
    if spec["ipFamilyPolicy"] == REQUIRE and len(configured) < 2:
        text = "this cluster is not configured for dual-stack services"
        errors.append(FieldError.invalid(_POLICY, REQUIRE, text))
    for i, family in enumerate(spec.get("ipFamilies") or ()):
        if family not in configured:
            errors.append(FieldError.invalid((_SPEC / "ipFamilies") / i, family, "not configured on this cluster"))
    return errors


def _complete(spec: Spec, default: str, both: bool) -> None:
    families = list(spec.get("ipFamilies") or (default,))
    if both and len(families) == 1:
        families.append(other(families[0]))
    spec["ipFamilies"] = families
