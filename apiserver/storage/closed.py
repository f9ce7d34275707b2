"""A store that is not there: for commands that build a server only to look at it.

Every method says so with :class:`apiserver.api.storage.UnavailableError`.
"""

from __future__ import annotations

from typing import Any, NoReturn

from apiserver.api.storage import UnavailableError


class ClosedStorage:
    """Implements :class:`apiserver.api.storage.Storage` by refusing."""

    def _refuse(self, *_args: Any, **_options: Any) -> NoReturn:
        raise UnavailableError("no store is open in this process")

    create = get = list = update = delete = watch = compact = _refuse
    current_revision = compacted_revision = check = _refuse

    def request_progress(self) -> None:
        """Nothing progresses."""

    def close(self) -> None:
        """It is closed."""
