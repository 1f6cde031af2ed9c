"""README and the pages of the documentation: examples and command lines run, links resolve, and
claims of speed are measured."""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.speed_page import PAGE, with_speed
from sympy_einsum.core import errors

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def blocks(page, language):
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page):
    # Fences stop an example's expected output, where a doctest would read on to a blank line.
    python = "\n\n".join(blocks(page, "python"))
    test = doctest.DocTestParser().get_doctest(python, {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    report = []
    runner.run(test, out=report.append)
    assert not runner.failures, "".join(report)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_python_block_is_an_example(page):
    assert all(block.startswith(">>> ") for block in blocks(page, "python"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```|`.*?`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
    # Notebooks are copied beside the pages when these are built.
    places = [(page.parent / t, ROOT / t) for t in targets if "://" not in t]
    assert not [own for own, copied in places if not (own.exists() or copied.exists())]


def test_errors_name_headings_that_there_are():
    for place in errors._EXPLAINED.values():
        page, heading = place.split("#")
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        headings = re.findall("^#+ (.*)$", text, re.M)
        assert heading in [re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings]


def console_sessions():
    """Return the (command, output) pairs of the console blocks, whose commands start with "$ "."""
    for page in PAGES:
        for block in blocks(page, "console"):
            for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                yield session.split("\n", 1)


@pytest.mark.parametrize(
    ("command", "expected"), [pytest.param(c, e, id=c) for c, e in console_sessions()]
)
def test_command_line(command, expected):
    words = shlex.split(command)
    assert words[:3] == ["python", "-m", "sympy_einsum"]
    result = subprocess.run(
        [sys.executable, *words[1:]],
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=250,
    )
    assert result.returncode == 0, result.stderr
    # Rounding errors differ from machine to machine.
    expected = re.sub(r"\d\.\de-\d+", "...", expected)
    checker = doctest.OutputChecker()
    assert checker.check_output(expected, result.stdout, FLAGS), result.stdout


def test_claims_of_speed_are_measured():
    """Otherwise run ``python -m benchmarks.speed_page``."""
    stored = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))
    text = PAGE.read_text(encoding="utf-8")
    assert with_speed(text, stored) == text
