"""Where a pod may run: node selectors, affinity, tolerations, topology spread, scheduling gates.

COMPAT: pkg/apis/core/validation validateAffinity, ValidateTolerations, validateTopologySpreadConstraints
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from apiserver.api.fields import FieldError, Path
from apiserver.api.validation import dns_label, label_value
from apiserver_plugins.resources.common.selectors import label_errors, selector_errors
from apiserver_plugins.resources.common.values import invalid, is_qualified, one_of

Term = Mapping[str, Any]

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_UNSATISFIABLE = frozenset(("DoNotSchedule", "ScheduleAnyway"))
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_WEIGHT = "must be in the range 1-100"
_POSITIVE = "must be greater than zero"
_EMPTY = "can not be empty"


def scheduling_errors(spec: Mapping[str, Any], path: Path) -> list[FieldError]:
    """Problems of all that says where a pod may run."""
    errors = label_errors(path / "nodeSelector", spec.get("nodeSelector"))
    affinity = spec.get("affinity") or {}
    errors += _node_affinity(affinity.get("nodeAffinity") or {}, path / "affinity" / "nodeAffinity")
    for kind in ("podAffinity", "podAntiAffinity"):
        errors += _pod_affinity(affinity.get(kind) or {}, path / "affinity" / kind)
    errors += toleration_errors(spec.get("tolerations") or (), path / "tolerations")
    errors += _spread_errors(spec.get("topologySpreadConstraints") or (), path / "topologySpreadConstraints")
    return errors + _gate_errors(spec.get("schedulingGates") or (), path / "schedulingGates")


# -- affinity ---------------------------------------------------------------------------------------------------------


def _weight(term: Term, path: Path) -> list[FieldError]:
    weight = term.get("weight") or 0
    return [] if 1 <= weight <= 100 else [FieldError.invalid(path / "weight", weight, _WEIGHT)]


def _node_affinity(affinity: Term, path: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    required = affinity.get(_REQUIRED)
    if required is not None:
        where = path / _REQUIRED / "nodeSelectorTerms"
        terms = required.get("nodeSelectorTerms") or []
        if not terms:
            errors.append(FieldError.required(where, "must have at least one node selector term"))
        for i, term in enumerate(terms):
            errors += node_selector_term_errors(term, where / i)
    for i, preferred in enumerate(affinity.get(_PREFERRED) or ()):
        where = path / _PREFERRED / i
        errors += _weight(preferred, where)
        errors += node_selector_term_errors(preferred.get("preference") or {}, where / "preference")
    return errors


def node_selector_term_errors(term: Term, path: Path) -> list[FieldError]:
    """COMPAT: ValidateNodeSelectorTerm."""
    errors: list[FieldError] = []
    for i, expression in enumerate(term.get("matchExpressions") or ()):
        errors += _node_requirement(expression, path / "matchExpressions" / i)
    for i, field in enumerate(term.get("matchFields") or ()):
        errors += _node_field(field, path / "matchFields" / i)
    return errors


def _node_requirement(expression: Term, path: Path) -> list[FieldError]:
    operator, values = expression.get("operator", ""), expression.get("values") or []
    errors: list[FieldError] = []
    if operator in ("In", "NotIn"):
        if not values:
            text = "must be specified when `operator` is 'In' or 'NotIn'"
            errors.append(FieldError.required(path / "values", text))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            errors.append(FieldError.forbidden(path / "values", text))
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            text = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            errors.append(FieldError.required(path / "values", text))
    else:
        errors.append(FieldError.invalid(path / "operator", operator, "not a valid selector operator"))
    return errors + is_qualified(path / "key", expression.get("key", ""))


def _node_field(field: Term, path: Path) -> list[FieldError]:
    operator, values, errors = field.get("operator", ""), field.get("values") or [], []
    if operator not in ("In", "NotIn"):
        errors.append(FieldError.invalid(path / "operator", operator, "not a valid selector operator"))
    elif len(values) != 1:
        text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        errors.append(FieldError.required(path / "values", text))
    if field.get("key") != "metadata.name":
        errors.append(FieldError.invalid(path / "key", field.get("key", ""), "not a valid field selector key"))
    return errors


def _pod_affinity(affinity: Term, path: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    for i, term in enumerate(affinity.get(_REQUIRED) or ()):
        errors += _pod_term(term, path / _REQUIRED / i)
    for i, preferred in enumerate(affinity.get(_PREFERRED) or ()):
        where = path / _PREFERRED / i
        errors += _weight(preferred, where)
        errors += _pod_term(preferred.get("podAffinityTerm") or {}, where / "podAffinityTerm")
    return errors


def _pod_term(term: Term, path: Path) -> list[FieldError]:
    errors = selector_errors(path / "labelSelector", term.get("labelSelector"))
    errors += selector_errors(path / "namespaceSelector", term.get("namespaceSelector"))
    for name in term.get("namespaces") or ():
        errors += invalid(path / "namespace", name, dns_label(name))
    key = term.get("topologyKey") or ""
    errors += is_qualified(path / "topologyKey", key)
    return errors if key else [*errors, FieldError.required(path / "topologyKey", _EMPTY)]


# -- tolerations ------------------------------------------------------------------------------------------------------


def toleration_errors(tolerations: Sequence[Term], path: Path) -> list[FieldError]:
    """Problems of ``tolerations``."""
    errors: list[FieldError] = []
    for i, toleration in enumerate(tolerations):
        errors += _toleration(toleration, path / i)
    return errors


def _toleration(toleration: Term, path: Path) -> list[FieldError]:
    key, operator = toleration.get("key") or "", toleration.get("operator") or ""
    value, effect = toleration.get("value") or "", toleration.get("effect") or ""
    errors = is_qualified(path / "key", key) if key else []
    if not key and operator != "Exists":
        text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        errors.append(FieldError.invalid(path / "operator", operator, text))
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        errors.append(FieldError.invalid(path / "effect", effect, text))
    if operator in ("Equal", ""):
        problems = label_value(value)
        if problems:
            errors.append(FieldError.invalid(path / "operator", value, ";".join(problems)))
    elif operator == "Exists":
        if value:
            text = "value must be empty when `operator` is 'Exists'"
            errors.append(FieldError.invalid(path / "operator", value, text))
    else:
        errors.append(FieldError.not_supported(path / "operator", operator, ("Equal", "Exists")))
    return errors + (one_of(path / "effect", effect, EFFECTS) if effect else [])


# -- topology spread, gates -------------------------------------------------------------------------------------------


def _spread_errors(constraints: Sequence[Term], path: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[tuple[str, str]] = set()
    for i, constraint in enumerate(constraints):
        where = path / i
        key, action = constraint.get("topologyKey") or "", constraint.get("whenUnsatisfiable") or ""
        skew = constraint.get("maxSkew") or 0
        if skew <= 0:
            errors.append(FieldError.invalid(where / "maxSkew", skew, _POSITIVE))
        errors += (
            is_qualified(where / "topologyKey", key) if key else [FieldError.required(where / "topologyKey", _EMPTY)]
        )
        if action not in _UNSATISFIABLE:
            errors.append(FieldError.not_supported(where / "whenUnsatisfiable", action, _UNSATISFIABLE))
        if (key, action) in seen:
            errors.append(FieldError.duplicate(where / "{topologyKey, whenUnsatisfiable}", f"{{{key}, {action}}}"))
        seen.add((key, action))
        errors += _min_domains(constraint, where, action)
        errors += selector_errors(where / "labelSelector", constraint.get("labelSelector"))
        for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if constraint.get(field) is not None:
                errors += one_of(where / field, constraint[field], frozenset(("Honor", "Ignore")))
    return errors


def _min_domains(constraint: Term, path: Path, action: str) -> list[FieldError]:
    least = constraint.get("minDomains")
    if least is None:
        return []
    errors = [] if least > 0 else [FieldError.invalid(path / "minDomains", least, _POSITIVE)]
    if action == "ScheduleAnyway":
        text = "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"
        errors.append(FieldError.invalid(path / "minDomains", least, text))
    return errors


def _gate_errors(gates: Sequence[Term], path: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for i, gate in enumerate(gates):
        name = gate.get("name") or ""
        errors += is_qualified(path / i / "name", name)
        if name in seen:
            errors.append(FieldError.duplicate(path / i, name))
        seen.add(name)
    return errors
