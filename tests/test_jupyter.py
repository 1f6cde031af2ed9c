"""The cell magic of IPython: what it reads, what it leaves in the session, what it completes."""

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from sympy import Symbol

import sympy_einsum as se


@pytest.fixture
def shell():
    found = InteractiveShell()
    found.run_line_magic("load_ext", "sympy_einsum")
    yield found
    found.history_manager.end_session()


def test_expressions_and_derivatives(shell):
    f = shell.run_cell_magic("einsum", "f", "x'*A*x\n")
    space = shell.user_ns
    assert space["f"] is f
    assert f == space["x"] @ space["A"] @ space["x"]
    assert shell.run_cell_magic("einsum", "--wrt x", "x'*A*x") == se.diff(f, space["x"])
    both = shell.run_cell_magic("einsum", "both --wrt x --wrt A --order 2", "x'*A*x")
    assert both == [se.diff(f, space["x"], 2), se.diff(f, space["A"], 2)] == space["both"]


def test_symbols_of_the_session(shell):
    K = se.TensorSymbol("K", 3, 3, symmetric=True)
    shell.user_ns.update(K=K, y=se.TensorSymbol("z", 3), t=Symbol("t"), f=7)
    assert shell.run_cell_magic("einsum", "--wrt K", "t*tr(K*K)") == 2 * Symbol("t") * K
    other = shell.run_cell_magic("einsum", '--declare "K matrix(2, 2)"', "K*K")
    assert other.shape == (2, 2)


def test_programs(shell):
    text = "declare A 2 b 1\nexpression A *(ij,j->i) sin(b)\nderivative wrt b"
    derivative = shell.run_cell_magic("einsum", "", text)
    A, b = shell.user_ns["A"], shell.user_ns["b"]
    assert derivative == se.diff(A @ se.sin(b), b)


@pytest.mark.parametrize(
    ("line", "cell"), [("", "x +"), ("--wrt y", "x'*x"), ("--syntax no", "x"), ("a b", "x")]
)
def test_errors_are_short(shell, capsys, line, cell):
    shell.run_cell(f"%%einsum {line}\n{cell}")
    out = "".join(capsys.readouterr())
    assert "Traceback" not in out
    assert "UsageError" in out


def test_completion(shell):
    shell.user_ns["weights"] = se.TensorSymbol("weights", 3)

    def completed(text):
        with provisionalcompleter():
            return {found.text for found in shell.Completer.completions(text, len(text))}

    assert completed("%%einsum\nsum(wei") == {"weights"}
    assert completed("%%einsum\ndeclare widths 1 expression sin(wi") == {"widths"}
    assert completed("widths = 3\nsum(wei") == {"weights"}
