"""Names of other libraries, with the expressions to write instead.

Errors about missing names quote them, and ``docs/coming-from.md`` lists them. ``f`` is a scalar,
``x``, ``y`` and ``v`` are vectors, ``A`` and ``B`` matrices of one shape, ``S`` is a square matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

# Mathematica's names; no other library capitalises these.
OF_MATHEMATICA = {
    "Accumulate": "se.cumsum(x)",
    "Adjugate": "se.adj(S)",
    "ArrayDot": "se.tensordot(A, B, 2)",
    "ArrayExpand": "se.expand(f)",
    "ArrayFlatten": "se.block([[A, B], [B, A]])",
    "ArrayReduce": "se.mean(A, axis=0)",
    "ArrayReshape": "A.reshape(3, 2)",
    "ArraySimplify": "se.simplify(f)",
    "ArraySymbol": 'se.TensorSymbol("A", 2, 3)',
    "CholeskyDecomposition": "se.cholesky(S).T",
    "Compile": "se.lambdify([x], f)",
    "ConjugateTranspose": "A.H",
    "ConstantArray": "5 * se.Ones(2, 3)",
    "Cross": "se.cross(x, y)",
    "Curl": "se.curl(se.cross(y, x), x)",
    "D": "se.diff(f, x)",
    "Diagonal": "se.diagonal(S)",
    "DiagonalMatrix": "se.diag(x)",
    "Differences": "x[1:] - x[:-1]",
    "Dimensions": "A.shape",
    "Div": "se.divergence(x**3, x)",
    "Dot": "A @ x",
    "Eigenvalues": "se.eigvalsh(S)[::-1]",
    "Flatten": "se.ravel(A)",
    "FoldList": "se.scan(lambda c, a: (c + a, c + a), 0, x)",
    "Grad": "se.gradient(f, x)",
    "HadamardProduct": "A * B",
    "IdentityMatrix": "se.Delta(3)",
    "Inner": "(x**y).sum()",
    "Inverse": "se.inv(S)",
    "KroneckerProduct": "se.kron(A, B)",
    "Laplacian": "se.laplacian(f, x)",
    "LeastSquares": "se.lstsq(A.T, x)[0]",
    "LeviCivitaTensor": "se.LeviCivita(3)",
    "LinearSolve": "se.solve(S, x)",
    "LowerTriangularize": "se.tril(S)",
    "MatrixExp": "se.expm(S)",
    "MatrixFunction": "se.eigh(S)[1] @ se.diag(se.sin(se.eigvalsh(S))) @ se.eigh(S)[1].T",
    "MatrixLog": "se.eigh(S)[1] @ se.diag(se.log(se.eigvalsh(S))) @ se.eigh(S)[1].T",
    "Norm": "se.norm(A, 2)",
    "Outer": "x[:, None] + y[None, :]",
    "Rest": "x[1:]",
    "SingularValueList": "se.svdvals(A)",
    "SymbolicIdentityArray": "se.Delta(3)",
    "SymbolicOnesArray": "se.Ones(2, 3)",
    "SymbolicZerosArray": "se.Zeros(2, 3)",
    "Symmetrize": "(S + S.T) / 2",
    "TensorContract": 'se.einsum("ij,ik->jk", A, B)',
    "TensorExpand": "se.expand(f)",
    "TensorProduct": 'se.einsum("i,jk->ijk", x, A)',
    "TensorReduce": "se.simplify(f)",
    "TensorTranspose": "A.transpose(1, 0)",
    "TensorWedge": "se.outer(x, y) - se.outer(y, x)",
    "Total": "A.sum(axis=0)",
    "Tr": "se.trace(S)",
    "Transpose": "A.T",
    "UnitVector": "se.Delta(3)[0]",
    "UpperTriangularize": "se.triu(S)",
    "VectorSymbol": 'se.TensorSymbol("x", 3)',
}
# Functions, classes and constants: names of se.
FUNCTIONS_ELSEWHERE = {
    "Derivative": "se.diff(f, x)",
    "Identity": "se.Delta(3)",
    "Matrix": 'se.TensorSymbol("A", 2, 3)',
    "MatrixSymbol": 'se.TensorSymbol("A", 2, 3)',
    "Symbol": 'se.TensorSymbol("x", 3)',
    "Tensor": 'se.TensorSymbol("A", 2, 3)',
    "Variable": 'se.TensorSymbol("x", 3)',
    "absolute": "abs(x)",
    "add": "x + y",
    "arange": "sympy_einsum.numpy.arange(3)",
    "arctan": "se.atan(x)",
    "array": "se.Constant([1, 2, 3])",
    "bmm": "A @ B.T",
    "cat": "se.concatenate([x, y])",
    "compile": "se.lambdify([x], f)",
    "cross_entropy": "-(y * se.log(se.softmax(x))).sum()",
    "cse": "se.lambdify([x], f)",
    "custom_jvp": "se.function",
    "custom_vjp": "se.function",
    "derivative": "se.diff(f, x)",
    "detach": "se.stop_gradient(x)",
    "divide": "x / y",
    "eig": "se.eigh(S)",
    "eigvals": "se.eigvalsh(S)",
    "einsum_path": "se.lambdify([x], f)",
    "expm1": "se.exp(x) - 1",
    "fft": "sympy_einsum.numpy.fft.fft(x)",
    "frobenius_norm": "se.norm(A)",
    "grad": "se.gradient(f, x)",
    "gradients": "se.gradient(f, x)",
    "hadamard": "A * B",
    "hess": "se.hessian(f, x)",
    "hstack": "sympy_einsum.numpy.hstack([x, y])",
    "identity": "se.Delta(3)",
    "inverse": "se.inv(S)",
    "jac": "se.jacobian(y, x)",
    "jacfwd": 'se.jacobian(y, x, mode="forward")',
    "jacrev": 'se.jacobian(y, x, mode="reverse")',
    "jit": "se.lambdify([x], f)",
    "kl_div": "(y * se.log(y / x)).sum()",
    "kronecker": "se.kron(A, B)",
    "linalg": "sympy_einsum.numpy.linalg",
    "linspace": "sympy_einsum.numpy.linspace(0, 1, 3)",
    "log10": "se.log(x) / se.log(10)",
    "log1p": "se.log(1 + x)",
    "log2": "se.log(x) / se.log(2)",
    "log_softmax": "se.log(se.softmax(x))",
    "logm": "se.eigh(S)[1] @ se.diag(se.log(se.eigvalsh(S))) @ se.eigh(S)[1].T",
    "maximum": "se.Max(x, y)",
    "minimize": "se.minimizer(f, x, y)",
    "minimum": "se.Min(x, y)",
    "mm": "A @ B.T",
    "mse_loss": "((x - y) ** 2).mean()",
    "multiply": "x * y",
    "no_grad": "se.stop_gradient(x)",
    "norm1": "se.norm(x, 1)",
    "norm2": "se.norm(x)",
    "ones": "se.Ones(2, 3)",
    "ones_like": "sympy_einsum.numpy.ones_like(x)",
    "optimize": "se.minimizer(f, x, y)",
    "power": "x**2",
    "random": "se.lambdify([x], f)",
    "sqrtm": "se.eigh(S)[1] @ se.diag(se.sqrt(se.eigvalsh(S))) @ se.eigh(S)[1].T",
    "square": "x**2",
    "subtract": "x - y",
    "symbols": 'se.tensors("x y", 3)',
    "tensor": "se.Constant([1, 2, 3])",
    "tr": "se.trace(S)",
    "value_and_grad": "[f, se.gradient(f, x)]",
    "vmap": "se.batch(se.gradient(f, x), {x: 9})",
    "vstack": "sympy_einsum.numpy.vstack([x, y])",
    "zeros": "se.Zeros(2, 3)",
    "zeros_like": "sympy_einsum.numpy.zeros_like(x)",
    **OF_MATHEMATICA,
}
# Attributes and methods of tensors.
METHODS_ELSEWHERE = {
    "C": "A.conj()",
    "I": "S.inv()",
    "abs": "abs(x)",
    "add": "A + B",
    "adjugate": "S.adj()",
    "astype": "se.lambdify([x], f)",
    "backward": "se.gradient(f, x)",
    "clone": "+A",
    "cols": "A.shape[1]",
    "cpu": 'se.lambdify([x], f, backend="torch")',
    "cross": "se.cross(x, y)",
    "cuda": 'se.lambdify([x], f, backend="torch")',
    "detach": "se.stop_gradient(x)",
    "device": 'se.lambdify([x], f, backend="torch")',
    "dim": "A.order",
    "dtype": "se.lambdify([x], f)",
    "eigenvals": "se.eigvalsh(S)",
    "eigvals": "se.eigvalsh(S)",
    "float": "se.lambdify([x], f)",
    "grad": "se.gradient(f, x)",
    "gradient": "se.gradient(f, x)",
    "hadamard": "A * B",
    "hess": "se.hessian(f, x)",
    "hessian": "se.hessian(f, x)",
    "inverse": "S.inv()",
    "jacobian": "se.jacobian(y, x)",
    "kron": "se.kron(A, B)",
    "latex": "se.latex(A)",
    "log_softmax": "se.log(se.softmax(x))",
    "logdet": "se.logdet(S)",
    "matmul": "A @ x",
    "mm": "A @ B.T",
    "mul": "A * B",
    "multiply": "A * B",
    "multiply_elementwise": "A * B",
    "numel": "A.size",
    "numpy": "se.lambdify([x], f)",
    "outer": "se.outer(x, y)",
    "permute": "A.transpose(1, 0)",
    "pinv": "se.pinv(A)",
    "pow": "x**2",
    "rank": "A.order",
    "relu": "se.relu(x)",
    "requires_grad": "se.gradient(f, x)",
    "row": "A[0]",
    "rows": "A.shape[0]",
    "softmax": "se.softmax(x)",
    "solve": "se.solve(S, x)",
    "t": "A.T",
    "to": 'se.lambdify([x], f, backend="torch")',
    "tr": "S.trace()",
    "unsqueeze": "x[None, :]",
    "vec": "se.vec(A)",
    "view": "A.reshape(6)",
}
# Functions with an axis, which PyTorch calls dim.
REDUCTIONS = (
    *("sum", "mean", "prod", "max", "min", "var", "std", "norm", "logsumexp", "argmax", "argmin"),
)
RUNNING = ("cumsum", "cumprod", "softmax")
JOINING = ("concatenate", "stack")
# Keywords of functions.
KEYWORDS = {
    ("diff", "wrt"): "se.diff(f, x)",
    ("diff", "n"): "se.diff(f, x, 2)",
    ("diff", "order"): "se.diff(f, x, 2)",
    ("gradient", "wrt"): "se.gradient(f, x)",
    ("gradient", "argnums"): "se.gradient(f, [x, y])",
    ("hessian", "wrt"): "se.hessian(f, x)",
    ("hessian", "argnums"): "se.hessian(f, [x, y])",
    ("jacobian", "wrt"): "se.jacobian(y, x)",
    ("jacobian", "argnums"): "se.jacobian(A @ x + B @ y, [x, y])",
    ("lambdify", "dummify"): "se.lambdify([x], f)",
    ("lambdify", "modules"): 'se.lambdify([x], f, backend="numpy")',
    **{
        (name, "dim"): f"se.{name}({'[x, y]' if name in JOINING else 'A'}, axis=0)"
        for name in (*REDUCTIONS, *RUNNING, *JOINING)
    },
    **{(name, "keepdim"): f"se.{name}(A, axis=0, keepdims=True)" for name in REDUCTIONS},
}


def hint(table: dict[str, str], name: str) -> str:
    """Return the end of an error message about a missing name: the expression to write, if there is
    one.

    >>> hint(METHODS_ELSEWHERE, "I"), hint(METHODS_ELSEWHERE, "nonsense")
    ('; write S.inv()', '')
    """
    return f"; write {table[name]}" if name in table else ""


def with_hints(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Decorate a function so that errors about keywords of other libraries say what to write.

    >>> @with_hints
    ... def diff(y, *variables):
    ...     return y
    >>> diff(1, wrt=2)
    Traceback (most recent call last):
    ...
    TypeError: diff() has no keyword 'wrt'; write se.diff(f, x)
    """
    name = function.__name__

    @wraps(function)
    def call(*args: Parameters.args, **options: Parameters.kwargs) -> Result:
        for keyword in options:
            if (name, keyword) in KEYWORDS:
                raise TypeError(
                    f"{name}() has no keyword {keyword!r}; write {KEYWORDS[name, keyword]}"
                )
        return function(*args, **options)

    return call
