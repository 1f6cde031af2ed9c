"""The texts of helper functions, the check of arguments, and that every helper has a test."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from runtime_helpers import defined, raw

from sympy_einsum.compiler.runtime.language_helpers import helper_parts, needed_parts
from sympy_einsum.compiler.runtime.numba_helpers import OfNumbers, of_type
from sympy_einsum.compiler.runtime.shared_helpers import shared
from sympy_einsum.compiler.runtime.sources import Helper, aliases, helpers


def in_jax(name):
    space, _, own = name.partition(".")
    return f"jnp.{own}" if space == "xp" else None


def test_every_helper_function_has_a_test():
    """... that names it as ``module.function``, or calls it here."""
    folder = Path(__file__).parent
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in folder.glob("test_*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    named = {node.value for node in nodes if isinstance(node, ast.Constant)}
    called = {node.id for node in nodes if isinstance(node, ast.Name)}
    tables = {"sources", "shared_helpers", "numba_helpers", "language_helpers"}
    missing = {
        name
        for name in defined() - named
        if name.partition(".")[0] not in tables or name.partition(".")[2] not in called
    }
    assert not missing


def test_parts_stand_after_what_they_need():
    """tests/compiler/emit/test_typed_functions.py compiles and runs them."""
    parts = helper_parts("c_helpers.c")
    found = needed_parts("c_helpers.c", ["gram", "softplus"])
    assert [*found] == [name for name in parts if name in found]
    assert {"add_product", "memory", "log_of"} < found.keys()
    assert needed_parts("c_helpers.c", []) == {}


def test_texts_are_in_the_names_of_a_library():
    text, names = Helper(".array_helpers", "logcumsumexp").written("own_name", in_jax)
    assert text.startswith("def own_name(weights):\n")
    text, names = Helper(".array_helpers", "last_equal").written("last_equal", in_jax)
    assert "jnp.maximum.accumulate(jnp.where(x == best, places, 0), axis=axis)" in text
    assert names == {"jnp"}
    text, names = Helper(".array_helpers", "recurrence").written("again", in_jax)
    assert "again(jnp.flip(x" in text
    assert {"jnp", "again"} == names


def test_names_are_spelled_otherwise():
    (helper,) = shared("lagged_cumsum", spelled={"xp.arange": "np.arange"}).values()
    text, names = helper.written("lagged_cumsum", in_jax)
    assert "n - lag - np.arange(count)" in text
    assert names == {"jnp", "np"}
    (special,) = shared("beta").values()
    assert special.module == ".special_functions"


def test_a_helper_returns_another_expression():
    plus = Helper(".semiring_helpers", "plus", {"ZERO": "-xp.inf"}, "xp.minimum(x, y) + ZERO")
    text, names = plus.written("plus", in_jax)
    assert text.splitlines()[-1] == "    return jnp.minimum(x, y) + -xp.inf"
    assert names == {"jnp", "xp"}


def test_aliases_call_the_function_of_their_name():
    found = aliases(Helper(".torch_helpers", "maximum"), "fmin", "hypot", space="torch")
    texts = {name: own.written(name, lambda name: None).text for name, own in found.items()}
    assert "def hypot(a, b):" in texts["hypot"]
    assert "return torch.fmin(*together(a, b))" in texts["fmin"]


def test_functions_that_are_no_helpers():
    with pytest.raises(ImportError, match="has no unknown"):
        helpers(".array_helpers", "unknown")["unknown"].written("unknown", in_jax)
    with pytest.raises(ModuleNotFoundError):
        Helper("no_such_module.at_all", "f").written("f", in_jax)


def test_functions_of_arrays_become_such_of_numbers():
    text, names = OfNumbers(".special_functions", "sinhc").written("sinhc", in_jax)
    assert text.startswith("@compiled\ndef sinhc(x):\n")
    assert text.rstrip().endswith("return dtype(where(x == 0, 1.0, np.sinh(z) / z))")
    assert names >= {"compiled", "dtype", "where", "np"}


def test_variables_are_helpers_too():
    text = of_type("complex64")["dtype"].written("dtype", in_jax).text
    assert text == "dtype = np.complex64\n"


def test_decorators_change_nothing_where_python_calls():
    assert raw("stubs.compiled")(len) is len


def test_arguments_as_arrays():
    checked = raw("argument_checks.checked_array")

    def array(value, shape=("n",)):
        return checked("x", value, shape, np.asarray, ValueError)

    assert array([1.0, 2.0]).tolist() == [1, 2]
    assert array(np.array([1, 2], np.int8)).dtype == int
    assert array(np.array([True])).dtype == int
    assert array(np.array([1.5], ">f8")).dtype.isnative
    assert checked("x", 2.0, (), np.asarray, ValueError) == 2
    assert array(np.ma.masked_array([1.0], [False])).tolist() == [1]
    for wrong, message in {
        "abc": "no array of numbers|an array of numbers",
        2.0: "must have order 1, but an array of order 0",
        ((1.0,),): "must have order 1, but an array of order 2",
    }.items():
        with pytest.raises(ValueError, match=message):
            array(wrong)
    with pytest.raises(ValueError, match="masked entries"):
        array(np.ma.masked_array([1.0], [True]))


def test_arguments_as_integers():
    checked = raw("argument_checks.checked_integer")
    assert checked("n", 3.0, ValueError) == checked("n", np.int8(3), ValueError) == 3
    for wrong in (2.5, np.inf, np.nan, True, "3", None, np.ones(1)):
        with pytest.raises(ValueError, match="argument n is a length or a position"):
            checked("n", wrong, ValueError)


def test_lengths_of_arguments():
    check = raw("argument_checks.check_shapes")
    double = ("2*n", ["n"], lambda n: 2 * n)
    arguments = [("x", [1.0, 2.0], ("n",)), ("y", np.ones(4), (double,)), ("k", 3.0, None)]
    x, y, k = check(arguments, np.asarray)
    assert (x.shape, y.shape, k) == ((2,), (4,), 3)
    for wrong, message in (
        (("z", np.ones(3), ("n",)), "z has length 3 on axis 0, but n is 2, from axis 0 of x"),
        (("z", np.ones(3), (double,)), r"z has length 3 on axis 0, which must be 2\*n = 4"),
        (("z", np.ones(3), (5,)), "z has length 3 on axis 0, which must be 5"),
        (("z", 0.5, ...), "argument z is a length or a position"),
    ):
        with pytest.raises(ArithmeticError, match=message):
            check([*arguments, wrong], np.asarray, ArithmeticError)
    # A length that an axis tells together with another one.
    solved = [("m", 1, 0, ["n"], lambda axis, n: axis - n)]
    total = ("n + m", ["n", "m"], lambda n, m: n + m)
    given = [("x", np.ones(2), ("n",)), ("y", np.ones(5), (total,))]
    twice = ("2*m", ["m"], lambda m: 2 * m)
    assert len(check([*given, ("z", np.ones(6), (twice,))], np.asarray, solved=solved)) == 3
    with pytest.raises(ValueError, match=r"z has length 4 on axis 0, which must be 2\*m = 6"):
        check([*given, ("z", np.ones(4), (twice,))], np.asarray, solved=solved)
