"""Storage errors and revisions as the API tells them.

COMPAT: k8s.io/apiserver/pkg/registry/generic/registry InterpretGetError and its siblings;
.../storage APIObjectVersioner
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

from apiserver.api import logs
from apiserver.api.errors import Expired, ServerTimeout, Timeout, UnknownError
from apiserver.api.fields import FieldError, go_value
from apiserver.api.names import GroupResource
from apiserver.api.storage import (
    CompactedError,
    FutureRevisionError,
    RevisionMismatchError,
    StorageError,
    UnavailableError,
    ValueTooLargeError,
)

LOG = logging.getLogger(__name__)
_DIGITS = 20
"""A number with more does not fit into 64 bits."""

LIST_TOO_OLD = "The resourceVersion for the provided list is too old."


@contextlib.contextmanager
def storage_errors(resource: GroupResource, operation: str) -> Iterator[None]:
    """Turn what a driver raises into what the client reads."""
    try:
        yield
    except RevisionMismatchError:
        raise
    except CompactedError:
        raise Expired(LIST_TOO_OLD) from None
    except FutureRevisionError as ex:
        raise Timeout.future_version(0, ex.current) from None
    except ValueTooLargeError as ex:
        raise UnknownError(str(ex)) from ex
    except UnavailableError as ex:
        logs.error(LOG, "The storage is not available", resource=str(resource), operation=operation, err=str(ex))
        raise ServerTimeout.for_operation(resource, operation, retry_after=1) from ex
    except StorageError as ex:
        raise UnknownError(str(ex)) from ex


def parse_revision(text: str) -> int:
    """The number in a resourceVersion.

    :raises UnknownError: it is none (500, as upstream; lists and watches make a 400 of it).
    """
    if text.isascii() and text.isdigit():
        digits = text.lstrip("0") or "0"
        if len(digits) <= _DIGITS and int(digits) < 1 << 64:
            return int(digits)
        raise UnknownError(revision_problem(text, "value out of range"))
    raise UnknownError(revision_problem(text))


def revision_problem(text: str, problem: str = "invalid syntax") -> str:
    """What is wrong with a resourceVersion that is not a number."""
    return str(FieldError.invalid("resourceVersion", text, f"strconv.ParseUint: parsing {go_value(text)}: {problem}"))
