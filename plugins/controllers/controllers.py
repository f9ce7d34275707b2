"""Which controllers run: the setting ``--controllers``, and what it means.

Every controller asks :func:`enabled` when the server has started. With a real kube-controller-manager beside the
server, switch them off.

COMPAT: k8s.io/controller-manager/app IsControllerEnabled
"""

from __future__ import annotations

from collections.abc import Iterable

from apiserver import hookimpl
from apiserver.api.settings import Config, Setting

NAME = "controllers"


@hookimpl
def apiserver_settings() -> Iterable[Setting]:
    return [
        Setting(
            NAME,
            "list",
            "*",
            help="Controllers to run: * is all that are on by default, name turns one on, -name off; nothing or -* "
            "runs none.",
            group="controllers",
        )
    ]


def enabled(config: Config, name: str) -> bool:
    """Whether the controller ``name`` is to run."""
    chosen = config.strings(NAME)
    if name in chosen:
        return True
    return "*" in chosen and f"-{name}" not in chosen and "-*" not in chosen
