"""Start the server.

Every setting is a flag, an environment variable APISERVER_<NAME> and a key of the file that --config names;
the first of these that gives it counts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from apiserver import configure, flags


def run(argv: Sequence[str]) -> int:
    """Serve until a signal ends it; returns the exit status."""
    if "-h" in argv or "--help" in argv:
        plugins, _ = configure.load([word for word in argv if word not in ("-h", "--help")], os.environ)
        settings = configure.settings_of(plugins)
        sys.stdout.write(flags.parser(settings, "apiserver serve", __doc__ or "").format_help())
        return 0
    setup = configure.configure(argv)
    configure.use(setup)
    # Brings gunicorn and TLS, for which nobody should wait who asks for help or has mistyped.
    from apiserver.serving.launcher import serve

    return serve(setup.config)
