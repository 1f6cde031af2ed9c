"""Tensors in sympy.physics: matrices don't commute, and noncommutative objects are no entries."""

import pytest
from oracles import n
from sympy import I, Matrix, Rational, Symbol, symbols
from sympy.physics import secondquant
from sympy.physics.paulialgebra import Pauli, evaluate_pauli_product
from sympy.physics.quantum import (
    AntiCommutator,
    Bra,
    Commutator,
    Dagger,
    Ket,
    Operator,
    TensorProduct,
    qapply,
    represent,
)
from sympy.physics.quantum.spin import Jz, JzKet

import sympy_einsum as se

t = Symbol("t", real=True)
x, y = se.tensors("x y", n)
A, B = se.tensors("A B", n, n)
T, U = se.tensors("T U", 4, n, n)
O, P, ket, bra = Operator("O"), Operator("P"), Ket("k"), Bra("b")
f = x @ A @ y
p, q = symbols("p q", cls=Symbol)


@pytest.mark.parametrize(("left", "right"), [(A, B), (A, A), (A @ B, A), (T, U), (2 * A, I * B)])
def test_commutators(left, right):
    products = left @ right, right @ left
    assert se.equal(Commutator(left, right), products[0] - products[1])
    assert se.equal(AntiCommutator(left, right), products[0] + products[1])


def test_scalars_commute():
    assert Commutator(A, t) == Commutator(f, A) == se.Zeros(n, n)
    assert AntiCommutator(t, A) == 2 * t * A
    assert Commutator(f, O) == 0
    assert AntiCommutator(O, f) == 2 * f * O
    assert Commutator(O, P).args == (O, P)


def test_adjoints():
    assert Dagger(A) == A.T == secondquant.Dagger(A)
    assert Dagger(I * A) == -I * A.T
    assert Dagger(x) == x
    assert Dagger(f) == f
    assert Dagger(A @ B) == B.T @ A.T


def test_tensor_products():
    X, Y = se.TensorSymbol("X", 2, 3), se.TensorSymbol("Y", 3, 2)
    assert TensorProduct(X, Y) == se.kron(X, Y)
    assert TensorProduct(X, t, Y) == t * se.kron(X, Y)
    assert TensorProduct(x, y) == se.kron(x, y)
    assert TensorProduct(X, Y, X).shape == (12, 18)
    known = TensorProduct(Matrix([[1, 2]]), Matrix([[3], [4]]))
    mixed = TensorProduct(se.Constant([[1, 2]]), Matrix([[3], [4]]))
    assert Matrix(mixed.as_explicit()) == known
    with pytest.raises(se.UnsupportedError, match="different orders"):
        TensorProduct(x, A)


@pytest.mark.parametrize("kind", [Commutator, AntiCommutator])
def test_vectors_have_no_commutator(kind):
    with pytest.raises(se.UnsupportedError, match="not the vector x"):
        kind(x, A)


ORDERED = [
    *(O, ket, bra, Dagger(O), ket * bra, Commutator(O, P), TensorProduct(O, P), Pauli(1)),
    *(secondquant.Fd(p), Symbol("N", commutative=False), 2 * O, O + t),
]


@pytest.mark.parametrize("ordered", ORDERED, ids=str)
@pytest.mark.parametrize("tensor", [x, A, T], ids=str)
def test_noncommutative_objects_are_no_entries(ordered, tensor):
    """It would be reordered among entries, or be taken for a scalar."""
    for made in (
        lambda: ordered * tensor,
        lambda: tensor * ordered,
        lambda: tensor + ordered,
        lambda: tensor**ordered,
        lambda: Commutator(tensor, ordered),
        lambda: AntiCommutator(ordered, tensor),
        lambda: TensorProduct(tensor, ordered),
    ):
        with pytest.raises(se.TensorError):
            made()


@pytest.mark.parametrize("ordered", ORDERED, ids=str)
def test_scalars_multiply_noncommutative_objects(ordered):
    """In the order of SymPy's own products."""
    assert f * ordered == ordered * f
    assert (f * ordered * P).subs(f, t) == t * ordered * P
    assert f + ordered == ordered + f


def test_algorithms_of_physics_with_scalars():
    assert qapply(f * Jz * JzKet(1, 1)).subs(f, t) == qapply(t * Jz * JzKet(1, 1))
    found = represent(f * Jz, basis=Jz, j=Rational(1, 2))
    assert se.equal(found.subs(f, t), t * se.from_matrix(represent(Jz, basis=Jz, j=Rational(1, 2))))
    assert evaluate_pauli_product(Pauli(1) * f * Pauli(2)) == I * f * Pauli(3)
    product = secondquant.F(p) * secondquant.Fd(q)
    assert secondquant.wicks(product * f).subs(f, t) == secondquant.wicks(product * t)


@pytest.mark.parametrize(
    "made",
    [
        lambda: secondquant.Commutator(A, B),
        lambda: secondquant.Commutator(secondquant.Fd(p), A),
        lambda: Pauli(1) * A,
        lambda: Jz * x,
    ],
)
def test_products_that_are_not_known_are_refused(made):
    with pytest.raises(se.TensorError, match="doesn't commute"):
        made()
