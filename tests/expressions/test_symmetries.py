"""Tensors that are symmetric under permutations of three or more axes."""

from __future__ import annotations

import pickle
from itertools import permutations

import numpy as np
import pytest
import sympy
from sympy import symbols
from sympy.combinatorics import Permutation

import sympy_einsum as se

m, n = symbols("m n", integer=True, positive=True)
EIGHTFOLD = [(1, 0, 2, 3), (0, 1, 3, 2), (2, 3, 0, 1)]
I = se.TensorSymbol("I", n, n, n, n, symmetric=EIGHTFOLD)
S = se.TensorSymbol("S", n, n, n, symmetric=True)
C = se.TensorSymbol("C", n, n, n, n, symmetric=True)
R = se.TensorSymbol("R", n, n, n, symmetric=[(1, 2, 0)])
P = se.TensorSymbol("P", m, n, n, symmetric=[(0, 2, 1)])
TENSORS = [I, S, C, R, P]
x, y = se.tensors("x y", n)
D, X = se.TensorSymbol("D", n, n, symmetric=True), se.TensorSymbol("X", n, n)


def numbers(tensor):
    """Return random numbers with the tensor's symmetry."""
    shape = [{n: 3, m: 2}[length] for length in tensor.shape]
    value = np.random.default_rng(len(shape)).normal(size=shape)
    if tensor is D:
        return value + value.T
    return sum(value.transpose(own) for own in tensor.permutations) if tensor in TENSORS else value


@pytest.mark.parametrize(("tensor", "count"), [*zip(TENSORS, (8, 6, 24, 3, 2), strict=True)])
def test_transposes_are_the_tensor_where_it_says_so(tensor, count):
    value = numbers(tensor)
    assert len(tensor.permutations) == count
    same = 0
    for axes in permutations(range(tensor.order)):
        turned = tensor.transpose(*axes)
        shapes = [turned.shape, tensor.shape]
        is_equal = shapes[0] == shapes[1] and np.allclose(value.transpose(axes), value)
        assert (turned is tensor) == is_equal
        same += is_equal
        found = se.lambdify([tensor], turned)(value)
        np.testing.assert_allclose(found, value.transpose(axes), atol=1e-14)
    assert same == count


def test_equal_transposes_are_one_node():
    assert len({I.transpose(*axes) for axes in permutations(range(4))}) == 3
    assert len({R.transpose(*axes) for axes in permutations(range(3))}) == 2


def energy(density):
    """Return the energy of two electrons, counted twice."""
    direct = se.einsum("ij,kl,ijkl->", density, density, I)
    return (direct - se.einsum("ij,kl,ikjl->", density, density, I) / 2) / 2


@pytest.mark.parametrize("density", [D, X], ids=["symmetric", "any"])
def test_the_fock_matrix_has_two_terms(density):
    fock = se.gradient(energy(density), density)
    assert len(fock.operands) == 2
    direct, exchange = [se.einsum(f"kl,{i}->ij", density, I) for i in ("ijkl", "ikjl")]
    if density is D:
        assert se.equal(fock, direct - exchange / 2)
    value = se.lambdify([density, I], fock)(numbers(density), numbers(I))
    d, i = numbers(density), numbers(I)
    expected = np.einsum("kl,ijkl->ij", d, i)
    expected -= np.einsum("kl,ikjl->ij", (d + d.T) / 2 if density is D else d, i) / 2
    np.testing.assert_allclose(value, expected, atol=1e-12)
    assert len(se.hessian(energy(density), density).operands) == 2


def test_forms_by_symmetric_tensors_are_written_once():
    cubic = se.einsum("ijk,i,j,k->", S, x, x, x)
    assert se.equal(se.gradient(cubic, x), 3 * se.einsum("ijk,j,k->i", S, x, x))
    assert se.equal(se.hessian(cubic, x), 6 * se.einsum("ijk,k->ij", S, x))
    assert se.equal(se.einsum("ijk,i,j->k", S, x, y), se.einsum("ijk,k,j->i", S, x, y))
    assert not se.equal(se.einsum("ijk,i,j->k", R, x, y), se.einsum("ijk,j,i->k", R, x, y))


@pytest.mark.parametrize(
    "e",
    [
        se.einsum("ijkl,ab,ia,kb->jl", I, X, X, D),
        se.einsum("ijkl,klab,bj->ia", I, I, X),
        se.einsum("ijk,jkl,lim->m", S, S, R),
        se.einsum("iijk,jl,kl->", C, X, X),
        se.einsum("aij,ik,jl->akl", P, X, X) + se.einsum("aji,ik,jl->akl", P, X, X),
        se.einsum("ijkl,ij,kl,ik,jl->", I, X, X, D, D),
    ],
    ids=str,
)
def test_values_stay(e):
    leaves = [I, S, C, R, P, D, X]
    values = [numbers(leaf) for leaf in leaves]
    expected = se.lambdify(leaves, e, optimize=False)(*values)
    np.testing.assert_allclose(se.lambdify(leaves, se.simplify(e))(*values), expected, atol=1e-9)
    assert se.check_derivative(e, X) < 1e-6


def test_random_data_have_the_symmetry():
    assert se.check_derivative(se.einsum("ij,kl,ikjl->", X, X, I), I) < 1e-6
    assert se.check_derivative(se.einsum("ijk,i,j,k->", S**2, x, x, y), S) < 1e-6


def test_it_is_written_and_read():
    for tensor in TENSORS:
        names = {**vars(sympy), **vars(se)}
        assert eval(sympy.srepr(tensor), names) is tensor
        assert pickle.loads(pickle.dumps(tensor)) is tensor
    assert I.subs(n, 3).permutations == I.permutations


def test_generators_of_one_group_give_one_symbol():
    cycles = [Permutation(0, 1), Permutation([2, 3, 0, 1])]
    assert se.TensorSymbol("I", n, n, n, n, symmetric=cycles) is I
    everything = [(1, 0, 2), (1, 2, 0)]
    assert se.TensorSymbol("S", n, n, n, symmetric=everything) is S
    assert se.TensorSymbol("D", n, n, symmetric=[(1, 0)]) is D
    assert se.TensorSymbol("X", n, n, symmetric=[(0, 1)]) is X


@pytest.mark.parametrize(
    ("shape", "symmetric", "error", "message"),
    [
        ((n, n, m), True, se.ShapeError, "axes 1 and 2 .* 'T' are exchanged.* n and m"),
        ((n, n, m), [(2, 1, 0)], se.ShapeError, "axes 0 and 2"),
        ((n, n, n), [(1, 0)], se.TensorError, r"permutations of its axes \(0, 1, 2\)"),
        ((n, n, n), [(0, 0, 1)], se.TensorError, r"not \(0, 0, 1\)"),
        ((n, n, n), "ij", se.TensorError, "True or a list of permutations"),
        ((n,) * 6, True, se.TensorError, "720 equal permutations of 6 axes"),
        ((n,), True, se.ShapeError, "must be square"),
    ],
)
def test_wrong_symmetries(shape, symmetric, error, message):
    with pytest.raises(error, match=message):
        se.TensorSymbol("T", *shape, symmetric=symmetric)
