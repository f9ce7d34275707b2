"""OpenAPI v3 and v2 documents of the installed resources.

``Documents(resources, minor=, git_version=)`` with ``index()``, ``document(key)``, ``v2()``, ``hash(key)`` and
``url(key)``; :class:`Served` and :class:`ServedSubresource` say what is installed (:func:`served` makes
them from a declaration). :mod:`.handler` has the HTTP
answers.
"""

from __future__ import annotations

from apiserver.schema.openapi.documents import Document, Documents
from apiserver.schema.openapi.model import Served, ServedSubresource, served

__all__ = ["Document", "Documents", "Served", "ServedSubresource", "served"]
