"""gunicorn's log in the form of ours: its lines go where all others go."""

from __future__ import annotations

import logging
from typing import Any

from gunicorn.glogging import Logger


class Log(Logger):  # type: ignore[misc]  # gunicorn has no types
    """A gunicorn ``logger_class`` that leaves handlers and format to :mod:`apiserver.logs`."""

    def setup(self, cfg: Any) -> None:
        """Called by gunicorn at start and on reload."""
        super().setup(cfg)
        for handler in list(self.error_log.handlers):
            self.error_log.removeHandler(handler)
        self.error_log.propagate = bool(logging.getLogger().handlers)
