"""What a write adds to what ResourceQuotas say is used: whether it fits, and the addition itself.

Used by the admission plugin ResourceQuota. A quota is checked against what is stored at the moment when the addition is
stored, however many servers write: of two writes that fit one by one but not together the second is refused.

COMPAT: k8s.io/apiserver/pkg/admission/plugin/resourcequota controller.go; pkg/quota/v1 resources.go
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from apiserver.api.names import GroupResource
from apiserver.api.quantity import Amount, amount, total
from apiserver_plugins.quota.names import user_of
from apiserver_plugins.quota.pods import missing
from apiserver_plugins.quota.scopes import matches, requirements
from apiserver_plugins.quota.usage import Amounts, Measured

Object = dict[str, Any]


class Refused(Exception):
    """A quota does not allow the write; the text says which and why."""


class Write(NamedTuple):
    """One write.

    :param object: what would be stored.
    :param used: by it; ``before`` was used by what is stored now, None for nothing.
    :param strict: whether it is refused when it does not fit; else it is only added.
    """

    resource: GroupResource
    object: Object
    used: Measured
    before: Measured | None
    strict: bool = True


def about(quota: Object, write: Write) -> bool:
    """Whether a quota limits anything of this write. COMPAT: generic.Matches"""
    return bool(_names(quota, write)) and matches(write.used, requirements(quota.get("spec") or {}))


def _names(quota: Object, write: Write) -> list[str]:
    """What a quota limits of the kind of a write."""
    hard = (quota.get("status") or {}).get("hard") or {}
    return sorted(name for name in hard if user_of(name) == write.resource)


def addition(quota: Object, write: Write) -> Amounts:
    """How much more would be used of what a quota that is about the write limits. COMPAT: CheckRequest

    :raises Refused: it is unknown how much is used, or what the quota asks to be said is not said.
    """
    status, names = quota.get("status") or {}, _names(quota, write)
    name = quota["metadata"]["name"]
    problem = missing(write.object, names) if write.strict else ""
    if problem:
        raise Refused(f"failed quota: {name}: {problem}")
    if any(limited not in (status.get("used") or {}) for limited in names):
        raise Refused(f"status unknown for quota: {name}, resources: {','.join(names)}")
    used = write.used.now()
    negative = sorted(key for key, value in used.items() if value.nanos < 0)
    if negative:
        raise Refused(f"quota usage is negative for resource(s): {','.join(negative)}")
    before: Mapping[str, Amount] = {}
    if write.before is not None and matches(write.before, requirements(quota.get("spec") or {})):
        before = write.before.now()
    more = {key: _less(used[key], before.get(key)) for key in names if key in used}
    return {key: value for key, value in more.items() if value.nanos > 0}


def _less(used: Amount, before: Amount | None) -> Amount:
    return used if before is None else Amount(max(used.nanos - before.nanos, 0), used.form)


def add(quota: Object, more: Mapping[str, Amount], *, strict: bool = True) -> None:
    """Add to what a quota says is used, in place. :raises Refused: it would be too much."""
    status = quota["status"]
    used, hard = dict(status.get("used") or {}), status.get("hard") or {}
    becomes = {name: total((amount(used.get(name, "0")), value)) for name, value in more.items()}
    exceeded = sorted(name for name, value in becomes.items() if value.nanos > amount(hard[name]).nanos)
    if exceeded and strict:
        raise Refused(
            f"exceeded quota: {quota['metadata']['name']}, requested: {_shown(exceeded, more)}, "
            f"used: {_shown(exceeded, used)}, limited: {_shown(exceeded, hard)}"
        )
    used.update({name: str(value) for name, value in becomes.items()})
    status["used"] = used


def _shown(names: Iterable[str], values: Mapping[str, Any]) -> str:
    return ",".join(f"{name}={values.get(name, '0')}" for name in names)


def charged(quotas: Iterable[Object], write: Write) -> Iterator[tuple[Object, Amounts]]:
    """The quotas to which a write adds something, with what. All are checked. :raises Refused:"""
    for quota in quotas:
        if about(quota, write):
            more = addition(quota, write)
            if more:
                yield quota, more
