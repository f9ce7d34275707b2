"""One request on its way through filters, handlers and admission.

The outermost filter makes a :class:`Request` and keeps it in the WSGI environ; every later piece takes it from there
with :meth:`Request.of`. Filters fill it in: ``info`` by request-info, ``user`` by authentication, and so on.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apiserver.api.auth import User
from apiserver.api.errors import Timeout

ENVIRON_KEY = "apiserver.request"


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """What the URL and the method say. Fields are as upstream's RequestInfo.

    ``verb`` is get, list, watch, create, update, patch, delete or deletecollection for resources, the lower-case
    HTTP method else. ``parts`` are the path's parts from the resource on. For ``namespaces/x`` itself, ``namespace``
    is ``x`` too.

    COMPAT: k8s.io/apiserver/pkg/endpoints/request RequestInfo
    """

    is_resource: bool
    path: str
    verb: str
    prefix: str = ""
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""
    parts: tuple[str, ...] = ()
    field_selector: str = ""
    label_selector: str = ""
    long_running: bool = False


class Request:
    """What is known about a request so far.

    ``received`` is ``time.monotonic()`` at arrival, ``received_at`` the wall clock (``time.time()``).
    ``deadline`` is in ``time.monotonic()`` terms, None for long-running requests. ``warnings`` become Warning
    headers. ``annotations`` go to the audit event. ``times`` are seconds by stage, filled when somebody wants them.
    """

    __slots__ = (
        "annotations",
        "audit_id",
        "audit_object",
        "deadline",
        "early",
        "environ",
        "info",
        "query",
        "received",
        "received_at",
        "state",
        "times",
        "user",
        "warnings",
    )

    def __init__(self, environ: dict[str, Any]) -> None:
        self.environ = environ
        self.audit_id = ""
        self.received = time.monotonic()
        self.received_at = time.time()
        self.early = False
        self.info: RequestInfo | None = None
        self.user: User | None = None
        self.deadline: float | None = None
        self.warnings: list[str] = []
        self.annotations: dict[str, str] = {}
        self.audit_object: Any = None
        self.times: dict[str, float] | None = None
        self.query: Mapping[str, list[str]] | None = None
        # A place for filters to hand things to each other; keys start with the filter's name.
        self.state: dict[str, Any] = {}

    @classmethod
    def of(cls, environ: dict[str, Any]) -> Request:
        """The request of this environ; made if there is none yet (an app under test without filters)."""
        request = environ.get(ENVIRON_KEY)
        if request is None:
            request = environ[ENVIRON_KEY] = cls(environ)
        return request  # type: ignore[no-any-return]  # the environ holds anything

    @property
    def method(self) -> str:
        """The HTTP method, upper case."""
        return str(self.environ["REQUEST_METHOD"])

    def warn(self, text: str) -> None:
        """Add a Warning header (code 299) to the answer; the same text is sent once."""
        if text not in self.warnings:
            self.warnings.append(text)

    def remaining(self) -> float | None:
        """Seconds until the deadline; None without one.

        :raises Timeout: it has passed (504 with upstream's text of the handlers).
        """
        if self.deadline is None:
            return None
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise Timeout("request did not complete within requested timeout - context deadline exceeded")
        return left
