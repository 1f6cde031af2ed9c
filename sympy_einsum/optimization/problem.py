"""Optimization problems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sympy import Add, Basic, Eq, S, Symbol

from ..calculus import gradient, jacobian
from ..core import ShapeError, TensorError, UnsupportedError, once, postorder
from ..expressions import (
    OneHot,
    Operand,
    TensorExpr,
    TensorLike,
    TensorSymbol,
    as_operand,
    shape_of,
)
from ..operations import multiply, sum as sum_
from ..printing import latex
from .diagnosis import first_failure
from .functions import Functions, Instance, like, weighted_sum
from .methods import checked_name, minimize_arguments
from .optimality import Conditions
from .packing import (
    Arrays,
    Lengths,
    Packing,
    Values,
    as_positions,
    as_variables,
    by_symbol,
    free_names,
    known_lengths,
    packed,
)
from .relations import Constraint, new_constraint, read_constraints
from .results import Iteration, Result
from .solving import Progress, chosen_start, is_start, run
from .squares import residuals_of


class OptimalityConditions(NamedTuple):
    """Hold the Karush–Kuhn–Tucker conditions; in notebooks they are typeset.

    Attributes
    ==========

    stationarity : the gradients of the Lagrangian by the variables are zero
    feasibility : the constraints
    signs : multipliers of inequalities aren't negative, as constraints
    complementarity : each is zero where its constraint doesn't hold with equality
    """

    stationarity: tuple[Basic, ...]
    feasibility: tuple[Constraint, ...]
    signs: tuple[Constraint, ...]
    complementarity: tuple[Basic, ...]

    def _repr_latex_(self) -> str:
        lines = [*map(_equation, self.stationarity), *map(_line, self.feasibility)]
        lines += [*map(_line, self.signs), *map(_equation, self.complementarity)]
        return _aligned(lines)


def _equation(relation: Basic) -> str:
    left, right = relation.args
    return f"{latex(left)} &= {latex(right)}"


def _line(constraint: Constraint) -> str:
    return f"{latex(constraint.left)} &{constraint.latex_sign} {latex(constraint.right)}"


def _aligned(lines: Sequence[str]) -> str:
    rows = " \\\\\n".join(lines)
    return f"$\\displaystyle \\begin{{aligned}}\n{rows}\n\\end{{aligned}}$"


class Problem:
    """Pose the problem of minimising or maximising a scalar under constraints.

    Parameters
    ==========

    f : the objective, a scalar expression
    variables : a symbol or a list of them, of any shapes. One that is assumed to be nonnegative,
        positive, nonpositive or negative is bounded by 0; strict inequalities are read as those
        that allow equality
    subject_to : constraints, entry by entry: what ``A @ x <= b``, ``x >= 0``,
        ``(x >= 0) & (x <= 1)`` or ``sympy.Eq(h, 0)`` gives
    parameters : the other symbols, in any order; by default all that occur
    maximize : whether the largest value is sought

    Attributes
    ==========

    objective : the objective, as given
    variables : the variables, as a tuple
    parameters : the other symbols, in the order in which they were given or occur
    maximize : whether the largest value is sought
    constraints : with the attributes ``relation``, ``left``, ``sign``, ``right`` and ``gap``, which
        is at most 0 (or 0 for an equation)

    Raises
    ======

    ShapeError : f isn't a scalar, or the sides of a constraint don't fit together
    TensorError : something is no variable, no constraint, or no parameter although it occurs
    UnsupportedError : a variable is assumed to be symmetric or an integer, a constraint is of
        another kind

    Examples
    ========

    Least squares without negative entries:

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> A, b, x = se.TensorSymbol("A", m, n), se.TensorSymbol("b", m), se.TensorSymbol("x", n)
    >>> p = se.Problem(((A @ x - b) ** 2).sum(), x, [x >= 0])
    >>> p
    minimise ((A @ x - b)**2).sum() over x subject to x >= 0
    >>> result = p.solve({A: [[1, 0], [0, 1], [1, 1]], b: [2, -2, 1]})
    >>> result[x], result.value, result.multipliers[x >= 0]
    (array([1.5, 0. ]), 4.5, array([0., 5.]))
    >>> p.kkt.stationarity
    (Eq((2*A.T @ (A @ x - b) - lambda_1), 0),)
    """

    _residuals: list[Operand] | None = None

    def __init__(
        self,
        f: TensorLike,
        variables: Operand | Sequence[Operand],
        subject_to: object = (),
        parameters: Sequence[Operand] | None = None,
        maximize: bool = False,
    ):
        self.objective = as_operand(f)
        if shape_of(self.objective):
            raise ShapeError(
                f"the objective has shape {shape_of(self.objective)}, not that of a scalar; "
                "take its sum, or Problem.least_squares for that of its squares"
            )
        _check_real(self.objective, "the objective")
        self.variables = as_variables(variables)
        self.maximize = _as_truth(maximize)
        self.constraints = read_constraints(subject_to, self.variables)
        found = [self.objective, *[constraint.gap for constraint in self.constraints]]
        declared = None if parameters is None else _as_parameters(parameters)
        self.lengths = _lengths_in([*found, *self.variables, *(declared or ())])
        occurring = {symbol for expr in found for symbol in expr.free_symbols}
        self._check_occurrence(occurring)
        others = sorted(occurring - {*self.variables, *self.lengths}, key=str)
        self.parameters = others if declared is None else self._declared(declared, others)
        bound = _lengths_in([*self.variables, *self.parameters], only_plain=True)
        # Lengths that no array has are arguments of their own.
        free = sorted((occurring & self.lengths) - bound, key=str)
        self._arguments = [*self.variables, *others, *free]
        self._last: Lengths = {}

    @classmethod
    def least_squares(
        cls,
        r: TensorLike | Sequence[TensorLike],
        variables: Operand | Sequence[Operand],
        subject_to: object = (),
        parameters: Sequence[Operand] | None = None,
    ) -> Problem:
        """Pose the problem of minimising the sum of squares of a residual, or of several.

        It is solved by a factorization where the residual is affine, else by the
        Levenberg–Marquardt method.

        >>> import sympy_einsum as se
        >>> t, y, c = se.TensorSymbol("t", 4), se.TensorSymbol("y", 4), se.TensorSymbol("c", 2)
        >>> p = se.Problem.least_squares(c[0] * se.exp(c[1] * t) - y, c)
        >>> result = p.solve({t: [0, 1, 2, 3], y: [2.0, 1.0, 0.5, 0.25]}, start={c: [1.0, 0.0]})
        >>> result[c].round(6)
        array([ 2.      , -0.693147])
        """
        parts = [as_operand(part) for part in (r if isinstance(r, (list, tuple)) else [r])]
        if not parts:
            raise TensorError("least_squares takes a residual, or a list of some, not an empty one")
        for part in parts:
            _check_real(part, "the residual")
        squares = [part**2 if not shape_of(part) else sum_(part**2) for part in parts]
        problem = cls(Add(*squares), variables, subject_to, parameters)
        problem._residuals = parts
        return problem

    def _check_occurrence(self, occurring: set[Basic]) -> None:
        for x in self.variables:
            if x not in occurring:
                alike = [s for s in occurring if str(s) == str(x)]
                hint = f"; the {x} there has shape {shape_of(alike[0])}" if alike else ""
                raise TensorError(
                    f"the variable {x}, of shape {shape_of(x)}, occurs neither in the objective "
                    f"nor in a constraint{hint}"
                )

    def _declared(self, parameters: list[Operand], occurring: Sequence[Operand]) -> list[Operand]:
        missing = [symbol for symbol in occurring if symbol not in parameters]
        if missing:
            raise TensorError(
                f"{missing[0]}, of shape {shape_of(missing[0])}, occurs in the problem, but is "
                "neither a variable nor a parameter; add it to parameters"
            )
        return [symbol for symbol in parameters if symbol not in self.lengths]

    # --- formulas

    @once
    def _multipliers(self) -> list[Operand]:
        """The symbols of multipliers: λ for inequalities, μ for equations."""
        taken = [*self._arguments, *self.parameters, *self.lengths]
        names = {name: free_names(name, taken) for name in ("lambda", "mu")}
        return [
            like(next(names["mu" if own.is_equation else "lambda"]), own.gap)
            for own in self.constraints
        ]

    @property
    def lagrangian(self) -> Operand:
        """The objective plus (for maximize minus) each constraint's gap times its multiplier.

        Multipliers are ``lambda_1``, … for inequalities and ``mu_1``, … for equations;
        names in use are left out.

        >>> import sympy_einsum as se
        >>> from sympy import Eq
        >>> x = se.TensorSymbol("x", 3)
        >>> se.Problem(x @ x, x, [Eq(x.sum(), 1)]).lagrangian
        mu_1*(x.sum() - 1) + x @ x
        """
        gaps = [constraint.gap for constraint in self.constraints]
        return Add(self.objective, self._sign * weighted_sum(self._multipliers, gaps))

    @property
    def kkt(self) -> OptimalityConditions:
        """The conditions for an optimum, of stationarity, feasibility, signs, complementarity."""
        gradients = gradient(self.lagrangian, self.variables)
        pairs = [
            (multiplier, constraint)
            for multiplier, constraint in zip(self._multipliers, self.constraints, strict=True)
            if not constraint.is_equation
        ]
        return OptimalityConditions(
            tuple([Eq(own, 0, evaluate=False) for own in gradients]),
            tuple(self.constraints),
            tuple([new_constraint(own, own, ">=", S.Zero) for own, _ in pairs]),
            tuple([Eq(multiply(multiplier, c.gap), 0, evaluate=False) for multiplier, c in pairs]),
        )

    def to_latex(self) -> str:
        r"""Return the problem in LaTeX.

        >>> import sympy_einsum as se
        >>> A, b, x = se.TensorSymbol("A", 2, 3), se.TensorSymbol("b", 2), se.TensorSymbol("x", 3)
        >>> print(se.Problem(x @ x, x, [A @ x <= b]).to_latex())
        \begin{aligned}
        \min_{x} \quad & x^{\top} x \\
        \text{s.t.} \quad & A x \leq b
        \end{aligned}
        """
        names = ", ".join(map(latex, self.variables))
        word = "max" if self.maximize else "min"
        lines = [rf"\{word}_{{{names}}} \quad & {latex(self.objective)}"]
        for number, c in enumerate(self.constraints):
            head = r"\text{s.t.} \quad &" if not number else "&"
            lines.append(f"{head} {latex(c.left)} {c.latex_sign} {latex(c.right)}")
        rows = " \\\\\n".join(lines)
        return f"\\begin{{aligned}}\n{rows}\n\\end{{aligned}}"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.to_latex()}$"

    def __repr__(self) -> str:
        word = "maximise" if self.maximize else "minimise"
        text = f"{word} {self.objective} over {', '.join(map(str, self.variables))}"
        if self.constraints:
            text += f" subject to {', '.join(map(str, self.constraints))}"
        return text

    # --- solving

    @property
    def _sign(self) -> int:
        return -1 if self.maximize else 1

    @once
    def _functions(self) -> Functions:
        objective = multiply(self._sign, self.objective)
        known = self._residuals
        residuals = residuals_of(objective) if known is None else known
        return Functions(objective, residuals, self.constraints, self.variables, self._arguments)

    def solve(
        self,
        values: Values | None = None,
        start: Values | None = None,
        method: str = "auto",
        tolerance: float = 1e-8,
        callback: Callable[[Iteration], object] | None = None,
    ) -> Result:
        """Solve the problem on data.

        Derivatives are compiled at the first call and reused by later ones, on whatever data.

        Parameters
        ==========

        values : arrays of the parameters by symbol or name, and axis lengths, ``{n: 10}``, that
            follow from no array
        start : arrays of the variables from which to start, or of some of them
        method : ``"auto"``, which chooses by what is known of the problem; a name of a method of
            ``scipy.optimize.minimize``; ``"linprog"``, ``"lstsq"``, ``"lsq-linear"``,
            ``"least-squares"``
        tolerance : on the gradient of the Lagrangian, relative to 1 and the objective's
        callback : called after each iteration with ``number``, ``value``, ``violation`` and
            ``seconds``; solving ends if it returns True

        Returns
        =======

        A result: ``result[x]`` is an array; ``value``, ``success``, ``message``, ``iterations``,
        ``history``, ``multipliers`` by constraint, ``method``, ``residual``

        Raises
        ======

        TensorError : a parameter is missing, or the objective isn't finite at the start
        ShapeError : an array doesn't fit its symbol
        UnsupportedError : the method doesn't exist or can't solve such a problem; SciPy is missing

        Examples
        ========

        >>> import sympy_einsum as se
        >>> from sympy import Eq
        >>> p = se.TensorSymbol("p", 4, nonnegative=True)
        >>> entropy = se.Problem(se.entr(p).sum(), p, [Eq(p.sum(), 1)], maximize=True)
        >>> result = entropy.solve()
        >>> result["p"].round(6), round(result.value, 6)
        (array([0.25, 0.25, 0.25, 0.25]), 1.386294)
        """
        if callback is not None and not callable(callback):
            raise TensorError(f"callback is a function, not {str(callback)[:80]!r}")
        if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)):
            raise TensorError(f"tolerance is a positive number, not {str(tolerance)[:80]!r}")
        if not 0 < tolerance < 1:
            raise TensorError(f"tolerance is between 0 and 1, not {tolerance}")
        instance, vector = self._prepared(values, start)
        names = checked_name(method, instance)
        progress = Progress(instance, self._sign, callback)
        end = run(instance, vector, names, float(tolerance), progress, self.constraints)
        packing = instance.packing
        parts = packing.unpack(end.vector)
        solution = {
            x: part if shape else part.item()
            for x, part, shape in zip(self.variables, parts, packing.shapes, strict=True)
        }
        return Result(
            values=solution,
            value=self._sign * instance.final_value(end.vector),
            success=end.success,
            message=end.message,
            history=progress.history,
            multipliers=self._multipliers_at(instance, end.conditions),
            method=end.method,
            residual=end.conditions.residual,
            kind="maximum" if self.maximize else "minimum",
            constraints=self.constraints,
        )

    def _multipliers_at(self, instance: Instance, found: Conditions) -> dict[Basic, np.ndarray]:
        if not self.constraints:
            return {}
        entries: np.ndarray = np.zeros(instance.starts[-1])
        entries[instance.owners] = found.general
        instance.bounds.add_multipliers(found.bounds, entries)
        parts = zip(instance.starts[:-1], instance.starts[1:], instance.gap_shapes, strict=True)
        arrays = [entries[a:b].reshape(shape) for a, b, shape in parts]
        relations = [constraint.relation for constraint in self.constraints]
        return {
            relation: array if array.shape else array.item()
            for relation, array in zip(relations, arrays, strict=True)
        }

    def scipy(self, values: Values | None = None, start: Values | None = None) -> dict[str, Any]:
        """Return keyword arguments of ``scipy.optimize.minimize``: ``fun``, ``x0``, ``jac``,
        ``hess`` or (for many unknowns) ``hessp``, ``bounds``, ``constraints``. ``fun`` is the
        negative objective if that is maximised.

        Raises
        ======

        TensorError, ShapeError, UnsupportedError : as for :meth:`solve`

        Examples
        ========

        >>> import sympy_einsum as se
        >>> from scipy.optimize import minimize
        >>> x = se.TensorSymbol("x", 2)
        >>> p = se.Problem(((x - 1) ** 4).sum() + x @ x, x)
        >>> found = minimize(**p.scipy(start={x: [0.0, 3.0]}), method="trust-exact")
        >>> p.unpack(found.x)[x].round(4)
        array([0.4102, 0.4102])
        """
        return minimize_arguments(*self._prepared(values, start))

    def pack(self, arrays: Values) -> np.ndarray:
        """Return the values of all variables as one vector, in the order of ``variables``.

        Raises
        ======

        TensorError : a variable has no value
        ShapeError : an array doesn't fit its symbol

        Examples
        ========

        >>> import sympy_einsum as se
        >>> U, t = se.TensorSymbol("U", 2, 2), se.TensorSymbol("t", 1)
        >>> p = se.Problem((U**2).sum() + t @ t, [U, t])
        >>> vector = p.pack({U: [[1, 2], [3, 4]], "t": [5]})
        >>> vector, p.unpack(vector)[t]
        (array([1., 2., 3., 4., 5.]), array([5.]))
        """
        vector, self._last = packed(self.variables, self.lengths, arrays)
        return vector

    def unpack(self, vector: TensorLike, values: Values | None = None) -> dict[Operand, Any]:
        """Return the arrays of the variables, by symbol, from one vector.

        Lengths that are no numbers follow from ``values``, as for :meth:`solve`; without them they
        are those of the last call of :meth:`pack`, :meth:`scipy` or :meth:`solve`.

        Raises
        ======

        ShapeError : the vector has another length than all variables together, or that is unknown

        Examples
        ========

        >>> import sympy_einsum as se
        >>> U, t = se.TensorSymbol("U", 2, 2), se.TensorSymbol("t", 1)
        >>> p = se.Problem((U**2).sum() + t @ t, [U, t])
        >>> p.unpack([1.0, 2.0, 3.0, 4.0, 5.0])[U]
        array([[1., 2.],
               [3., 4.]])
        """
        lengths = self._last
        if values is not None:
            found = by_symbol(values, self._known, "values")
            lengths = known_lengths(found, self.lengths)
        return Packing(self.variables, lengths).arrays(vector)

    @once
    def _known(self) -> list[Operand]:
        return [*self.lengths, *self.parameters, *self._arguments[len(self.variables) :]]

    @once
    def _positions(self) -> set[Basic]:
        """The parameters that hold positions on axes."""
        found = [self.objective, *[constraint.gap for constraint in self.constraints]]
        nodes = [node for node in postorder(found) if isinstance(node, OneHot)]
        return {s for node in nodes for s in node.indices.free_symbols}.intersection(self._known)

    def _prepared(self, values: Values | None, start: Values | None) -> tuple[Instance, np.ndarray]:
        """Return the problem on data, and the vector to start from."""
        arrays = by_symbol(values, self._known, "values")
        arrays |= {s: as_positions(s, own) for s, own in arrays.items() if s in self._positions}
        begin = by_symbol(start, self.variables, "start")
        self._last = lengths = known_lengths({**arrays, **begin}, self.lengths)
        own = self._arguments[len(self.variables) :]
        arrays |= {s: np.asarray(lengths[s]) for s in own if s in lengths}
        missing = [symbol for symbol in own if symbol not in arrays]
        if missing:
            name, shape = missing[0], shape_of(missing[0])
            raise TensorError(
                f"no value is given for the parameter {name}, of shape {shape}: "
                f"solve({{{str(name)!r}: …}})"
            )
        packing = Packing(self.variables, lengths)
        if not packing.size:
            names = ", ".join(map(str, self.variables))
            raise ShapeError(
                f"{names} have no entries for these data, so there is nothing to solve"
            )
        given = [*arrays.items(), *begin.items()]
        infinite = [(symbol, array) for symbol, array in given if not _is_finite(array)]
        for symbol, array in infinite:
            # Bounds may be infinite.
            if np.isnan(array).any() or symbol in begin or symbol in self.objective.free_symbols:
                raise _not_finite(symbol, array)
        instance = Instance(self._functions, packing, arrays, lengths)
        for symbol, array in infinite:
            if any(symbol in self.constraints[k].gap.free_symbols for k in instance.general):
                raise _not_finite(symbol, array)
        if len(begin) == len(self.variables):
            vector = packing.pack(begin)
        else:
            vector = chosen_start(instance)
            found = dict(zip(self.variables, packing.unpack(vector), strict=True))
            vector = packing.pack({**found, **begin}) if begin else vector
        vector = instance.bounds.inside(vector)
        if not is_start(instance, vector):
            self._refuse_start(packing, arrays, vector, bool(begin))
        return instance, vector

    def _refuse_start(
        self, packing: Packing, arrays: Arrays, vector: np.ndarray, is_given: bool
    ) -> None:
        own = dict(zip(self.variables, packing.unpack(vector), strict=True))
        data = {symbol: arrays[symbol] for symbol in self._arguments if symbol in arrays}
        which = "the start" if is_given else "any of the starts that were tried"
        parts = [
            ("objective", self.objective),
            *[(f"constraint {constraint}", constraint.gap) for constraint in self.constraints],
        ]
        what, reason = next(
            (what, found)
            for what, expr in parts
            for e in (expr, *jacobian(expr, self.variables))
            if (found := first_failure(e, {**own, **data}))
        )
        names = ", ".join(map(str, self.variables))
        raise TensorError(
            f"the {what} or its gradient isn't finite at {which}: {reason}; give a start for "
            f"{names} where it is, and bounds or constraints that keep it so"
        )


def _is_finite(array: np.ndarray) -> bool:
    flat = array.ravel()
    # Of finite entries the squares may overflow, which is rare.
    return bool(np.isfinite(flat.dot(flat)) or np.isfinite(array).all())


def _not_finite(symbol: Operand, array: np.ndarray) -> TensorError:
    index = tuple(map(int, np.argwhere(~np.isfinite(array))[0]))
    entry = f": entry {index} is {array[index]}" if index else f", but {array}"
    return TensorError(f"the value of {symbol} isn't finite{entry}")


def _check_real(value: Operand, what: str) -> None:
    if value.is_real is False or (not value.is_real and value.has(S.ImaginaryUnit)):
        raise UnsupportedError(f"{what} is complex; take real, imag or abs of it")


def _as_parameters(given: object) -> list[Operand]:
    symbols = list(given) if isinstance(given, (list, tuple)) else [given]
    for symbol in symbols:
        if not isinstance(symbol, (Symbol, TensorSymbol)):
            raise TensorError(
                f"parameters is a list of symbols; {str(symbol)[:80]!r} is of type "
                f"{type(symbol).__name__}"
            )
    return symbols


def _as_truth(value: object) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TensorError(f"maximize is True or False, not {str(value)[:80]!r}")
    return bool(value)


def _lengths_in(exprs: Sequence[Operand], only_plain: bool = False) -> set[Operand]:
    """Return the symbols of axis lengths; ``only_plain`` those that are a length by themselves."""
    lengths = {
        length for node in postorder(exprs) if isinstance(node, TensorExpr) for length in node.shape
    }
    if only_plain:
        return {length for length in lengths if isinstance(length, Symbol)}
    return {symbol for length in lengths for symbol in length.free_symbols}
