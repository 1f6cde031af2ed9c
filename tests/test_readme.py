"""README's Python examples, its command lines and its links."""

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.readme import with_speed

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
TEXT = README.read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)


def console_sessions():
    """The (command, output) pairs of the console blocks, whose commands start with "$ "."""
    for block in blocks("console"):
        for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            yield session.split("\n", 1)


def test_what_is_said_of_speed_is_what_was_measured():
    """Otherwise run ``python -m benchmarks.readme``."""
    stored = (ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8")
    assert with_speed(TEXT, json.loads(stored)) == TEXT


def test_python_examples():
    # Fences stop an example's expected output, where a doctest would read on to a blank line.
    python = "\n\n".join(blocks("python"))
    assert ">>>" in python
    test = doctest.DocTestParser().get_doctest(python, {}, "README", str(README), 0)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    report = []
    runner.run(test, out=report.append)
    assert not runner.failures, "".join(report)


def test_every_python_block_is_an_example():
    for block in blocks("python"):
        assert block.startswith(">>> ")


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
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    # Rounding errors differ from machine to machine.
    expected = re.sub(r"\d\.\de-\d+", "...", expected)
    checker = doctest.OutputChecker()
    assert checker.check_output(expected, result.stdout, FLAGS), result.stdout


def test_opens_with_the_two_commands():
    """The continuous-integration script runs the first two bash lines as they stand."""
    main_job, tests = blocks("bash")[:2]
    assert main_job.startswith('pip install ".[notebook]" && ')
    assert tests == 'pip install ".[test]" && pytest\n'
    assert TEXT.index(main_job) < TEXT.index(tests) < TEXT.index(">>>")


def test_links_lead_somewhere():
    targets = re.findall(r"\]\(([^)#]+)\)", TEXT)
    missing = [t for t in targets if "://" not in t and not (ROOT / t).exists()]
    assert not missing
