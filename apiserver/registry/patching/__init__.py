"""The patch types: what each does to an object. Pure functions, called by the PATCH handler.

``json_patch``   ``decode(body) -> list[Operation]``, ``unknown_members(operations) -> list[str]``,
                 ``apply(current, operations) -> Any``
``merge_patch``  ``decode(body) -> dict``, ``apply(current, patch) -> dict``
``strategic``    ``decode(body) -> dict``, ``apply(current, patch, type) -> dict``
``results``      ``refuse_result(shown, message) -> Invalid``: the patched object cannot be decoded; ``go_print(patch)``
``misfits``      ``explain(result, type) -> str``: why, for a strategic merge
``reading``      ``duplicate_fields(body) -> list[str]``: what strict validation says of a JSON or merge patch's text

All ``apply`` functions consume both arguments: ``current`` is changed in place, and values of the patch become part of
the result. The stored object for comparison, or another attempt after a storage conflict, decodes the bytes again.
Server-side apply is a different thing: :mod:`apiserver.registry.managedfields`.
"""
