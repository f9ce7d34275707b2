"""What an admission plugin is asked.

Called by :mod:`apiserver.registry.admission` through the hooks ``apiserver_admit`` (may change the object) and
``apiserver_validate`` (may only refuse). The same fields a webhook's AdmissionReview has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from apiserver.api.auth import User
from apiserver.api.errors import Forbidden
from apiserver.api.names import GroupResource, GroupVersionKind, GroupVersionResource
from apiserver.api.request import Request

if TYPE_CHECKING:
    from apiserver.api.resource import Resource
    from apiserver.api.server import Server

CREATE = "CREATE"
UPDATE = "UPDATE"
DELETE = "DELETE"
CONNECT = "CONNECT"


@dataclass(slots=True)
class AdmissionRequest:
    """One write under consideration.

    ``operation`` is CREATE, UPDATE, DELETE or CONNECT. ``object`` is the new object (None for DELETE),
    ``old_object`` the stored one (None for CREATE); both in the version of the request. ``options`` are the
    Create/Update/Delete options as sent. A plugin with other effects must look at ``dry_run``. ``server`` is where it
    looks up other objects.
    """

    operation: str
    kind: GroupVersionKind
    resource: GroupVersionResource
    subresource: str
    name: str
    namespace: str
    object: dict[str, Any] | None
    old_object: dict[str, Any] | None
    user: User
    dry_run: bool
    options: Mapping[str, Any]
    request: Request
    server: Server
    definition: Resource | None = None

    def forbidden(self, why: str) -> Forbidden:
        """The refusal an admission plugin raises: ``pods "x" is forbidden: why``.

        COMPAT: admission.NewForbidden; an object without a name yet is called by its generateName, else "Unknown".
        """
        name = self.name
        if not name and self.object is not None:
            metadata = self.object.get("metadata") or {}
            name = metadata.get("name") or metadata.get("generateName") or ""
        return Forbidden.for_object(GroupResource(self.resource.group, self.resource.resource), name or "Unknown", why)

    def warn(self, text: str) -> None:
        """Add a Warning header to the answer."""
        self.request.warn(text)

    def annotate(self, key: str, value: str) -> None:
        """Add an annotation to the audit event; the first value for a key stays."""
        self.request.annotations.setdefault(key, value)
