"""The table of all that is replaced in SymPy: what, why, and what is lost where it can't be.

Where SymPy has a hook (constructor postprocessors, ``_eval_…``, dispatch, printers' methods,
``__array__``, ``row_join``), nodes use that instead: a row stands here because SymPy asks nothing,
and its reason says so.
"""

from __future__ import annotations

from ..expressions import free_symbols_of
from . import noncommutative, numpy_code, random_variables, stock_constructors as stock
from .patches import Patch, wrapped_by

_MATRIX_FUNCTIONS = {
    "adjoint": ("Adjoint",),
    "determinant": ("Determinant",),
    "hadamard": ("HadamardPower", "HadamardProduct"),
    "inverse": ("Inverse",),
    "kronecker": ("KroneckerProduct",),
    "matadd": ("MatAdd",),
    "matpow": ("MatPow",),
    "trace": ("Trace",),
    "transpose": ("Transpose",),
}
_RELATIONS = ("GreaterThan", "StrictGreaterThan", "LessThan", "StrictLessThan")
_WITHOUT_AXES = "it would make a scalar without axes of tensors"
_LIKE_A_SCALAR = (
    "of tensors with axes it is wrong; the operators and functions of tensors are right"
)


def _matrix_functions() -> list[Patch]:
    return [
        Patch(
            f"sympy.matrices.expressions.{module}:{name}",
            "__new__",
            wrapped_by(stock.matrix_function(name)),
            "it refuses what isn't one of SymPy's matrices, before it asks its arguments anything",
            "it takes no tensors",
        )
        for module, names in _MATRIX_FUNCTIONS.items()
        for name in names
    ]


PATCHES: tuple[Patch, ...] = (
    Patch(
        "sympy.core.basic:Basic",
        "_constructor_postprocessor_mapping",
        stock.with_tensors,
        "the hook of Add, Mul and Pow: it gets rows for tensors, and that of Mul for matrices "
        "goes after ours",
        "Add, Mul and Pow, called by name, make scalars of tensors; operators are right",
    ),
    Patch(
        "sympy.core.power:Pow",
        "_eval_power",
        wrapped_by(stock.power_of_power),
        "it writes out the real part and the angle of a base that shares what it consists of, "
        "and the base isn't asked",
        "powers of powers of scalars that share tensors take for ever",
    ),
    Patch(
        "sympy.core.exprtools",
        "_monotonic_sign",
        wrapped_by(stock.monotonic_sign),
        "it brings fractions in fractions to one denominator, of 3**k digits for k nested cubes; "
        "tensors have their signs by _eval_is_positive, but are asked afterwards",
        "products of deeply nested scalars of tensors take for ever",
    ),
    Patch(
        "sympy.core.function:FunctionClass",
        "__call__",
        wrapped_by(stock.call_function),
        "functions don't ask their arguments, as Add, Mul and Pow do by postprocessors: "
        + _WITHOUT_AXES,
        "SymPy's functions of tensors with axes are wrong; those of sympy_einsum are right",
    ),
    Patch(
        "sympy.core.function:Derivative",
        "__new__",
        wrapped_by(stock.derivative),
        "it calls _eval_derivative for single scalar variables alone, takes the chain rule for one "
        "of scalars, and what has the variable in axis lengths for constant",
        "sympy.diff by tensors is wrong outside of tensor expressions; sympy_einsum.diff is right",
    ),
    *[
        Patch(
            f"sympy.concrete.expr_with_limits:{name}",
            "__new__",
            wrapped_by(stock.with_limits),
            "it calls doit's hooks only once it is built: " + _WITHOUT_AXES,
            _LIKE_A_SCALAR,
        )
        for name in ("AddWithLimits", "ExprWithLimits")
    ],
    *[
        Patch(
            f"sympy.concrete.{module}:{name}",
            "doit",
            wrapped_by(stock.sum_value),
            "it knows no sum of a function of which the entries of tensors are arguments",
            "sums over entries of tensors keep their limits, and aren't differentiated",
        )
        for module, name in (("summations", "Sum"), ("products", "Product"))
    ],
    Patch(
        "sympy.series.limits:Limit",
        "__new__",
        wrapped_by(stock.limit),
        "it puts another symbol in the place of the variable before _eval_as_leading_term is "
        "asked, and so takes what has it in axis lengths for constant, or recurs without end",
        "limits over axis lengths are wrong",
    ),
    Patch(
        "sympy.core.expr:Expr",
        "series",
        wrapped_by(stock.series),
        "it puts another symbol in the place of the variable before it calls _eval_nseries, and so "
        "takes what has it in axis lengths for constant",
        "series in axis lengths are wrong",
    ),
    Patch(
        "sympy.core.expr:Expr",
        "is_constant",
        wrapped_by(stock.is_constant),
        "it puts numbers in the place of symbols and asks no part of the expression: it takes "
        "tensors, and what depends on axis lengths, for constant",
        "is_constant says that SymPy's functions of tensor expressions are constant",
    ),
    *[
        Patch(
            f"sympy.core.relational:{name}",
            "__new__",
            wrapped_by(stock.relation),
            "a relation called by name, or turned around, asks for the sign of a scalar; what is "
            "dispatched by _eval_is_ge may answer with a truth value alone",
            _LIKE_A_SCALAR,
        )
        for name in _RELATIONS
    ],
    Patch(
        "sympy.simplify.simplify",
        "logcombine",
        wrapped_by(stock.combined_logarithms),
        "exp looks for logarithms in the tree of its argument, in which it enters shared parts as "
        "often as they occur, and asks none of them",
        "exponentials of scalars that share tensors take for ever",
    ),
    Patch(
        "sympy.core.basic:Basic",
        "free_symbols",
        lambda _: property(free_symbols_of),
        "the scalars that SymPy makes of ours are of its own classes, and ask each part as "
        "often as that occurs, which takes for ever where they share what they consist of",
        "scalars of scalars that share tensors take for ever",
    ),
    Patch(
        "sympy.core.basic:Basic",
        "subs",
        wrapped_by(stock.subs_of_any),
        "it refuses arrays as values before it calls _eval_subs",
        "arrays are substituted in tensor expressions only, not in SymPy's functions of these",
    ),
    Patch(
        "sympy.core.basic:Basic",
        "replace",
        wrapped_by(stock.replace),
        "it walks over args alone, so finds no functions inside of tensors; the functions "
        "that it looks for may be SymPy's, which it calls no method of",
        "functions are replaced in tensor expressions only, not in SymPy's functions of these",
    ),
    *[
        Patch(
            "sympy.core.basic:Basic",
            name,
            wrapped_by(replacement),
            "it walks over args alone, so finds nothing inside of tensors",
            "functions are found in tensor expressions only, not in SymPy's functions of these",
        )
        for name, replacement in (("find", stock.find), ("count", stock.count))
    ],
    *[
        Patch(
            "sympy.core.evalf:EvalfMixin",
            name,
            wrapped_by(stock.evalf),
            "it refuses arrays before it calls _eval_evalf, of which it takes numbers alone",
            "evalf takes no arrays, and leaves tensors without symbols as they are",
        )
        for name in ("evalf", "n")
    ],
    Patch(
        "sympy.core.expr:Expr",
        "as_explicit",
        lambda _: stock.as_explicit,
        "scalars that SymPy makes of tensor expressions are of its own classes, which have no such "
        "method",
        "as_explicit is a method of tensor expressions only",
        is_new=True,
    ),
    Patch(
        "sympy.core.numbers:NaN",
        "sort_key",
        wrapped_by(stock.key_of_nan),
        "terms of a sum are sorted by keys, and that of nan asks whether it is less; the "
        "terms aren't asked",
        "a matrix or a sum with nan beside tensors can't be sorted",
    ),
    Patch(
        "sympy.matrices.expressions.matmul:MatMul",
        "__new__",
        wrapped_by(stock.matrix_product),
        "it refuses what isn't one of SymPy's matrices, before it asks its arguments anything",
        "it takes no tensors; write @",
    ),
    *_matrix_functions(),
    *[
        Patch(
            f"sympy.{module}",
            "Iterable",
            lambda _: stock.IterableByStock,
            "it takes a scalar of ours, whose type has __iter__ as tensors with axes have, for a "
            "sequence of entries",
            "scalars with tensors inside are no entries of explicit matrices or arrays",
        )
        for module in ("matrices.matrixbase", "tensor.array.ndim_array")
    ],
    Patch(
        "sympy.matrices.matrixbase:MatrixBase",
        "_sympify",
        lambda own: staticmethod(wrapped_by(stock.as_entry)(own)),
        "what sympify returns is an entry, whatever its shape, so that a vector's matrix has the "
        "shape (1, 1)",
        "explicit matrices hold tensors as entries; write block or stack",
    ),
    Patch(
        "sympy.matrices.matrixbase:MatrixBase",
        "diag",
        lambda own: classmethod(wrapped_by(stock.diagonal_matrix)(own.__func__)),
        "it takes a scalar of ours, which has the attribute shape, for a matrix",
        "scalars with tensors inside are no entries of diagonal matrices; write Matrix([[…]])",
    ),
    *[
        Patch(
            "sympy.tensor.array.ndim_array:NDimArray",
            name,
            wrapped_by(stock.by_tensor(reflected)),
            "it combines each entry with the whole tensor, whatever _op_priority that has",
            "an explicit array times or divided by a tensor is wrong; from_array(array) is right",
        )
        for name, reflected in (("__mul__", "__rmul__"), ("__truediv__", "__rtruediv__"))
    ],
    Patch(
        "sympy.tensor.array.arrayop",
        "_arrayfy",
        wrapped_by(stock.as_array),
        "tensorproduct and its like take for a scalar what isn't of their own types",
        "tensorproduct, tensorcontraction and their like are wrong for tensors; einsum is right",
    ),
    Patch(
        "sympy.polys.matrices.linsolve",
        "_lin_eq2dict",
        wrapped_by(stock.linear),
        "it looks for symbols among the terms, whose parts aren't asked, and ours stand inside of "
        "tensor products",
        "linsolve doesn't find symbols inside of tensor products; solve does",
    ),
    *[
        Patch(
            f"sympy.solvers.{module}",
            "recast_to_symbols",
            wrapped_by(stock.recast),
            "it replaces each entry by a symbol first, and takes it for independent of its tensor",
            "solve by an entry takes the other parts of its tensor for constant",
        )
        for module in ("solvers", "solveset")
    ],
    Patch(
        "sympy.solvers.solvers",
        "solve_linear",
        wrapped_by(stock.solved_linear),
        "it differentiates by every symbol, and there is no derivative by an axis length, which "
        "_eval_derivative can only refuse",
        "solve raises where an axis length stands among the symbols",
    ),
    Patch(
        "sympy.utilities.lambdify:_EvaluatorPrinter",
        "doprint",
        wrapped_by(numpy_code.write_function),
        "it writes one expression without statements, in which nothing is shared, and a printing "
        "method such as _numpycode can't add any",
        "sympy.lambdify takes no tensors; sympy_einsum.lambdify does",
    ),
    *[
        Patch(
            f"sympy.physics.quantum.{name.lower()}:{name}",
            "__new__",
            wrapped_by(replacement),
            "it looks at is_commutative alone, by which Mul would keep the order of entries too; "
            "matrices have entries that commute, so it takes them for scalars",
            _LIKE_A_SCALAR,
            is_late=True,
        )
        for name, replacement in (
            ("Commutator", noncommutative.commutator),
            ("AntiCommutator", noncommutative.anticommutator),
            ("TensorProduct", noncommutative.tensor_product),
        )
    ],
    *[
        Patch(
            "sympy.physics.vector.vector:Vector",
            name,
            wrapped_by(stock.scaled_vector),
            "it multiplies its matrix of components, which a scalar of ours makes a tensor of",
            "vectors of reference frames times scalars with tensors inside are wrong",
            is_late=True,
        )
        for name in ("__mul__", "__rmul__")
    ],
    Patch(
        "sympy.stats.symbolic_probability:Expectation",
        "__new__",
        wrapped_by(random_variables.expectation_node),
        "it makes a scalar of a tensor, of which variance takes the difference to the tensor",
        "variances of tensors with axes are wrong",
        is_late=True,
    ),
    Patch(
        "sympy.stats.symbolic_probability:Expectation",
        "doit",
        wrapped_by(random_variables.expectation_value),
        "it integrates over each variable, and functions of a tensor's entries have no integral",
        "expectations of exp and cos of tensors are refused",
        is_late=True,
    ),
    Patch(
        "sympy.stats.frv:FinitePSpace",
        "compute_expectation",
        wrapped_by(random_variables.finite_expectation),
        "it puts each outcome into a Piecewise with the condition True, which of tensors is what "
        "the comparison of two expressions gives by mistake",
        "expectations of tensors over dice and coins are refused",
        is_late=True,
    ),
    Patch(
        "sympy.stats.crv:ConditionalContinuousDomain",
        "compute_expectation",
        wrapped_by(random_variables.conditional_expectation),
        "it changes the limits of an integral, which a tensor isn't",
        "conditional expectations of tensors are refused",
        is_late=True,
    ),
)
