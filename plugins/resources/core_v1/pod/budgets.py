"""Counting an eviction against a disruption budget.

COMPAT: pkg/registry/core/pod/storage EvictionREST.checkAndDecrement; pkg/controller/disruption conditions
"""

from __future__ import annotations

from typing import Any

from apiserver.api.durations import now
from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import Forbidden, TooManyRequests
from apiserver.api.names import GroupResource
from apiserver.api.rest import WriteOptions
from apiserver.api.server import Server
from apiserver.api.strategy import StatusStrategy

Object = dict[str, Any]

MOST_DISRUPTED = 2000
"""Evictions of a budget that nobody has confirmed yet."""
ALLOWED = "DisruptionAllowed"
_WHAT = GroupResource("policy", "poddisruptionbudget")
_REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."


def still_processed(budget: Object) -> TooManyRequests:
    """What is answered while the controller has not seen the budget as it is. COMPAT: createTooManyRequestsError"""
    text = f"The disruption budget {budget['metadata']['name']} is still being processed by the server."
    return TooManyRequests(_REFUSED, details={"causes": [_cause(text)]}, retry_after=10)


def _cause(text: str) -> dict[str, str]:
    return {"reason": "DisruptionBudget", "message": text}


def decrement(store: Any, server: Server, budget: Object, pod: str, *, dry_run: bool) -> None:
    """Take one disruption for ``pod``, whatever others take at the same time.

    :param store: of PodDisruptionBudgets.
    :raises TooManyRequests: there is none left, or nobody knows yet.
    :raises Forbidden: the status makes no sense.
    """
    meta = budget["metadata"]
    status_store = store.with_strategy(StatusStrategy(store.strategy))

    def take(_old: Object | None, stored: EncodedObject | None) -> Object:
        assert stored is not None, "an update without a create is never asked for a missing object"
        return taken(stored.decode(), pod)

    context = server.system_context(meta["namespace"])
    status_store.update(context, meta["name"], take, WriteOptions(dry_run=dry_run), lambda _obj, _old: None)


def taken(budget: Object, pod: str) -> Object:
    """The budget, in place, with one disruption less.

    :raises TooManyRequests: / :raises Forbidden: see :func:`decrement`.
    """
    meta, status = budget["metadata"], budget.setdefault("status", {})
    name, left = meta["name"], status.get("disruptionsAllowed") or 0
    if (status.get("observedGeneration") or 0) < (meta.get("generation") or 0):
        raise still_processed(budget)
    if left < 0:
        raise Forbidden.for_object(_WHAT, name, "pdb disruptions allowed is negative")
    disrupted = status.get("disruptedPods") or {}
    if len(disrupted) > MOST_DISRUPTED:
        text = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise Forbidden.for_object(_WHAT, name, text)
    if left == 0:
        raise TooManyRequests(_REFUSED, details={"causes": [_cause(_why(name, status))]})
    status["disruptionsAllowed"] = left - 1
    if left == 1:
        _set_condition(status)
    status["disruptedPods"] = {**disrupted, pod: now()}
    return budget


def _why(name: str, status: Object) -> str:
    condition: Object = next((c for c in status.get("conditions") or () if c.get("type") == ALLOWED), {})
    if condition.get("status") == "False" and condition.get("reason") == "SyncFailed":
        why = f"because it failed sync: {condition.get('message', '')}"
        return f"The disruption budget {name} does not allow evicting pods currently {why}"
    current, desired = status.get("currentHealthy") or 0, status.get("desiredHealthy") or 0
    if current <= desired:
        return f"The disruption budget {name} needs {desired} healthy pods and has {current} currently"
    return f"The disruption budget {name} does not allow evicting pods currently"


def _set_condition(status: Object) -> None:
    """Say that nothing may go any more. COMPAT: UpdateDisruptionAllowedCondition"""
    conditions = status.get("conditions") or []
    before: Object = next((c for c in conditions if c.get("type") == ALLOWED), {})
    moved = now() if before.get("status") != "False" else before.get("lastTransitionTime")
    condition = {
        "type": ALLOWED,
        "status": "False",
        "observedGeneration": status.get("observedGeneration") or 0,
        "lastTransitionTime": moved,
        "reason": "InsufficientPods",
        "message": "",
    }
    rest = [condition if c is before else c for c in conditions]
    status["conditions"] = rest if before else [*rest, condition]
