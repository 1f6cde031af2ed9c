"""The command line: its output, the code it prints, and its exit status."""

import json
import subprocess
import sys

import numpy as np
import pytest
from oracles import assert_close

import sympy_einsum as se
from sympy_einsum.commandline import main, reports

LOGISTIC = "sum(log(exp(-y .* (X*w)) + vector(1)))"


def run(capsys, *arguments):
    status = main(list(arguments))
    captured = capsys.readouterr()
    assert not captured.err
    return status, captured.out


def report_of(capsys, *arguments):
    status, out = run(capsys, *arguments, "--json")
    return status, json.loads(out)


def refused(capsys, *arguments):
    """Return the message on stderr for invalid input."""
    try:
        status = main(list(arguments))
    except SystemExit as stop:  # argparse's own way
        status = stop.code
    captured = capsys.readouterr()
    assert status == 2
    assert not captured.out
    assert "Traceback" not in captured.err
    return captured.err


def compute(code, *values):
    """Run printed code as a reader would paste it."""
    namespace = {}
    exec(code, namespace)
    return namespace["function"](*values)


def logistic_data():
    rng = np.random.default_rng(0)
    return np.sign(rng.standard_normal(7)), rng.standard_normal((7, 4)), rng.standard_normal(4)


def test_plain_output(capsys):
    status, out = run(capsys, LOGISTIC, "--wrt", "w", "--check")
    assert status == 0
    table, code = out.split("\n\n", 1)
    lines = dict(line.split(maxsplit=1) for line in table.splitlines())
    assert list(lines) == ["function", "variables", "d/dw", "shape", "LaTeX", "check"]
    assert lines["variables"] == "y (n,), X (n, m), w (m,)"
    assert lines["shape"] == "(m,)"
    assert lines["check"].startswith("passed, max relative error ")
    y, X, w = logistic_data()
    expected = -X.T @ (y / (1 + np.exp(y * (X @ w))))
    assert_close(compute(code, y, X, w), expected)


def test_plain_output_without_a_check_has_no_line_for_it(capsys):
    _, out = run(capsys, "x'*x", "--wrt", "x")
    assert "check" not in out


def test_json(capsys):
    status, report = report_of(capsys, "x'*A*x", "--wrt", "x", "--order", "2", "--check")
    assert status == 0
    assert list(report) == [
        *("wrt", "order", "expression", "variables", "derivative", "shape", "latex", "mathml"),
        *("function", "code", "module", "dot", "steps", "check"),
    ]
    assert report["wrt"] == "x"
    assert report["order"] == 2
    assert report["variables"] == {"x": ["n"], "A": ["n", "n"]}
    assert report["derivative"] == "A + A.T"
    assert report["shape"] == ["n", "n"]
    assert report["check"]["passed"]
    assert report["check"]["max_relative_error"] < 1e-6
    A = np.arange(9.0).reshape(3, 3)
    assert_close(compute(report["code"], np.ones(3), A), A + A.T)


def test_json_without_a_check(capsys):
    _, report = report_of(capsys, "a^2", "--wrt", "a")
    assert report["check"] is None
    assert report["shape"] == []
    assert report["derivative"] == "2*a"


@pytest.mark.parametrize(
    ("expression", "wrt", "order", "shape"),
    [
        (LOGISTIC, "w", 2, ["m", "m"]),
        (LOGISTIC, "X", 1, ["n", "m"]),
        ("norm2(A*x - y)^2", "A", 2, ["m", "n", "m", "n"]),
        ("tr(A*X'*B*X*C)", "X", 2, ["k", "n", "k", "n"]),
        ("log(det(X))", "X", 1, ["n", "n"]),
        ("inv(X)", "X", 1, ["n", "n", "n", "n"]),
        ("a*b^2 + gammaln(b)", "b", 3, []),
        ("A*exp(x)", "x", 1, ["m", "n"]),
        ("-x", "x", 1, ["n", "n"]),
        ("-relu(x)'*x", "x", 1, ["n"]),
        ("sum(x.^4)", "x", 4, ["n"] * 4),
        ("c", "c", 2, []),
        ("a*sum(vector(b))", "a", 1, []),
        ("tr(inv(A*A' + eye))", "A", 1, ["m", "n"]),
        ("B + matrix(b^3)", "b", 2, ["m", "n"]),
    ],
)
def test_checks_pass(capsys, expression, wrt, order, shape):
    status, report = report_of(capsys, expression, "--wrt", wrt, "--order", str(order), "--check")
    assert status == 0, report
    assert report["shape"] == shape
    assert report["check"]["passed"]


def test_declarations(capsys):
    arguments = ["a'*K*a*h", "--wrt", "a", "--declare", "a vector(p)", "--check"]
    declare = ["--declare", "K symmetric matrix", "--declare", "h positive scalar"]
    status, report = report_of(capsys, *arguments, *declare)
    assert status == 0
    assert report["variables"] == {"a": ["p"], "K": ["p", "p"], "h": []}


def test_several_variables(capsys):
    """Variables are answered in the order of the options, each once."""
    names = ["--wrt", "x", "--wrt", "A", "--wrt", "x"]
    status, out = run(capsys, "x'*A*x", *names, "--check")
    assert status == 0
    assert out.count("passed") == 2
    assert out.index("d/dx ") < out.index("d/dA ")
    status, reports = report_of(capsys, "x'*A*x", *names, "--order", "2", "--check")
    assert status == 0
    assert [(r["wrt"], r["order"], r["check"]["passed"]) for r in reports] == [
        ("x", 2, True),
        ("A", 2, True),
    ]
    assert [len(r["shape"]) for r in reports] == [2, 4]
    x, A = np.arange(3.0), np.arange(9.0).reshape(3, 3)
    assert_close(compute(reports[0]["code"], x, A), A + A.T)
    assert "'q' isn't a variable" in refused(capsys, "x'*A*x", "--wrt", "x", "--wrt", "q")


def test_one_failed_check_of_several(capsys, monkeypatch):
    status, out = run(capsys, "x'*A*x", "--wrt", "x", "--wrt", "A", "--check")
    assert status == 0
    checks = iter([1e-12, 0.5])

    def fail_once(y, x, derivative, **options):
        if next(checks) > 0.1:
            raise se.TensorError("0.5 differs")
        return 1e-12

    monkeypatch.setattr(reports, "check_derivative", fail_once)
    status, out = run(capsys, "x'*A*x", "--wrt", "x", "--wrt", "A", "--check")
    assert status == 1
    assert "passed" in out
    assert "failed" in out


def test_an_assumption_alone_tells_the_kind(capsys):
    _, report = report_of(capsys, "x'*A*x", "--wrt", "x", "--declare", "A symmetric")
    assert report["derivative"] == "2*A @ x"
    _, report = report_of(capsys, "sum(log(h)) + a", "--wrt", "h", "--declare", "h, a positive")
    assert report["variables"] == {"h": ["n"], "a": []}


HINTS = {
    "norm2(A*x-b)^2": """or --declare "b vector\"""",
    "A - b": """or --declare "b matrix\"""",
    "x^T*x": "the transpose is written x'",
    "exp(x)^T*x": "the transpose is written exp(x)'",
    "trace(x*x')": "here it is written tr(X)",
    "transpose(A)*x": "here it is written X'",
    "norm(x)": "here it is written norm2(x)",
    "ln(x)": "here it is written log(a)",
    "dot(x, x)": "here it is written x'*y",
}


@pytest.mark.parametrize("text", HINTS)
def test_unknown_names_get_a_hint(capsys, text):
    assert HINTS[text] in refused(capsys, text, "--wrt", "x")


def test_a_declaration_that_was_offered(capsys):
    status, report = report_of(
        capsys, "norm2(A*x-b)^2", "--wrt", "x", "--declare", "b vector", "--check"
    )
    assert status == 0
    assert report["derivative"] == "2*A.T @ (A @ x - b)"


def test_a_length_that_no_argument_brings_is_an_argument(capsys):
    _, report = report_of(capsys, "a^2*sum(vector(1))", "--wrt", "a")
    assert compute(report["code"], 1.5, 4) == 12


def test_a_failed_check(capsys):
    # There is no point at which this function is real.
    arguments = ["log(-norm1(x) - 1)", "--wrt", "x", "--check"]
    status, out = run(capsys, *arguments)
    assert status == 1
    assert "failed: the expression isn't finite" in out
    status, report = report_of(capsys, *arguments)
    assert status == 1
    assert report["check"]["passed"] is False
    assert report["check"]["max_relative_error"] is None


def test_a_check_that_finds_a_wrong_derivative(capsys, monkeypatch):
    monkeypatch.setattr(reports, "diff", lambda y, x, **options: 3 * x)
    status, out = run(capsys, "x'*x", "--wrt", "x", "--check")
    assert status == 1
    assert "failed: the derivative differs" in out


def test_a_matrix_that_is_always_singular(capsys):
    status, out = run(capsys, "sum(inv(matrix(a)))", "--wrt", "a", "--check")
    assert status == 1
    assert "failed: " in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x'*y", "--wrt", "z"], "'z' isn't a variable of the expression; its variables are x, y"),
        (["1 + 2", "--wrt", "z"], "it has no variables"),
        (["x*y", "--wrt", "x"], "* can't multiply the column vector x with the column vector y"),
        (["-x*-y", "--wrt", "x"], "-x*-y\n    ^"),
        (["x + (y", "--wrt", "x"], "this '(' is never closed"),
        (["", "--wrt", "x"], "the text is empty"),
        (["x", "--wrt", "x", "--declare", "y vector"], "'y' is declared, but doesn't occur"),
        (["x", "--wrt", "x", "--declare", "x blob"], "can't be a 'blob'"),
        (["sin(" * 500 + "a" + ")" * 500, "--wrt", "a"], "nested more than"),
        (["x", "--wrt", "x", "--order", "0"], "--order"),
        (["x", "--wrt", "x", "--order", "two"], "--order"),
        (["x"], "--wrt"),
        (["x", "y", "--wrt", "x"], "y"),
    ],
)
def test_bad_input(capsys, arguments, message):
    assert message in refused(capsys, *arguments)


def test_help_names_the_language(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    assert "vector(1)" in out
    assert "--declare" in out


def test_the_documentation_shows_every_option():
    page = pytest.importorskip("command_line", reason="Sphinx isn't installed")
    assert "COMMAND" in page.help_of()
    options = {"derive": "--steps", "eval": "--set", "serve": "--port", "solve": "--data"}
    for command, option in options.items():
        assert option in page.help_of(command)
    assert {*page.COMMANDS} == {*options}


def test_the_module_runs_as_a_program():
    def start(*arguments):
        command = [sys.executable, "-m", "sympy_einsum", *arguments]
        return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=250)

    good = start("-x'*A*x", "--wrt", "x")
    assert good.returncode == 0, good.stderr
    assert "def function(x, A):" in good.stdout
    bad = start("x +", "--wrt", "x")
    assert bad.returncode == 2
    assert not bad.stdout
    assert bad.stderr.startswith("error: expected a number, a variable")
    assert "Traceback" not in bad.stderr


def test_lippmanns_language(capsys):
    lippmann = ["--syntax", "lippmann"]
    text = "x *(i,ij->j) A *(j,j->) x"
    declare = ["--declare", "x 1", "--declare", "A 2"]
    wanted = ["--wrt", "x", "--wrt", "A"]
    status, reports = report_of(capsys, text, *lippmann, *declare, *wanted, "--check")
    assert status == 0
    assert all(report["check"]["passed"] for report in reports)
    assert [report["wrt"] for report in reports] == ["x", "A"]
    program = f"declare x 1 A 2 expression {text} derivative wrt x A"
    _, answered = report_of(capsys, program, *lippmann, "--check")
    assert answered == reports
    _, one = report_of(capsys, "declare c 0 expression c^2", *lippmann, "--wrt", "c")
    assert one["derivative"] == "2*c"
    message = refused(capsys, "declare x 1 expression x", *lippmann)
    assert 'name a variable to differentiate with respect to, as in "--wrt x"' in message
    assert "'c' isn't declared" in refused(capsys, "c^2", *lippmann, "--wrt", "c")
