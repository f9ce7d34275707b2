"""The WSGI application for gunicorn: ``apiserver.wsgi:app``.

Importing this module builds and starts the server of this process, from what :func:`apiserver.configure.current`
says. It is imported after the fork, in each worker. What cannot be built is told in one line for each problem, and
gunicorn does not try again.
"""

from __future__ import annotations

import sys

from apiserver.api.settings import ConfigError
from apiserver.configure import current
from apiserver.manager import PluginError
from apiserver.server import Server, build

CANNOT_LOAD = 4
"""The exit status of a worker upon which gunicorn gives up. COMPAT: gunicorn.arbiter.Arbiter.APP_LOAD_ERROR"""


def _built() -> Server:
    try:
        return build(current())
    except ConfigError as ex:
        told = "\n".join(f"apiserver: {problem}" for problem in ex.problems)
    except PluginError as ex:
        told = f"apiserver: {ex}"
    print(told, file=sys.stderr)  # noqa: T201 - there is nobody else to tell it
    raise SystemExit(CANNOT_LOAD)


app = _built()
app.start()
