"""The diffs of CONTRIBUTING.md apply, their examples hold, and the affected tests pass."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
# All that the commands of the page read.
COPIED = ("sympy_einsum", "tests", "benchmarks", "docs")
FILES = ("CHANGELOG.md", "CONTRIBUTING.md", "README.md", "pyproject.toml", "setup.cfg")
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git applies the diffs")


class Recipe(NamedTuple):
    """A section of the page: a diff, commands to run afterwards, an example."""

    diff: str
    commands: list[str]
    example: str

    @staticmethod
    def of(section):
        """Read a section."""
        (diff,), (commands,), (example,) = (
            re.findall(rf"^```{kind}\n(.*?)^```", section, re.S | re.M)
            for kind in ("diff", "bash", "python")
        )
        return Recipe(diff, commands.splitlines(), example)


RECIPES = {
    heading: Recipe.of(section)
    for heading, section in re.findall(r"^## (Add [^\n]*)\n(.*?)(?=^## )", TEXT, re.S | re.M)
}


def run(folder, *command):
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    # Tests of the copy aren't among those that are run again, once their libraries are there.
    environment.pop("LACKING_A_LIBRARY", None)
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_has_four_recipes():
    assert [*RECIPES] == ["Add a function", "Add a rule", "Add a node", "Add a backend"]


@needs_git
@pytest.mark.slow
@pytest.mark.parametrize("heading", RECIPES)
def test_additions_work(heading, tmp_path):
    """The tests affected by an addition need nothing that the page doesn't name."""
    recipe = RECIPES[heading]
    ignored = shutil.ignore_patterns("__pycache__", "api", "_build")
    for name in COPIED:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "addition.diff").write_text(recipe.diff, encoding="utf-8")
    apply = ["git", "apply", "--whitespace=nowarn", "addition.diff"]
    subprocess.run(apply, cwd=tmp_path, check=True)
    (tmp_path / "example.txt").write_text(recipe.example, encoding="utf-8")
    run(tmp_path, "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", "example.txt")
    for command in recipe.commands:
        name, *arguments = shlex.split(command)
        options = ["-m", "pytest", "-q", "-p", "no:cacheprovider"] if name == "pytest" else []
        run(tmp_path, *options, *arguments)
