"""What is wrong with an object, metadata excepted: by its schema, by its strategy, by its rules.

Called by :mod:`apiserver.registry.store` once an object is prepared.
"""

from __future__ import annotations

from typing import Any

from apiserver.api.fields import FieldError
from apiserver.api.resource import Resource
from apiserver.api.rest import Context
from apiserver.api.strategy import Strategy
from apiserver.schema.check import PartCheck, SchemaCheck

Object = dict[str, Any]

_BLOCKING = frozenset(f"FieldValue{kind}" for kind in ("NotSupported", "Required", "TooLong", "TooMany", "TypeInvalid"))
_UNCHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation"
)
"""COMPAT: hasBlockingErr"""


def problems(
    resource: Resource,
    strategy: Strategy,
    check: SchemaCheck | PartCheck | None,
    ctx: Context,
    obj: Object,
    old: Object | None = None,
) -> list[FieldError]:
    """The problems of a new object, or of one that was ``old``.

    :param strategy: the resource's, or that of a subresource.
    :param check: of the schema that the kind brings.
    """
    if resource.unstructured and obj.get("kind") != resource.kind:
        # COMPAT: customResourceValidator.ValidateTypeMeta
        return [FieldError.invalid("kind", obj.get("kind"), f"must be {resource.kind}")]
    errors = check.errors(obj, old) if check is not None else []
    if errors and not resource.unstructured:
        return errors
    errors = [*errors, *(strategy.validate(ctx, obj) if old is None else strategy.validate_update(ctx, obj, old))]
    if any(error.reason in _BLOCKING for error in errors):
        return [*errors, FieldError.invalid("", None, _UNCHECKED)] if strategy.has_rules else errors
    return [*errors, *strategy.check_rules(ctx, obj, old)]
