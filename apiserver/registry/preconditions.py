"""The uid in the body of an update is a precondition.

COMPAT: k8s.io/apiserver/pkg/storage Preconditions.Check, StorageError
"""

from __future__ import annotations

from typing import Any

from apiserver.api.errors import Conflict
from apiserver.api.names import GroupResource


def check_uid(resource: GroupResource, key: str, obj: dict[str, Any], old: dict[str, Any]) -> None:
    """:raises Conflict: the body has the uid of another object; the text is upstream's StorageError."""
    given, stored = obj["metadata"].get("uid"), old["metadata"].get("uid")
    if given and given != stored:
        raise Conflict.for_object(
            resource,
            old["metadata"].get("name", ""),
            f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
            f"Precondition failed: UID in precondition: {given}, UID in object meta: {stored}",
        )
