"""What the documents say of the code: their examples run, their pictures show what is imported."""

from __future__ import annotations

import ast
import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page):
    text = page.read_text(encoding="utf-8")
    python = "\n".join(re.findall(r"```python\n(.*?)```", text, re.S))
    test = doctest.DocTestParser().get_doctest(python, {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test)
    assert not runner.failures


def _imported():
    """For each package, and each module beside them, those it imports."""
    package = ROOT / "sympy_einsum"
    found = {}
    for path in package.rglob("*.py"):
        place = path.relative_to(package).parts
        own = place[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = place[: len(place) - node.level]
                for module in [node.module] if node.module else [a.name for a in node.names]:
                    found.setdefault(own, set()).add(".".join([*base, module]).split(".")[0])
    return {own: others - {own} for own, others in found.items()}


def test_the_picture_shows_the_imports():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    arrows = re.findall(r"^    (\w+) --> (\w+)$", text, re.M)
    imported = _imported()
    below = {}
    for own, other in arrows:
        assert other in imported[own]
        below.setdefault(own, set()).add(other)

    def reached(name):
        direct = below.get(name, set())
        return direct.union(*map(reached, direct))

    for own in imported.keys() - {"__init__", "__main__"}:
        assert imported[own] <= reached(own)
