"""Values on the command line, and the sources of its input."""

import io
import json
import sys

import numpy as np
import pytest

from sympy_einsum.commandline import main

DATA = ["--set", "x=[1, 2]", "--set", "A=[[1, 0], [0, 3]]"]


def test_values_and_derivatives(capsys):
    assert main(["eval", "x'*A*x", *DATA, "--wrt", "x", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"value": 13.0, "d/dx": [2.0, 12.0]}
    assert main(["eval", "x'*A*x", *DATA, "--wrt", "x", "--order", "2"]) == 0
    assert capsys.readouterr().out.startswith("value = 13.0\nd^2/dx^2 = [[2. 0.]\n")


def test_files(capsys, tmp_path):
    text, arrays, listed = (tmp_path / name for name in ("e.txt", "a.npz", "x.json"))
    text.write_text("x'*A*x\n")
    np.savez(arrays, A=np.array([[1.0, 0], [0, 3]]))
    listed.write_text('{"x": [1, 2]}')
    given = ["--file", str(text), "--data", str(arrays), "--data", str(listed)]
    assert main(["eval", *given]) == 0
    assert capsys.readouterr().out == "value = 13.0\n"


def test_a_program_has_several_values(capsys):
    text = "declare x 1 expression x * (i,i->) x expression sin(x) derivative wrt x"
    assert main(["eval", text, "--set", "x=[0, 0]", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values == {"value 1": 0.0, "value 2": [0.0, 0.0], "d/dx": [[1.0, 0.0], [0.0, 1.0]]}


@pytest.mark.parametrize("words", [["derive", "-", "--wrt", "x"], ["derive", "--wrt", "x"]])
def test_standard_input(capsys, monkeypatch, words):
    monkeypatch.setattr("sys.stdin", io.StringIO("x'*x"))
    assert main([*words, "--code"]) == 0
    assert capsys.readouterr().out.startswith("import numpy as np")


def test_nothing_but_the_graph_or_the_code(capsys):
    assert main(["derive", "x'*x", "--wrt", "x", "--dot"]) == 0
    assert capsys.readouterr().out.startswith("digraph {")
    assert main(["derive", "sum(exp(x))", "--wrt", "x", "--code", "--backend", "jax"]) == 0
    assert "import jax" in capsys.readouterr().out


def test_code_for_a_library_that_is_not_installed(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.array", None)
    monkeypatch.setitem(sys.modules, "dask", None)
    assert main(["derive", "sum(exp(x))", "--wrt", "x", "--backend", "dask"]) == 0
    assert "import dask.array as da" in capsys.readouterr().out


def test_steps_notations_and_modes(capsys):
    asked = ["A*X*B", "--wrt", "X", "--notation", "kronecker", "--steps", "--mode", "forward"]
    assert main(asked) == 0
    out = capsys.readouterr().out
    assert r"B^{\top} \otimes A" in out
    assert "pushforward of Einsum" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["x'*x"], "there is none for 'x'"),
        (["x'*x", *DATA], "'A' doesn't occur in it"),
        (["x'*x", "--set", "x"], '--set takes NAME=VALUE as in "x=[1, 2.5]", not '),
        (["x'*x", "--set", "x=[[1], 2]"], "x is no array of real numbers"),
        (["x'*x", "--set", 'x=["a"]'], "x is no array of real numbers"),
        (["x'*x", "--set", "x=[[1, 2]]"], "x"),
        (["x'*y", "--set", "x=[1, 2]", "--set", "y=[1]"], "length"),
        (["sum(vector(1))"], "length n is unknown"),
        (["x'*x", "--data", "no such file.json"], "can't read no such file.json"),
        (["x'*x", "--file", "no such file"], "give an expression or a file, not both"),
        (["--file", "no such file"], "can't read no such file"),
    ],
)
def test_bad_input(capsys, words, message):
    assert main(["eval", *words]) == 2
    assert message in capsys.readouterr().err
