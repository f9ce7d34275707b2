"""The uid in the body of an update is a precondition.

COMPAT: k8s.io/apiserver/pkg/storage Preconditions.Check, StorageError
"""

from __future__ import annotations

from typing import Any

from apiserver.api.errors import Conflict
from apiserver.api.names import GroupResource


def check_uid(resource: GroupResource, key: str, name: str, obj: dict[str, Any], old: dict[str, Any] | None) -> None:
    """The uid in ``obj`` must be that of ``old`` (None: nothing is stored, which no uid fits).

    :raises Conflict: it is another one; the text is upstream's StorageError.
    """
    given = obj["metadata"].get("uid")
    stored = old["metadata"].get("uid") if old is not None else ""
    if given and given != stored:
        raise Conflict.for_object(
            resource,
            name,
            f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
            f"Precondition failed: UID in precondition: {given}, UID in object meta: {stored}",
        )
