"""Which container of a pod is meant.

COMPAT: pkg/registry/core/pod validateContainer
"""

from __future__ import annotations

from typing import Any

from apiserver.api.errors import BadRequest

_OTHERS = {"initContainers": "init", "ephemeralContainers": "ephemeral"}


def _names(pod: dict[str, Any], field: str) -> list[str]:
    return [container.get("name", "") for container in pod["spec"].get(field) or ()]


def container_of(pod: dict[str, Any], asked: str) -> str:
    """The name of the container that was asked for, or of the only one.

    :raises BadRequest: there is none of that name, or several to choose from.
    """
    name, regular = pod["metadata"]["name"], _names(pod, "containers")
    others = {kind: _names(pod, field) for field, kind in _OTHERS.items()}
    if asked:
        if asked not in regular and not any(asked in found for found in others.values()):
            raise BadRequest(f"container {asked} is not valid for pod {name}")
        return asked
    if len(regular) == 1:
        return regular[0]
    text = f"a container name must be specified for pod {name}, choose one of: [{' '.join(regular)}]"
    for kind, found in others.items():
        if found:
            text += f" or one of the {kind} containers: [{' '.join(found)}]"
    raise BadRequest(text)


def node_of(pod: dict[str, Any]) -> str:
    """The node a pod is on. :raises BadRequest: it is on none yet."""
    node: str = pod["spec"].get("nodeName") or ""
    if not node:
        raise BadRequest(f"pod {pod['metadata']['name']} does not have a host assigned")
    return node
