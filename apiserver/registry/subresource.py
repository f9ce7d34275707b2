"""Subresources that show the parent's object under other rules, such as ``/status``.

Made by :mod:`apiserver.installation` for subresources that declare a strategy.
"""

from __future__ import annotations

from apiserver.api.encoded import EncodedObject
from apiserver.api.rest import Context, GetOptions, Transform, Validator, WriteOptions
from apiserver.api.strategy import Strategy
from apiserver.registry.store import Store
from apiserver.schema.check import PartCheck


class SubresourceStore:
    """``/status`` and its like: get and update of the parent's object under another strategy."""

    def __init__(self, parent: Store, strategy: Strategy, check: PartCheck | None = None) -> None:
        """:param check: of what it changes, instead of the parent's check of the whole."""
        self.resource = parent.resource
        self.strategy = strategy
        self._store = parent.with_strategy(strategy, check)

    def get(self, ctx: Context, name: str, options: GetOptions) -> EncodedObject:
        """The parent's object."""
        return self._store.get(ctx, name, options)

    def update(
        self,
        ctx: Context,
        name: str,
        transform: Transform,
        options: WriteOptions,
        validate: Validator,
        create: Validator | None = None,
    ) -> tuple[EncodedObject, bool]:
        """As :meth:`Store.update`, but it never creates."""
        return self._store.update(ctx, name, transform, options, validate)
