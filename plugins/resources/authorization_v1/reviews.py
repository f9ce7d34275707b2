"""The reviews of this group: may this user do that? Answered by the authorizers, never stored.

COMPAT: pkg/registry/authorization; pkg/apis/authorization/validation
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from apiserver.api.auth import Attributes, Decision, User
from apiserver.api.errors import BadRequest, Invalid
from apiserver.api.fields import FieldError, Path
from apiserver.api.names import GroupKind
from apiserver.api.rest import Context
from apiserver.api.server import Server

Object = dict[str, Any]
Admit = Callable[[Object], None]

GROUP = "authorization.k8s.io"
_SPEC = Path("spec")
_RESOURCE, _OTHER = _SPEC / "resourceAttributes", _SPEC / "nonResourceAttributes"


# -- rules ------------------------------------------------------------------------------------------------------------


def _selector_errors(attributes: Object) -> list[FieldError]:
    """COMPAT: validateResourceAttributes."""
    errors = []
    for field in ("fieldSelector", "labelSelector"):
        selector, path = attributes.get(field), _RESOURCE / field
        if selector is None:
            continue
        if selector.get("rawSelector") and selector.get("requirements"):
            text = "may not specified at the same time as requirements"
            errors.append(FieldError.invalid(path / "rawSelector", selector["rawSelector"], text))
        if not selector.get("rawSelector") and not selector.get("requirements"):
            text = "when " + str(path) + " is specified, requirements or rawSelector is required"
            errors.append(FieldError.required(path / "requirements", text))
    return errors


def _attribute_errors(spec: Object) -> list[FieldError]:
    resource, other = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and other is not None:
        text = "cannot be specified in combination with resourceAttributes"
        return [FieldError.invalid(_OTHER, other, text)]
    if resource is None and other is None:
        text = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        return [FieldError.invalid(_RESOURCE, None, text)]
    return _selector_errors(resource or {})


def _subject_errors(spec: Object) -> list[FieldError]:
    errors = _attribute_errors(spec)
    if not spec.get("user") and not spec.get("groups"):
        text = "at least one of user or group must be specified"
        errors.append(FieldError.invalid(_SPEC / "user", spec.get("user") or "", text))
    return errors


def _metadata_errors(obj: Object, *allowed: str) -> list[FieldError]:
    meta = {k: v for k, v in obj["metadata"].items() if v and k not in ("managedFields", *allowed)}
    text = "must be empty except for namespace" if allowed else "must be empty"
    return [FieldError.invalid("metadata", obj["metadata"], text)] if meta else []


def _local_errors(obj: Object) -> list[FieldError]:
    spec = obj.get("spec") or {}
    errors = _subject_errors(spec) + _metadata_errors(obj, "namespace")
    resource, namespace = spec.get("resourceAttributes"), obj["metadata"].get("namespace") or ""
    if resource is not None and (resource.get("namespace") or "") != namespace:
        where = _RESOURCE / "namespace"
        errors.append(FieldError.invalid(where, resource.get("namespace") or "", "must match metadata.namespace"))
    if spec.get("nonResourceAttributes") is not None:
        text = "disallowed on this kind of request"
        errors.append(FieldError.invalid(_OTHER, spec["nonResourceAttributes"], text))
    return errors


def _refuse(errors: list[FieldError]) -> None:
    if errors:
        # COMPAT: the kind is empty
        raise Invalid(GroupKind(GROUP, ""), "", errors)


# -- answers ----------------------------------------------------------------------------------------------------------


def _raw(selector: Mapping[str, Any] | None) -> str:
    return str((selector or {}).get("rawSelector") or "")


def _attributes(user: User, spec: Object) -> Attributes:
    """COMPAT: AuthorizationAttributesFrom."""
    resource, other = spec.get("resourceAttributes"), spec.get("nonResourceAttributes") or {}
    if resource is None:
        return Attributes(user, other.get("verb") or "", other.get("path") or "", is_resource=False)
    return Attributes(
        user,
        resource.get("verb") or "",
        "",
        is_resource=True,
        group=resource.get("group") or "",
        version=resource.get("version") or "*",
        resource=resource.get("resource") or "",
        subresource=resource.get("subresource") or "",
        namespace=resource.get("namespace") or "",
        name=resource.get("name") or "",
        field_selector=_raw(resource.get("fieldSelector")),
        label_selector=_raw(resource.get("labelSelector")),
    )


def _answer(server: Server, obj: Object, user: User) -> Object:
    """The review with its status. An authorizer that fails is told about, not raised."""
    problem = ""
    try:
        decision, reason = server.authorize(_attributes(user, obj.get("spec") or {}))
    except Exception as ex:
        decision, reason, problem = Decision.NO_OPINION, "", str(ex)
    status: Object = {"allowed": decision is Decision.ALLOW}
    if decision is Decision.DENY:
        status["denied"] = True
    if reason:
        status["reason"] = reason
    if problem:
        status["evaluationError"] = problem
    return {**obj, "status": status}


def _subject(spec: Object) -> User:
    extra = {key: tuple(values or ()) for key, values in (spec.get("extra") or {}).items()}
    return User(spec.get("user") or "", spec.get("uid") or "", tuple(spec.get("groups") or ()), extra)


def subject(server: Server, ctx: Context, obj: Object, admit: Admit) -> Object:
    """SubjectAccessReview: about anybody, anywhere. :raises Invalid:"""
    spec = obj.get("spec") or {}
    _refuse(_subject_errors(spec) + _metadata_errors(obj))
    admit(obj)
    return _answer(server, obj, _subject(spec))


def local(server: Server, ctx: Context, obj: Object, admit: Admit) -> Object:
    """LocalSubjectAccessReview: about anybody, in one namespace. :raises Invalid:"""
    _refuse(_local_errors(obj))
    admit(obj)
    return _answer(server, obj, _subject(obj.get("spec") or {}))


def own(server: Server, ctx: Context, obj: Object, admit: Admit) -> Object:
    """SelfSubjectAccessReview: about who asks. :raises Invalid:"""
    _refuse(_attribute_errors(obj.get("spec") or {}) + _metadata_errors(obj))
    admit(obj)
    user = ctx.request.user
    assert user is not None
    return _answer(server, obj, user)


def own_rules(server: Server, ctx: Context, obj: Object, admit: Admit) -> Object:
    """SelfSubjectRulesReview: all that who asks may do in a namespace. :raises BadRequest:"""
    namespace = (obj.get("spec") or {}).get("namespace") or ""
    if not namespace:
        raise BadRequest("no namespace on request")
    admit(obj)
    user = ctx.request.user
    assert user is not None
    rules = server.rules_for(user, namespace)
    status: Object = {
        "resourceRules": list(rules.resources),
        "nonResourceRules": list(rules.non_resources),
        "incomplete": rules.incomplete,
    }
    if rules.problem:
        status["evaluationError"] = rules.problem
    # COMPAT: the answer is a new object, without the question
    return {"kind": obj["kind"], "apiVersion": obj["apiVersion"], "metadata": {}, "spec": {}, "status": status}
