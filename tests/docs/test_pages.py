"""The pages for users and operators, and what the README shows: whoever types what they say sees what they say."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from apiserver.testing.server import LocalServer
from tests.docs.pages import Walk, blocks
from tests.wheels import ROOT


@pytest.mark.parametrize("name", ["users", "operators"])
def test_a_page_does_what_it_says(name: str, tmp_path: Path) -> None:
    with Walk(tmp_path) as walk:
        for block in blocks(ROOT / "docs" / f"{name}.md"):
            walk.follow(block)


def test_the_plugin_in_the_readme_works() -> None:
    (block,) = (block for block in blocks(ROOT / "README.md") if block.language == "python")
    module = ModuleType("readme")
    exec(compile(block.text, "README.md", "exec"), module.__dict__)
    with LocalServer(readme=module) as server:
        gadgets = "/apis/shop.example.com/v1/namespaces/default/gadgets"
        assert server.post(gadgets, {"metadata": {"name": "x"}, "spec": {"size": 3}}).status == 201
        table = server.get(gadgets, headers={"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}).json
        assert [row["cells"] for row in table["rows"]] == [["x", 3]]
