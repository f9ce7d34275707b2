"""Tables: the rows and columns that ``kubectl get`` prints.

Made for each resource from its declared columns; called by :mod:`apiserver.handlers.forms`.

COMPAT: k8s.io/apiserver/pkg/registry/rest/table.go; k8s.io/kubernetes/pkg/printers TableGenerator
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from apiserver.api.names import GroupVersionKind
from apiserver.api.resource import Column, Resource
from apiserver.handlers.negotiation import META
from apiserver.registry.kinds import Kinds

Object = dict[str, Any]


def _name(obj: Object) -> Any:
    return obj["metadata"].get("name", "")


def _created(obj: Object) -> Any:
    return obj["metadata"].get("creationTimestamp")


NAME = Column("Name", _name, format="name", field="metadata.name")
CREATED_AT = Column("Created At", _created, type="date", field="metadata.creationTimestamp")
"""COMPAT: rest.NewDefaultTableConvertor: kinds without columns show their name and creation time."""


class Table:
    """Builds Tables of one kind.

    :param resource: whose columns are shown; None = name and creation time only.
    """

    def __init__(self, resource: Resource | None, kind: GroupVersionKind, kinds: Kinds) -> None:
        declared = resource.columns if resource is not None else None
        # COMPAT: the default convertor leaves the rows of nothing unset, those of the printers are a list
        self._no_rows: list[Object] | None = [] if declared is not None else None
        if declared is None:
            declared = (NAME, CREATED_AT)
        elif not any(c.format == "name" for c in declared):
            declared = (NAME, *declared)
        self.columns: Sequence[Column] = tuple(declared)
        self._kind = kind
        self._kinds = kinds

    @cached_property
    def definitions(self) -> list[Object]:
        """``columnDefinitions``; descriptions come from the kind's schema where the column names a field."""
        return [
            {
                "name": c.name,
                "type": c.type,
                "format": c.format,
                "description": c.description or (self._kinds.describe(self._kind, c.field) if c.field else ""),
                "priority": c.priority,
            }
            for c in self.columns
        ]

    def build(
        self, objects: Sequence[Object], metadata: Object, target: GroupVersionKind, include: str, *, first: bool = True
    ) -> Object:
        """A Table of ``objects``.

        :param include: None, Metadata (also "") or Object: what a row carries.
        :param first: whether to tell the columns; in a watch only the first event does.
        """
        version = f"{META}/{target.version}"
        return {
            "kind": "Table",
            "apiVersion": version,
            "metadata": metadata,
            "columnDefinitions": self.definitions if first else None,
            "rows": [self._row(obj, version, include) for obj in objects] or self._no_rows,
        }

    def _row(self, obj: Object, version: str, include: str) -> Object:
        carried: Any = None
        if include == "Object":
            carried = obj
        elif include != "None":
            carried = {"kind": "PartialObjectMetadata", "apiVersion": version, "metadata": obj["metadata"]}
        return {"cells": [c.cell(obj) for c in self.columns], "object": carried}
