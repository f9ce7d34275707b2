"""``python -m apiserver`` is the command ``apiserver``."""

from __future__ import annotations

import sys

from apiserver.cli import main

sys.exit(main())
