"""Exit status, JSON of every command, colours, completion in shells."""

import json
import re
import shutil
import subprocess
import sys
from importlib.metadata import version

import pytest

from sympy_einsum.commandline import main, serving
from sympy_einsum.commandline.main import COMMANDS

EVALUATED = ["eval", "x'*x", "--set", "x=[1, 2]"]
UNSOLVED = "variables Scalar t min t"
# Arguments, standard input, and the exit status.
STATUS = [
    (["x'*x", "--wrt", "x"], "", 0),
    (["derive", "x'*x", "--wrt", "x", "--check"], "", 0),
    (["derive", "x'*", "--wrt", "x"], "", 2),
    (["derive", "x'*x", "--wrt", "y"], "", 2),
    (["derive", "x'*x", "--mode", "sideways"], "", 2),
    (EVALUATED, "", 0),
    (EVALUATED[:2], "", 2),
    (["solve"], "variables Scalar t min t^2", 0),
    (["solve"], UNSOLVED, 1),
    (["solve", "--data", "none.npz"], UNSOLVED, 2),
    (["serve", "--port", "70000"], "", 2),
    (["--version"], "", 0),
    (["--completion", "zsh"], "", 0),
    (["--completion", "cmd"], "", 2),
]


def status_of(*words):
    try:
        return main(list(words))
    except SystemExit as end:  # argparse's own way
        return end.code


@pytest.mark.parametrize(("words", "text", "status"), STATUS)
def test_exit_status(words, text, status, monkeypatch, capsys):
    monkeypatch.setattr(sys.stdin, "read", lambda: text, raising=False)
    assert status_of(*words) == status
    captured = capsys.readouterr()
    assert bool(captured.err) == (status == 2)
    assert "Traceback" not in captured.err


def test_interrupts_and_failed_checks(monkeypatch, capsys):
    def interrupted(arguments):
        raise KeyboardInterrupt

    def failed(*args):
        return {"passed": False, "max_relative_error": None, "message": "failed"}

    monkeypatch.setattr("sympy_einsum.commandline.reports._check", failed)
    assert status_of("x'*x", "--wrt", "x", "--check") == 1
    monkeypatch.setitem(COMMANDS, "derive", interrupted)
    assert status_of("x'*x", "--wrt", "x") == 130
    assert not capsys.readouterr().err
    status_of("--help")
    text = capsys.readouterr().out
    assert re.findall(r"^  (\d+) ", text, re.M) == ["0", "1", "2", "130"]
    status_of("--version")
    assert capsys.readouterr().out.strip() == version("sympy_einsum")


def test_every_command_has_json(monkeypatch, capsys):
    monkeypatch.setattr(serving.Server, "serve_forever", lambda self: None)
    monkeypatch.setattr(sys.stdin, "read", lambda: "variables Scalar t min t^2", raising=False)
    keys = {}
    for words in (["x'*x", "--wrt", "x"], EVALUATED, ["solve"], ["serve", "--port", "0"]):
        assert status_of(*words, "--json") == 0
        keys[words[0]] = json.loads(capsys.readouterr().out).keys()
    assert "derivative" in keys["x'*x"]
    assert [*keys["eval"]] == ["value"]
    assert "success" in keys["solve"]
    assert [*keys["serve"]] == ["address"]


@pytest.mark.parametrize(
    ("is_terminal", "variables", "is_coloured"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
    ],
)
def test_colours(is_terminal, variables, is_coloured, monkeypatch, capsys):
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: is_terminal)
    for words in (["x'*x", "--wrt", "x"], ["x'*", "--wrt", "x"]):
        main(words)
    captured = capsys.readouterr()
    for text, name in ((captured.out, "shape"), (captured.err, "error")):
        assert name in text
        assert ("\033[" in text) == is_coloured
    main(["x'*x", "--wrt", "x", "--json"])
    assert "\033" not in capsys.readouterr().out


# A line up to the cursor, and words that complete it; None: no file's name either.
LINES = [
    ("sympy-einsum s", {"solve", "serve"}),
    ("sympy-einsum derive --syntax ma", {"matrixcalculus"}),
    ("sympy-einsum derive --no", {"--notation"}),
    ("sympy-einsum eval --back", set()),
    ("sympy-einsum solve --data da", {"data.npz"}),
    ("sympy-einsum solve --method da", set()),
]


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_completion_in_bash(line, expected, capsys, tmp_path):
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash")
    status_of("--completion", "bash")
    (tmp_path / "script").write_text(capsys.readouterr().out)
    (tmp_path / "data.npz").touch()
    program = (
        f"source ./script; COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
        '_sympy_einsum; printf "%s\\n" "${COMPREPLY[@]}"; complete -p sympy-einsum >&2'
    )
    done = subprocess.run(
        [bash, "--norc", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert {word for word in done.stdout.split("\n") if word} == expected
    assert "-F _sympy_einsum sympy-einsum" in done.stderr
