"""JSON merge patch (``application/merge-patch+json``).

Called by the PATCH handler with a freshly decoded object; hands on the merged object for decoding. RFC 7386, with one
habit of the Go library that kube-apiserver uses: nulls inside a list that replaces something that is no object are
dropped from the objects in it.

COMPAT: gopkg.in/evanphx/json-patch.v4 MergePatch; k8s.io/apiserver endpoints/handlers jsonPatcher.applyJSPatch
"""

from __future__ import annotations

from typing import Any

from apiserver.api.errors import BadRequest
from apiserver.registry.patching.reading import read_json
from apiserver.schema.gotext import json_word


def decode(body: bytes) -> dict[str, Any]:
    """The patch of a request.

    :raises BadRequest: no JSON, or no object.
    """
    patch = read_json(body, "error decoding patch: ")
    if patch is None:
        raise BadRequest("Invalid JSON Patch")
    if not isinstance(patch, dict):
        target = "Go value of type map[string]interface {}"
        raise BadRequest(f"error decoding patch: json: cannot unmarshal {json_word(patch)} into {target}")
    return patch


def apply(current: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """Merge ``patch`` into ``current``.

    :param current: the object; it is changed and must not be used afterwards.
    :param patch: from :func:`decode`; becomes part of the result, so decode again for another attempt.
    """
    for key, value in patch.items():
        if value is None:
            current.pop(key, None)
            continue
        old = current.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            apply(old, value)
            continue
        # COMPAT: merge prunes nulls from what it takes over, except from a list that replaces an object.
        if not isinstance(old, dict):
            _drop_nulls(value)
        current[key] = value
    return current


def _drop_nulls(value: Any) -> None:
    if isinstance(value, dict):
        for key in [key for key, member in value.items() if member is None]:
            del value[key]
        value = value.values()
    elif not isinstance(value, list):
        return
    for member in value:
        _drop_nulls(member)
