"""Reduction of matrix networks in two algebras: numbers, where every order of steps gives the value
of the sum, and words, which show the order."""

import random
from types import SimpleNamespace

import numpy as np
import pytest

from sympy_einsum.core import HADAMARD_FIRST, PRODUCTS_FIRST, WITHOUT_ENTRYWISE_PRODUCTS, Network

LENGTHS = dict(zip("ijkl", (2, 3, 4, 5), strict=True))


def product_of_arrays(factors):
    result = np.ones((1, 1))
    for factor in factors:
        scalar = result.shape == (1, 1) or np.shape(factor) in ((), (1, 1))
        result = result * factor if scalar else result @ factor
    return result


def product_of_hadamard(factors):
    result = 1
    for factor in factors:
        result = result * factor
    return result


ARRAYS = SimpleNamespace(
    product=product_of_arrays,
    transpose=np.transpose,
    hadamard=product_of_hadamard,
    dot=lambda x, y: (x.T @ y).item(),
    trace=np.trace,
    diagonal=lambda matrix: np.diagonal(matrix)[:, None],
    diagonal_matrix=lambda vector: np.diag(vector[:, 0]),
    ones=lambda shape: np.ones((*shape, 1)[:2]),
)


def turned(chain):
    """Return the transpose of words side by side; diagonal matrices are their own."""
    words = [w if w[0] == "d" else w[:-1] if w[-1] == "'" else f"{w}'" for w in chain.split()]
    return " ".join(words[::-1])


WORDS = SimpleNamespace(
    product=" ".join,
    transpose=turned,
    hadamard=lambda factors: f"({'*'.join(factors)})",
    dot=lambda x, y: f"<{x},{y}>",
    trace="tr({})".format,
    diagonal="diagonal({})".format,
    diagonal_matrix="diag({})".format,
    ones=lambda shape: "1" * len(shape),
)


def reduced(algebra, factors, terms, output, steps):
    edges = list(zip(factors, map(tuple, terms), strict=True))
    return Network(algebra, edges, output, LENGTHS, steps).result(output)


def in_words(index_string, steps):
    inputs, output = index_string.split("->")
    terms = inputs.split(",")
    names = iter("ABCDEFG")
    return reduced(WORDS, [next(names) for _ in terms], terms, output, steps)


@pytest.mark.parametrize("steps", [PRODUCTS_FIRST, HADAMARD_FIRST], ids=["products", "hadamard"])
def test_forms_have_the_value_of_the_sum(steps):
    rng, data = random.Random(3), np.random.default_rng(3)
    found = 0
    for _ in range(600):
        terms = ["".join(rng.choices("ijkl", k=rng.choice([0, 1, 1, 2, 2, 2]))) for _ in range(4)]
        terms = terms[: rng.randint(1, 4)]
        output = rng.choice(["", "i", "ij", "ji", "ii", "k"])
        values = [data.normal(size=[LENGTHS[label] for label in term]) for term in terms]
        columns = [value[:, None] if value.ndim == 1 else value for value in values]
        result = reduced(ARRAYS, columns, terms, output, steps)
        if result is None:
            continue
        found += 1
        distinct = "".join(dict.fromkeys(output))
        ones = [label for label in distinct if label not in "".join(terms)]
        string = f"{','.join([*terms, *ones])}->{distinct}"
        value = np.einsum(string, *values, *[np.ones(LENGTHS[label]) for label in ones])
        expected = np.diag(value) if output == "ii" else value
        np.testing.assert_allclose(np.reshape(result, expected.shape), expected, err_msg=string)
    assert found > 300


@pytest.mark.parametrize(
    ("index_string", "products", "hadamard"),
    [
        ("ij,jk->ik", "A B", "A B"),
        ("ij,jk->ki", "B' A'", "B' A'"),
        ("ii->", "tr(A)", "tr(A)"),
        ("ii->i", "diagonal(A)", "diagonal(A)"),
        ("i,i->", "<A,B>", "<A,B>"),
        ("i,i,i->", "<A,(B*C)>", "<1,(A*B*C)>"),
        ("ij->i", "A 1", "A 1"),
        ("i->ii", "diag(A)", "diag(A)"),
        ("i->ij", "A 1'", "A 1'"),
        ("i,ij->ij", "diag(A) B", "diag(A) B"),
        ("ij,ij->", "tr(A' B)", "tr(A' B)"),
        ("ij,ij->i", "diagonal(A B')", "(A*B) 1"),
        ("ij,j,jk->ik", "A diag(B) C", "A diag(B) C"),
    ],
)
def test_the_steps_decide_between_forms(index_string, products, hadamard):
    assert in_words(index_string, PRODUCTS_FIRST) == products
    assert in_words(index_string, HADAMARD_FIRST) == hadamard


@pytest.mark.parametrize("steps", [PRODUCTS_FIRST, HADAMARD_FIRST], ids=["products", "hadamard"])
@pytest.mark.parametrize("index_string", ["ij,ik,il,jk,jl,kl->", "il,jl,kl,ij,jk,ik->l"])
def test_other_products_have_no_matrix_form(index_string, steps):
    assert in_words(index_string, steps) is None


def test_factors_on_kept_labels_are_not_merged():
    edges = [("A", ("i", "j")), ("B", ("i", "j")), ("C", ("j", "k")), ("D", ("i",)), ("E", ("i",))]
    network = Network(WORDS, edges, "ij", LENGTHS, WITHOUT_ENTRYWISE_PRODUCTS)
    network.reduce()
    assert [factor for factor, _ in network.edges] == ["A", "B", "D", "E", "C 1"]


def test_long_chains_take_linear_time():
    count = 2000
    lengths = dict.fromkeys(range(count + 1), 2)
    edges = [("A", (k, k + 1)) for k in range(count)]
    found = Network(WORDS, edges, [0, count], lengths, PRODUCTS_FIRST).result([0, count])
    assert found.replace("'", "") == " ".join(["A"] * count)
