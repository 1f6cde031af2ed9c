"""The diffs of CONTRIBUTING.md apply, their examples hold, and so do the tests that they touch."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
# A heading, a diff, and the example that shows what it does.
ADDITIONS = {
    heading: (diff, example)
    for heading, diff, example in re.findall(
        r"^## (Add [^\n]*)\n.*?```diff\n(.*?)```.*?```python\n(.*?)```", TEXT, re.S | re.M
    )
}
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git applies the diffs")


def test_the_page_has_four_recipes():
    assert [*ADDITIONS] == ["Add a function", "Add a rule", "Add a node", "Add a backend"]


def run(folder, *command):
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def applied(heading, folder):
    """Copy the package and its tests to a folder, and apply a diff of the page."""
    for name in ("sympy_einsum", "tests"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    (folder / "addition.diff").write_text(ADDITIONS[heading][0], encoding="utf-8")
    apply = ["git", "apply", "--whitespace=nowarn", "addition.diff"]
    subprocess.run(apply, cwd=folder, check=True)


@needs_git
@pytest.mark.parametrize("heading", ADDITIONS)
def test_additions_work(heading, tmp_path):
    applied(heading, tmp_path)
    (tmp_path / "example.txt").write_text(ADDITIONS[heading][1], encoding="utf-8")
    run(tmp_path, "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", "example.txt")
