"""The diffs of CONTRIBUTING.md apply, and what they add works."""

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
ADDITIONS = re.findall(
    r"^## (Add [^\n]*)\n.*?```diff\n(.*?)```.*?```python\n(.*?)```", TEXT, re.S | re.M
)


def test_four_things_are_told():
    assert [heading.split()[-1] for heading, _, _ in ADDITIONS] == [
        *("function", "rule", "node", "backend"),
    ]


@pytest.mark.skipif(shutil.which("git") is None, reason="git applies the diffs")
@pytest.mark.parametrize(
    ("diff", "example"), [parts for _, *parts in ADDITIONS], ids=[a[0] for a in ADDITIONS]
)
def test_additions_work(diff, example, tmp_path):
    shutil.copytree(
        ROOT / "sympy_einsum",
        tmp_path / "sympy_einsum",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (tmp_path / "addition.diff").write_text(diff, encoding="utf-8")
    (tmp_path / "example.txt").write_text(example, encoding="utf-8")
    apply = ["git", "apply", "--whitespace=nowarn", "addition.diff"]
    subprocess.run(apply, cwd=tmp_path, check=True)
    run = [sys.executable, "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", "example.txt"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
