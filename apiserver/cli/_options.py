"""What the commands share: a parser that knows a command's own options, and the server's flags beside them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NoReturn

from apiserver.api.settings import ConfigError


class Parser(argparse.ArgumentParser):
    """argparse without abbreviations, whose errors are reported like those of settings, with exit status 2."""

    def __init__(self, command: str, description: str | None) -> None:
        super().__init__(
            prog=f"apiserver {command}",
            description=description,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    def error(self, message: str) -> NoReturn:
        raise ConfigError(message)

    def split(self, argv: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
        """This command's own options, and the words that are left for the server's flags."""
        return self.parse_known_args(argv)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of text in columns as kubectl prints them: three spaces apart, upper-case headings in the first row."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join(lines)
