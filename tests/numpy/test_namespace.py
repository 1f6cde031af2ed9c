"""NumPy's functions on symbols: equal values to NumPy on data, and equal objects through
sympy_einsum.numpy and through numpy itself."""

import ast
import functools
import inspect
import re

import numpy as np
import pytest
import scipy.special
import sympy
from numpy_calls import (
    ARRAYS,
    CALLS,
    FUNCTIONS,
    NUMPY,
    SYMBOLS,
    VALUES,
    options_in,
    parameters,
    run,
)
from oracles import assert_close, evaluate, k, m, n, numeric_shape, p
from sympy import Rational, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.numpy._namespace import ALIASES, FAMILIES, PACKAGES
from sympy_einsum.numpy._refused import OPTIONS
from sympy_einsum.numpy._rows import HARMLESS, refused_options

t, u = symbols("t u")
x, y, v, X, A, T, Q, w, s = map(SYMBOLS.get, ("x", "y", "v", "X", "A", "T", "Q", "w", "s"))

# Contained in the issue's list: these must work. The rest must be right or say clearly no.
REQUIRED = set(
    """
    einsum sum mean var std exp expm1 log log1p sin cos tan arcsin arccos arctan sinh cosh
    tanh arcsinh arccosh arctanh maximum minimum where clip sqrt square abs absolute sign
    power logaddexp dot matmul vdot inner outer tensordot kron trace diagonal diag transpose
    swapaxes moveaxis expand_dims squeeze broadcast_to ones zeros eye ones_like zeros_like
    add subtract multiply divide negative reciprocal linalg.inv linalg.det linalg.slogdet
    linalg.solve linalg.norm linalg.matrix_power linalg.multi_dot round around rint fix trunc
    floor ceil divmod modf mod remainder fmod floor_divide copysign signbit nan_to_num isnan isinf
    isfinite isposinf isneginf angle real imag real_if_close isreal iscomplex conj isclose allclose
    any all count_nonzero greater greater_equal less equal not_equal logical_and logical_or
    logical_xor logical_not bitwise_and bitwise_or bitwise_xor invert bitwise_not piecewise choose
    select pow atan2 ldexp asin acos atan asinh acosh atanh concat float_power fmax fmin heaviside
    nanmax nanmin nanargmax nanargmin nancumsum nancumprod compress polymul resize
    average cov corrcoef nansum nanmean nanprod nanvar nanstd prod cross ediff1d polyval polyder
    polyint polyadd polysub vander trapezoid interp unwrap atleast_1d atleast_2d atleast_3d rollaxis
    broadcast_arrays meshgrid linspace logspace arange geomspace hamming copy array_equal
    fabs deg2rad rad2deg degrees radians sinc i0 logaddexp2 exp2 log2 log10 cbrt hypot unstack
    """.split()  # noqa: SIM905
)
REQUIRED_SPECIAL = ["erf", "gammaln", "expit", "xlogy", "erfc", "gamma", "digamma"]


calls = pytest.mark.parametrize("call", CALLS)


ROWS = {row.name: row for family in FAMILIES.values() for row in family.rows}
ROWS |= {f"{key}.{row.name}": row for key, family in PACKAGES.items() for row in family.rows}
REFUSED_ALTOGETHER = {"linalg.eig", "linalg.eigvals", "linalg.matrix_rank"}
# Options of sort and argsort that are checked, and say nothing about values.
CHECKED = {"order", "stable"}


def options_of_values(name):
    """The options of a function that its values depend on: those that its row neither refuses nor
    ignores."""
    row = ROWS.get(ALIASES.get(name, name))
    ignored = {*refused_options(row), *row.ignored.split()} if row else set()
    return [own for own in parameters(FUNCTIONS[name]) if own not in ignored | HARMLESS | CHECKED]


def test_every_function_and_every_option_has_a_call():
    found = {option for call in CALLS for option in options_in(call)}
    asked = {
        option
        for name in FUNCTIONS.keys() - REFUSED_ALTOGETHER
        for option in (name, *[f"{name}.{own}" for own in options_of_values(name)])
    }
    assert not asked - found, "add calls to tests/data/numpy_calls.txt"


# NumPy chooses by it whose function is called, or reads nested lists.
NUMPYS_OWN = {"like", "ndmax"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_option_of_numpy_is_taken_or_refused_for_a_reason(name):
    theirs = inspect.signature(functools.reduce(getattr, name.split("."), NUMPY))
    options = [q.name for q in theirs.parameters.values() if q.default is not q.empty]
    known = {*parameters(FUNCTIONS[name]), *OPTIONS, *HARMLESS, *NUMPYS_OWN}
    assert {*options} <= known


def with_option(name, option):
    """A call of a function with the option 7 besides others."""
    tree = ast.parse(next(call for call in CALLS if name in options_in(call)), mode="eval")
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    node = next(node for node in calls if ast.unparse(node.func) == f"np.{name}")
    node.keywords.append(ast.keyword(option, ast.Constant(7)))
    return ast.unparse(tree)


def test_a_refused_option_tells_the_reason():
    for name, row in ROWS.items():
        function = functools.reduce(getattr, name.split("."), snp)
        for option, reason in refused_options(row).items():
            call = with_option(name, option)
            with pytest.raises(se.UnsupportedError, match=f"{option}=7 .*{re.escape(reason)}$"):
                run(call, snp, SYMBOLS)
            assert f"``{option}`` (" in function.__doc__


# Ones and zeros are the same numbers in all types, and a series of numbers is NumPy's own.
OF_ANY_TYPE = {"eye", "geomspace", "identity", "ones", "ones_like", "tri", "zeros", "zeros_like"}


@pytest.mark.parametrize(("option", "value"), [("out", np.empty(3)), ("dtype", int)])
def test_places_and_types_of_results_are_refused(option, value):
    """``out`` and ``dtype``, wherever NumPy has these options."""
    for call in CALLS:
        name = next(options_in(call), "")
        alone = call.startswith(f"np.{name}(") and call.count("np.") == 1 and call.endswith(")")
        has_option = alone and option in parameters(FUNCTIONS[name])
        has_option &= f"{name}.{option}" not in options_in(call)
        if has_option and name != "astype" and name not in OF_ANY_TYPE:
            with pytest.raises(se.UnsupportedError):
                run(f"{call[:-1]}, {option}=value)", snp, SYMBOLS | {"value": value})


# Names and options that NumPy gives up are known on.
given_up = pytest.mark.filterwarnings(
    "ignore:`row_stack` alias:DeprecationWarning", "ignore:`axes` should not be:DeprecationWarning"
)


@given_up
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@calls
def test_values_are_those_of_numpy(call):
    expr = run(call, snp, SYMBOLS)
    expected = run(call, NUMPY, ARRAYS)
    if isinstance(expr, (tuple, int)):
        assert expr == expected
        return
    assert numeric_shape(getattr(expr, "shape", ())) == np.shape(expected)
    found = np.asarray(evaluate(expr, VALUES))
    assert found.dtype != object
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


CREATED = OF_ANY_TYPE - {"ones_like", "zeros_like"}
CREATED |= {"arange", "array", "asanyarray", "broadcast_shapes", "full", "isscalar"}
CREATED |= {"bartlett", "blackman", "hamming", "hanning", "kaiser", "fft.fftfreq", "fft.rfftfreq"}


@given_up
@calls
def test_numpy_itself_gives_the_same_object(call):
    """With tensors as arguments, NumPy's own functions dispatch to the same table."""
    expr = run(call, snp, SYMBOLS)
    if CREATED.intersection(options_in(call)):
        return  # these see no tensor
    through_numpy = run(call, NUMPY, SYMBOLS)
    assert through_numpy == expr
    assert isinstance(through_numpy, (sympy.Basic, tuple, int))


def test_the_namespace_holds_everything_the_issue_lists():
    more = ["ravel", "reshape", "prod", "pi", "newaxis"]
    for name in [*REQUIRED, *more]:
        owner = snp
        for part in name.split("."):
            assert hasattr(owner, part), f"sympy_einsum.numpy.{name} is missing"
            owner = getattr(owner, part)


@pytest.mark.parametrize("name", sorted(REQUIRED))
def test_parameters_are_called_as_in_numpy(name):
    """Every parameter of ours has a name that NumPy's function has too, in the same order."""
    ours, theirs = snp, np
    for part in name.split("."):
        ours, theirs = getattr(ours, part), getattr(theirs, part)
    try:
        numpys = list(inspect.signature(theirs).parameters)
        mine = inspect.signature(ours).parameters
    except ValueError:
        return  # a ufunc
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    named = [q for q in mine if mine[q].kind not in kinds]
    if isinstance(theirs, np.ufunc) or name in ("einsum", "where", "clip"):
        return
    allowed = [q for q in numpys if q in named]
    assert [q for q in named if q in allowed] == allowed
    positional_only = inspect.Parameter.POSITIONAL_ONLY
    assert all(q in numpys or mine[q].kind == positional_only for q in named), (named, numpys)


# --- mixing with arrays and scalars ---------------------------------------------------------------

NUMBERS = np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -3.0]])
POINT = np.array([1.5, -0.5, 2.0])

MIXES = """
Q + NUMBERS
NUMBERS + Q
Q - NUMBERS
NUMBERS - Q
Q * NUMBERS
NUMBERS * Q
Q / (NUMBERS**2)
NUMBERS / Q
Q**NUMBERS
Q @ POINT
NUMBERS @ w
POINT @ w
w @ POINT
NUMBERS.T @ Q
np.add(NUMBERS, Q)
np.multiply(Q, NUMBERS)
np.maximum(Q, NUMBERS)
np.where(Q > NUMBERS, Q, NUMBERS)
np.dot(NUMBERS, w)
np.matmul(NUMBERS, w)
np.outer(POINT, w)
np.inner(POINT, w)
np.vdot(POINT, w)
np.kron(NUMBERS, Q)
np.tensordot(NUMBERS, Q, axes=([0, 1], [0, 1]))
np.einsum("ij,j->i", NUMBERS, w)
np.einsum("ij,ij->", NUMBERS, Q)
np.linalg.solve(np.diag(POINT), w)
np.concatenate([w, POINT])
np.stack([POINT, w])
np.sum(Q * NUMBERS, axis=0)
Q * np.float64(2.5)
np.float64(2.5) * Q
np.float64(2.5) + w
np.float32(0.5) * w
np.int64(2) * w
w ** np.int64(2)
np.int64(2) ** w
w / np.int32(4)
w - np.float64(1)
np.float64(1) - w
np.float64(1) / w
Q + NUMBERS[:1]
Q * NUMBERS[:, :1]
w * np.array([1, 2, 3])
w * np.array([True, False, True])
""".strip().splitlines()


@pytest.mark.parametrize("call", MIXES)
@pytest.mark.parametrize("namespace", [np, snp], ids=["numpy", "sympy_einsum.numpy"])
def test_real_arrays_become_constants(call, namespace):
    data = {Q: np.abs(NUMBERS[:, ::-1]) + 0.1, w: POINT[::-1] ** 2}
    constants = {"NUMBERS": NUMBERS, "POINT": POINT}
    if namespace is snp and re.search(r"np\.(diag|array|int|float)", call):
        return  # these make data
    expr = eval(call, {"np": namespace, "Q": Q, "w": w, **constants})
    assert isinstance(expr, sympy.Expr), type(expr)
    with np.errstate(invalid="ignore"):
        expected = eval(call, {"np": np, "Q": data[Q], "w": data[w], **constants})
    keep = np.isfinite(expected)
    actual = np.asarray(evaluate(expr, data))
    assert actual.shape == expected.shape
    assert_close(np.where(keep, actual, 0.0), np.where(keep, expected, 0.0))


def test_an_array_is_copied_when_it_becomes_a_constant():
    array = POINT.copy()
    e = w * array
    array[:] = 0
    assert_close(evaluate(e, {w: np.ones(3)}), POINT)


def test_equal_arrays_are_one_constant():
    assert w * POINT == w * POINT.copy()
    assert w * POINT != w * (POINT + 1e-15)
    assert (w * POINT).subs(w, 2 * w) == 2 * w * POINT


def test_in_place_operators_rebind():
    e = x
    e += y
    e *= 2
    assert e == 2 * (x + y)
    array = POINT.copy()
    with pytest.raises((TypeError, se.TensorError)):
        array += w


def test_derivatives_of_mixed_expressions():
    f = np.sum((NUMBERS @ w - np.array([1.0, 2.0])) ** 2)
    residual = NUMBERS @ POINT - np.array([1.0, 2.0])
    assert_close(evaluate(se.gradient(f, w), {w: POINT}), 2 * NUMBERS.T @ residual)
    assert_close(evaluate(se.hessian(f, w), {w: POINT}), 2 * NUMBERS.T @ NUMBERS)


SCALAR_FUNCTIONS = {
    "exp": sympy.exp,
    "log": sympy.log,
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tan": sympy.tan,
    "arcsin": sympy.asin,
    "arccos": sympy.acos,
    "arctan": sympy.atan,
    "sinh": sympy.sinh,
    "cosh": sympy.cosh,
    "tanh": sympy.tanh,
    "arcsinh": sympy.asinh,
    "arccosh": sympy.acosh,
    "arctanh": sympy.atanh,
    "sqrt": sympy.sqrt,
    "abs": sympy.Abs,
    "absolute": sympy.Abs,
    "sign": sympy.sign,
    "square": lambda z: z**2,
    "negative": lambda z: -z,
    "sum": lambda z: z,
    "mean": lambda z: z,
}


@pytest.mark.parametrize("name", SCALAR_FUNCTIONS)
def test_sympy_scalars_give_sympys_own_objects(name):
    function = getattr(snp, name)
    assert function(t) == SCALAR_FUNCTIONS[name](t)
    f = x @ x
    assert function(f) == SCALAR_FUNCTIONS[name](f)
    assert function(sympy.sin(f) * t) == SCALAR_FUNCTIONS[name](sympy.sin(f) * t)


@pytest.mark.parametrize("name", ["exp", "sin", "sqrt", "log1p", "expm1", "tanh", "abs"])
def test_plain_numbers_and_arrays_have_their_value(name):
    value = evaluate(getattr(snp, name)(0.5), {t: 0.0})
    assert_close(value, getattr(np, name)(0.5))
    array = np.array([0.5, 0.25, 1.0])
    assert_close(
        evaluate(w + getattr(snp, name)(array), {w: POINT}), POINT + getattr(np, name)(array)
    )


def test_functions_of_scalars_with_two_arguments():
    assert snp.maximum(t, u) == sympy.Max(t, u)
    assert snp.power(t, 2) == t**2
    assert snp.add(t, u) == t + u
    assert snp.multiply(t, x) == t * x
    assert snp.divide(x, t) == x / t
    f = x @ x
    assert snp.maximum(f, 0).free_symbols >= {x}


def test_exact_numbers_stay_exact():
    assert snp.multiply(Rational(1, 3), x) == x / 3
    assert snp.mean(w) == w.sum() / 3
    assert snp.mean(x) == x.sum() / n
    assert snp.var(w, ddof=1).has(sympy.Float) is False
    assert snp.sqrt(4) == 2


def test_keys_of_lexsort_have_one_shape():
    with pytest.raises(se.ShapeError, match="one shape"):
        snp.lexsort((w, [1, 2, 3, 4]))


def test_symbolic_shapes():
    assert snp.ones((n, m)) == se.Ones(n, m)
    assert snp.zeros((n, m)) == se.Zeros(n, m)
    assert snp.zeros(n) == se.Zeros(n)
    assert snp.eye(n) == se.Delta(n)
    assert snp.ones_like(X) == se.Ones(n, m)
    assert snp.zeros_like(X) == se.Zeros(n, m)
    assert snp.broadcast_to(v, (n, m)).shape == (n, m)
    assert snp.ravel(X).shape == (n * m,)
    assert snp.kron(X, A).shape == (n * n, m * n)
    assert snp.concatenate([x, v]).shape == (n + m,)
    assert snp.reshape(X, (m, n)).shape == (m, n)
    with pytest.raises(se.TensorError):
        snp.reshape(X, (n, p))


@pytest.mark.parametrize(
    "call",
    [
        lambda: np.linalg.eig(A),
        lambda: np.fft.fft(x),
        lambda: np.sort(x),
        lambda: np.unique(x),
        lambda: np.nonzero(x),
        lambda: np.random.default_rng(0).permutation(x),
        lambda: np.isnan(x).any(),
        lambda: np.add.reduce(x),
        lambda: np.add.accumulate(x),
        lambda: np.multiply.outer(x, y),
        lambda: np.exp(x, out=np.empty(3)),
        lambda: np.exp(x, where=np.array([True, False, True])),
        lambda: np.sum(x, dtype=int),
        lambda: np.sum(x, where=np.array([True])),
        lambda: np.sum(x, out=np.empty(())),
        lambda: np.sum(x, initial=3),
        lambda: np.bitwise_and(x, y),
        lambda: np.frompyfunc(lambda a: a, 1, 1)(x),
        lambda: scipy.special.zeta(2, x),
        lambda: scipy.special.hyp2f1(1, 2, 3, x),
    ],
)
def test_unsupported_options_are_refused_or_right(call):
    """Never an object array, never an option silently dropped."""
    try:
        result = call()
    except (TypeError, ValueError, NotImplementedError, AttributeError):
        return
    assert not isinstance(result, np.ndarray), result
    assert isinstance(result, (sympy.Basic, tuple, se.ComplexTensor))


def test_options_are_not_dropped_silently():
    """An accepted option has its effect."""
    for call, expected in (
        (lambda: np.sum(w, initial=3.0), POINT.sum() + 3),
        (lambda: np.add.reduce(w), POINT.sum()),
        (lambda: np.multiply.outer(w, w), np.multiply.outer(POINT, POINT)),
        (lambda: np.sum(w, where=np.array([True, False, True])), POINT[[0, 2]].sum()),
        (lambda: np.mean(w, where=np.array([True, False, True])), POINT[[0, 2]].mean()),
        (lambda: np.exp(w, where=np.array([True, True, True])), np.exp(POINT)),
    ):
        try:
            result = call()
        except (TypeError, ValueError, NotImplementedError):
            continue
        assert_close(evaluate(result, {w: POINT}), expected)


METHODS = {
    "reduce": ["add", "multiply", "maximum", "minimum", "logaddexp", "logical_and", "logical_or"],
    "accumulate": ["add", "multiply", "maximum", "minimum", "logaddexp"],
}


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize(
    ("method", "name"), [(method, name) for method, names in METHODS.items() for name in names]
)
def test_methods_along_an_axis(method, name, axis):
    array = np.random.default_rng(0).normal(size=(3, 4)) * [[1, 0, 2, 1]]
    M = se.TensorSymbol("M", array.shape)
    of_numpy = getattr(getattr(np, name), method)
    for own in (of_numpy, getattr(getattr(snp, name), method)):
        assert_close(evaluate(own(M, axis), {M: array}), of_numpy(array, axis))
        assert_close(evaluate(own(M), {M: array}), of_numpy(array))
        if method == "reduce":
            for options in ({"axis": None}, {"axis": (0, 1)}, {"axis": axis, "keepdims": True}):
                expected = of_numpy(array, **options)
                assert_close(evaluate(own(M, **options), {M: array}), expected)
    with pytest.raises((se.UnsupportedError, TypeError), match="out"):
        of_numpy(M, out=np.empty(4))


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "power", "maximum",
                                  "hypot", "arctan2", "greater", "fmod"])  # fmt: skip
def test_outer_of_universal_functions(name):
    rng = np.random.default_rng(1)
    arrays = [rng.uniform(1, 2, shape) for shape in [(3,), (2, 4), ()]]
    tensors = [se.TensorSymbol(f"x{k}", a.shape) if a.shape else 1.5 for k, a in enumerate(arrays)]
    arrays[2] = 1.5
    data = {tensors[k]: arrays[k] for k in (0, 1)}
    for a, b in ((0, 1), (1, 0), (0, 0), (0, 2), (2, 1)):
        expected = getattr(np, name).outer(arrays[a], arrays[b]) * 1.0
        for space in (np, snp):
            found = getattr(space, name).outer(tensors[a], tensors[b])
            assert found.shape == expected.shape
            assert_close(evaluate(found, data), expected)


def test_methods_that_there_are_not():
    for call in (lambda: np.subtract.reduce(x), lambda: np.add.reduceat(x, [0, 1])):
        with pytest.raises(se.UnsupportedError, match="the ufunc"):
            call()
    with pytest.raises(TypeError, match=r"functions of sympy_einsum, such as softmax"):
        scipy.special.softmax(x)
    with pytest.raises(TypeError, match=r"sympy_einsum.numpy.array in place of numpy.array"):
        np.array([[0, x[0]], [-x[0], 0]])


def test_dtype_arguments():
    for call in (lambda: np.zeros_like(x, dtype=float), lambda: snp.ones((n,), dtype=float)):
        assert call().shape == (n,)


def test_comparisons_are_for_where_only():
    condition = x > y
    with pytest.raises((TypeError, se.TensorError)):
        bool(condition)
    chosen = snp.where(condition, x, y)
    assert chosen.shape == (n,)
    data = {x: np.array([1.0, 5.0, 3.0]), y: np.array([2.0, 4.0, 3.0])}
    assert_close(evaluate(chosen, data), np.maximum(data[x], data[y]))
    derivative = evaluate(se.diff(chosen, x), data)
    assert_close(np.diag(derivative)[:2], np.array([0.0, 1.0]))


def test_the_matrix_of_distances():
    """Several functions together, as in everyday code."""
    points, centres = se.TensorSymbol("P", (n, k)), se.TensorSymbol("C", (m, k))

    def distances(np, points, centres):
        return np.sqrt(np.sum((points[:, None, :] - centres[None, :, :]) ** 2, axis=-1) + 1)

    e = distances(snp, points, centres)
    assert e.shape == (n, m)
    assert distances(np, points, centres) == e
    rng = np.random.default_rng(0)
    data = {points: rng.standard_normal((3, 2)), centres: rng.standard_normal((4, 2))}
    assert_close(evaluate(e, data), distances(np, data[points], data[centres]))


@pytest.mark.parametrize(
    "template", ["np.maximum({}, 0)", "np.exp({})", "np.where({0} > 0, {0}, 0)", "np.sum({})"]
)
def test_results_of_one_function_feed_the_next(template):
    inner = "(X @ v) * x"
    expr = run(template.format(inner), snp, SYMBOLS)
    assert run(template.format(inner), np, SYMBOLS) == expr
    assert_close(evaluate(expr, VALUES), run(template.format(inner), np, ARRAYS))


def test_order_zero_symbols():
    assert s.shape == ()
    e = snp.exp(s) * x + s**2
    assert e.shape == (n,)
    value = evaluate(e, {s: 0.5, x: POINT})
    assert_close(value, np.exp(0.5) * POINT + 0.25)
    assert_close(evaluate(se.diff(e, s), {s: 0.5, x: POINT}), np.exp(0.5) * POINT + 1)
    assert np.exp(s) == se.exp(s)
    assert np.sum(s) == s
