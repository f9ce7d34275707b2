"""RBAC's question answered: which rules of whose roles let this user do this.

:class:`Policy` is fed with Role, ClusterRole, RoleBinding and ClusterRoleBinding objects as they are stored, in any
order, one at a time. For each user and namespace that asks it compiles the rules that apply into a :class:`RuleIndex`,
which answers with a few dictionary look-ups; the indexes are forgotten when an object changes.

COMPAT: kubernetes/pkg/registry/rbac/validation DefaultRuleResolver, pkg/apis/rbac/v1 evaluation helpers
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from apiserver.api.auth import Attributes, User
from apiserver.api.logs import quote

REMEMBERED = 2000
"""Pairs of user and namespace whose rules are kept compiled."""

Object: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[str, str, str]
"""Kind, namespace ("" for cluster-scoped kinds) and name of an object."""

ROLES = frozenset(("Role", "ClusterRole"))
SERVICE_ACCOUNT = "system:serviceaccount:{}:{}"


class _Entry(NamedTuple):
    """One rule as far as it concerns one look-up: its place in the order, the only names it is for, who gave it."""

    place: int
    names: frozenset[str]
    source: str


class RuleIndex:
    """The rules of one user in one scope, by what they allow. Read-only once built."""

    def __init__(self) -> None:
        self._resources: dict[tuple[str, str, str], list[_Entry]] = {}
        self._paths: dict[tuple[str, str], _Entry] = {}
        self._prefixes: dict[str, list[tuple[str, _Entry]]] = {}
        self._places = 0
        self.rules: list[Mapping[str, Any]] = []
        """All of them, in order."""
        self.problems: list[str] = []
        """What went wrong while the rules were gathered, such as a role that does not exist."""

    def add(self, rule: Mapping[str, Any], source: str) -> None:
        """Add a PolicyRule. ``source`` is the text that tells where it comes from."""
        self._places += 1
        self.rules.append(rule)
        entry = _Entry(self._places, frozenset(rule.get("resourceNames") or ()), source)
        verbs = rule.get("verbs") or ()
        for verb in verbs:
            for group in rule.get("apiGroups") or ():
                for resource in rule.get("resources") or ():
                    self._resources.setdefault((verb, group, resource), []).append(entry)
            for url in rule.get("nonResourceURLs") or ():
                if url.endswith("*"):
                    self._prefixes.setdefault(verb, []).append((url.rstrip("*"), entry))
                else:
                    self._paths.setdefault((verb, url), entry)

    def allows(self, attributes: Attributes) -> str | None:
        """The source of the first rule that allows this, None when none does."""
        found = self._for_resource(attributes) if attributes.is_resource else self._for_path(attributes)
        return min(found).source if found else None

    def _for_resource(self, attributes: Attributes) -> list[_Entry]:
        resources = [attributes.resource, "*"]
        if attributes.subresource:
            resources = [f"{attributes.resource}/{attributes.subresource}", "*", f"*/{attributes.subresource}"]
        name, look = attributes.name, self._resources.get
        return [
            entry
            for verb in (attributes.verb, "*")
            for group in (attributes.group, "*")
            for resource in resources
            for entry in look((verb, group, resource), ())
            if not entry.names or name in entry.names
        ]

    def _for_path(self, attributes: Attributes) -> list[_Entry]:
        found = []
        for verb in (attributes.verb, "*"):
            if (verb, attributes.path) in self._paths:
                found.append(self._paths[verb, attributes.path])
            found += [entry for prefix, entry in self._prefixes.get(verb, ()) if attributes.path.startswith(prefix)]
        return found


class Policy:
    """All roles and bindings. Safe to ask and to change from several threads."""

    def __init__(self, objects: Iterable[Object] = ()) -> None:
        self._lock = threading.Lock()
        self._roles: dict[Key, tuple[Mapping[str, Any], ...]] = {}
        self._bindings: dict[Key, Object] = {}
        self._by_subject: dict[tuple[str, str], set[Key]] = {}
        self._compiled: dict[tuple[str, tuple[str, ...], str], RuleIndex] = {}
        for one in objects:
            self.put(one)

    def put(self, one: Object) -> None:
        """Take in a new or changed object of one of the four kinds."""
        key = _key(one)
        with self._lock:
            if key[0] in ROLES:
                self._roles[key] = tuple(one.get("rules") or ())
            else:
                self._unbind(key)
                self._bindings[key] = one
                for subject in _subjects(one):
                    self._by_subject.setdefault(subject, set()).add(key)
            self._compiled = {}

    def remove(self, one: Object) -> None:
        """Forget an object; kind and name are enough of it."""
        key = _key(one)
        with self._lock:
            self._roles.pop(key, None)
            self._unbind(key)
            self._compiled = {}

    def _unbind(self, key: Key) -> None:
        for subject in _subjects(self._bindings.pop(key, {})):
            keys = self._by_subject.get(subject, set())
            keys.discard(key)
            if not keys:
                self._by_subject.pop(subject, None)

    def rules(self, user: User, namespace: str = "") -> RuleIndex:
        """The rules of a user in a namespace ("" = at the cluster scope), those of the cluster included."""
        asked = (user.name, user.groups, namespace)
        index = self._compiled.get(asked)
        if index is None:
            with self._lock:
                index = self._compile(user, namespace)
                if len(self._compiled) >= REMEMBERED:
                    self._compiled = {}
                self._compiled[asked] = index
        return index

    def _compile(self, user: User, namespace: str) -> RuleIndex:
        index = RuleIndex()
        subjects = (("User", user.name), *(("Group", group) for group in user.groups))
        keys: set[Key] = set().union(*(self._by_subject.get(subject, ()) for subject in subjects))
        for key in sorted(key for key in keys if key[1] in ("", namespace)):
            binding = self._bindings[key]
            ref = binding.get("roleRef") or {}
            kind, name = ref.get("kind", ""), ref.get("name", "")
            rules = self._roles.get((kind, key[1] if kind == "Role" else "", name))
            if rules is None:
                problem = f'{kind.lower()}.rbac.authorization.k8s.io "{name}" not found'
                if problem not in index.problems:
                    index.problems.append(problem)
                continue
            source = _source(binding, key, user)
            for rule in rules:
                index.add(rule, source)
        return index


def _key(one: Object) -> Key:
    metadata = one["metadata"]
    return one["kind"], metadata.get("namespace") or "", metadata["name"]


def _subjects(binding: Object) -> Iterable[tuple[str, str]]:
    """The subjects of a binding; a service account is the user that it authenticates as."""
    for subject in binding.get("subjects") or ():
        if subject["kind"] != "ServiceAccount":
            yield subject["kind"], subject["name"]
        elif namespace := subject.get("namespace") or binding["metadata"].get("namespace"):
            yield "User", SERVICE_ACCOUNT.format(namespace, subject["name"])


def _source(binding: Object, key: Key, user: User) -> str:
    """COMPAT: registry/rbac/validation clusterRoleBindingDescriber, roleBindingDescriber"""
    kind, namespace, name = key
    ref = binding["roleRef"]
    shown = f"{name}/{namespace}" if namespace else name
    return f"{kind} {quote(shown)} of {ref['kind']} {quote(ref['name'])} to {_subject(binding, user)}"


def _subject(binding: Object, user: User) -> str:
    """The first subject of the binding that the user is."""
    for subject in binding.get("subjects") or ():
        kind, name = subject["kind"], subject["name"]
        if kind == "ServiceAccount":
            namespace = subject.get("namespace") or binding["metadata"].get("namespace")
            if user.name == SERVICE_ACCOUNT.format(namespace, name):
                return f"ServiceAccount {quote(f'{name}/{namespace}')}"
        elif (kind == "User" and name == user.name) or (kind == "Group" and name in user.groups):
            return f"{kind} {quote(name)}"
    return ""
