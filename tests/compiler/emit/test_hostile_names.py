"""Names are data: no text of a name is executed, and printers escape it."""

import builtins
import contextlib
import copy
import keyword
import os
import pickle
import re

import numpy as np
import pytest
import sympy
from hostile import NAMES, applicable
from oracles import assert_close, m, n
from sympy import Function, Symbol, symbols

import sympy_einsum as se

t = symbols("t")


def cases():
    for number, name in enumerate(NAMES):
        label = re.sub(r"[^A-Za-z0-9_]+", "-", name.replace("{target}", "F"))[:30]
        yield pytest.param(name, id=f"{number}-{label}")


hostile = pytest.mark.parametrize("template", list(cases()))


class NameWasRunError(BaseException):
    """Derives from BaseException, so that it isn't taken for a refusal."""


@pytest.fixture
def name(template, tmp_path, monkeypatch):
    """Return the name, with a file that nothing may create; no shell is ever called."""
    monkeypatch.chdir(tmp_path)

    def never(*arguments, **options):
        raise NameWasRunError(arguments)

    monkeypatch.setattr(os, "system", never)
    monkeypatch.setattr(os, "popen", never)
    text = template.replace("{target}", "pwned").replace("{{", "{").replace("}}", "}")
    yield text
    assert os.listdir(tmp_path) == [], "a name was run"


def expressions(name):
    """Return expressions with hostile names for a tensor, a scalar and a length."""
    tensor, scalar = se.TensorSymbol(name, (n,)), Symbol(name + "!")
    length = Symbol(name, integer=True, positive=True)
    sized = se.TensorSymbol("sized", (length,))
    return {
        "tensor": se.exp(tensor) * 2 + tensor,
        "scalar": scalar * se.sin(tensor),
        "length": sized.mean() + length * sized,
        "both": sympy.sin((tensor * tensor).sum()) * scalar + (sized * sized).sum(),
        "undefined": se.elementwise(Function(name), tensor) if applicable(name) else tensor,
    }


@hostile
def test_lambdify(name):
    tensor, scalar = se.TensorSymbol(name, (n,)), Symbol(name + "!")
    array = np.array([0.5, -1.0, 2.0])
    compiled = se.lambdify([tensor, scalar], scalar * se.exp(tensor) + tensor.sum())
    assert_close(compiled(array, 3.0), 3 * np.exp(array) + 1.5)
    gradient = se.lambdify([tensor], se.gradient((tensor * tensor).sum(), tensor))
    assert_close(gradient(array), 2 * array)
    length = Symbol(name, integer=True, positive=True)
    sized = se.TensorSymbol(name, (length,))
    assert_close(se.lambdify([sized], sized.mean())(array), 0.5)
    assert_close(se.lambdify([sized, length], length * sized)(array, 3), 3 * array)


@hostile
def test_the_source_has_identifiers_only(name):
    tensor, scalar = se.TensorSymbol(name, (n,)), Symbol(name + "!")
    function = se.lambdify([tensor, scalar], scalar * se.exp(tensor) + tensor)
    compile(function.source, "source", "exec")
    if not name.isidentifier() and len(name) > 3:
        assert name not in function.source
    for text in (function.__doc__, function.__name__, repr(function)):
        assert text is None or isinstance(text, str)


@hostile
def test_two_arguments_whose_names_clash(name):
    """A tensor and an ordinary symbol of one name, and names that generated code uses itself."""
    tensor, scalar = se.TensorSymbol(name, (n,)), Symbol(name)
    array = np.array([0.5, -1.0, 2.0])
    function = se.lambdify([scalar, tensor], scalar * se.exp(tensor))
    assert_close(function(2.0, array), 2 * np.exp(array))
    matrix = se.TensorSymbol(name, (m, n))
    function = se.lambdify([tensor, matrix], matrix @ tensor)
    assert_close(function(array, np.ones((2, 3))), np.full(2, 1.5))


@hostile
def test_missing_arguments_are_reported_not_run(name):
    tensor, scalar = se.TensorSymbol(name, (n,)), Symbol(name)
    for missing in (tensor.sum() * t, scalar * t, sympy.sin(scalar) * t):
        with pytest.raises(se.TensorError):
            se.lambdify([t], missing)
    if applicable(name):
        applied = Function(name)(t)
        with pytest.raises(se.TensorError):
            se.lambdify([t], applied + t)


def unless_refused(action):
    """Return the result, or None where an ordinary error was raised."""
    with contextlib.suppress(Exception):
        return action()
    return None


@hostile
def test_stock_lambdify_is_right_or_raises(name):
    tensor, scalar = se.TensorSymbol(name, (n,)), Symbol(name)
    array = np.array([0.5, -1.0, 2.0])
    expected = 2 * np.exp(array) + array
    for expr, arguments, values in (
        (t * se.exp(tensor) + tensor, [t, tensor], (2.0, array)),
        (scalar * se.exp(tensor) + tensor, [scalar, tensor], (2.0, array)),
    ):
        result = unless_refused(lambda: sympy.lambdify(arguments, expr, "numpy")(*values))  # noqa: B023
        if result is not None:
            assert_close(result, expected)


@hostile
def test_stock_lambdify_with_a_missing_argument_runs_nothing(name):
    tensor = se.TensorSymbol(name, (n,))
    for expr in (t * tensor.sum(), t * tensor, se.exp(tensor) @ tensor):
        unless_refused(lambda: sympy.lambdify([t], expr, "numpy")(2.0))  # noqa: B023


@hostile
def test_srepr_is_exact_and_safe_to_evaluate(name):
    namespace = {**vars(sympy), **vars(se), "__builtins__": {}}
    for label, e in expressions(name).items():
        if label == "undefined":
            continue
        assert eval(sympy.srepr(e), namespace) == e


@hostile
def test_str_runs_nothing_when_printed(name):
    for e in expressions(name).values():
        for printer in (str, repr, sympy.pretty, sympy.latex, se.latex, se.pretty, sympy.srepr):
            assert isinstance(printer(e), str)
        assert isinstance(sympy.mathml(e, printer="presentation"), str)


DANGEROUS = ("\\href", "\\input", "\\write", "\\immediate")


@hostile
def test_latex_is_escaped(name):
    tensor = se.TensorSymbol(name, (n,))
    for e in (tensor, 2 * tensor, se.exp(tensor), tensor @ tensor, tensor[0]):
        for text in (sympy.latex(e), se.latex(e), e._repr_latex_() or ""):
            for command in DANGEROUS:
                assert command not in text, text
            assert text.count("{") - text.count("\\{") == text.count("}") - text.count("\\}")


@hostile
def test_mathml_is_escaped(name):
    tensor = se.TensorSymbol(name, (n,))
    text = sympy.mathml(2 * tensor, printer="presentation")
    assert "<script" not in text


@hostile
def test_copies(name):
    for e in expressions(name).values():
        assert copy.deepcopy(e) == e
    tensor = se.TensorSymbol(name, (n,))
    assert pickle.loads(pickle.dumps(se.exp(tensor))) is se.exp(tensor)
    assert tensor.name == name
    assert {tensor: 1}[se.TensorSymbol(name, (n,))] == 1


@hostile
def test_errors_show_the_name_and_dont_run_it(name):
    tensor = se.TensorSymbol(name, (n,))
    with pytest.raises(se.ShapeError) as caught:
        tensor + se.TensorSymbol("other", (m,))
    assert len(str(caught.value)) < 5000
    function = se.lambdify([tensor, se.TensorSymbol("q", (n,))], tensor)
    with pytest.raises(se.ShapeError):
        function(np.ones(2), np.ones(3))


@hostile
def test_derivatives(name):
    tensor, scalar = se.TensorSymbol(name, (n,)), Symbol(name)
    f = sympy.sin((tensor * tensor).sum()) * scalar
    assert se.diff(f, scalar) == sympy.sin((tensor * tensor).sum())
    assert se.gradient(f, tensor).shape == (n,)
    assert sympy.diff(f, tensor).shape == (n,)


def test_every_keyword_and_builtin_can_name_an_argument():
    names = [*keyword.kwlist, *keyword.softkwlist, *(b for b in dir(builtins) if b[0] != "_")]
    for name in names:
        tensor = se.TensorSymbol(name, (n,))
        assert_close(se.lambdify([tensor], se.exp(tensor))(np.zeros(2)), np.ones(2))


def test_many_arguments_with_similar_names_stay_distinct():
    """x, x_, _x, X_1, ... and letters that NFKC makes equal."""
    names = ["x", "x_", "_x", "x_1", "x1", "X", "x!", "x?", "x'", "np", "t", "e"]
    names += ["\ufb01", "fi", "\u212a", "K"]
    tensors = [se.TensorSymbol(name, (n,)) for name in names]
    total = sum(number * tensor for number, tensor in enumerate(tensors))
    compiled = se.lambdify(tensors, total)
    arrays = [np.array([10.0**-j, 1.0]) for j in range(len(names))]
    expected = sum(number * array for number, array in enumerate(arrays))
    assert_close(compiled(*arrays), expected)


def test_names_equal_to_the_functions_in_the_expression():
    exp, sin, log = (se.TensorSymbol(name, (n,)) for name in ("exp", "sin", "log"))
    e = se.exp(exp) + se.sin(sin) * se.log(log)
    data = np.array([0.5, 1.5])
    assert_close(
        se.lambdify([exp, sin, log], e)(data, 2 * data, 3 * data),
        np.exp(data) + np.sin(2 * data) * np.log(3 * data),
    )
    expected = np.exp(data) + np.sin(2 * data) * np.log(3 * data)
    try:
        stock = sympy.lambdify([exp, sin, log], e, "numpy")(data, 2 * data, 3 * data)
    except (TypeError, ValueError):
        return
    assert_close(stock, expected)
