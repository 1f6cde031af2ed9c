"""The cell magic of IPython: its input, the names it defines in the session, its completions."""

import threading
import time

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from sympy import Symbol

import sympy_einsum as se
from sympy_einsum.core import tuning
from sympy_einsum.sympy_hooks import notebooks


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


@pytest.mark.parametrize("use_jedi", [True, False])
def test_attributes_of_tensors_come_first(shell, use_jedi):
    """IPython sorts them by name, and SymPy's between ours."""
    shell.user_ns["v"] = 2 * se.TensorSymbol("v", 3)
    shell.Completer.use_jedi = use_jedi
    with provisionalcompleter():
        for text, start in (("v.s", 2), ("[v.T, 2*v.s", 10)):
            found = [*shell.Completer.completions(text, len(text))]
            names = [own.text for own in found]
            assert {own.start for own in found} == {start}
            assert names.index("swapaxes") < names.index("simplify") < names.index("sinh")
        assert [own.text for own in shell.Completer.completions("v.shap", 6)] == ["shape"]
        assert all(own.text != "shape" for own in shell.Completer.completions("w.sh", 4))


@pytest.mark.parametrize("line", ["--help", "-h", "f --help"])
@pytest.mark.parametrize("body", ["", "\nx'*x"])
@pytest.mark.parametrize("magic", ["%einsum", "%%einsum"])
def test_help_is_given_with_and_without_a_body(shell, capsys, magic, line, body):
    shell.run_cell(f"{magic} {line}{body if magic == '%%einsum' else ''}")
    out = "".join(capsys.readouterr())
    assert "a variable to differentiate by" in out
    assert "Error" not in out


def test_an_empty_cell_is_refused_with_a_hint(shell, capsys):
    shell.run_cell("%%einsum")
    assert "expected an expression such as" in "".join(capsys.readouterr())
    shell.run_cell("%einsum x'*x")
    assert "begin the cell with %%einsum" in "".join(capsys.readouterr())


def test_long_cells_say_what_runs(shell, capsys, monkeypatch):
    """Our function that the cell has called, not those that it calls, nor other code."""
    monkeypatch.setattr(tuning, "NOTE_SECONDS", 0.01)
    A = se.TensorSymbol("A", 20, 20)
    shell.user_ns.update(se=se, f=A @ A, time=time)
    shell.run_cell("time.sleep(0.3)")
    assert "is running" not in "".join(capsys.readouterr())
    shell.run_cell("se.check_derivative(f, f.operands[0])")
    assert "sympy_einsum: check_derivative is running, after 0 s" in capsys.readouterr().err
    before = threading.active_count()
    time.sleep(0.2)
    assert threading.active_count() <= before
    assert "is running" not in capsys.readouterr().err


x, A = se.TensorSymbol("x", 3), se.TensorSymbol("A", 3, 3)


@pytest.mark.parametrize(
    ("value", "formula"),
    [
        ([A @ x, x], r"\left[ A x, \  x\right]"),
        ((A @ x, 2), r"\left( A x, \  2\right)"),
        ([[A, x], [x, A]], r"\left[ \left[ A, \  x\right], \  \left[ x, \  A\right]\right]"),
        ({Symbol("f"): x @ x}, r"\left\{ f : x^{\top} x\right\}"),
    ],
    ids=["list", "tuple", "blocks", "dictionary"],
)
def test_containers_of_expressions_are_shown_as_formulas(shell, value, formula):
    notebooks.attach(shell)
    shown, _ = shell.display_formatter.format(value)
    assert shown["text/latex"] == rf"$\displaystyle {formula}$"
    assert shown["text/plain"]


@pytest.mark.parametrize(
    "value", [[], [1, 2], [Symbol("t")], [x, "text"], [x, None], [x] * 101, [[x] * 101]]
)
def test_other_containers_are_shown_as_before(shell, value):
    notebooks.attach(shell)
    assert "text/latex" not in shell.display_formatter.format(value)[0]


def test_existing_displays_of_lists_are_left_alone(shell):
    formatter = shell.display_formatter.formatters["text/latex"]
    formatter.for_type(list, lambda value: "$own$")
    notebooks.attach(shell)
    assert shell.display_formatter.format([x])[0]["text/latex"] == "$own$"


@pytest.mark.parametrize("backend", ["numpy", "jax", "auto"])
def test_a_compiled_function_tells_arguments_shapes_and_backend(shell, backend):
    n = Symbol("n", integer=True, positive=True)
    y = se.TensorSymbol("y", n)
    f = se.lambdify([A, y, Symbol("t")], Symbol("t") * (y @ y), backend)
    notebooks.attach(shell)
    shown = shell.display_formatter.format(f)[0]["text/plain"]
    assert shell.display_formatter.format([].append)[0]["text/plain"].startswith("<function list")
    assert "bound method" in shell.display_formatter.format(A.subs)[0]["text/plain"]
    assert "bound method" not in shown
    for text in (shown, repr(f)):
        for part in ("[A, y, t]", "A (3, 3)", "y (n,)", f"backend={backend!r}"):
            assert part in text
