"""NumPy's entrywise functions: those of the table's rows, rounding, real and imaginary parts."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Parameter

import sympy

from .. import operations as ops
from ..core import TensorError, floor_divide, isinf, isnan, nan_to_num as finite, trunc
from ..expressions import Operand, TensorLike, as_operand, elementwise, holds_complex
from ._rows import NO_FIT, NumpyRow as Row, refuse


class Ufunc(ops.ScalarFunction):
    __doc__ = ops.Docstring("NumPy's function of a name, by the row of a scalar function.")

    def parameters(self) -> Sequence[Parameter]:
        """Return NumPy's parameters: x, or x1 and x2, and options."""
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
            meaning = f"This is :func:`sympy_einsum.{row.name}`. {ops.about(row)}"
        else:
            meaning = f"Defined as {row.function(*arguments)}."
        return ops.paragraphs(
            f"Apply ``numpy.{call}`` entry by entry, to tensors and SymPy scalars.",
            meaning,
            ops.SHAPES,
            "Raises UnsupportedError for NumPy's options, such as ``out`` and ``dtype``: "
            "expressions don't change, and their entries have no type.",
            "Examples\n========",
            ops.example("snp", call, row, arguments),
        )

    def __call__(self, *tensors: TensorLike, **options: object) -> Operand:
        refuse(self.__name__, options)
        return elementwise(self.row.function, *tensors)


def clip(
    a: TensorLike,
    a_min: TensorLike | None,
    a_max: TensorLike | None,
    min: TensorLike | None,
    max: TensorLike | None,
) -> Operand:
    if (a_min is not None and min is not None) or (a_max is not None and max is not None):
        raise TensorError("clip takes a bound as a_min or as min, as a_max or as max, not as both")
    return ops.clip(a, a_min if min is None else min, a_max if max is None else max)


def modf(x: TensorLike) -> tuple[Operand, Operand]:
    whole = elementwise(trunc, x)
    return ops.subtract(x, whole), whole


def nan_to_num(
    x: TensorLike, nan: TensorLike, posinf: TensorLike | None, neginf: TensorLike | None
) -> Operand:
    x = as_operand(x)
    branches: list[tuple[TensorLike, TensorLike]] = [(nan, elementwise(isnan, x))]
    for value, relation in ((posinf, sympy.Gt), (neginf, sympy.Lt)):
        if value is not None:
            test = ops.logical(sympy.And, elementwise(isinf, x), ops.compare(relation, x, 0))
            branches.append((value, test))
    return ops.choose([*branches, (elementwise(finite, x), True)])


# fmt: off
ROWS = (
    Row("add(x1, x2, /)", lambda x1, x2: ops.add(x1, x2),
        "the entrywise sum; a scalar is added to every entry",
        "snp.add(A, x[None, :]).shape, snp.add(x, 1)", "((2, 3), x + 1)", NO_FIT),
    Row("multiply(x1, x2, /)", lambda x1, x2: ops.multiply(x1, x2),
        "the entrywise product; a scalar multiplies every entry",
        "snp.multiply(x, y), snp.multiply(2, x)", "(x*y, 2*x)", NO_FIT),
    Row("negative(a)", lambda a: ops.multiply(-1, a),
        "every entry with the opposite sign",
        "snp.negative(x)", "-x"),
    Row("positive(a)", as_operand,
        "the tensor itself",
        "snp.positive(x)", "x"),
    Row("clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None)", clip,
        "the entries limited to an interval; a bound that is None is ignored",
        "within = snp.clip(x, 0, 1)\n"
        "se.lambdify([x], se.gradient(within.sum(), x))([-1.0, 0.0, 0.5])",
        "array([0. , 0.5, 1. ])",
        "At a bound the derivative is half of that inside. Raises TensorError for a bound that "
        "is given by both of its names."),
    Row("round(a, decimals=0, out=None)", ops.around,
        "the entries rounded to some decimals, halves to the even digit",
        "se.lambdify([x], snp.round(x, 1))([0.12, 0.25, 0.37])", "array([0.1, 0.2, 0.4])",
        "The derivative is zero."),
    Row("divmod(x1, x2) -> tuple[Operand, Operand]",
        lambda x1, x2: (elementwise(floor_divide, x1, x2), elementwise(sympy.Mod, x1, x2)),
        "the quotient rounded down, and the remainder",
        "se.lambdify([x], snp.divmod(x, 3))([7.0, -1.0, 3.0])",
        "(array([ 2., -1.,  1.]), array([1., 2., 0.]))", NO_FIT),
    Row("modf(x) -> tuple[Operand, Operand]", modf,
        "the fractional and the integral part",
        "se.lambdify([x], snp.modf(x))([1.5, -1.5, 2.0])",
        "(array([ 0.5, -0.5,  0. ]), array([ 1., -1.,  2.]))"),
    Row("nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None)", nan_to_num,
        "the entries with nan, inf and -inf replaced, by default by 0, the largest and the "
        "smallest number",
        "se.lambdify([x], snp.nan_to_num(x, nan=7, posinf=100))([1.0, np.nan, np.inf])",
        "array([  1.,   7., 100.])", f"A replaced entry has derivative 0. {NO_FIT}"),
    Row("angle(z, deg=False)", ops.angle,
        "the angles of the entries: pi for negative real numbers, else 0; those of complex "
        "tensors are in (-pi, pi]",
        "se.lambdify([x], snp.angle(x, deg=True))([1.0, -2.0, 0.0])", "array([  0., 180.,   0.])"),
    Row("real_if_close(a, tol: float = 100)", ops.as_real,
        "the tensor itself, since tensors are real",
        "snp.real_if_close(x) is x", "True", ignored="tol"),
    Row("isreal(x)", lambda x: ops.compare(sympy.Eq, ops.imag(x), 0),
        "ones, since tensors are real",
        "snp.isreal(x)", "Ones(3)"),
    Row("iscomplex(x)", lambda x: ops.compare(sympy.Ne, ops.imag(x), 0),
        "zeros, since tensors are real",
        "snp.iscomplex(x)", "Zeros(3)"),
    Row("isrealobj(x) -> bool", lambda x: not holds_complex(as_operand(x)),
        "whether a value is real, as tensors are",
        "snp.isrealobj(x), snp.isrealobj(snp.fft.rfft(x))", "(True, False)"),
    Row("iscomplexobj(x) -> bool", lambda x: holds_complex(as_operand(x)),
        "whether a value is complex, which tensors aren't",
        "snp.iscomplexobj(x), snp.iscomplexobj(snp.fft.rfft(x))", "(False, True)"),
)
