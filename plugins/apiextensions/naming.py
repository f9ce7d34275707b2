"""Which of the names that a CustomResourceDefinition asks for it gets, and the conditions that follow.

Pure functions over the status of definitions, called by :mod:`.controller`. Names are taken by who was first in its
group; what is refused becomes free when the other definition goes.

COMPAT: apiextensions-apiserver/pkg/controller/status NamingConditionController, .../establish EstablishingController,
.../apiapproval KubernetesAPIApprovalPolicyConformantConditionController
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from apiserver_plugins.apiextensions.approval import approval, is_protected

Object = dict[str, Any]

NAMES_ACCEPTED, ESTABLISHED, TERMINATING = "NamesAccepted", "Established", "Terminating"
APPROVED = "KubernetesAPIApprovalPolicyConformant"
_ORDER = (NAMES_ACCEPTED, APPROVED, ESTABLISHED)


def is_true(definition: Mapping[str, Any], condition: str) -> bool:
    """Whether a condition of a definition is true."""
    return _find(definition, condition).get("status") == "True"


def _find(definition: Mapping[str, Any], condition: str) -> Mapping[str, Any]:
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return next((found for found in conditions if found.get("type") == condition), {})


def set_condition(definition: Object, type_: str, status: str, reason: str, message: str) -> None:
    """Set a condition, in place; the time of its last transition stays while its status stays."""
    conditions = definition.setdefault("status", {}).get("conditions") or []
    old = _find(definition, type_)
    same = old.get("status") == status
    since = old["lastTransitionTime"] if same else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    new = {"lastTransitionTime": since, "message": message, "reason": reason, "status": status, "type": type_}
    kept = [new if found.get("type") == type_ else found for found in conditions]
    if not old:
        kept.append(new)
    definition["status"]["conditions"] = sorted(kept, key=_place)


def _place(condition: Mapping[str, Any]) -> int:
    type_ = condition.get("type")
    return _ORDER.index(type_) if type_ in _ORDER else len(_ORDER)


def accept(definition: Object, others: Iterable[Mapping[str, Any]]) -> None:
    """Set acceptedNames and conditions of a definition, in place.

    :param others: the other definitions, of any group.
    """
    group = definition["spec"]["group"]
    taken = [(other.get("status") or {}).get("acceptedNames") or {} for other in others if _group(other) == group]
    status = definition.setdefault("status", {})
    asked, had = definition["spec"]["names"], status.get("acceptedNames") or {}
    resources = {had_name for names in (*taken, had) for had_name in _resource_names(names)}
    kinds = {names.get(key) for names in (*taken, had) for key in ("kind", "listKind")}
    names, problem = _accepted(asked, had, resources, kinds)
    status["acceptedNames"] = names
    if problem is None:
        set_condition(definition, NAMES_ACCEPTED, "True", "NoConflicts", "no conflicts found")
    else:
        set_condition(definition, NAMES_ACCEPTED, "False", *problem)
    if is_protected(group):
        set_condition(definition, APPROVED, *approval(definition))
    if is_true(definition, ESTABLISHED):
        return
    if problem is None:
        message = "the initial names have been accepted"
        set_condition(definition, ESTABLISHED, "True", "InitialNamesAccepted", message)
    else:
        set_condition(definition, ESTABLISHED, "False", "NotAccepted", "not all names are accepted")


def _group(definition: Mapping[str, Any]) -> str:
    return str(definition["spec"]["group"])


def _resource_names(names: Mapping[str, Any]) -> Iterable[str]:
    return filter(None, (names.get("plural"), names.get("singular"), *(names.get("shortNames") or ())))


def _accepted(
    asked: Mapping[str, Any], had: Mapping[str, Any], resources: Collection[str], kinds: Collection[str | None]
) -> tuple[Object, tuple[str, str] | None]:
    """The names, as many as can be had, and reason and message of the last conflict.

    COMPAT: calculateNamesAndConditions
    """
    names = {"kind": "", "plural": "", **had}
    problem: tuple[str, str] | None = None
    for key, reason, used in (("plural", "PluralConflict", resources), ("singular", "SingularConflict", resources)):
        problem = _take(names, key, asked.get(key), used, reason) or problem
    problem = _take_short_names(names, asked, resources) or problem
    for key, reason in (("kind", "KindConflict"), ("listKind", "ListKindConflict")):
        problem = _take(names, key, asked.get(key), kinds, reason) or problem
    names["categories"] = asked.get("categories")
    return {key: value for key, value in names.items() if value or key in ("kind", "plural")}, problem


def _take(
    names: Object, key: str, asked: str | None, used: Collection[str | None], reason: str
) -> tuple[str, str] | None:
    if asked and asked != names.get(key) and asked in used:
        return reason, _in_use(asked)
    names[key] = asked
    return None


def _take_short_names(names: Object, asked: Mapping[str, Any], used: Collection[str]) -> tuple[str, str] | None:
    wanted, had = asked.get("shortNames") or [], names.get("shortNames") or []
    lost = [_in_use(name) for name in dict.fromkeys(wanted) if name not in had and name in used]
    if not lost:
        names["shortNames"] = wanted
        return None
    return "ShortNamesConflict", lost[0] if len(lost) == 1 else f"[{', '.join(lost)}]"


def _in_use(name: str) -> str:
    return f'"{name}" is already in use'
