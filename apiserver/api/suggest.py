"""The words "did you mean": used wherever a name is refused that is close to a known one."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str:
    """``, did you mean 'x'?`` when a known word is close to ``word``, else nothing."""
    import difflib  # only who has mistyped pays for it

    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.7)
    return f", did you mean {close[0]!r}?" if close else ""
