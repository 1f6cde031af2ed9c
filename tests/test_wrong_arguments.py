"""Every public function, class and method with every wrong kind of argument in every position: a
result, or an error of ours or one that says what to do."""

from __future__ import annotations

import inspect
import math
import re
import warnings

import numpy as np
import pytest
import python_programs
import scipy.sparse
import sympy as sp
from sympy import symbols
from sympy.tensor.array.expressions import ArraySymbol

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.operations import FUNCTIONS

m, n, k = symbols("m n k", integer=True, positive=True)
i, j = symbols("i j", integer=True)
t = symbols("t")
A, B = se.tensors("A B", m, n)
X, Y = se.tensors("X Y", n, n)
x, y, v = se.tensors("x y v", n)
C, D = se.tensors("C D", 2, 3)
THREE = se.TensorSymbol("w", 3)
LOOP = se.scan(lambda c, row: (c * row, None), D[0], C)[0]
T = se.TensorSymbol("T", n, m, k)
f = x @ X @ x
M = sp.MatrixSymbol("M", n, n)


class Stranger:
    """An object of an unknown type."""


WRONG = {
    "None": None,
    "string": "x",
    "code": "__import__('os')",
    "bytes": b"x",
    "empty list": [],
    "list of numbers": [1, 2],
    "nested tuple": ((1,), (2,)),
    "ragged list": [[1, 2], [3]],
    "list of strings": ["a", "b"],
    "list of None": [None],
    "list of tensors": [x, X],
    "dictionary": {"x": 1},
    "set": {1, 2},
    "stranger": Stranger(),
    "class": int,
    "function": lambda *arguments: None,
    "number": 3,
    "negative number": -2,
    "float": 2.5,
    "complex number": 1j,
    "nan": float("nan"),
    "infinity": sp.oo,
    "zoo": sp.zoo,
    "truth value": True,
    "SymPy's true": sp.true,
    "NumPy's true": np.True_,
    "ellipsis": ...,
    "slice": slice(None),
    "range": range(2),
    "symbol": t,
    "length": n,
    "scalar expression": t + 1,
    "relation": t > 0,
    "relation of tensors": x > 0,
    "vector": x,
    "matrix": A,
    "tensor of order 3": T,
    "numeric array": np.ones((2, 2)),
    "array with nan": np.array([np.nan, 1.0]),
    "object array": np.array([1, None]),
    "string array": np.array(["a", "b"]),
    "dates": np.array(["2020-01-01"], "M8[D]"),
    "masked array": np.ma.masked_array([1.0, 2.0], [0, 1]),
    "sparse array": scipy.sparse.csr_array(np.eye(2)),
    "sparse matrix": scipy.sparse.coo_matrix(np.eye(2)),
    "SymPy matrix": sp.Matrix([[t, 1], [1, t]]),
    "MatrixSymbol": M,
    "IndexedBase": sp.IndexedBase("b", shape=(n,)),
    "array symbol": ArraySymbol("a", (n,)),
    "SymPy tuple": sp.Tuple(1, t),
    "function class": sp.sin,
    "undefined function": sp.Function("g"),
}

# A right call of everything public; each of its arguments is then replaced.
CALLS: dict[str, tuple] = {
    "Constant": (se.Constant, [1.0, 2.0]),
    "ComplexTensor": (se.ComplexTensor, x, x),
    "Delta": (se.Delta, n),
    "Fourier": (se.Fourier, n),
    "Ones": (se.Ones, n, 3),
    "Zeros": (se.Zeros, n, 3),
    "Selection": (se.Selection, 5, 1, 2, 2),
    "Triangle": (se.Triangle, 3, 4, 1),
    "Slot": (se.Slot, "s0"),
    "TensorSymbol": (se.TensorSymbol, "A", m, n),
    "Unit": (se.Unit, n, 1),
    "tensors": (se.tensors, "A B", m, n),
    "unflatten": (se.unflatten, [(se.TensorSymbol, (), ("x", (n,), ()))]),
    "adj": (se.adj, X),
    "around": (se.around, x, 2),
    "broadcast_to": (se.broadcast_to, x, (m, n)),
    "check_derivative": (se.check_derivative, f, x, se.diff(f, x)),
    "clip": (se.clip, x, 0, 1),
    "cholesky": (se.cholesky, X),
    "codegen": (se.codegen, [X, x], f, "numpy"),
    "function": (se.function, "own_function"),
    "from_function": (se.from_function, python_programs.product, {"a": n, "b": (n,)}),
    "to_text": (se.to_text, X @ x, "lippmann"),
    "linearize": (se.linearize, f, x),
    "parse_python": (se.parse_python, "def f(x): return x", "f", {"x": (n, 3)}),
    "conv": (se.conv, T, T, 1, 0, 1),
    "convolve": (se.convolve, C[0], C[1], "full"),
    "correlate": (se.correlate, C[0], C[1], "valid"),
    "sliding_window_view": (se.sliding_window_view, C, 2, 1),
    "windows": (se.windows, C, 2, 1, 1, 1),
    "Positions": (se.Positions, 5, 1, (2, 1), (2, 1)),
    "counterexample": (se.counterexample, x @ x, x @ v),
    "cumprod": (se.cumprod, A, 0),
    "cumsum": (se.cumsum, A, 0),
    "interval_products": (se.interval_products, A, 0),
    "logcumsumexp": (se.logcumsumexp, A, 0),
    "running_softmax": (se.running_softmax, A, 0),
    "scan": (se.scan, lambda c, row: (c + row, c), x, A, m, False),
    "unroll": (se.unroll, LOOP),
    "batch": (se.batch, x**3, {x: m}),
    "bounds": (se.bounds, x**3, {x: (0, 1)}),
    "solution": (se.solution, x**3 - v, x, v),
    "stationary": (se.stationary, ((x - v) ** 2).sum(), x),
    "minimizer": (se.minimizer, ((x - v) ** 4).sum(), x, v),
    "tri": (se.tri, 3, 4, 1),
    "tril": (se.tril, A, 1),
    "triu": (se.triu, A, 1),
    "block": (se.block, [[C, C], [C, C]]),
    "flip": (se.flip, C, 0),
    "pad": (se.pad, C, 1, "constant", 0),
    "repeat": (se.repeat, C, 2, 0),
    "roll": (se.roll, C, 1, 0),
    "split": (se.split, C, 1, 0),
    "tile": (se.tile, C, 2),
    "concatenate": (se.concatenate, [x, y], 0),
    "cofactors": (se.cofactors, X, 1),
    "count_nonzero": (se.count_nonzero, A, 0, False),
    "det": (se.det, X),
    "diag": (se.diag, x, 0),
    "diagonal": (se.diagonal, X, 0, 0, 1),
    "cross": (se.cross, THREE, THREE),
    "curl": (se.curl, se.sin(THREE), THREE),
    "divergence": (se.divergence, X @ x, x),
    "laplacian": (se.laplacian, f, x),
    "unknown": (lambda variable: se.unknown("f", variable, shape=n), x),
    "diff": (se.diff, f, x, 2),
    "dot": (se.dot, X, x),
    "draw": (se.draw, X @ x),
    "convexity": (se.convexity, x @ x, x),
    "is_definite": (se.is_definite, X),
    "einsum": (se.einsum, "ij,j->i", X, x),
    "einsum with lists": (se.einsum, X, [0, 1], x, [1], [0]),
    "eigh": (se.eigh, X),
    "eigvalsh": (se.eigvalsh, X),
    "elementwise": (se.elementwise, sp.sin, x),
    "equal": (se.equal, X @ x, x @ X.T),
    "evaluate": (se.evaluate, x @ x, {x: [1, 2]}),
    "expand": (se.expand, X @ (x + y)),
    "compress": (se.compress, 3 * se.Delta(n)),
    "commute": (se.commute, X @ x, [1, 0]),
    "denest": (se.denest, se.written(X @ (Y @ x)), [1]),
    "in_semiring": (se.in_semiring, X @ x, "log"),
    "merge_deltas": (se.merge_deltas, X @ x),
    "nest": (se.nest, X @ x, [0, 1]),
    "read_einsum": (se.read_einsum, "#(ij,j->i; A, x)", "A 2 x 1"),
    "split_deltas": (se.split_deltas, X @ x, "i", [1]),
    "identity_map": (se.identity_map, [(3,), (n,)]),
    "projection_map": (se.projection_map, 1, [(3,), (n,)]),
    "zero_map": (se.zero_map, (3,), [(n,)]),
    "tokens": (se.tokens, "x'*A*x", "matrixcalculus"),
    "add_ones": (se.add_ones, X @ x, ["i"]),
    "index_graph": (se.index_graph, se.written(X @ (Y @ x)), [1]),
    "remove_ones": (se.remove_ones, X @ x),
    "substitute_deltas": (se.substitute_deltas, X @ x),
    "vectorize_constants": (se.vectorize_constants, X @ x),
    "written": (se.written, X @ x),
    "expm": (se.expm, X, Y),
    "expand_dims": (se.expand_dims, x, 0),
    "factor": (se.factor, X @ x + X @ y),
    "eye": (se.eye, n),
    "from_array": (se.from_array, M),
    "from_indexed": (se.from_indexed, sp.IndexedBase("b", shape=(n,))[i], [i]),
    "from_matrix": (se.from_matrix, M),
    "argcummax": (se.argcummax, A, 0),
    "argcummin": (se.argcummin, A, 0),
    "argmax": (se.argmax, A, 0, False),
    "argmin": (se.argmin, A, 0, False),
    "argsort": (se.argsort, A, 0),
    "cummax": (se.cummax, A, 0),
    "cummin": (se.cummin, A, 0),
    "max": (se.max, A, 0, False),
    "max_share": (se.max_share, A, 0),
    "median": (se.median, A, 0, False),
    "min": (se.min, A, 0, False),
    "min_share": (se.min_share, A, 0),
    "one_hot": (se.one_hot, [0, 2, 1], 3),
    "percentile": (se.percentile, A, 25, 0, "linear", False),
    "ptp": (se.ptp, A, 0, False),
    "quantile": (se.quantile, A, 0.25, 0, "linear", False),
    "sort": (se.sort, A, 0),
    "take": (se.take, A, [0, 1], 0),
    "take_along_axis": (se.take_along_axis, C, [[0, 1, 0]], 0),
    "gradient": (se.gradient, f, x),
    "hessian": (se.hessian, f, x),
    "hvp": (se.hvp, f, x, v),
    "imag": (se.imag, x),
    "inner": (se.inner, x, y),
    "isclose": (se.isclose, x, y, 1e-5, 1e-8, False),
    "inv": (se.inv, X),
    "jacobian": (se.jacobian, X @ x, x),
    "jvp": (se.jvp, X @ x, x, v),
    "kron": (se.kron, X, Y),
    "to_kronecker": (se.to_kronecker, X, 1),
    "vec": (se.vec, X),
    "lambdify": (se.lambdify, [X, x], f, "numpy"),
    "latex": (se.latex, f),
    "logdet": (se.logdet, X),
    "lstsq": (se.lstsq, C, [1.0, 2.0]),
    "logsumexp": (se.logsumexp, A, 0, False),
    "matmul": (se.matmul, X, x),
    "matrix_power": (se.matrix_power, X, 2),
    "mean": (se.mean, A, 0, False),
    "moveaxis": (se.moveaxis, T, 0, 1),
    "norm": (se.norm, x, 2, 0, False),
    "outer": (se.outer, x, y),
    "parse": (se.parse, "x'*A*x", "A symmetric"),
    "parse_program": (se.parse_program, "declare b 1 expression b derivative wrt b", "c 0"),
    "limit": (se.limit, t * x, t, 0, "+"),
    "series": (se.series, se.exp(t * x), t, 0, 2),
    "taylor": (se.taylor, f, x, y, 1),
    "Gaussian": (se.Gaussian, x, X @ X.T),
    "covariance": (se.covariance, x, f, {x: se.Gaussian(v, X)}),
    "expectation": (se.expectation, X @ x, {x: se.Gaussian(v, X)}),
    "variance": (se.variance, X @ x, {x: se.Gaussian(v, X)}),
    "Problem": (se.Problem, x @ x, x, [x >= 0], [x], False),
    "pack": (se.pack, [X, x], "w"),
    "pinv": (se.pinv, X),
    "pretty": (se.pretty, f),
    "prod": (se.prod, C, 0, False),
    "qr": (se.qr, C, "reduced"),
    "ravel": (se.ravel, A),
    "real": (se.real, A),
    "reshape": (se.reshape, C, (3, 2)),
    "simplify": (se.simplify, f),
    "slogdet": (se.slogdet, X),
    "softmax": (se.softmax, A, 0),
    "solve": (se.solve, X, x),
    "squeeze": (se.squeeze, x[None], 0),
    "stack": (se.stack, [x, y], 0),
    "std": (se.std, A, 0, 0, False),
    "sum": (se.sum, A, 0, False),
    "svd": (se.svd, C, False),
    "svdvals": (se.svdvals, C),
    "swapaxes": (se.swapaxes, T, 0, 1),
    "tensordot": (se.tensordot, X, Y, 1),
    "to_array": (se.to_array, X @ x),
    "to_dot": (se.to_dot, X @ x),
    "to_indexed": (se.to_indexed, X @ x, [i]),
    "to_matrix": (se.to_matrix, X @ x),
    "trace": (se.trace, X, 0, 0, 1),
    "transpose": (se.transpose, A, (1, 0)),
    "unstack": (se.unstack, C, 0),
    "var": (se.var, A, 0, 0, False),
    "vjp": (se.vjp, X @ x, x, v),
    "where": (se.where, x > 0, x, y),
}
OF_TWO = {"atan2", "beta", "binomial", "zeta", "logaddexp", "Max", "Min", "Mod", "fmod", "copysign"}
OF_TWO |= {"floor_divide", "unless_nan"}
OF_AN_ORDER = {"besselj", "bessely", "besseli", "besselk", "polygamma", "expint"}
CALLS |= {
    name: (function, 2, x)
    if name in OF_AN_ORDER
    else (function, x, y)
    if name in OF_TWO
    else (function, x)
    for name, function in FUNCTIONS.items()
}
CALLS |= {
    name: (kind, x)
    for name in se.__all__
    if isinstance(kind := getattr(se, name), type) and issubclass(kind, se.TensorExpr)
    if name not in CALLS
}
# Those that aren't the same functions.
OF_NUMPY: dict[str, tuple] = {
    "arange": (snp.arange, 1, 5, 2),
    "array_equal": (snp.array_equal, x, y),
    "asarray": (snp.asarray, x),
    "asanyarray": (snp.asanyarray, x),
    "ascontiguousarray": (snp.ascontiguousarray, x),
    "astype": (snp.astype, x, float),
    "atleast_1d": (snp.atleast_1d, x, A),
    "atleast_2d": (snp.atleast_2d, x, A),
    "atleast_3d": (snp.atleast_3d, x, A),
    "bartlett": (snp.bartlett, 3),
    "blackman": (snp.blackman, 3),
    "broadcast_arrays": (snp.broadcast_arrays, x, A.T),
    "broadcast_shapes": (snp.broadcast_shapes, (n, 1), 3),
    "copy": (snp.copy, x),
    "corrcoef": (snp.corrcoef, A, B, True),
    "cov": (snp.cov, A, B, True, False, 1, x**2, x**2),
    "cross": (snp.cross, D, D, -1, -1, -1),
    "ediff1d": (snp.ediff1d, x, 1, 2),
    "geomspace": (snp.geomspace, 1, 8, 4),
    "hamming": (snp.hamming, 3),
    "hanning": (snp.hanning, 3),
    "interp": (snp.interp, x, [0, 1], [2, 3], 0, 1),
    "isscalar": (snp.isscalar, x),
    "kaiser": (snp.kaiser, 3, 1.0),
    "linspace": (snp.linspace, x, y, 3, True, False, None, 0),
    "logspace": (snp.logspace, x, y, 3, True, 2.0, None, 0),
    "meshgrid": (snp.meshgrid, x, y),
    "compress": (snp.compress, [1, 0, 1], C[0], 0),
    "polymul": (snp.polymul, C[0], D[1]),
    "poly": (snp.poly, C[0]),
    "polydiv": (snp.polydiv, D[1], C[0]),
    "polyfit": (snp.polyfit, C[0], D[1][: C.shape[1]], 1),
    "bincount": (snp.bincount, np.array([0, 2]), C[0, :2], 3),
    "resize": (snp.resize, C, (2, 4)),
    "nanargmax": (snp.nanargmax, A, 0),
    "nanargmin": (snp.nanargmin, A, 0),
    "nancumprod": (snp.nancumprod, A, 0),
    "nancumsum": (snp.nancumsum, A, 0),
    "nanmax": (snp.nanmax, A, 0, None, False),
    "nanmin": (snp.nanmin, A, 0, None, False),
    "nanmean": (snp.nanmean, A, 0, None, None, False),
    "nanprod": (snp.nanprod, C, 0, None, None, False, 2, True),
    "nanstd": (snp.nanstd, A, 0, None, None, 0, False),
    "nansum": (snp.nansum, A, 0, None, None, False, 2, True),
    "nanvar": (snp.nanvar, A, 0, None, None, 0, False),
    "polyadd": (snp.polyadd, C[0], D[1]),
    "polyder": (snp.polyder, C[0], 1),
    "polyint": (snp.polyint, C[0], 1, 2),
    "polysub": (snp.polysub, C[0], D[1]),
    "polyval": (snp.polyval, C[0], x),
    "rollaxis": (snp.rollaxis, T, 2, 0),
    "trapezoid": (snp.trapezoid, A, x, 1.0, -1),
    "unwrap": (snp.unwrap, A, 4, -1),
    "vander": (snp.vander, x, 3, False),
    "all": (snp.all, A > 0, 0, None, False),
    "allclose": (snp.allclose, x, y, 1e-5, 1e-8, False),
    "angle": (snp.angle, x, False),
    "any": (snp.any, A > 0, 0, None, False),
    "choose": (snp.choose, np.array([0, 1]), [C[:, 0], C[:, 1]]),
    "concat": (snp.concat, [x, y], 0),
    "count_nonzero": (snp.count_nonzero, A, 0),
    "cumprod": (snp.cumprod, A, 0),
    "cumsum": (snp.cumsum, A, 0),
    "cumulative_prod": (lambda x, axis: snp.cumulative_prod(x, axis=axis), A, 0),
    "cumulative_sum": (lambda x, axis: snp.cumulative_sum(x, axis=axis), A, 0),
    "tri": (snp.tri, 3, 4, 1),
    "diagflat": (snp.diagflat, x, 0),
    "diff": (snp.diff, C, 1, 0),
    "gradient": (snp.gradient, C, 2),
    "divmod": (snp.divmod, x, y),
    "iscomplex": (snp.iscomplex, x),
    "iscomplexobj": (snp.iscomplexobj, x),
    "isreal": (snp.isreal, x),
    "isrealobj": (snp.isrealobj, x),
    "imag": (snp.imag, x),
    "modf": (snp.modf, x),
    "nan_to_num": (snp.nan_to_num, x, True, 0.0, 1, -1),
    "piecewise": (snp.piecewise, x, [x > 0, y > 0], [np.exp, 1, 2]),
    "real": (snp.real, x),
    "real_if_close": (snp.real_if_close, x),
    "round": (snp.round, x, 2),
    "around": (snp.around, x, 2),
    "amax": (snp.amax, A, 0),
    "amin": (snp.amin, A, 0),
    "argmax": (snp.argmax, A, 0),
    "argmin": (snp.argmin, A, 0),
    "argpartition": (snp.argpartition, A, 1, 0),
    "argsort": (snp.argsort, A, 0),
    "max": (snp.max, A, 0, None, False, 2, x > 0),
    "median": (snp.median, A, 0, None, False, False),
    "min": (snp.min, A, 0, None, False, 2),
    "partition": (snp.partition, A, 1, 0),
    "percentile": (snp.percentile, A, 25, 0, None, False, "linear", False),
    "ptp": (snp.ptp, A, 0, None, False),
    "nanmedian": (snp.nanmedian, A, 0, None, False, False),
    "nanpercentile": (snp.nanpercentile, A, 25, 0, None, False, "linear", False),
    "nanquantile": (snp.nanquantile, A, [0.25, 0.5], 0, None, False, "linear", False),
    "searchsorted": (snp.searchsorted, x, A, "left", y),
    "digitize": (snp.digitize, A, [1, 2], True),
    "lexsort": (snp.lexsort, (x, y), 0),
    "quantile": (snp.quantile, A, 0.25, 0, None, False, "linear", False),
    "sort": (snp.sort, A, 0),
    "take": (snp.take, A, [0, 1], 0),
    "average": (snp.average, A, 0, A, False),
    "clip": (snp.clip, x, 0, 1),
    "array_split": (snp.array_split, C, 1, 0),
    "append": (snp.append, C, C, 0),
    "array": (snp.array, [C, C]),
    "column_stack": (snp.column_stack, [C, C]),
    "delete": (snp.delete, C, 0, 0),
    "dsplit": (snp.dsplit, C[None], 1),
    "dstack": (snp.dstack, [C, C]),
    "fliplr": (snp.fliplr, C),
    "flipud": (snp.flipud, C),
    "hsplit": (snp.hsplit, C, 1),
    "hstack": (snp.hstack, [C, C]),
    "insert": (snp.insert, C, 0, C[0], 0),
    "row_stack": (snp.row_stack, [C, C]),
    "rot90": (snp.rot90, C, 1, (0, 1)),
    "vsplit": (snp.vsplit, C, 1),
    "vstack": (snp.vstack, [C, C]),
    "concatenate": (snp.concatenate, [x, y], 0),
    "einsum": (snp.einsum, "ij,j->i", X, x),
    "eye": (snp.eye, n, n, 0),
    "full": (snp.full, (n, 3), 2),
    "full_like": (snp.full_like, x, 2),
    "identity": (snp.identity, n),
    "matmul": (snp.matmul, X, x),
    "matrix_transpose": (snp.matrix_transpose, A),
    "matvec": (snp.matvec, X, x),
    "mean": (snp.mean, A, 0, None, None, False),
    "ndim": (snp.ndim, A),
    "ones": (snp.ones, (n, 3)),
    "ones_like": (snp.ones_like, A),
    "prod": (snp.prod, C, 0, None, None, False, 2, True),
    "ravel": (snp.ravel, A, "C"),
    "reshape": (snp.reshape, C, (3, 2), "C"),
    "select": (snp.select, [x > 0, y > 0], [x, y], 0),
    "shape": (snp.shape, A),
    "size": (snp.size, A, 0),
    "stack": (snp.stack, [x, y], 0),
    "unstack": (snp.unstack, C),
    "std": (snp.std, A, 0, None, None, 0, False),
    "sum": (snp.sum, A, 0, None, None, False, 2, True),
    "var": (snp.var, A, 0, None, None, 0, False),
    "vdot": (snp.vdot, x, y),
    "vecdot": (snp.vecdot, x, y),
    "vecmat": (snp.vecmat, x, X),
    "where": (snp.where, x > 0, x, y),
    "zeros": (snp.zeros, (n, 3)),
    "zeros_like": (snp.zeros_like, A),
    "fft.fft": (snp.fft.fft, x, 4, 0, "ortho"),
    "linalg.det": (snp.linalg.det, X),
    "linalg.inv": (snp.linalg.inv, X),
    "linalg.matrix_power": (snp.linalg.matrix_power, X, 2),
    "linalg.multi_dot": (snp.linalg.multi_dot, [X, Y, x]),
    "linalg.norm": (snp.linalg.norm, x, 2, 0, False),
    "linalg.trace": (snp.linalg.trace, X),
}
ENTRYWISE = {"fix", "isneginf", "isposinf", "sinc", "i0"}
OF_NUMPY |= {
    name: (function, x) if getattr(getattr(np, name), "nin", 1) == 1 else (function, x, y)
    for name, function in vars(snp).items()
    if name in ENTRYWISE or isinstance(getattr(np, name, None), np.ufunc)
    if name not in OF_NUMPY
}
# Those that are no functions of ours.
METHODS: dict[str, tuple] = {
    "all": (A, 0, False),
    "any": (A, 0, False),
    "clip": (A, 0, 1),
    "item": (C, 0, 1),
    "__add__": (A, B),
    "__sub__": (A, B),
    "__mul__": (A, 2),
    "__truediv__": (A, B),
    "__pow__": (A, 2),
    "__matmul__": (X, x),
    "__radd__": (A, B),
    "__rsub__": (A, B),
    "__rmul__": (A, 2),
    "__rtruediv__": (A, B),
    "__rpow__": (A, 2),
    "__rmatmul__": (X, x),
    "__gt__": (A, B),
    "__ge__": (A, B),
    "__lt__": (A, B),
    "__le__": (A, B),
    "__eq__": (A, B),
    "__ne__": (A, B),
    "__mod__": (A, 2),
    "__floordiv__": (A, 2),
    "__getitem__": (A, 0),
    "applyfunc": (A, sp.sin),
    "atoms": (A, sp.Symbol),
    "broadcast_to": (x, (m, n)),
    "diff": (f.args[0] if f.is_Mul else X @ x, x, 1),
    "has": (A, n),
    "has_free": (A, n),
    "is_constant": (A, n),
    "reshape": (C, 3, 2),
    "subs": (A, m, 3),
    "transpose": (A, 1, 0),
    "xreplace": (A, {m: n}),
}
EVERYTHING = {
    **{f"se.{name}": call for name, call in CALLS.items()},
    **{f"snp.{name}": call for name, call in OF_NUMPY.items()},
    **{f"x.{name}": (getattr(own, name), *rest) for name, (own, *rest) in METHODS.items()},
}
# What Python says of itself, not to who called us.
RAW = re.compile(
    r"object has no attribute|not subscriptable|to unpack|object is not iterable|unsupported oper"
    r"|argument of type|SympifyError|cannot determine truth|invalid literal|indices must be"
    r"|not callable|must be str|multiply sequence|unhashable|is not in list|object cannot be"
    r"|expected str|required argument|Cannot convert|has no len|truth value of|out of range$"
)


def complaint(call, *arguments, **options):
    """Return the fault of the error that a call raises; None for a result."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(*arguments, **options)
    except (TypeError, ValueError) as error:
        text = str(error)
        if isinstance(error, se.TensorError):
            return None if " " in text else f"{type(error).__name__}: {text}"
        raw = RAW.search(text) or not re.search(r"\w+ \w+", text)
        return f"{type(error).__name__}: {text}" if raw else None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: se.hvp(x @ x, x, se.TensorSymbol("y", 4)), r"tangent of x .* \(n,\), not \(4,\)"),
        (lambda: se.vjp(A @ x, x, x), r"cotangent of A @ x .* \(m,\), not \(n,\)"),
        (lambda: se.lambdify(A @ x, [A, x]), "arguments come first"),
        (lambda: se.lambdify([symbols("a:3")], 2), r"in one array, .*subs\(dict\(zip"),
        (lambda: se.gradient(lambda v: v @ v, x), "call it with symbols"),
        (lambda: A * x, "the matrix product is @"),
        (lambda: se.einsum("ij,jk", A), "for 2 operands, not for 1"),
        (lambda: se.elementwise(np.sin, x), "can't be applied to SymPy scalars"),
        (lambda: se.lambdify([x], x).cost(), r"^cost\(\) missing"),
        (lambda: math.sin(x @ x), "not those of math"),
        (lambda: float(x @ x), "compute it with lambdify"),
    ],
)
def test_messages_name_the_remedy(call, told):
    with pytest.raises((se.TensorError, TypeError), match=told):
        call()


@pytest.mark.parametrize(("module", "name"), [(se, "gradient"), (snp, "concatenate")])
def test_misspelt_names_are_found(module, name):
    with pytest.raises(AttributeError) as caught:
        getattr(module, name + "s")
    assert (caught.value.name, caught.value.obj) == (name + "s", module)


def test_the_table_is_complete():
    exported = {name for name in se.__all__ if not name.endswith("Error")}
    # SymPy's own, a table, a result
    exported -= {"ExprCondPair", "THEOREMS", "Counterexample"}
    # Symbols that nodes bind.
    exported -= {"StepIndex", "BoundScalar"}
    assert exported | {"sum", "max", "min"} == {name.partition(" ")[0] for name in CALLS}
    of_numpy = {
        name
        for name, value in vars(snp).items()
        if inspect.isfunction(value) and not name.startswith("_")
        if value.__module__.startswith((snp.__name__, "sympy_einsum.operations"))
    }
    ours = {
        name for name in of_numpy if any(vars(snp)[name] is call for call, *_ in CALLS.values())
    }
    assert of_numpy - ours <= set(OF_NUMPY)


@pytest.mark.parametrize("name", EVERYTHING)
def test_right_calls(name):
    call, *arguments = EVERYTHING[name]
    found = complaint(call, *arguments)
    assert found is None


@pytest.mark.parametrize("name", EVERYTHING)
def test_wrong_calls(name):
    call, *arguments = EVERYTHING[name]
    found = {}
    for place in range(len(arguments)):
        for kind, wrong in WRONG.items():
            given = [*arguments[:place], wrong, *arguments[place + 1 :]]
            found[f"{kind} as argument {place}"] = complaint(call, *given)
    found["no argument"] = complaint(call)
    found["too many arguments"] = complaint(call, *arguments, *[Stranger()] * 8)
    found["an unknown keyword"] = complaint(call, *arguments, colour="red")
    assert not {what: error for what, error in found.items() if error is not None}
