"""Field ownership (``metadata.managedFields``) and server-side apply. Pure functions, without I/O.

``record_update(live, new, ...)``  after create, update and the patches: who owns what (:mod:`.update`)
``apply(live, patch, ...)``        server-side apply: the merged object (:mod:`.apply`)
``default_manager(user_agent)``    who writes when the request does not say

The pieces below: ``fieldset`` (sets of fields), ``elements`` (path elements of list items), ``shapes`` (types as
ownership sees them), ``entries`` (the list in the object), ``filters`` (what an endpoint may own).
"""

from __future__ import annotations

from apiserver.registry.managedfields.apply import apply
from apiserver.registry.managedfields.conflicts import ApplyConflict
from apiserver.registry.managedfields.filters import ANY, Except, FieldFilter, Only
from apiserver.registry.managedfields.update import record_update
from apiserver.registry.managedfields.versions import Convert

__all__ = [
    "ANY",
    "ApplyConflict",
    "Convert",
    "Except",
    "FieldFilter",
    "Only",
    "apply",
    "default_manager",
    "record_update",
]

MAX_MANAGER_BYTES = 128


def default_manager(user_agent: str) -> str:
    """The manager of a request that names none: its User-Agent up to the first slash.

    Unprintable characters are left out, and the rest is cut at 128 bytes of UTF-8.

    COMPAT: endpoints/handlers prefixFromUserAgent
    """
    name = user_agent.partition("/")[0]
    if name.isascii() and name.isprintable() and len(name) <= MAX_MANAGER_BYTES:
        return name
    kept: list[str] = []
    size = 0
    for char in name:
        if not char.isprintable():
            continue
        size += len(char.encode("utf-8", "replace"))
        if size > MAX_MANAGER_BYTES:
            break
        kept.append(char)
    return "".join(kept)
