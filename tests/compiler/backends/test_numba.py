"""Numba: text, types, arguments of all kinds, compiled code on disk."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from threading import Thread

import numpy as np
import pytest
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.compiler.kernel_calls import kept_file
from sympy_einsum.core import tuning

pytest.importorskip("numba")
m, n = symbols("m n", integer=True, positive=True)
t = symbols("t", real=True)
A, x = se.TensorSymbol("A", (m, n)), se.TensorSymbol("x", n)
y = se.TensorSymbol("y", m)


def kernel_lines(expr, *arguments):
    """Return the lines of the kernel alone, from its first loop or line on."""
    source = se.lambdify(arguments, expr, "numba").source
    return source[source.index("def compute(") : source.index("def function(")].splitlines()


def compared(function, reference, *values, rtol=1e-12):
    for found, expected in zip(function(*values), reference(*values), strict=True):
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-12)


# --- the text -------------------------------------------------------------------------------------


def test_chain_and_its_sum_are_one_loop_without_arrays():
    total = snp.sum(snp.exp(x) * snp.sin(x) ** 2)
    lines = kernel_lines(total, x)
    assert sum("for " in line for line in lines) == 1
    assert not any("empty(" in line for line in lines)


def test_softmax_of_rows_goes_through_the_rows_once():
    lines = kernel_lines(se.softmax(A, axis=1), A)
    assert [line.strip().split(" in ")[0] for line in lines if "for " in line] == [
        "for i0",
        *["for i1"] * 3,
    ]


@pytest.mark.parametrize("function", [snp.logaddexp, lambda a, b: se.softplus(a) - se.tanh(b)])
def test_loops_call_no_functions_of_numbers(function):
    """Compilers vectorise only loops without calls."""
    namespace: dict = {}
    exec(se.codegen([x], function(x, 2 * x).sum(), backend="numba"), namespace)
    namespace["function"](np.arange(3.0))
    kernel = namespace["compute"]
    (code,) = kernel.inspect_llvm().values()
    assert "fmul <" in code
    assert not re.search(r"call .*(softplus|tanh|log1p|expm1|exponent_parts|logaddexp)", code)


def test_slices_are_offsets():
    lines = kernel_lines(((x[1:] - x[:-1]) ** 2).sum(), x)
    assert any("x[i0 + 1]" in line for line in lines)
    assert not any("x[1:" in line for line in lines)


def test_loops_follow_memory():
    lines = kernel_lines(se.exp(A.T), A)
    assert any("A[i0, i1]" in line for line in lines)


def test_sums_over_first_axis_read_rows():
    lines = [line.strip() for line in kernel_lines(se.exp(A).sum(axis=0), A)]
    assert lines.index("for i0 in range(m):") < lines.index("for i1 in range(n):")


def test_loops_use_only_names_defined_before_them():
    """A value read after an inner loop is read again where the outer loop continues."""
    given = [x, se.TensorSymbol("z", n), se.TensorSymbol("W", (2, 2))]
    gradients = se.gradient((given[2] * np.corrcoef(*given[:2])).sum(), given[:2])
    exprs = [np.corrcoef(*given[:2]), *gradients]
    function = se.lambdify(given, exprs, "numba", optimize=False)
    rng = np.random.default_rng(1)
    values = [rng.standard_normal(shape) for shape in (5, 5, (2, 2))]
    compared(function, se.lambdify(given, exprs), *values)


def test_values_of_outer_axes_are_computed_outside():
    lines = kernel_lines(se.einsum("i,ij->ij", se.exp(y), A), y, A)
    depth = {line.strip(): len(line) - len(line.lstrip()) for line in lines}
    (exponential,) = [line for line in depth if "= exp(" in line]
    assert depth[exponential] < max(depth.values())


# --- arguments ------------------------------------------------------------------------------------

EXPRS = [se.exp(A @ x) * y + t, (A**2).sum(axis=0), se.gradient(se.softmax(A @ x) @ y, x), A.sum()]


@pytest.fixture(scope="module")
def pair():
    arguments = [A, x, y, t]
    return se.lambdify(arguments, EXPRS, "numba"), se.lambdify(arguments, EXPRS)


def data(rows=4, columns=3):
    rng = np.random.default_rng(2)
    return rng.standard_normal((rows, columns)), rng.standard_normal(columns), np.ones(rows), 0.5


def test_other_kinds_of_arrays(pair):
    A, x, y, t = data()
    wide = np.zeros((3, 8))
    wide[:, ::2] = A.T
    read_only = x.copy()
    read_only.flags.writeable = False
    for values in (
        (A, x, y, 2),
        (wide[:, ::2].T, x, y, t),
        (np.asfortranarray(A), x[::-1], y, np.float32(t)),
        (A, read_only, y, np.array(0.25)),
        (A.tolist(), x, list(y), t),
        ((10 * A).astype(int), x, y, t),
        (A > 0, x, y, t),
    ):
        compared(*pair, *values)
    # NumPy would sum A**2 in single precision.
    compared(*pair, A.astype(np.float32), x, y, t, rtol=1e-6)


def test_numba_is_not_asked_again_about_arguments_that_it_refused(pair, monkeypatch):
    """Refusing some takes Numba a hundred times as long as computing."""
    function, _ = pair
    A, x, y, t = data()
    asked = []
    compared(*pair, A, x, y, t)
    kernels = function.__globals__["compute"]
    kernel = kernels[A.dtype]
    monkeypatch.setitem(kernels, A.dtype, lambda *values: asked.append(values) or kernel(*values))
    for other in ((A.T.copy().T, x, y, t), (A, x, y, np.array(t))):
        for values in (other, other, (A, x, y, t), (A, x, y, t)):
            compared(*pair, *values)
        assert len(asked) == 5
        asked.clear()


def test_single_precision(pair):
    values = [own.astype(np.float32) if np.ndim(own) else own for own in data()]
    found, expected = (function(*values) for function in pair)
    for own, other in zip(found, expected, strict=True):
        assert own.dtype == other.dtype == np.float32
        np.testing.assert_allclose(own, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("lengths", [(0, 0), (1, 1), (0, 3), (3, 0), (1, 9)])
@pytest.mark.filterwarnings("ignore")
def test_short_axes(pair, lengths):
    compared(*pair, *data(*lengths))


def test_nothing_is_read_beside_an_array(pair):
    A, x, y, t = data()
    unchecked = se.lambdify([globals()[name] for name in "Axy"] + [globals()["t"]], EXPRS, "numba",
                            check=False)  # fmt: skip
    for function, error in ((pair[0], se.ShapeError), (unchecked, ValueError)):
        with pytest.raises(error, match="length"):
            function(A, x[1:], y, t)
    with pytest.raises(se.TensorError, match="argument x must be an array of numbers"):
        pair[0](A, "abc", y, t)
    with pytest.raises(se.ShapeError, match="must have order 2"):
        pair[0](x, x, y, t)


def test_positions_stay_integers():
    places = se.argsort(x)
    exprs = [places[::-1], places[1], places.sum(), places + places[::-1]]
    exprs += [se.argmin(x) * se.Ones(2), np.digitize(x, [0.0, 1.0]), 2 * places * x]
    functions = [se.lambdify([x], exprs, name) for name in ("numba", "numpy")]
    for found, expected in zip(*[f(np.float32([0.5, -1, 3])) for f in functions], strict=True):
        assert np.asarray(found).dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_positions_are_checked():
    i = se.TensorSymbol("i", m)
    function = se.lambdify([x, i], [x[i], se.one_hot(i, n)], "numba")
    values, places = np.array([1.0, 2.0, 4.0]), np.array([-1, 0])
    np.testing.assert_array_equal(function(values, places)[0], [4, 1])
    with pytest.raises(se.ShapeError, match="outside of its axis"):
        function(values, np.array([0, 3]))
    with pytest.raises(se.TensorError, match="integers"):
        function(values, np.array([0.0, 1.0]))
    ahead = se.lambdify([x], x[2:].sum() + x[4], "numba", check=False)
    with pytest.raises((IndexError, se.ShapeError)):
        ahead(np.ones(3))


def test_arguments_stay_and_results_are_new():
    function = se.lambdify([A], [A, A.T, A.reshape(m * n)], "numba")
    (given, *_) = data()
    before = given.copy()
    for result in function(given):
        assert not np.may_share_memory(result, given)
        result[...] = 0
    np.testing.assert_array_equal(given, before)


# --- what there isn't -----------------------------------------------------------------------------


def test_entries_of_an_array_are_distinguished_in_any_axis_order():
    """X[i, :, j] and X[j, :, i] in one loop, of an array in Fortran order."""
    points = se.TensorSymbol("points", (n, 3))
    differences = points[:, None] - points[None]
    squares = (differences**2).sum(axis=2) + 1000 * snp.eye(n)
    powers = 1 / squares**3
    hessian = se.hessian(2 * snp.sum(powers**2 - powers), points)
    function, reference = (se.lambdify(points, hessian, name) for name in ("numba", "numpy"))
    values = np.random.default_rng(3).standard_normal((4, 3))
    np.testing.assert_allclose(function(values), reference(values), rtol=1e-12, atol=1e-12)


def test_semirings_are_refused():
    with pytest.raises(se.UnsupportedError, match="no semirings"):
        se.lambdify([A], A.sum(axis=0), "numba", semiring="max-plus")


# --- compiled code --------------------------------------------------------------------------------


def test_text_runs_alone():
    namespace = {}
    exec(se.codegen([A, x], se.exp(A @ x), "numba", name="f"), namespace)
    values, vector, *_ = data()
    np.testing.assert_allclose(namespace["f"](values.tolist(), vector), np.exp(values @ vector))


def test_pickle_and_threads(pair):
    function = pickle.loads(pickle.dumps(se.lambdify([x], se.exp(x) * 2, "numba")))
    found = []
    threads = [Thread(target=lambda: found.append(function(np.zeros(2)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(found, np.full((4, 2), 2))


@pytest.mark.slow
def test_another_process_finds_compiled_code(tmp_path):
    code = (
        "import numpy as np, sympy_einsum as se, sys\n"
        "x = se.TensorSymbol('x', 1)\n"
        "f = se.lambdify([x], se.exp(x) / 3, 'numba')\n"
        "print(f(np.zeros(1)))\n"
        "(kernel,) = f.__func__.__globals__['compute'].values()\n"
        "print(sum(kernel.stats.cache_hits.values()))"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "own")}
    for hits in ("0", "1"):
        run = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True,
            check=True, env=environment,
        )  # fmt: skip
        assert run.stdout.split() == ["[0.33333333]", hits if _is_safe(tmp_path) else "0"]


def _is_safe(folder):
    return hasattr(os, "getuid") and not any(
        path.stat().st_mode & 0o022 and not path.stat().st_mode & 0o1000
        for path in (folder, *folder.parents)
    )


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions of POSIX")
def test_the_kernels_used_last_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(tuning, "MAX_KEPT_KERNELS", 3)
    paths = [kept_file(f"a = {k}\n") for k in range(3)]
    compiled = []
    for age, path in enumerate(paths):
        compiled.append(path.parent / "__pycache__" / f"{path.stem}.compute-1.nbi")
        compiled[-1].parent.mkdir(exist_ok=True)
        compiled[-1].write_text("")
        os.utime(path, (age, age))
    assert kept_file("a = 0\n") == paths[0]
    assert paths[0].stat().st_mtime == 0
    last = kept_file("a = 3\n")
    assert {*last.parent.glob("*.py")} == {paths[0], paths[2], last}
    assert [file.exists() for file in compiled] == [True, False, True]


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 130])
def test_products_of_a_matrix_with_itself_are_computed_by_halves(rows):
    found = se.lambdify([A], [A @ A.T, A.T @ A], backend="numba")
    value = np.random.default_rng(0).standard_normal((rows, 5))
    assert found.source.count("gram(") >= 2
    for result, expected in zip(found(value), [value @ value.T, value.T @ value], strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions of POSIX")
def test_folders_of_others_are_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = kept_file("a = 1\n")
    assert path is not None
    assert path.read_text() == "a = 1\n"
    assert path.parent.stat().st_mode & 0o777 == 0o700
    path.parent.chmod(0o777)
    assert kept_file("a = 1\n") is None
    path.parent.chmod(0o700)
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert kept_file("a = 1\n") is None
    monkeypatch.undo()
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    assert kept_file("a = 1\n") is None


class _Planted:
    """Creates a file when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return open, (str(self.mark), "w")


# What others may write to: the folder that Numba is told, the one in it, the index in that.
OPENED = {
    "nothing": lambda index, top: None,
    "the folder": lambda index, top: top.chmod(0o777),
    "the folder of the group": lambda index, top: top.chmod(0o770),
    "the folder in it": lambda index, top: index.parent.chmod(0o777),
    "the file": lambda index, top: index.chmod(0o666),
}


@pytest.fixture
def closed_to_the_group():
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions of POSIX")
@pytest.mark.usefixtures("closed_to_the_group")
@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("opened", OPENED)
def test_compiled_code_that_others_can_write_is_not_read(tmp_path, monkeypatch, opened, told):
    """In the default cache folder and in that of NUMBA_CACHE_DIR."""
    numba = pytest.importorskip("numba")
    if not _is_safe(tmp_path):
        pytest.skip("the folder of tests isn't safe")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    top = tmp_path / "told" if told else tmp_path / "own" / "sympy_einsum" / "numba"
    top.mkdir(parents=True)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(top) if told else "")
    monkeypatch.setattr(numba.core.config, "CACHE_DIR", str(top) if told else "")
    value = np.arange(3.0)

    def computed():
        return se.lambdify([x], x * 2 + 7, "numba")(value)

    computed()
    (index,) = top.rglob("*.nbi")
    for folder in (index.parent, top):
        folder.chmod(0o755)
    mark = tmp_path / "mark"
    index.write_bytes(pickle.dumps(_Planted(mark)))
    OPENED[opened](index, top)
    np.testing.assert_array_equal(computed(), value * 2 + 7)
    assert mark.exists() == (opened == "nothing")
