"""Tokens with an end, bound to the life of an account and perhaps of a pod, node or Secret.

COMPAT: pkg/serviceaccount claims.go validator.Validate
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from apiserver.api.durations import parse_time
from apiserver.api.errors import NotFound
from apiserver.api.names import GroupResource
from apiserver.api.request import Request
from apiserver.api.tokens import LEEWAY, PRIVATE, Claims, TokenError, check_times
from apiserver_plugins.authentication.accounts.account import INVALIDATED, Account, Objects, text

STALE = "authentication.k8s.io/stale-token"
_BOUND = {
    "secret": (GroupResource("", "secrets"), "secret UID ({}) does not match service account secret ref claim ({})"),
    "pod": (GroupResource("", "pods"), "pod UID ({}) does not match service account pod ref claim ({})"),
    "node": (GroupResource("", "nodes"), "node UID ({}) does not match service account node ref claim ({})"),
}


def account_of(claims: Claims, objects: Objects, request: Request) -> Account:
    """The account of a token whose signature is good.

    :param request: gets an audit annotation when the token is used beyond the time that was asked for.
    :raises TokenError: it has ended, or the account or an object it is bound to is gone.
    """
    check_times(claims)
    private = claims.get(PRIVATE)
    if not isinstance(private, dict):
        raise TokenError(f"service account token claims could not be validated: {PRIVATE} is missing")
    namespace, account = text(private, "namespace"), _reference(private, "serviceaccount")
    found = objects.account(namespace, *account)
    if _deleted_long_ago(found):
        raise TokenError("service account has been deleted")
    for kind in ("secret", "pod", "node"):
        # COMPAT: the node of a token that is bound to a pod is told, not checked
        if kind in private and not (kind == "node" and "pod" in private):
            _check_bound(kind, namespace if kind != "node" else "", _reference(private, kind), objects)
    _note_stale(claims, private, request)
    pod, node = _reference(private, "pod"), _reference(private, "node")
    return Account(namespace, *account, jti=text(claims, "jti"), pod=pod, node=node)


def _reference(private: Mapping[str, Any], kind: str) -> tuple[str, str]:
    """Name and uid."""
    reference = private.get(kind)
    return (text(reference, "name"), text(reference, "uid")) if isinstance(reference, dict) else ("", "")


def _check_bound(kind: str, namespace: str, reference: tuple[str, str], objects: Objects) -> None:
    resource, other = _BOUND[kind]
    try:
        found = objects.get(resource, namespace, reference[0])
    except NotFound as ex:
        raise TokenError(INVALIDATED) from ex
    actual = found["metadata"].get("uid", "")
    if actual != reference[1]:
        raise TokenError(other.format(actual, reference[1]))
    if _deleted_long_ago(found):
        raise TokenError(INVALIDATED)


def _deleted_long_ago(obj: Mapping[str, Any]) -> bool:
    deleted = parse_time(obj["metadata"].get("deletionTimestamp") or "")
    return deleted is not None and deleted.timestamp() < time.time() - LEEWAY


def _note_stale(claims: Claims, private: Mapping[str, Any], request: Request) -> None:
    warn_after = private.get("warnafter")
    if isinstance(warn_after, (int, float)) and warn_after and time.time() > warn_after:
        late = time.time() - warn_after
        stale = f"subject: {text(claims, 'sub')}, seconds after warning threshold: {late:.0f}"
        request.annotations.setdefault(STALE, stale)
