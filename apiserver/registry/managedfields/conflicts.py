"""Conflicts of an apply with other managers, and the 409 that tells of them.

Made by :mod:`apiserver.registry.managedfields.apply`.

COMPAT: managedfields/internal NewConflictError, merge.ConflictsFromManagers
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from apiserver.api.errors import Conflict
from apiserver.registry.managedfields.entries import UPDATE, Identity
from apiserver.registry.managedfields.fieldset import Fields, difference, path_text, paths


class ApplyConflict(Conflict):
    """409: other managers own fields that an apply would change.

    :param conflicts: the fields in question by their owner.
    """

    def __init__(self, conflicts: Mapping[Identity, Fields]) -> None:
        self.conflicts = conflicts
        rows = [
            (_shown(owner), path_text(path))
            for owner in sorted(conflicts, key=Identity.sort_key)
            for path in paths(conflicts[owner])
        ]
        causes = [
            {"reason": "FieldManagerConflict", "message": f"conflict with {owner}", "field": field}
            for owner, field in rows
        ]
        super().__init__(_message(rows), details={"causes": causes})

    def without(self, fields: Fields) -> ApplyConflict | None:
        """The conflicts that are not about ``fields``; None if there are none."""
        left = {owner: difference(own, fields) for owner, own in self.conflicts.items()}
        left = {owner: own for owner, own in left.items() if own}
        return ApplyConflict(left) if left else None


def _message(rows: list[tuple[str, str]]) -> str:
    if len(rows) == 1:
        return f"Apply failed with 1 conflict: conflict with {rows[0][0]}: {rows[0][1]}"
    lines = []
    for owner in dict.fromkeys(owner for owner, _ in rows):
        lines.append(f"conflicts with {owner}:")
        lines += [f"- {field}" for other, field in rows if other == owner]
    return f"Apply failed with {len(rows)} conflicts: " + "\n".join(lines)


def _shown(owner: Identity) -> str:
    text = json.dumps(owner.manager, ensure_ascii=False)
    if owner.subresource:
        text += f" with subresource {json.dumps(owner.subresource, ensure_ascii=False)}"
    return f"{text} using {owner.api_version}" if owner.operation == UPDATE else text
