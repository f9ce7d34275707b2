"""Print the administrator's kubeconfig of the server that runs on a data folder.

apiserver kubeconfig > ~/.kube/config
export KUBECONFIG=$(apiserver kubeconfig --path)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from apiserver import flags
from apiserver.api.settings import ConfigError
from apiserver.cli._options import Parser
from apiserver.settings import CORE


def run(argv: Sequence[str]) -> int:
    """Print the file that ``apiserver serve`` wrote, or its path."""
    parser = Parser("kubeconfig", __doc__)
    parser.add_argument("--path", action="store_true", help="print the file's path instead")
    options, rest = parser.split(argv)
    config, problems = flags.resolve(CORE, rest, os.environ)
    if problems:
        raise ConfigError(*problems)
    path = Path(config.text("data-dir"), "admin.kubeconfig").absolute()
    if not path.is_file():
        raise ConfigError(f"there is no {path}; `apiserver serve` makes it in its --data-dir")
    sys.stdout.write(f"{path}\n" if options.path else path.read_text(encoding="utf-8"))
    return 0
