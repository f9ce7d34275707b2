"""The pages for authors of plugins: whoever types what they say sees what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import Walk, blocks
from tests.wheels import ROOT

PAGES = sorted(page for page in (ROOT / "docs" / "plugins").glob("*.md") if page.name != "hooks.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_does_what_it_says(page: Path, tmp_path: Path) -> None:
    with Walk(tmp_path) as walk:
        for block in blocks(page):
            walk.follow(block)


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem != "index"], ids=lambda page: page.stem)
def test_a_page_begins_with_something_to_type_and_has_a_test_to_copy(page: Path) -> None:
    names = [block.name for block in blocks(page)]
    assert "pyproject.toml" in names[:3]
    assert any(name.startswith("test_") for name in names)


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "plugins" / "index.md").read_text(encoding="utf-8")
    for page in PAGES:
        assert page.stem == "index" or f"({page.name})" in index
