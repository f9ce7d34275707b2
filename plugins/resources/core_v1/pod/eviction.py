"""Asking a pod to go, as long as its disruption budget allows: ``pods/x/eviction``.

COMPAT: pkg/registry/core/pod/storage EvictionREST
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from apiserver.api.durations import now
from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import BadRequest, Conflict, UnknownError
from apiserver.api.names import GroupResource, GroupVersionKind
from apiserver.api.resource import Resource, Subresource
from apiserver.api.rest import Context, DeleteOptions, GetOptions, ListOptions, Validator, WriteOptions
from apiserver.api.server import Server
from apiserver_plugins.resources.common.selectors import matches
from apiserver_plugins.resources.core_v1.pod.budgets import decrement, still_processed
from apiserver_plugins.resources.core_v1.pod.status import PodStatusStrategy

Object = dict[str, Any]

EVICTION_KIND = GroupVersionKind("policy", "v1", "Eviction")
BUDGETS = GroupResource("policy", "poddisruptionbudgets")
TRIES = 20
SUCCESS: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}

_POD = GroupResource("", "Pod")
_ENDED = ("Succeeded", "Failed")
_SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


class PodEviction:
    """Storage of ``pods/x/eviction``."""

    def __init__(self, server: Server, resource: Resource) -> None:
        self._server = server
        self._resource = resource.group_resource

    def create_named(
        self, ctx: Context, name: str, obj: Object, options: WriteOptions, validate: Validator
    ) -> EncodedObject:
        """Delete the pod, and count that against its budget.

        :raises NotFound: there is no such pod.
        :raises TooManyRequests: the budget is used up, or nobody has looked at it yet.
        :raises UnknownError: the pod has several budgets.
        :raises Conflict: the pod is not the one that was meant.
        """
        if (obj["metadata"].get("name") or "") != name:
            raise BadRequest("name in URL does not match name in Eviction object")
        wanted = deletion(obj, options)
        validate(obj, None)
        pod = self._without_budget(ctx, name, wanted)
        if pod is not None:
            self._with_budget(ctx, pod, wanted)
        return EncodedObject.of(SUCCESS)

    def _without_budget(self, ctx: Context, name: str, wanted: DeleteOptions) -> Object | None:
        """Delete a pod that no budget protects. Returns it, and leaves it alone, if one may."""
        for last in range(TRIES - 1, -1, -1):
            pod: Object = self._server.store(self._resource).get(ctx, name, GetOptions()).decode()
            if not unprotected(pod):
                return pod
            ours = _may_become_ready(pod) and not wanted.resource_version
            options = replace(wanted, resource_version=_version(pod)) if ours else wanted
            try:
                self._delete(ctx, name, options)
            except Conflict:
                if wanted.resource_version or not last:
                    raise
                ctx.request.remaining()
            else:
                return None
        raise AssertionError("the last try returns or raises")

    def _with_budget(self, ctx: Context, pod: Object, wanted: DeleteOptions) -> None:
        budget = self._budget(ctx, pod)
        name = pod["metadata"]["name"]
        guarded = budget is not None and not _ready(pod) and _spares_unready(budget)
        if budget is not None and not guarded:
            decrement(self._server.store(BUDGETS), self._server, budget, name, dry_run=wanted.dry_run)
        # A pod that is let go because it is not ready must not have become ready in between.
        options = replace(wanted, resource_version=_version(pod)) if guarded else wanted
        try:
            self._delete(ctx, name, options)
        except Conflict:
            if budget is None or not guarded or wanted.resource_version:
                raise
            raise still_processed(budget) from None

    def _budget(self, ctx: Context, pod: Object) -> Object | None:
        """The budget that counts this pod."""
        labels = pod["metadata"].get("labels")
        if not labels:
            return None
        try:
            store = self._server.store(BUDGETS)
        except KeyError:
            return None
        listed = store.list(self._server.system_context(ctx.namespace), ListOptions())
        budgets = [item.decode() for item in listed.items]
        # COMPAT: a selector that is missing selects nothing, a bad one is passed over
        found = [b for b in budgets if matches((b.get("spec") or {}).get("selector"), labels)]
        if len(found) > 1:
            raise UnknownError(_SEVERAL)
        return found[0] if found else None

    def _delete(self, ctx: Context, name: str, options: DeleteOptions) -> None:
        """Say in the status why the pod goes, then delete it. COMPAT: addConditionAndDeletePod"""
        store = self._server.store(self._resource)
        if not options.dry_run:
            marking = store.with_strategy(PodStatusStrategy(store.strategy))
            marked, _ = marking.update(
                ctx, name, lambda _old, stored: _marked(stored, options), WriteOptions(), lambda _obj, _old: None
            )
            if options.resource_version:
                options = replace(options, resource_version=str(marked.revision))
        store.delete(ctx, name, options, lambda _obj: None)


def deletion(eviction: Object, options: WriteOptions) -> DeleteOptions:
    """How the pod is to be deleted: as the eviction says, and as a dry run if the request is one."""
    given = eviction.get("deleteOptions") or {}
    if given.get("dryRun") and options.dry_run and given["dryRun"] != ["All"]:
        text = f"[All] and [{' '.join(given['dryRun'])}]"
        raise UnknownError(f"Non-matching dry-run options in request and content: {text}")
    preconditions = given.get("preconditions") or {}
    return DeleteOptions(
        dry_run=options.dry_run or bool(given.get("dryRun")),
        grace_period_seconds=given.get("gracePeriodSeconds"),
        uid=preconditions.get("uid"),
        resource_version=preconditions.get("resourceVersion") or None,
        propagation_policy=given.get("propagationPolicy"),
        orphan_dependents=given.get("orphanDependents"),
        raw=given,
    )


def unprotected(pod: Object) -> bool:
    """Whether a pod may go whatever budgets say: nobody is served by it. COMPAT: canIgnorePDB"""
    phase = (pod.get("status") or {}).get("phase")
    return phase in (*_ENDED, "Pending") or bool(pod["metadata"].get("deletionTimestamp"))


def _may_become_ready(pod: Object) -> bool:
    return (pod.get("status") or {}).get("phase") not in _ENDED and not pod["metadata"].get("deletionTimestamp")


def _ready(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(c.get("type") == "Ready" and c.get("status") == "True" for c in conditions)


def _spares_unready(budget: Object) -> bool:
    """Whether a pod that is not ready may go without being counted."""
    status = budget.get("status") or {}
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    desired = status.get("desiredHealthy") or 0
    return (status.get("currentHealthy") or 0) >= desired > 0


def _version(pod: Object) -> str:
    version: str = pod["metadata"]["resourceVersion"]
    return version


def _marked(stored: EncodedObject | None, options: DeleteOptions) -> Object:
    """The pod with the reason of its end. :raises Conflict: it is not the one that was meant."""
    assert stored is not None, "an update without a create is never asked for a missing object"
    pod = stored.decode()
    meta = pod["metadata"]
    for wanted, actual, what, happened in (
        (options.uid, meta.get("uid"), "UID", "deleted and then recreated"),
        (options.resource_version, meta.get("resourceVersion"), "ResourceVersion", "modified"),
    ):
        if wanted and wanted != actual:
            text = f"the {what} in the precondition ({wanted}) does not match the {what} in record ({actual}). "
            raise Conflict.for_object(_POD, meta["name"], f"{text}The object might have been {happened}")
    status = pod.setdefault("status", {})
    conditions = status.get("conditions") or []
    before: Object = next((c for c in conditions if c.get("type") == "DisruptionTarget"), {})
    moved = now() if before.get("status") != "True" else before.get("lastTransitionTime")
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": moved,
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    status["conditions"] = [*(c for c in conditions if c is not before), condition]
    return pod


EVICTION = Subresource("eviction", kind=EVICTION_KIND, storage=PodEviction)
