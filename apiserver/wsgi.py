"""The WSGI application for gunicorn: ``apiserver.wsgi:app``.

Importing this module builds and starts the server of this process, from what :func:`apiserver.configure.current`
says. It is imported after the fork, in each worker.
"""

from __future__ import annotations

from apiserver.configure import current
from apiserver.server import build

app = build(current())
app.start()
