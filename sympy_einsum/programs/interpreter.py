"""Execute Python statements symbolically.

If a condition depends on arguments, both branches are executed, and their results merged."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from .. import operations as ops
from ..core import ParseError, TensorError, tuning
from ..expressions import TensorExpr, order_of
from .aliasing import is_unaliased, is_view, may_alias, out_argument
from .evaluator import ExpressionEvaluator
from .helper_functions import helper_function, is_check
from .loops import read_loop
from .names import bare, imported, items
from .scopes import Closure, Scope
from .steps import SteppedArray, as_steps, chosen, stored_part
from .values import BINARY, NamedFunction, Value, array, choose_value, truth

# The ways in which a list of statements ends without returning.
_ON, _BREAK, _CONTINUE = object(), object(), object()
_ENDS = {ast.Break: _BREAK, ast.Continue: _CONTINUE}


class StatementInterpreter(ExpressionEvaluator):
    """Execute the functions of a text symbolically."""

    def __init__(self, text: str, outer: Scope | None = None):
        super().__init__(text)
        self.globals = Scope({}, outer)
        for statement in self.tree.body:
            self._define(statement)

    def _define(self, statement: ast.stmt) -> None:
        """Execute a definition, import or assignment of a module; skip calls."""
        if isinstance(statement, (ast.FunctionDef, ast.Import, ast.ImportFrom)):
            self.run([statement], self.globals)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            try:
                self.run([statement], self.globals)
            except TensorError:  # its use is the error
                for node in ast.walk(statement):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        self.globals.names.pop(node.id, None)
        elif isinstance(statement, (ast.AsyncFunctionDef, ast.ClassDef)):
            self.fail(statement, "a text is made of functions and constants; classes aren't read")

    def functions(self) -> list[str]:
        """Return the names of the functions of the text."""
        return [s.name for s in self.tree.body if isinstance(s, ast.FunctionDef)]

    def call(
        self, closure: Closure, node: ast.AST, args: Sequence[Value], options: Mapping[str, Value]
    ) -> Value:
        """Return the result of a function of the text."""
        if self.depth == tuning.MAX_CALL_DEPTH:
            self.fail(node, f"calls are nested more than {tuning.MAX_CALL_DEPTH} deep")
        scope = Scope(self._bound(closure, node, args, options), closure.scope)
        if isinstance(closure.node, ast.Lambda):
            return self.value(closure.node.body, scope)
        self.depth += 1
        result = self.run(closure.node.body, scope)
        self.depth -= 1
        return None if result is _ON else result

    def _bound(
        self, closure: Closure, node: ast.AST, args: Sequence[Value], options: Mapping[str, Value]
    ) -> dict[str, Value]:
        spec = closure.node.args
        places = [arg.arg for arg in (*spec.posonlyargs, *spec.args)]
        words = [arg.arg for arg in spec.kwonlyargs]
        optional = places[len(places) - len(spec.defaults) :] if spec.defaults else []
        optional += [w for w, d in zip(words, spec.kw_defaults, strict=True) if d is not None]
        names = dict(zip(optional, closure.defaults, strict=True))
        if len(args) > len(places):
            self.fail(node, f"{closure.name} takes {len(places)} arguments, not {len(args)}")
        given = dict(zip(places, args, strict=False))
        for name, value in options.items():
            if name in given or name not in places + words:
                self.fail(node, f"{closure.name} has no such argument, or has it already: {name}")
            given[name] = value
        names |= given
        missing = [name for name in places + words if name not in names]
        if missing:
            self.fail(node, f"{closure.name} lacks the argument {', '.join(missing)}")
        return names

    # --- statements

    def run(self, statements: Sequence[ast.stmt], scope: Scope, in_loop: bool = False) -> Value:
        """Execute statements; return their value, or a marker of how they end."""
        pending = list(statements)[::-1]
        while pending:
            statement = pending.pop()
            self.tick(statement)
            if isinstance(statement, ast.Return):
                return None if statement.value is None else self.value(statement.value, scope)
            if type(statement) in _ENDS:
                return _ENDS[type(statement)]
            if isinstance(statement, ast.If):
                condition = self.value(statement.test, scope)
                known = self.trying(statement.test, truth, condition)
                if known is not None:
                    pending += (statement.body if known else statement.orelse)[::-1]
                elif _leaves(statement):
                    return self._select_return(statement, condition, pending[::-1], scope, in_loop)
                else:
                    self._merge(statement, condition, scope)
            elif isinstance(statement, (ast.For, ast.While)):
                result = self._loop(statement, scope)
                if result is not _ON:
                    return result
            elif isinstance(statement, ast.Try) and self._is_check(statement, pending, scope):
                pending[-1:] = statement.body[-2::-1]
            elif isinstance(statement, ast.With) and _silences(statement):
                pending += statement.body[::-1]
            else:
                run = _RUN.get(type(statement))
                if run is None:
                    kind = type(statement).__name__
                    self.fail(statement, f"{kind} isn't read; compute a value and return it")
                run(self, statement, scope)
        return _ON

    def _is_check(self, quick: ast.Try, pending: list[ast.stmt], scope: Scope) -> bool:
        def known(name: str) -> Value:
            return self._named_value(scope, ast.Name(name, ast.Load()))

        return bool(pending) and is_check(quick, pending[-1], known)

    def _select_return(
        self, statement: ast.If, condition: Value, rest: list[ast.stmt], scope: Scope, in_loop: bool
    ) -> Value:
        """Select the result of a function in which one branch of a condition returns."""
        if in_loop:
            self.fail(statement, "how far the loop goes depends on this condition on the arguments")
        before, fresh = dict(scope.names), set(scope.fresh)
        results = []
        self.branches += 1
        for branch in (statement.body, statement.orelse):
            scope.names, scope.fresh = dict(before), set(fresh)
            results.append(self.run([*branch, *rest], scope))
        self.branches -= 1
        if any(result is _ON or result is None for result in results):
            self.fail(statement, "with this condition the function returns, else it doesn't")
        return self.trying(statement, choose_value, condition, *results)

    def _merge(self, statement: ast.If, condition: Value, scope: Scope) -> None:
        """Merge the scopes of two branches that both continue."""
        before, fresh = dict(scope.names), set(scope.fresh)
        ends = []
        self.branches += 1
        for branch in (statement.body, statement.orelse):
            scope.names, scope.fresh = dict(before), set(fresh)
            self.run(branch, scope)
            ends.append(Scope(scope.names, None, scope.fresh))
        self.branches -= 1
        yes, no = ends
        scope.names = {
            name: self.trying(statement, chosen, condition, value, no.names[name])
            for name, value in yes.names.items()
            if name in no.names
        }
        changed = {name for name in scope.names if scope.names[name] is not before.get(name)}
        scope.fresh = (yes.fresh & no.fresh) - changed

    def _loop(self, statement: ast.For | ast.While, scope: Scope) -> Value:
        over = self.value(statement.iter, scope) if isinstance(statement, ast.For) else None
        if isinstance(statement, ast.For) and self._reads_scan(statement, over, scope):
            return self.run(statement.orelse, scope, True)
        for _ in self._iterations(statement, over, scope):
            result = self.run(statement.body, scope, True)
            if result is _BREAK:
                return _ON
            if result is not _ON and result is not _CONTINUE:
                return result
        return self.run(statement.orelse, scope, True)

    def _reads_scan(self, statement: ast.For, over: Value, scope: Scope) -> bool:
        """Execute a loop of symbolic or many steps as a scan; return whether it was.

        Raises
        ======

        ParseError : it can't be, and the number of steps isn't known
        """
        steps = as_steps(over)
        if steps is None or not steps.is_long:
            return False
        if any(trace.owns(steps.length) for trace in self.traces):
            self.fail(
                statement.iter,
                f"the number of steps, {steps.length}, depends on the step of the loop around it; "
                "go over a fixed range, and choose by np.where",
            )

        def run() -> ast.AST | None:
            result = self.run(statement.body, scope, True)
            if result is _ON or result is _CONTINUE:
                return None
            kind = ast.Break if result is _BREAK else ast.Return
            return next(node for node in ast.walk(statement) if isinstance(node, kind))

        try:
            read_loop(self, statement, steps, scope, run)
        except ParseError:
            if steps.length.is_Integer:
                return False
            raise
        return True

    def _iterations(
        self, statement: ast.For | ast.While, over: Value, scope: Scope
    ) -> Iterator[None]:
        if isinstance(statement, ast.While):
            while self.known_truth(statement.test, scope):
                yield
            return
        for item in self.trying(statement.iter, items, over):
            self.bind(statement.target, item, scope)
            yield

    def _assign(self, statement: ast.Assign | ast.AnnAssign, scope: Scope) -> None:
        if statement.value is None:
            return
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        name = targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else None
        is_own = is_unaliased(statement.value, partial(self._named_value, scope))
        keeps = is_own or (name in scope.fresh and is_view(statement.value, name))
        out = out_argument(statement.value)
        if out is not None:
            value = self._call_with_out(statement.value, out, scope)
            keeps = isinstance(out, ast.Name) and out.id == name
            if not keeps:
                self.value(out, scope)  # now the array has an alias
        elif is_own:
            value = self._operand_or_view(statement.value, scope)
        else:
            value = self.value(statement.value, scope)
        for target in targets:
            self._store(target, value, scope)
        if name is not None and keeps:
            scope.fresh.add(name)

    def _operand_or_view(self, node: ast.expr, scope: Scope) -> Value:
        """Evaluate an operand; views of arrays don't count as aliases, as in ``operand``."""
        before = set(scope.fresh)
        views = [len(trace.views) for trace in self.traces]
        value = self.operand(node, scope)
        if isinstance(value, TensorExpr) and not may_alias(node, partial(self._named_value, scope)):
            scope.fresh |= before
            for trace, count in zip(self.traces, views, strict=True):
                del trace.views[count:]
        return value

    def _named_value(self, scope: Scope, node: ast.AST) -> Value:
        """Look up a name without aliasing its array; return None for other nodes."""
        if not isinstance(node, ast.Name):
            return None
        owner = scope.owner(node.id)
        if owner is not None:
            return owner.names[node.id]
        try:
            return bare(node.id)
        except KeyError:
            return None

    def _call_with_out(self, node: ast.expr, out: ast.expr, scope: Scope) -> Value:
        """Execute ``np.add(a, b, out=c)``; the options for casts are ignored."""
        assert isinstance(node, ast.Call)
        function = self.value(node.func, scope)
        if not isinstance(function, NamedFunction) or not function.is_entrywise:
            self.fail(node, "out= is read of NumPy's functions of entries only; assign the result")
        options = [o for o in node.keywords if o.arg not in ("out", "casting")]
        value = self._operand_or_view(
            ast.copy_location(ast.Call(node.func, node.args, options), node), scope
        )
        old = self._modifiable(out, scope)
        if not isinstance(old, TensorExpr) or not old.order:
            self.fail(out, "only arrays and their entries can be written over")
        new = self.trying(node, ops.broadcast_to, value, old.shape)
        self._store_view(out, new, scope)
        return new

    def _store(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Execute ``target = value``; arrays without an alias may be modified."""
        if isinstance(target, ast.Subscript):
            target = self._as_diagonal(target, scope)
            base = self._modifiable(target.value, scope)
            index = self.index(target.slice, scope)
            if isinstance(base, list):
                self.check_may_change(target)
                self.trying(target, base.__setitem__, index, value)
                return
            if not isinstance(base, (TensorExpr, SteppedArray)):
                self.fail(target, "only entries of arrays and lists can be assigned")
            self._store_view(
                target.value, self.trying(target, stored_part, base, index, value), scope
            )
        else:
            self.bind(target, value, scope)

    def _as_diagonal(self, target: ast.Subscript, scope: Scope) -> ast.Subscript:
        """Recognise ``A.ravel()[:: n + 1]`` as the diagonal, for symbolic n too."""
        call, cut = self._view_call(target.value, scope), target.slice
        if call is None or call[0] is not None or not isinstance(cut, ast.Slice):
            return target
        base = self._modifiable(call[1], scope)
        if cut.lower or cut.upper or cut.step is None or not isinstance(base, TensorExpr):
            return target
        rows, *columns = base.shape
        if columns != [rows] or self.value(cut.step, scope) != rows + 1:
            return target
        function = ast.Attribute(ast.Name("np", ast.Load()), "einsum", ast.Load())
        diagonal = ast.Call(function, [ast.Constant("ii->i"), call[1]], [])
        found = ast.Subscript(diagonal, ast.Constant(...), ast.Store())
        return ast.fix_missing_locations(ast.copy_location(found, target))

    def _modifiable(self, node: ast.expr, scope: Scope) -> Value:
        """Return an array to modify; ParseError if it may have an alias."""
        if isinstance(node, ast.Name):
            owner = scope.owner(node.id)
            value = None if owner is None else owner.names[node.id]
            if owner is scope and (node.id in scope.fresh or isinstance(value, list)):
                return value
            self.fail(
                node,
                f"what {node.id!r} stands for may have another name too, or belong to an argument: "
                f"begin with {node.id} = np.array(...), or write {node.id} = {node.id} + ...",
            )
        if isinstance(node, ast.Subscript):
            base = self._modifiable(node.value, scope)
            inside = self.trying(node, lambda: base[self.index(node.slice, scope)])
            if isinstance(base, list) and not isinstance(inside, list):
                self.fail(node, "an array in a list may have a name too: assign a new one to it")
            return inside
        call = self._view_call(node, scope)
        if call is None:
            self.fail(node, "this can't be assigned to; assign to an array, its entries or slices")
        subscripts, inner = call
        base = self._modifiable(inner, scope)
        if subscripts is None:
            return self.trying(node, ops.ravel, base)
        return self.trying(node, ops.einsum, subscripts, base)

    def _view_call(self, node: ast.expr, scope: Scope) -> tuple[str | None, ast.expr] | None:
        """Return the argument of ``a.ravel()``, or that of ``np.einsum("ii->i", a)`` and of
        ``diagonal_in(a)`` in generated code, with its subscripts."""
        if not isinstance(node, ast.Call) or node.keywords:
            return None
        if not isinstance(node.func, ast.Attribute):
            function = self._named_value(scope, node.func)
            is_diagonal = isinstance(function, NamedFunction) and function.name == "diagonal_in"
            return ("ii->i", node.args[0]) if is_diagonal and len(node.args) == 1 else None
        if node.func.attr == "ravel" and not node.args:
            return None, node.func.value
        if node.func.attr != "einsum" or len(node.args) != 2:
            return None
        subscripts = node.args[0]
        if isinstance(subscripts, ast.Constant) and isinstance(subscripts.value, str):
            return subscripts.value, node.args[1]
        return None

    def _store_view(self, node: ast.expr, value: Value, scope: Scope) -> None:
        """Assign to an array or a view of one."""
        if isinstance(node, ast.Name):
            scope.names[node.id] = value
            scope.fresh.add(node.id)
            return
        if isinstance(node, ast.Subscript):
            inner, base = node.value, self._modifiable(node.value, scope)
            index = self.index(node.slice, scope)
            new = self.trying(node, stored_part, base, index, value)
        else:
            call = self._view_call(node, scope)
            assert call is not None
            subscripts, inner = call
            base = self._modifiable(inner, scope)
            if subscripts is None:
                new = self.trying(node, ops.reshape, value, base.shape)
            else:
                new = self.trying(node, _with_diagonal, base, subscripts, value)
        self._store_view(inner, new, scope)

    def _augmented(self, statement: ast.AugAssign, scope: Scope) -> None:
        target, apply = statement.target, BINARY[type(statement.op)]
        right = self._operand_or_view(statement.value, scope)
        if isinstance(target, ast.Name):
            owner = scope.owner(target.id)
            old = None if owner is None else owner.names[target.id]
            if isinstance(old, list):
                self.fail(statement, "lists grow by append, or write a = a + b")
            if isinstance(old, TensorExpr) and old.order:
                old = self._modifiable(target, scope)
            elif owner is None:
                old = self.value(target, scope)
        elif isinstance(target, ast.Subscript):
            target = self._as_diagonal(target, scope)
            base = self._modifiable(target.value, scope)
            index = self.index(target.slice, scope)
            old = self.trying(target, lambda: base[index])
            is_aliasable = isinstance(old, list) or (isinstance(old, TensorExpr) and old.order)
            if isinstance(base, list) and is_aliasable:
                self.fail(target, "what is in the list may have a name too: assign a new value")
        else:
            self.fail(target, "attributes can't be assigned to")
        new = self.trying(statement, self._numbers(statement, apply), old, right)
        if isinstance(old, TensorExpr) and order_of(new) and new.shape != old.shape:
            self.fail(statement, f"the result has shape {new.shape}, the array {old.shape}")
        if isinstance(target, ast.Name):
            self.bind(target, new, scope)
            scope.fresh.add(target.id)
        else:
            self._store(target, new, scope)

    def _expression(self, statement: ast.Expr, scope: Scope) -> None:
        out = out_argument(statement.value)
        if out is not None:
            self._call_with_out(statement.value, out, scope)
        elif not isinstance(statement.value, ast.Constant):  # a docstring
            self.value(statement.value, scope)

    def _function(self, statement: ast.FunctionDef, scope: Scope) -> None:
        self.bind(
            ast.copy_location(ast.Name(statement.name, ast.Store()), statement),
            helper_function(statement) or self.closure(statement, scope),
            scope,
        )

    def _import(self, statement: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        for alias in statement.names:
            name = alias.asname or alias.name.partition(".")[0]
            if isinstance(statement, ast.Import):
                path = alias.name if alias.asname else name
                value = self.trying(statement, imported, path)
            elif statement.module == "__future__":
                continue
            else:
                module = self.trying(statement, imported, statement.module or "")
                if alias.name == "*":
                    self.fail(statement, "import the names one by one")
                value = self.trying(statement, module.__getitem__, alias.name)
            scope.names[name] = value

    def _nothing(self, statement: ast.stmt, scope: Scope) -> None:
        """Ignore a statement without effect on values."""


def _silences(statement: ast.With) -> bool:
    """Tell whether a block is ``with np.errstate(all="ignore"):`` or the like."""
    for item in statement.items:
        call = item.context_expr
        if not isinstance(call, ast.Call) or item.optional_vars is not None or call.args:
            return False
        if ast.unparse(call.func) not in ("np.errstate", "numpy.errstate"):
            return False
        settings = [getattr(word.value, "value", None) for word in call.keywords]
        if not {*settings} <= {"ignore", "warn"}:
            return False
    return True


def _leaves(statement: ast.If) -> bool:
    """Tell whether a branch returns or leaves a loop."""
    inside = [*statement.body, *statement.orelse]
    while inside:
        node = inside.pop()
        if isinstance(node, (ast.Return, ast.Break, ast.Continue)):
            return True
        if not isinstance(node, ast.FunctionDef):
            inside += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
    return False


def _with_diagonal(base: TensorExpr, subscripts: str, value: Value) -> Value:
    """Return a tensor with its diagonal replaced."""
    old = ops.einsum(subscripts, base)
    change = ops.broadcast_to(ops.subtract(array(value), old), old.shape)
    return ops.add(base, ops.einsum("->".join(subscripts.split("->")[::-1]), change))


_RUN: dict[type[ast.stmt], Callable[..., None]] = {
    ast.Assign: StatementInterpreter._assign,
    ast.AnnAssign: StatementInterpreter._assign,
    ast.AugAssign: StatementInterpreter._augmented,
    ast.Expr: StatementInterpreter._expression,
    ast.FunctionDef: StatementInterpreter._function,
    ast.Import: StatementInterpreter._import,
    ast.ImportFrom: StatementInterpreter._import,
    ast.Pass: StatementInterpreter._nothing,
    ast.Assert: StatementInterpreter._nothing,
}
