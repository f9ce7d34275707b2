"""A strategy: the rules of one kind that its schema does not say.

The registry calls these in the order of upstream's BeforeCreate and BeforeUpdate. Every method has a do-nothing
default; a kind with rules overrides what it needs. Objects are plain dicts in the storage version, normalised by the
schema (unknown fields gone, types right), so a strategy may rely on types but not on presence.

COMPAT: k8s.io/apiserver/pkg/registry/rest RESTCreateStrategy, RESTUpdateStrategy, RESTDeleteStrategy
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from apiserver.api import validation
from apiserver.api.fields import FieldError
from apiserver.api.rest import Context, DeleteOptions, WriteOptions

Object = dict[str, Any]

Finish = Callable[[bool], None]
"""Called once when a write has ended, with whether the object was stored."""


class Strategy:
    """Rules of one kind. Instances are shared between threads: keep no state of a request."""

    allow_create_on_update: bool = False
    """PUT of a missing object creates it."""

    allow_unconditional_update: bool = True
    """PUT without resourceVersion is accepted (last write wins)."""

    returns_deleted_object: bool = False
    """DELETE answers with the object, not with a Status."""

    any_finalizer: bool = False
    """Finalizers may be names without a domain. COMPAT: kinds outside pkg/apis, whose validation does not ask for it"""

    default_propagation: str = ""
    """What happens to dependents when DELETE does not say: "" background, "Orphan", or "Foreground"."""

    unowned_fields: Sequence[str] = ()
    """Fields (dotted) that a ``/status`` with these rules does not write although they are no part of ``spec``."""

    owned_fields: Sequence[str] = ()
    """The only fields (dotted, ``*`` for any item) that a subresource with these rules writes; none = as usual."""

    def default(self, obj: Object) -> None:
        """Set the defaults that Go code sets, in place; also called for patched objects and for old stored ones."""

    def begin_create(self, ctx: Context, obj: Object, options: WriteOptions) -> Finish | None:
        """Take what a new object needs from a pool (an address), in place, before it is prepared and checked.

        Called after the name is known and before :meth:`prepare_for_create`. Returns what gives it back or keeps it
        when the write has ended, however it ended; None for nothing to do. With ``options.dry_run`` nothing is taken.

        COMPAT: registry Store.BeginCreate

        :raises ApiError: it can't be had.
        """
        return None

    def begin_update(self, ctx: Context, obj: Object, old: Object, options: WriteOptions) -> Finish | None:
        """The same for an update, once for each attempt. COMPAT: registry Store.BeginUpdate."""
        return None

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        """Clear what clients may not set (status) and fill what the server sets, in place."""

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """The same for an update: carry over status, bump ``metadata.generation`` (:meth:`bump_generation`)."""

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        """Problems of a new object, metadata excepted (the registry checks metadata)."""
        return []

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """Problems of a changed object, those of :meth:`validate` included where upstream repeats them."""
        return self.validate(ctx, obj)

    @property
    def has_rules(self) -> bool:
        """Whether there is something for :meth:`check_rules` to do: clients are told when it could not be done."""
        return False

    def check_rules(self, ctx: Context, obj: Object, old: Object | None) -> list[FieldError]:
        """Problems that can only be looked for in an object that is otherwise what its schema says; last of all.

        :param old: what it was before, None for a new object.
        """
        return []

    def validate_name(self, name: str, prefix: bool) -> list[str]:
        """What is wrong with a name; ``prefix``: it is a generateName. Default: DNS-1123 subdomain."""
        return validation.dns_subdomain(name, prefix=prefix)

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        """Warnings for the client that created this."""
        return []

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        """Warnings for the client that changed this."""
        return []

    def canonicalize(self, obj: Object) -> None:
        """Bring into the form to be stored, after validation, in place."""

    def grace_period(self, ctx: Context, obj: Object, options: DeleteOptions) -> int | None:
        """Seconds that a deletion waits for somebody to stop the thing; None = this kind knows no grace.

        COMPAT: RESTGracefulDeleteStrategy.CheckGracefulDelete
        """
        return None

    def begin_delete(self, ctx: Context, obj: Object) -> bool:
        """Change the object when its deletion is asked for, in place (a namespace becomes Terminating).

        Returns whether the object must stay until somebody finishes the deletion; its metadata is then this method's
        to change too: grace, finalizers and propagation are left alone.
        """
        return False

    def finished(self, obj: Object) -> bool:
        """Whether an object that is being deleted (no finalizers, no grace left) may go now."""
        return True

    def check_delete(self, ctx: Context, obj: Object) -> None:
        """:raises ApiError: this object may not be deleted."""

    def after_delete(self, ctx: Context, obj: Object) -> None:
        """Let go of what belongs to the object (allocated addresses), after it is gone."""

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        """Values of the fields that field selectors may name, beside metadata.name and metadata.namespace."""
        return {}


def bump_generation(obj: Object, old: Object, *fields: str) -> None:
    """Set ``metadata.generation`` to the old one, plus one if one of ``fields`` (default: ``spec``) differs."""
    changed = any(obj.get(f) != old.get(f) for f in fields or ("spec",))
    obj["metadata"]["generation"] = old["metadata"].get("generation", 0) + (1 if changed else 0)


class SpecStatusStrategy(Strategy):
    """The usual kind: spec for users, status for controllers, generation counts spec changes."""

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        obj.pop("status", None)
        obj["metadata"]["generation"] = 1

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        keep_status(obj, old)
        bump_generation(obj, old)


def keep_status(obj: Object, old: Object) -> None:
    """The main endpoint ignores status: take the old one."""
    if "status" in old:
        obj["status"] = old["status"]
    else:
        obj.pop("status", None)


class StatusStrategy(Strategy):
    """The rules of ``/status``: everything but status (and metadata that status writers may touch) is the old one.

    :param parent: the kind's own strategy, for defaults, names and selectable fields.
    """

    def __init__(self, parent: Strategy) -> None:
        self.parent = parent

    def default(self, obj: Object) -> None:
        self.parent.default(obj)

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        for key in [k for k in obj if k not in ("status", "metadata", "apiVersion", "kind")]:
            if key not in old:
                del obj[key]
        obj.update({k: v for k, v in old.items() if k not in ("status", "metadata")})

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        return []

    def validate_name(self, name: str, prefix: bool) -> list[str]:
        return self.parent.validate_name(name, prefix)

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        return self.parent.selectable_fields(obj)
