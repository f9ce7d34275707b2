"""Write the generated pages and golden files anew: ``make docs``, or ``python -m tests.meta.generate``.

What is generated: ``docs/plugins/hooks.md`` from the hooks' docstrings, ``docs/reference/settings.md`` from the
settings of the core and of the built-in plugins, and ``tests/meta/order/<hook>.txt``, the order of the built-in
plugins in each ordered hook, so that a change of the order shows in a diff. Tests compare; nobody edits them by hand.
"""

from __future__ import annotations

from pathlib import Path

from apiserver import hookspecs
from apiserver.cli import hooks, settings
from apiserver.configure import settings_of
from apiserver.installed import find
from apiserver.manager import HOOK_PREFIX, Plugins, hooks_of

ROOT = Path(__file__).parents[2]


def builtin_plugins() -> Plugins:
    """The plugins of this project alone, whatever else is installed."""
    found = find()
    return Plugins(hookspecs, [plugin for plugin in found.plugins if plugin.builtin], {}, found.problems)


def order_of(plugins: Plugins, hook: str) -> str:
    """One line per plugin: number, name, and what it is checked against."""
    lines = []
    for impl in plugins.order.get(hook, ()):
        checks = [
            f"{word}={','.join(names)}"
            for word in ("after", "before", "requires")
            if (names := getattr(impl.order, word))
        ]
        lines.append(" ".join([f"{impl.order.priority:>5}", impl.plugin.name, *checks]))
    return "".join(f"{line}\n" for line in lines)


def generated() -> dict[Path, str]:
    """Every generated file with what it should hold."""
    plugins = builtin_plugins()
    files = {
        ROOT / "docs/plugins/hooks.md": hooks.markdown(hooks_of(hookspecs)),
        ROOT / "docs/reference/settings.md": settings.markdown(settings_of(plugins)),
    }
    for hook in plugins.hooks.values():
        if hook.ordered:
            name = hook.name.removeprefix(HOOK_PREFIX)
            files[ROOT / f"tests/meta/order/{name}.txt"] = order_of(plugins, hook.name)
    return files


def main() -> None:
    """Write them all; files that the generator no longer knows in the order folder go."""
    files = generated()
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in (ROOT / "tests/meta/order").glob("*.txt"):
        if path not in files:
            path.unlink()
    print(*(path.relative_to(ROOT) for path in sorted(files)), sep="\n")


if __name__ == "__main__":
    main()
