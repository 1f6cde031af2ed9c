"""The command that solves problems."""

from __future__ import annotations

import json

import numpy as np
import pytest
from oracles import assert_close
from scipy.optimize import nnls

from sympy_einsum.commandline import main

TEXT = """
parameters
  Matrix A
  Vector b
variables
  Vector x
min
  norm2(A*x - b)^2
st
  x >= 0
"""
rng = np.random.default_rng(0)
A, b = rng.standard_normal((6, 3)), rng.standard_normal(6)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "problem.txt").write_text(TEXT, encoding="utf-8")
    np.savez(tmp_path / "data.npz", A=A, b=b, x=np.ones(3))
    return str(tmp_path / "problem.txt"), "--data", str(tmp_path / "data.npz")


def test_solutions(files, capsys):
    assert main(["solve", *files]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("minimum ")
    assert lines[1].split()[0] == "x"
    assert lines[2].startswith("multiplier of x >= 0")


def test_json_and_progress(files, capsys):
    assert main(["solve", *files, "--json", "--progress", "--method", "slsqp"]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert_close(np.array(found["variables"]["x"]), nnls(A, b)[0], 1e-7)
    assert (found["success"], found["method"]) == (True, "SLSQP")
    assert len(captured.err.splitlines()) == found["iterations"] > 0


def test_what_is_wrong(files, capsys, monkeypatch):
    assert main(["solve", files[0]]) == 2
    assert "parameter A" in capsys.readouterr().err
    assert main(["solve", *files, "--method", "simplex"]) == 2
    assert "no method 'simplex'" in capsys.readouterr().err
    assert main(["solve", *files, "--set", "c=1"]) == 2
    assert "'c'" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin.read", lambda: "variables Scalar t min t", raising=False)
    assert main(["solve", "--json"]) == 1
    assert "unbounded" in json.loads(capsys.readouterr().out)["message"]
