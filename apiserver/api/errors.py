"""The error tree: every refusal is an exception that knows its ``Status`` and is itself a WSGI app.

Raised by handlers, registry and plugins; a filter refuses by answering (``return Forbidden(...)(environ,
start_response)``). Texts, reasons and codes are kube-apiserver's.

COMPAT: k8s.io/apimachinery/pkg/api/errors
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from apiserver.api.fields import FieldError
from apiserver.api.names import GroupKind, GroupResource
from apiserver.api.serializers import JSON, for_errors

StartResponse = Callable[..., Any]

HTTP_TEXT = {
    200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 301: "Moved Permanently", 304: "Not Modified",
    400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    406: "Not Acceptable", 409: "Conflict", 410: "Gone", 413: "Request Entity Too Large",
    415: "Unsupported Media Type", 422: "Unprocessable Entity", 429: "Too Many Requests",
    500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
    504: "Gateway Timeout",
}  # fmt: skip


def status_line(code: int) -> str:
    """The WSGI status line for an HTTP code."""
    return f"{code} {HTTP_TEXT.get(code, 'Unknown')}"


class ApiError(Exception):
    """A refusal with a ``Status``.

    :param message: what the user reads.
    :param details: the ``details`` object of the Status, None for none.
    :param retry_after: seconds; becomes ``details.retryAfterSeconds`` and the ``Retry-After`` header.
    """

    code: ClassVar[int] = 500
    reason: ClassVar[str] = ""
    headers: tuple[tuple[str, str], ...] = ()

    def __init__(self, message: str, *, details: dict[str, Any] | None = None, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = details
        self.retry_after = retry_after
        if retry_after is not None:
            self.details = {**(details or {}), "retryAfterSeconds": retry_after}

    def status(self) -> dict[str, Any]:
        """The ``Status`` object."""
        status: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
        status["message"] = self.message
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        status["code"] = self.http_code
        return status

    @property
    def http_code(self) -> int:
        """The HTTP status code; differs from the class's only where a plugin chooses it."""
        return self.code

    def response_headers(self) -> list[tuple[str, str]]:
        """Headers that go with this error, beside Content-Type and Content-Length."""
        headers = list(self.headers)
        if self.retry_after is not None:
            headers.append(("Retry-After", str(self.retry_after)))
        return headers

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        serializer, pretty = for_errors(environ)
        body = serializer.encode(self.status(), pretty)
        headers = self.response_headers()
        headers += [("Content-Type", serializer.content_type), ("Content-Length", str(len(body)))]
        start_response(status_line(self.http_code), headers)
        return [body] if environ["REQUEST_METHOD"] != "HEAD" else [b""]


class PlainError(ApiError):
    """An answer that upstream gives as plain text, without a Status (filters, unknown paths)."""

    def __init__(self, code: int, text: str, headers: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(text)
        self._code = code
        self.headers = tuple(headers)

    @classmethod
    def internal(cls, uri: str, problem: object) -> PlainError:
        """COMPAT: responsewriters.InternalError"""
        quoted = json.dumps(uri.translate({38: "&amp;", 60: "&lt;", 62: "&gt;"}), ensure_ascii=False)
        return cls(500, f"Internal Server Error: {quoted}: {problem}")

    @property
    def http_code(self) -> int:
        return self._code

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        # COMPAT: net/http Error: text/plain with nosniff and a newline after the text
        body = f"{self.message}\n".encode()
        headers = [
            *self.headers,
            ("Content-Type", "text/plain; charset=utf-8"),
            ("X-Content-Type-Options", "nosniff"),
            ("Content-Length", str(len(body))),
        ]
        start_response(status_line(self._code), headers)
        return [body] if environ["REQUEST_METHOD"] != "HEAD" else [b""]


def object_details(resource: GroupResource, name: str, **more: Any) -> dict[str, Any]:
    """``details`` of an error about one object: its ``kind`` is the plural, as upstream writes it."""
    details: dict[str, Any] = {}
    if name:
        details["name"] = name
    if resource.group:
        details["group"] = resource.group
    if resource.resource:
        details["kind"] = resource.resource
    return {**details, **more}


class BadRequest(ApiError):
    """400: the request makes no sense."""

    code = 400
    reason = "BadRequest"


class Unauthorized(ApiError):
    """401: a credential was bad, or none was given where one is needed."""

    code = 401
    reason = "Unauthorized"

    def __init__(self, message: str = "Unauthorized") -> None:
        super().__init__(message)


class Forbidden(ApiError):
    """403: the user may not, or an admission plugin refused.

    ``Forbidden.for_object(resource, name, why)`` gives upstream's sentence ``pods "x" is forbidden: why``.
    """

    code = 403
    reason = "Forbidden"

    @classmethod
    def for_object(
        cls, resource: GroupResource, name: str, why: str, causes: Sequence[dict[str, str]] = ()
    ) -> Forbidden:
        """COMPAT: NewForbidden."""
        if not resource.resource:
            text = f"forbidden: {why}"
        elif name:
            text = f'{resource} "{name}" is forbidden: {why}'
        else:
            text = f"{resource} is forbidden: {why}"
        more = {"causes": list(causes)} if causes else {}
        return cls(text, details=object_details(resource, name, **more))


class NotFound(ApiError):
    """404."""

    code = 404
    reason = "NotFound"

    @classmethod
    def for_object(cls, resource: GroupResource, name: str) -> NotFound:
        """COMPAT: NewNotFound."""
        return cls(f'{resource} "{name}" not found', details=object_details(resource, name))

    @classmethod
    def for_route(cls) -> NotFound:
        """COMPAT: NewGenericServerResponse for 404 of a path below an installed group version."""
        return cls("the server could not find the requested resource", details={})


class MethodNotAllowed(ApiError):
    """405."""

    code = 405
    reason = "MethodNotAllowed"

    @classmethod
    def for_route(cls, allowed: Sequence[str] = ()) -> MethodNotAllowed:
        """COMPAT: NewGenericServerResponse for 405; go-restful adds the Allow header."""
        error = cls("the server does not allow this method on the requested resource", details={})
        if allowed:
            error.headers = (("Allow", ", ".join(allowed)),)
        return error

    @classmethod
    def for_resource(cls, resource: GroupResource, action: str) -> MethodNotAllowed:
        """COMPAT: NewMethodNotSupported."""
        return cls(f'{action} is not supported on resources of kind "{resource}"', details=object_details(resource, ""))


class NotAcceptable(ApiError):
    """406."""

    code = 406
    reason = "NotAcceptable"


class AlreadyExists(ApiError):
    """409: a create found the name taken."""

    code = 409
    reason = "AlreadyExists"

    @classmethod
    def for_object(cls, resource: GroupResource, name: str) -> AlreadyExists:
        """COMPAT: NewAlreadyExists."""
        return cls(f'{resource} "{name}" already exists', details=object_details(resource, name))

    @classmethod
    def being_deleted(cls, resource: GroupResource, name: str) -> AlreadyExists:
        """COMPAT: registry Store.Create, when the object that is in the way has a deletionTimestamp."""
        return cls(
            f'object is being deleted: {resource} "{name}" already exists', details=object_details(resource, name)
        )

    @classmethod
    def generated(cls, resource: GroupResource, name: str) -> AlreadyExists:
        """COMPAT: NewGenerateNameConflict."""
        return cls(
            f'{resource} "{name}" already exists, the server was not able to generate a unique name for the object',
            details=object_details(resource, name),
            retry_after=1,
        )


class Conflict(ApiError):
    """409: the object is not what the caller thought."""

    code = 409
    reason = "Conflict"

    @classmethod
    def for_object(cls, resource: GroupResource, name: str, why: str) -> Conflict:
        """COMPAT: NewConflict."""
        return cls(
            f'Operation cannot be fulfilled on {resource} "{name}": {why}', details=object_details(resource, name)
        )


class Expired(ApiError):
    """410: the resource version or continue token is too old.

    :param continue_token: a token to go on with, inconsistently.
    """

    code = 410
    reason = "Expired"

    def __init__(self, message: str, *, continue_token: str = "") -> None:
        super().__init__(message)
        self.continue_token = continue_token

    def status(self) -> dict[str, Any]:
        status = super().status()
        if self.continue_token:
            status["metadata"] = {"continue": self.continue_token}
        return status


class RequestEntityTooLarge(ApiError):
    """413."""

    code = 413
    reason = "RequestEntityTooLarge"

    @classmethod
    def for_body(cls, limit: int) -> RequestEntityTooLarge:
        """COMPAT: NewRequestEntityTooLargeError."""
        return cls(f"Request entity too large: limit is {limit}")


class UnsupportedMediaType(ApiError):
    """415."""

    code = 415
    reason = "UnsupportedMediaType"


class Invalid(ApiError):
    """422: the object breaks rules; one cause for each field.

    COMPAT: NewInvalid.
    """

    code = 422
    reason = "Invalid"

    def __init__(self, kind: GroupKind, name: str, errors: Sequence[FieldError]) -> None:
        """:param errors: at least one; the same text is said once, but each is a cause."""
        self.errors = tuple(errors)
        texts = list(dict.fromkeys(str(e) for e in errors))
        joined = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
        details: dict[str, Any] = {"name": name} if name else {}
        if kind.group:
            details["group"] = kind.group
        if kind.kind:
            details["kind"] = kind.kind
        details["causes"] = [e.cause() for e in errors]
        super().__init__(f'{kind} "{name}" is invalid: {joined}', details=details)


class UnprocessableEntity(ApiError):
    """422 without causes (COMPAT: NewGenericServerResponse with status 422)."""

    code = 422
    reason = "Invalid"


class TooManyRequests(ApiError):
    """429 with a Status."""

    code = 429
    reason = "TooManyRequests"


class InternalError(ApiError):
    """500: something broke here. The message carries upstream's prefix."""

    code = 500
    reason = "InternalError"

    def __init__(self, message: str) -> None:
        """COMPAT: NewInternalError."""
        super().__init__(f"Internal error occurred: {message}", details={"causes": [{"message": message}]})


class UnknownError(ApiError):
    """500 without a reason: an error that upstream passes on as it is (COMPAT: ErrorToAPIStatus)."""


class ServerTimeout(ApiError):
    """500: the store could not answer in time; worth trying again."""

    code = 500
    reason = "ServerTimeout"

    @classmethod
    def for_operation(cls, resource: GroupResource, operation: str, retry_after: int = 0) -> ServerTimeout:
        """COMPAT: NewServerTimeout."""
        return cls(
            f"The {operation} operation against {resource} could not be completed at this time, please try again.",
            details=object_details(resource, operation),
            retry_after=retry_after,
        )


class ServiceUnavailable(ApiError):
    """503."""

    code = 503
    reason = "ServiceUnavailable"


class Timeout(ApiError):
    """504."""

    code = 504
    reason = "Timeout"

    def __init__(self, message: str, *, retry_after: int | None = None, causes: Sequence[dict[str, str]] = ()) -> None:
        """COMPAT: NewTimeoutError: the text is always prefixed."""
        details: dict[str, Any] = {"causes": list(causes)} if causes else {}
        super().__init__(f"Timeout: {message}", details=details, retry_after=retry_after)

    @classmethod
    def future_version(cls, asked: int, current: int) -> Timeout:
        """COMPAT: storage.NewTooLargeResourceVersionError."""
        return cls(
            f"Too large resource version: {asked}, current: {current}",
            retry_after=1,
            causes=[{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
        )


__all__ = [name for name, thing in list(globals().items()) if isinstance(thing, type) and issubclass(thing, ApiError)]
__all__ += ["HTTP_TEXT", "JSON", "object_details", "status_line"]
