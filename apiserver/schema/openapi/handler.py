"""HTTP answers of ``/openapi/v2`` and ``/openapi/v3``, without a web framework.

The route glue hands in query and headers and writes the :class:`Answer`.

COMPAT: kube-openapi handler and handler3: text/plain index, 301 for a stale hash, immutable answers for the right one
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import formatdate
from time import time
from urllib.parse import quote

from apiserver.schema.openapi.documents import Document, Documents

JSON = "application/json"
PROTOBUF_V2 = (
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
)
"""The media type of the v2 document as protobuf; the last one is its old name, which is answered with the new one."""
_YEAR = 365 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Answer:
    """Status code, headers and body."""

    status: int
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""


def accepts_json(accept: str) -> bool:
    """Whether an Accept header allows JSON; an absent one allows everything."""
    if not accept.strip():
        return True
    for clause in accept.split(","):
        media_type, *parameters = (part.strip() for part in clause.split(";"))
        refused = any(parameter.replace(" ", "") in ("q=0", "q=0.0") for parameter in parameters)
        if media_type in (JSON, "application/*", "*/*") and not refused:
            return True
    return False


def _prefers_protobuf(accept: str) -> bool:
    """Whether an Accept header names the protobuf form, and before JSON where both are."""
    for clause in accept.split(","):
        media_type = clause.partition(";")[0].strip()
        if media_type in PROTOBUF_V2:
            return True
        if media_type in (JSON, "application/*", "*/*"):
            return False
    return False


def _cached(document: Document, if_none_match: str, headers: list[tuple[str, str]]) -> Answer:
    headers = [*headers, ("ETag", document.etag)]
    known = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    if document.etag in known or "*" in known:
        return Answer(304, headers)
    return Answer(200, headers, document.body)


def v2(documents: Documents, *, accept: str = "", if_none_match: str = "") -> Answer:
    """``GET /openapi/v2``."""
    # COMPAT: the handler of compression, which is around this one alone, writes its name first
    vary = ("Vary", "Accept-Encoding")
    if _prefers_protobuf(accept):
        document, content_type = documents.v2_protobuf(), PROTOBUF_V2[0]
    elif accepts_json(accept):
        document, content_type = documents.v2(), JSON
    else:
        return Answer(406, [vary])
    return _cached(document, if_none_match, [("Content-Type", content_type), vary, ("Vary", "Accept")])


def v3_index(documents: Documents, *, if_none_match: str = "") -> Answer:
    """``GET /openapi/v3``."""
    return _cached(documents.index(), if_none_match, [("Content-Type", "text/plain; charset=utf-8")])


def v3_document(
    documents: Documents, key: str, *, hash_: str = "", accept: str = "", if_none_match: str = ""
) -> Answer:
    """``GET /openapi/v3/<key>?hash=<hash_>``."""
    try:
        current = documents.hash(key) if key != "v2" else ""
    except KeyError:
        current = ""
    if not current:
        return Answer(404)
    if not accepts_json(accept):
        return Answer(406)
    if hash_ and hash_ != current:
        return Answer(301, [("Content-Type", JSON), ("Location", quote(documents.url(key), safe="/?=&.:-_~"))])
    document = documents.document(key)
    if document is None:
        return Answer(404)
    headers = [("Content-Type", JSON), ("Vary", "Accept")]
    if hash_:
        headers += [("Cache-Control", "public, immutable"), ("Expires", formatdate(time() + _YEAR, usegmt=True))]
    return _cached(document, if_none_match, headers)
