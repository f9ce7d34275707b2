"""Tokens on request: ``serviceaccounts/x/token`` answers with a signed token for the account.

COMPAT: pkg/registry/core/serviceaccount/storage TokenREST; pkg/serviceaccount Claims
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from apiserver.api.encoded import EncodedObject
from apiserver.api.errors import BadRequest, Conflict, Invalid, NotFound
from apiserver.api.fields import FieldError, Path
from apiserver.api.names import GroupResource, GroupVersion, GroupVersionKind
from apiserver.api.resource import Resource
from apiserver.api.rest import Context, GetOptions, Validator, WriteOptions
from apiserver.api.server import Server
from apiserver.api.strategy import Strategy
from apiserver.api.tokens import ISSUED_CREDENTIAL_ID, PRIVATE, TokenSettings, credential_id, sign, username

Object = dict[str, Any]

TOKEN_REQUEST = GroupVersionKind("authentication.k8s.io", "v1", "TokenRequest")
ACCOUNTS = GroupResource("", "serviceaccounts")
NODES = GroupResource("", "nodes")
BINDABLE = {"Pod": GroupResource("", "pods"), "Node": NODES, "Secret": GroupResource("", "secrets")}

DEFAULT_SECONDS = 3600
SHORTEST, LONGEST = 600, 1 << 32
PROJECTED_SECONDS = 3607
"""What volumes of pods ask for by default; nobody else is likely to. COMPAT: WarnOnlyBoundTokenExpirationSeconds"""
EXTENDED_SECONDS = 365 * 24 * 3600
"""How long such tokens really live. COMPAT: ExpirationExtensionSeconds"""

_SECONDS = Path("spec") / "expirationSeconds"


class Binding:
    """The object that a token is bound to, and the node of a pod."""

    def __init__(self, kind: str, obj: Object, node: Object | None = None) -> None:
        self.kind = kind
        self.obj = obj
        self.node = node

    def claims(self) -> Object:
        """Its part of the private claim."""
        claims = {self.kind.lower(): _reference(self.obj)}
        if self.node is not None:
            claims["node"] = _reference(self.node)
        return claims


def _reference(obj: Mapping[str, Any]) -> dict[str, str]:
    return {field: obj["metadata"][field] for field in ("name", "uid") if obj["metadata"].get(field)}


class TokenRequestStrategy(Strategy):
    """Defaults of TokenRequests."""

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        if spec.get("expirationSeconds") is None:
            spec["expirationSeconds"] = DEFAULT_SECONDS


class TokenStorage:
    """Storage of ``serviceaccounts/x/token``: create only, and nothing is kept."""

    def __init__(self, server: Server, resource: Resource) -> None:
        self._server = server
        self._settings = TokenSettings(server.config)
        self._longest = int(server.config.seconds("service-account-max-token-expiration"))
        self._extend = server.config.boolean("service-account-extend-token-expiration")

    def create_named(
        self, ctx: Context, name: str, obj: Object, options: WriteOptions, validate: Validator
    ) -> EncodedObject:
        """A token for the account.

        :raises NotFound: there is no such account, or not the object to bind to.
        :raises Invalid: the time asked for is out of bounds, or the metadata is another account's.
        """
        _match(obj["metadata"], name, ctx.namespace)
        account = self._server.store(ACCOUNTS).get(ctx, name, GetOptions()).decode()
        spec, meta = obj["spec"], obj["metadata"]
        spec["audiences"] = spec.get("audiences") or list(self._settings.audiences)
        spec.setdefault("boundObjectRef", None)
        now = int(time.time())
        meta.update(name=name, namespace=ctx.namespace, uid=account["metadata"]["uid"], creationTimestamp=_time(now))
        obj["status"] = {}
        errors = lifetime_errors(spec["expirationSeconds"])
        if errors:
            raise Invalid(TOKEN_REQUEST.group_kind, "", errors)
        validate(obj, None)
        binding = self._binding(ctx, spec["boundObjectRef"], name) if spec["boundObjectRef"] else None
        self._shorten(ctx, spec)
        claims = self._claims(account, spec, binding, now)
        token = sign(claims, self._settings.keys.signing)
        ctx.request.annotations.setdefault(ISSUED_CREDENTIAL_ID, credential_id(claims["jti"]))
        obj["status"] = {"token": token, "expirationTimestamp": _time(now + spec["expirationSeconds"])}
        return EncodedObject.of(obj)

    def _shorten(self, ctx: Context, spec: Object) -> None:
        asked = spec["expirationSeconds"]
        if 0 < self._longest < asked:
            ctx.request.warn(f"requested expiration of {asked} seconds shortened to {self._longest} seconds")
            spec["expirationSeconds"] = self._longest

    def _claims(self, account: Object, spec: Object, binding: Binding | None, now: int) -> Object:
        meta, seconds = account["metadata"], spec["expirationSeconds"]
        private: Object = {"namespace": meta["namespace"], "serviceaccount": _reference(account)}
        if binding is not None:
            private |= binding.claims()
            if self._extend and self._projected(binding, spec):
                private["warnafter"] = now + seconds
                seconds = EXTENDED_SECONDS
        return {
            "aud": spec["audiences"],
            "exp": now + seconds,
            "iat": now,
            "iss": self._settings.issuers[0],
            "jti": str(uuid.uuid4()),
            PRIVATE: private,
            "nbf": now,
            "sub": username(meta["namespace"], meta["name"]),
        }

    def _projected(self, binding: Binding, spec: Object) -> bool:
        """Whether the token is for a volume of a pod, in which some programs never look again."""
        own = set(self._settings.audiences)
        return (
            binding.kind == "Pod" and spec["expirationSeconds"] == PROJECTED_SECONDS and set(spec["audiences"]) <= own
        )

    # -- what it is bound to --------------------------------------------------

    def _binding(self, ctx: Context, ref: Mapping[str, Any], account: str) -> Binding:
        """:raises NotFound: / :raises BadRequest: / :raises Conflict: there is another object of that name."""
        kind, name = ref.get("kind") or "", ref.get("name") or ""
        version = GroupVersion.parse(ref.get("apiVersion") or "")
        if version.group or kind not in BINDABLE:
            text = f"{version.group}/{version.version}, Kind={kind}"
            raise BadRequest(f"cannot bind token to object of type {text}")
        found = self._get(ctx, kind, name)
        node = self._checked_node(ctx, found, account) if kind == "Pod" else None
        if ref.get("uid") and ref["uid"] != found["metadata"].get("uid"):
            why = (
                f"the UID in the bound object reference ({ref['uid']}) does not match the UID in record. "
                "The object might have been deleted and then recreated"
            )
            raise Conflict.for_object(GroupResource(version.group, kind), name, why)
        return Binding(kind, found, node)

    def _get(self, ctx: Context, kind: str, name: str) -> Object:
        resource = BINDABLE[kind]
        try:
            store = self._server.store(resource)
        except KeyError:
            raise NotFound.for_object(resource, name) from None
        where = ctx._replace(namespace="") if resource == NODES else ctx
        found: Object = store.get(where, name, GetOptions()).decode()
        return found

    def _checked_node(self, ctx: Context, pod: Object, account: str) -> Object | None:
        """The node of a pod; without a uid when there is no such node. :raises BadRequest: it is not this account's."""
        if (pod["spec"].get("serviceAccountName") or "") != account:
            raise BadRequest(
                f'cannot bind token for serviceaccount "{account}" to pod running with different serviceaccount name.'
            )
        name = pod["spec"].get("nodeName")
        if not name:
            return None
        try:
            return self._get(ctx, "Node", name)
        except NotFound:
            return {"metadata": {"name": name}}


def _match(meta: Mapping[str, Any], name: str, namespace: str) -> None:
    """:raises Invalid: the body names another account than the URL."""
    for field, wanted in (("name", name), ("namespace", namespace)):
        if meta.get(field) and meta[field] != wanted:
            text = f"must match the service account {field} if specified"
            error = FieldError.invalid(Path("metadata") / field, meta[field], text)
            raise Invalid(TOKEN_REQUEST.group_kind, name, [error])


def lifetime_errors(seconds: int) -> list[FieldError]:
    """COMPAT: ValidateTokenRequest."""
    if seconds < SHORTEST:
        return [FieldError.invalid(_SECONDS, seconds, "may not specify a duration less than 10 minutes")]
    if seconds > LONGEST:
        return [FieldError.invalid(_SECONDS, seconds, "may not specify a duration larger than 2^32 seconds")]
    return []


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
