"""Users by static token: lines of ``token,user,uid,"group1,group2"`` in a CSV file, read at start.

COMPAT: authentication/token/tokenfile, request/bearertoken
"""

from __future__ import annotations

import csv
import logging
from collections.abc import Iterable, Iterator

from apiserver import hookimpl
from apiserver.api import logs
from apiserver.api.auth import Authenticator, User, authenticated, bearer_token
from apiserver.api.request import Request
from apiserver.api.server import Server
from apiserver.api.settings import Config, ConfigError, Setting

LOG = logging.getLogger(__name__)
SETTING = "token-auth-file"


def read(lines: Iterable[str], name: str) -> dict[str, User]:
    """Users by token.

    :param name: of the file, for messages.
    :raises ValueError: a line has too few columns or no token; upstream's text.
    """
    users: dict[str, User] = {}
    for number, record in enumerate(filter(None, csv.reader(lines, skipinitialspace=False, strict=True)), 1):
        if len(record) < 3:
            raise ValueError(
                f"token file '{name}' must have at least 3 columns (token, user name, user uid), found {len(record)}"
            )
        token = record[0]
        if not token:
            raise ValueError(f"empty token has been found in token file '{name}', record number '{number}'")
        if token in users:
            logs.warning(LOG, "duplicate token has been found in token file", path=name, record=number)
        groups = tuple(filter(None, record[3].split(","))) if len(record) > 3 else ()
        users[token] = authenticated(User(record[1], record[2], groups))
    return users


def load(path: str) -> dict[str, User]:
    """Users by token of a file. :raises ConfigError: it can't be read or is wrong."""
    try:
        with open(path, encoding="utf-8", newline="") as lines:
            return read(lines, path)
    except (OSError, ValueError, csv.Error) as problem:
        raise ConfigError(f"--{SETTING}: {problem}") from problem


class TokenFile:
    """The authenticator. A token it does not know may be somebody else's: it has no opinion then."""

    def __init__(self, users: dict[str, User]) -> None:
        self._users = users

    def authenticate(self, request: Request) -> User | None:
        """The user of the bearer token."""
        token = bearer_token(request.environ)
        return self._users.get(token) if token else None


@hookimpl
def apiserver_settings() -> Iterator[Setting]:
    """Where the tokens are."""
    yield Setting(
        SETTING, "path", group="Authentication", metavar="file",
        help='CSV file with static tokens: token,user,uid,"group1,group2". Read at start.',
    )  # fmt: skip


@hookimpl
def apiserver_configure(config: Config) -> None:
    """Refuse a file that can't be used before anything is built."""
    if config.text(SETTING):
        load(config.text(SETTING))


@hookimpl(priority=300)
def apiserver_authenticator(server: Server) -> Authenticator | None:
    """On when there is a token file."""
    path = server.config.text(SETTING)
    return TokenFile(load(path)) if path else None
