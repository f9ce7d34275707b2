"""Nobody grants what they do not hold, unless they may escalate roles or bind the role in question.

Asked by the strategies of roles and bindings before anything else is looked at.

COMPAT: pkg/registry/rbac escalation_check.go, {role,clusterrole,rolebinding,clusterrolebinding}/policybased
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from apiserver.api.auth import MASTERS, Attributes, Decision, User
from apiserver.api.errors import Forbidden, NotFound, UnknownError
from apiserver.api.logs import quote
from apiserver.api.names import GroupResource
from apiserver.api.ownership import only_ownership_differs
from apiserver.api.rest import Context, GetOptions
from apiserver.api.server import Server
from apiserver_plugins.rbac.coverage import compact, listed, missing, shown

Object = Mapping[str, Any]
GROUP = "rbac.authorization.k8s.io"
_ROLES = {"Role": "roles", "ClusterRole": "clusterroles"}
_EVERYTHING = (
    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
    {"verbs": ["*"], "nonResourceURLs": ["*"]},
)
_AGGREGATION = "must have cluster-admin privileges to use the aggregationRule: "


class _Written(NamedTuple):
    """What is being written: a role or a binding."""

    resource: GroupResource
    name: str
    namespace: str


class Guard:
    """Checks writers of roles and bindings. Shared between threads."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def check_role(self, ctx: Context, role: Object, old: Object | None) -> None:
        """:raises Forbidden: the role would allow what its writer may not do."""
        info, user = ctx.request.info, ctx.request.user
        if user is None or info is None or MASTERS in user.groups or only_ownership_differs(role, old):
            return
        escalate = Attributes(
            user, "escalate", "", is_resource=True, group=info.group, version="*", resource=info.resource,
            namespace=info.namespace, name=info.name,
        )  # fmt: skip
        if info.group == GROUP and info.resource in _ROLES.values() and self._allowed(escalate):
            return
        written = _Written(GroupResource(GROUP, info.resource), _name(role), ctx.namespace)
        self._confirm(user, written, role.get("rules") or ())
        if _aggregates(role) or _aggregates(old):
            self._confirm(user, written, _EVERYTHING, _AGGREGATION)

    def check_binding(self, ctx: Context, binding: Object, old: Object | None) -> None:
        """:raises Forbidden: the binding would give what its writer does not have."""
        info, user = ctx.request.info, ctx.request.user
        if user is None or info is None or MASTERS in user.groups or only_ownership_differs(binding, old):
            return
        ref = binding.get("roleRef") or {}
        kind, name = ref.get("kind") or "", ref.get("name") or ""
        if kind in _ROLES:
            bind = Attributes(
                user, "bind", "", is_resource=True, group=ref.get("apiGroup") or "", version="*",
                resource=_ROLES[kind], namespace=ctx.namespace, name=name,
            )  # fmt: skip
            if self._allowed(bind):
                return
        written = _Written(GroupResource(GROUP, info.resource), _name(binding), ctx.namespace)
        self._confirm(user, written, self._rules(written, kind, name))

    def _allowed(self, attributes: Attributes) -> bool:
        return self._server.authorize(attributes)[0] is Decision.ALLOW

    def _rules(self, written: _Written, kind: str, name: str) -> Sequence[Object]:
        """The rules of a role. COMPAT: GetRoleReferenceRules"""
        if kind not in _ROLES:
            raise UnknownError(f"unsupported role reference kind: {quote(kind)}")
        server = self._server
        where = server.system_context(written.namespace if kind == "Role" else "")
        try:
            found = server.store(GroupResource(GROUP, _ROLES[kind])).get(where, name, GetOptions())
        except NotFound:
            # COMPAT: the role is called by the resource of the request
            raise NotFound.for_object(written.resource, name) from None
        rules: Sequence[Object] = found.decode().get("rules") or ()
        return rules

    def _confirm(self, user: User, written: _Written, rules: Sequence[Object], head: str = "") -> None:
        """COMPAT: ConfirmNoEscalation"""
        held = self._server.rules_for(user, written.namespace)
        lacking = missing([*held.resources, *held.non_resources], rules)
        if not lacking:
            return
        texts = sorted({shown(rule) for rule in compact(lacking)})
        why = (
            f"{head}user {quote(user.name)} (groups={listed(user.groups)}) is attempting to grant RBAC permissions not "
            "currently held:\n" + "\n".join(texts)
        )
        if held.problem:
            why += f"; resolution errors: [{held.problem}]"
        raise Forbidden.for_object(written.resource, written.name, why)


def _name(obj: Object) -> str:
    return str((obj.get("metadata") or {}).get("name") or "")


def _aggregates(role: Object | None) -> bool:
    return bool(((role or {}).get("aggregationRule") or {}).get("clusterRoleSelectors"))
