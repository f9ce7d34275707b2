"""Continue tokens and resource versions as clients send them.

COMPAT: k8s.io/apiserver/pkg/storage/continue.go; APIObjectVersioner.ParseResourceVersion.
"""

from __future__ import annotations

import base64
import json
import posixpath
from typing import Any

from apiserver.api.errors import BadRequest, UnknownError
from apiserver.api.fields import go_value

API_VERSION = "meta.k8s.io/v1"

INCONSISTENT = -1
"""As a token's revision: go on with the newest state."""

_ALPHABET = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
_UINT64 = 1 << 64
_INT64 = 1 << 63
_DIGITS = 20


def encode_token(start: str, revision: int) -> str:
    """The token of a page that begins at the key ``start``, which is given without the list's prefix."""
    token = json.dumps({"v": API_VERSION, "rv": revision, "start": start}, separators=(",", ":"), ensure_ascii=False)
    return base64.urlsafe_b64encode(token.encode()).rstrip(b"=").decode()


def decode_token(text: str) -> tuple[str, int]:
    """The start key (without the list's prefix) and the revision of a token.

    :raises BadRequest: it is none.
    """
    content = _content(text)
    if not isinstance(content, dict) or content.get("v", "") != API_VERSION:
        version = content.get("v", "") if isinstance(content, dict) else ""
        raise _invalid(f"server does not recognize this encoded version {go_value(version)}")
    revision, start = content.get("rv", 0), content.get("start", "")
    if type(revision) is not int or not -_INT64 <= revision < _INT64 or revision == 0:
        raise _invalid("incorrect encoded start resourceVersion (version meta.k8s.io/v1)")
    if not isinstance(start, str) or not start:
        raise _invalid("encoded start key empty (version meta.k8s.io/v1)")
    # A key that climbs out of the prefix would list what the request is not authorized for.
    rooted = start if start.startswith("/") else f"/{start}"
    if rooted.startswith("//") or posixpath.normpath(rooted) != rooted:
        raise _invalid(start)
    return rooted[1:], revision


def parse_revision(text: str) -> int:
    """A resource version; "" is 0.

    :raises ValueError: it is no number, with upstream's text.
    """
    if not text:
        return 0
    if text.isascii() and text.isdigit():
        digits = text.lstrip("0") or "0"
        number = int(digits) if len(digits) <= _DIGITS else _UINT64
        if number < _UINT64:
            return number
        why = "value out of range"
    else:
        why = "invalid syntax"
    quoted = go_value(text)
    raise ValueError(f"resourceVersion: Invalid value: {quoted}: strconv.ParseUint: parsing {quoted}: {why}")


def revision_of(text: str) -> int:
    """The resource version of a get or watch.

    :raises UnknownError: it is no number. COMPAT: a 500 without reason there, where a list answers 400.
    """
    try:
        return parse_revision(text)
    except ValueError as error:
        raise UnknownError(str(error)) from None


def _content(text: str) -> Any:
    text = text.replace("\r", "").replace("\n", "")
    for at, letter in enumerate(text):
        if letter not in _ALPHABET:
            raise _invalid(f"illegal base64 data at input byte {at}")
    if len(text) % 4 == 1:
        raise _invalid(f"illegal base64 data at input byte {len(text) - 1}")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    try:
        return json.loads(data.decode())
    except RecursionError:
        raise _invalid("exceeded max depth") from None
    except ValueError:
        raise _invalid(_go_json_error(data)) from None


def _go_json_error(data: bytes) -> str:
    """What Go's decoder says of the commonest broken texts."""
    stripped = data.lstrip(b" \t\r\n")
    if not stripped:
        return "unexpected end of JSON input"
    if stripped[0] in b'{["-0123456789tfn':
        return "unexpected end of JSON input" if stripped[0] in b'{["' else "invalid character in literal"
    first = chr(stripped[0])
    shown = first if first.isprintable() and first.isascii() else f"\\u{ord(first):04x}"
    return f"invalid character '{shown}' looking for beginning of value"


def _invalid(why: str) -> BadRequest:
    return BadRequest(f"invalid continue token: continue key is not valid: {why}")
