"""The command ``apiserver``: one command per module of this package, found by name.

A command module has ``run(argv) -> int`` (the exit status) and a docstring whose first line ``apiserver --help``
shows. Only the module of the command that was asked for is imported.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Sequence

USAGE = """Usage: apiserver COMMAND [flags]

A Kubernetes-compatible API server.

Commands:
{commands}

`apiserver COMMAND --help` tells more of one; `apiserver serve` starts a server.
"""


def commands() -> list[str]:
    """The names of all commands, with hyphens."""
    return [info.name.replace("_", "-") for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_")]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that ``argv`` (default: the process's arguments) names; returns the exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    known = commands()
    if not words or words[0] in ("-h", "--help", "help"):
        sys.stdout.write(USAGE.format(commands="\n".join(f"  {name:<12}{_summary(name)}" for name in known)))
        return 0
    if words[0] == "--version":
        words[0] = "version"
    if words[0] not in known:
        from apiserver.api.suggest import nearest

        print(f"apiserver: unknown command {words[0]!r}{nearest(words[0], known)}", file=sys.stderr)
        return 2
    from apiserver.api.settings import ConfigError
    from apiserver.manager import PluginError

    module = importlib.import_module(f"{__name__}.{words[0].replace('-', '_')}")
    try:
        return int(module.run(words[1:]))
    except ConfigError as ex:
        print(*(f"apiserver: {problem}" for problem in ex.problems), sep="\n", file=sys.stderr)
        return 2
    except PluginError as ex:
        print(f"apiserver: {ex}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()  # or the interpreter complains once more when it flushes
        return 1


def _summary(command: str) -> str:
    """The first line of the command's docstring, without importing it."""
    spec = importlib.util.find_spec(f"{__name__}.{command.replace('-', '_')}")
    source = spec.loader.get_data(spec.origin).decode() if spec and spec.origin else ""  # type: ignore[union-attr]  # a file loader
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]
