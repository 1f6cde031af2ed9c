"""NumPy's entrywise functions: those of the table's rows, rounding, real and imaginary parts."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Parameter

import sympy

from .. import operations as ops
from ..core import TensorError, as_flag, floor_divide, isinf, isnan, nan_to_num as finite, trunc
from ..expressions import Operand, TensorLike, as_operand, elementwise, holds_complex
from ._options import refuse


class Ufunc(ops.ScalarFunction):
    __doc__ = ops.Docstring("NumPy's function of a name, by the row of a scalar function.")

    def parameters(self) -> Sequence[Parameter]:
        """NumPy's: x, or x1 and x2, and options."""
        names = ["x"] if self.row.arity == 1 else ["x1", "x2"]
        by_position = Parameter.POSITIONAL_ONLY
        return [
            *[Parameter(name, by_position, annotation="TensorLike") for name in names],
            Parameter("options", Parameter.VAR_KEYWORD, annotation="object"),
        ]

    def written_docstring(self) -> str:
        """Compose the docstring of NumPy's function from the row, with an example."""
        row, arguments = self.row, self.arguments()
        call = f"{self.__name__}({', '.join(map(str, arguments))})"
        if row.name:
            meaning = f"The same as :func:`sympy_einsum.{row.name}`. {ops.about(row)}"
        else:
            meaning = f"Defined as {row.function(*arguments)}."
        return ops.paragraphs(
            f"``numpy.{call}`` entry by entry, on tensors and SymPy scalars.",
            meaning,
            ops.SHAPES,
            "NumPy's options, as ``out`` and ``dtype``, mean nothing for symbols: an "
            "UnsupportedError names them.",
            "Examples\n========",
            ops.example("snp", call, row, arguments),
        )

    def __call__(self, *tensors: TensorLike, **options: object) -> Operand:
        refuse(self.__name__, options)
        return elementwise(self.row.function, *tensors)


def add(x1: TensorLike, x2: TensorLike, /) -> Operand:
    """``numpy.add``: the sum entry by entry; a scalar is added to every entry.

    Shapes are equal but for axes of length 1, which stretch; ShapeError otherwise.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 3)
    >>> snp.add(A, x[None, :]).shape, snp.add(x, 1)
    ((2, 3), x + 1)
    """
    return ops.add(x1, x2)


def multiply(x1: TensorLike, x2: TensorLike, /) -> Operand:
    """``numpy.multiply``: the product entry by entry; a scalar multiplies every entry.

    Shapes are equal but for axes of length 1, which stretch; ShapeError otherwise.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x, y = se.tensors("x y", 3)
    >>> snp.multiply(x, y), snp.multiply(2, x)
    (x*y, 2*x)
    """
    return ops.multiply(x1, x2)


def negative(a: TensorLike) -> Operand:
    """``numpy.negative``: every entry with the other sign.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.negative(se.TensorSymbol("x", 3))
    -x
    """
    return ops.multiply(-1, a)


def positive(a: TensorLike) -> Operand:
    """``numpy.positive``: the tensor itself.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.positive(se.TensorSymbol("x", 3))
    x
    """
    return as_operand(a)


def clip(
    a: TensorLike,
    a_min: TensorLike | None = None,
    a_max: TensorLike | None = None,
    out: object = None,
    *,
    min: TensorLike | None = None,
    max: TensorLike | None = None,
) -> Operand:
    """``numpy.clip``; a bound that is None is left out. On a bound the derivative is half of that
    within.

    Raises TensorError for a bound that is given by both of its names.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 4)
    >>> within = snp.clip(x, 0, 1)
    >>> se.lambdify([x], se.gradient(within.sum(), x))([-1.0, 0.0, 0.5, 2.0])
    array([0. , 0.5, 1. , 0. ])
    """
    refuse("clip", {"out": out})
    if (a_min is not None and min is not None) or (a_max is not None and max is not None):
        raise TensorError("clip takes a bound as a_min or as min, as a_max or as max, not as both")
    return ops.clip(a, a_min if min is None else min, a_max if max is None else max)


def round(a: TensorLike, decimals: int = 0, out: object = None) -> Operand:
    """``numpy.round``: to some decimals, halves to the even digit. Its derivative is zero.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> se.lambdify([x], snp.round(x, 1))([0.12, 0.25, 0.37])
    array([0.1, 0.2, 0.4])
    """
    refuse("round", {"out": out})
    return ops.around(a, decimals)


def divmod(x1: TensorLike, x2: TensorLike) -> tuple[Operand, Operand]:
    """``numpy.divmod``: the quotient rounded down, and the remainder.

    Raises ShapeError for shapes that don't fit.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 2)
    >>> se.lambdify([x], snp.divmod(x, 3))([7.0, -1.0])
    (array([ 2., -1.]), array([1., 2.]))
    """
    return elementwise(floor_divide, x1, x2), elementwise(sympy.Mod, x1, x2)


def modf(x: TensorLike) -> tuple[Operand, Operand]:
    """``numpy.modf``: the fractional and the integral part.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 2)
    >>> se.lambdify([x], snp.modf(x))([1.5, -1.5])
    (array([ 0.5, -0.5]), array([ 1., -1.]))
    """
    whole = elementwise(trunc, x)
    return ops.subtract(x, whole), whole


def nan_to_num(
    x: TensorLike,
    copy: bool = True,
    nan: TensorLike = 0.0,
    posinf: TensorLike | None = None,
    neginf: TensorLike | None = None,
) -> Operand:
    """``numpy.nan_to_num``: numbers in the place of nan, of inf and of -inf, by default 0, the
    largest number and the smallest. Where one is put the derivative is 0.

    Raises ShapeError for shapes that don't fit.

    >>> import numpy as np
    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> se.lambdify([x], snp.nan_to_num(x, nan=7, posinf=100))([1.0, np.nan, np.inf])
    array([  1.,   7., 100.])
    """
    x = as_operand(x)
    branches: list[tuple[TensorLike, TensorLike]] = [(nan, elementwise(isnan, x))]
    for value, relation in ((posinf, sympy.Gt), (neginf, sympy.Lt)):
        if value is not None:
            test = ops.logical(sympy.And, elementwise(isinf, x), ops.compare(relation, x, 0))
            branches.append((value, test))
    return ops.choose([*branches, (elementwise(finite, x), True)])


def angle(z: TensorLike, deg: bool = False) -> Operand:
    """``numpy.angle``: of real numbers pi for negative ones, else 0; of complex tensors in (-pi,
    pi].

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 2)
    >>> se.lambdify([x], snp.angle(x, deg=True))([1.0, -2.0])
    array([  0., 180.])
    """
    half_turn = sympy.Integer(180) if as_flag(deg, "deg") else sympy.pi
    return ops.choose([(half_turn, ops.compare(sympy.Lt, ops.as_real(z), 0)), (0, True)])


def real_if_close(a: TensorLike, tol: float = 100) -> Operand:
    """``numpy.real_if_close``: the tensor itself, tensors are real.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 2)
    >>> snp.real_if_close(x) is x
    True
    """
    return ops.as_real(a)


def isreal(x: TensorLike) -> Operand:
    """``numpy.isreal``: ones, tensors are real.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.isreal(se.TensorSymbol("x", 2))
    Ones(2)
    """
    return ops.compare(sympy.Eq, ops.imag(x), 0)


def iscomplex(x: TensorLike) -> Operand:
    """``numpy.iscomplex``: zeros, tensors are real.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.iscomplex(se.TensorSymbol("x", 2))
    Zeros(2)
    """
    return ops.compare(sympy.Ne, ops.imag(x), 0)


def isrealobj(x: TensorLike) -> bool:
    """``numpy.isrealobj``: True, tensors are real.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 4)
    >>> snp.isrealobj(x), snp.isrealobj(snp.fft.rfft(x))
    (True, False)
    """
    return not holds_complex(as_operand(x))


def iscomplexobj(x: TensorLike) -> bool:
    """``numpy.iscomplexobj``: False, tensors are real.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 4)
    >>> snp.iscomplexobj(x), snp.iscomplexobj(snp.fft.rfft(x))
    (False, True)
    """
    return not isrealobj(x)
