"""The allowed imports between packages, and forbidden constructs."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import sympy_einsum as se

PACKAGE = Path(__file__).parent.parent / "sympy_einsum"
SOURCES = sorted(PACKAGE.rglob("*.py"))

# From the ground up; at the top the modules beside the packages.
PACKAGES = [
    "core",
    "contraction_order",
    "expressions",
    "operations",
    "analysis",
    "rules",
    "calculus",
    "certificates",
    "compiler",
    "printing",
    "convert",
    "languages",
    "numpy",
    "programs",
    "sympy_hooks",
    "evaluation",
    "verification",
    "optimization",
    "statistics",
    "power_series",
    "testing",
    "commandline",
    "jupyter",
    "__init__",
    "__main__",
]
# Imports that the order of packages would allow, but that are forbidden.
FORBIDDEN_IMPORTS = {
    "analysis": {"operations"},
    "rules": {"operations"},
    "compiler": {"operations", "calculus"},
    "printing": {"calculus", "compiler"},
    "convert": {"calculus", "compiler", "printing"},
    "languages": {"analysis", "rules", "calculus", "compiler", "printing", "convert"},
    "programs": {"analysis", "rules", "printing", "convert", "languages"},
    "numpy": {"analysis", "rules", "calculus", "compiler", "printing", "convert", "languages"},
}


def name_of(path):
    return str(path.relative_to(PACKAGE))


# For type checkers only: the base class looks up to the methods that are attached to it, and the
# scalar functions are named.
FOR_TYPE_CHECKERS = {"expressions/base.py", "sympy_hooks/methods.py", "__init__.py"}


class WithoutTypes(ast.NodeTransformer):
    """Removes code under ``if TYPE_CHECKING``."""

    def visit_If(self, node):
        return node.orelse if ast.unparse(node.test).endswith("TYPE_CHECKING") else node


def imports(path):
    """Return a file's imports of the package, as (package, module within it) pairs."""
    place = path.relative_to(PACKAGE).parts
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if name_of(path) in FOR_TYPE_CHECKERS:
        tree = WithoutTypes().visit(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = place[: len(place) - node.level]
            modules = [node.module] if node.module else [alias.name for alias in node.names]
            for module in modules:
                package, _, inside = ".".join([*base, module]).partition(".")
                yield package, inside


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_packages_import_only_packages_below_them(path):
    """And only through their ``__init__``."""
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for package, inside in imports(path):
        if package != own:
            assert PACKAGES.index(package) < PACKAGES.index(own)
            assert package not in FORBIDDEN_IMPORTS.get(own, ())
            assert not inside


def test_the_picture_shows_the_imports():
    """Directly, or implied by other arrows."""
    page = PACKAGE.parent / "docs" / "architecture.md"
    arrows = re.findall(r"^    (\w+) --> (\w+)$", page.read_text(encoding="utf-8"), re.M)
    imported = {}
    for path in SOURCES:
        own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        imported.setdefault(own, set()).update(package for package, _ in imports(path))

    def reached(name):
        direct = {other for own, other in arrows if own == name}
        return direct.union(*map(reached, direct))

    assert all(other in imported[own] for own, other in arrows)
    for own in imported.keys() - {"__init__", "__main__"}:
        assert imported[own] - {own} <= reached(own)


def test_no_module_has_the_name_of_a_public_function():
    modules = {path.stem for path in SOURCES} - {"__init__", "numpy"}
    assert not modules & set(se.__all__)


# Classes that share a name: one concept in parallel modules, or two public names.
SAME_CLASSES = {
    "_ToNodes": "the tree of a language's grammar as syntax nodes, one for each language",
    "Step": "public: of a derivation (`rules`), and of a random program (`testing`)",
}


def test_no_two_classes_have_one_name():
    classes = Counter(
        node.name
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )
    assert {name for name, count in classes.items() if count > 1} == SAME_CLASSES.keys()


# Files whose functions share names with others, as implementations of an interface.
INTERFACES = {
    "compiler/runtime/": "helper functions of generated code, one file for each library",
    "numpy/": "NumPy's names",
    "sympy_hooks/stock_constructors.py": "replacements named after what they replace in SymPy",
    "sympy_hooks/replacing.py": "the same",
    "compiler/ir/code.py": "constructors of syntax trees",
    "printing/forms.py": "constructors of forms",
    "convert/matrix_algebra.py": "the algebra that networks of matrices are reduced in",
    "printing/algebra.py": "the same, on forms",
}
# Other functions that share a name.
SAME_FUNCTIONS = {
    "diff": "public: the derivative, and NumPy's differences",
    "gradient": "public: the derivative, and NumPy's finite differences",
    "tensors": "public: tensor symbols, and a strategy that draws them (`testing`)",
    "read": "the parser of a language, one for each language",
}


def test_no_two_functions_have_one_name():
    """Public functions of different modules, apart from implementations of one interface."""
    functions = Counter(
        node.name
        for path in SOURCES
        if not path.relative_to(PACKAGE).as_posix().startswith(tuple(INTERFACES))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        if "overload" not in map(ast.unparse, node.decorator_list)
    )
    assert {name for name, count in functions.items() if count > 1} == SAME_FUNCTIONS.keys()


def test_no_two_files_of_tests_have_one_name():
    """pytest imports them by their names, without the folders."""
    names = Counter(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_few_modules_stand_beside_the_packages():
    assert len(list(PACKAGE.glob("*.py"))) <= 8


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_imports_stand_at_the_top(path):
    """Local imports hide cycles."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inner = [
        node
        for function in ast.walk(tree)
        if isinstance(function, (ast.FunctionDef, ast.ClassDef))
        for node in ast.walk(function)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    assert not inner


def test_data_of_nodes_have_names():
    """Only the class of a node reads its static data by position; the contents of printed forms are
    data too."""
    readers = [
        name_of(path)
        for path in SOURCES
        if path.parent.name != "printing"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "data"
        and not (isinstance(node.value.value, ast.Name) and node.value.value.id == "self")
    ]
    assert not readers


def test_text_is_run_in_one_place_only():
    calls = [
        name_of(path)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"eval", "exec", "__import__"}
    ]
    assert calls == ["compiler/calls.py"]


# Of the compiler from the ground up; those of one row don't know of each other.
COMPILER_PACKAGES = [
    {"ir"},
    {"lowering", "passes", "runtime"},
    {"backends"},
    {"emit", "semirings"},
]


def floor_of(package):
    """The row of a package of the compiler; above them the modules beside them."""
    rows = [k for k, row in enumerate(COMPILER_PACKAGES) if package in row]
    return rows[0] if rows else len(COMPILER_PACKAGES)


def test_packages_of_the_compiler_import_only_packages_below_them():
    found = {
        (path.relative_to(PACKAGE).parts[1].removesuffix(".py"), inside.partition(".")[0])
        for path in SOURCES
        for package, inside in imports(path)
        if name_of(path).startswith("compiler/") and package == "compiler" and inside
    }
    wrong = {(own, other) for own, other in found if floor_of(own) <= floor_of(other)}
    modules = {pair for pair in wrong if floor_of(pair[1]) == len(COMPILER_PACKAGES)}
    assert {pair for pair in wrong - modules if pair[0] != pair[1]} == set()
    # A package reads no module beside the packages.
    assert {pair for pair in modules if floor_of(pair[0]) < len(COMPILER_PACKAGES)} == set()


COMPILER = [path for path in SOURCES if path.is_relative_to(PACKAGE / "compiler")]


@pytest.mark.parametrize("path", COMPILER, ids=name_of)
def test_the_compiler_reads_no_text_by_patterns(path):
    """Instructions and code are objects until they are printed."""
    imported = {
        alias.name if isinstance(node, ast.Import) else node.module
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    assert not {"re", "regex", "tokenize"} & imported


@pytest.mark.parametrize("path", COMPILER, ids=name_of)
def test_helper_functions_stand_in_no_string(path):
    """They are functions of modules in compiler/runtime/, checked by linters and type checkers."""
    texts = [
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert not [text for text in texts if re.search(r"^ *def \w+\(.*\n", text, re.M)]


def test_optional_libraries_are_not_loaded():
    code = (
        "import sys, sympy_einsum as se\n"
        "x = se.TensorSymbol('x', (3,))\n"
        "se.lambdify([x], se.gradient(se.sigmoid(x).sum(), x))\n"
        "print(sorted({'scipy', 'jax', 'torch', 'cupy', 'dask', 'sklearn'} & set(sys.modules)))"
    )
    assert _output(code) == "[]"


def test_lazy_names_are_public_and_load():
    for name, package in se._LATER.items():
        assert name in [*se.__all__, "load_ipython_extension"]  # what IPython looks for
        assert getattr(se, name).__module__.startswith(f"sympy_einsum.{package}")


def test_parts_load_when_they_are_used():
    code = (
        "import sys, sympy_einsum as se\n"
        "x = se.TensorSymbol('x', (3,))\n"
        "se.gradient(se.sigmoid(x).sum(), x)\n"
        "later = {'compiler', 'convert', 'languages', 'printing', 'programs', 'verification'}\n"
        "loaded = [name for name in sorted(later) if f'sympy_einsum.{name}' in sys.modules]\n"
        "print(loaded, 'lark' in sys.modules)"
    )
    assert _output(code) == "[] False"


def test_code_for_numpy_loads_nothing_of_other_backends():
    code = (
        "import sys, sympy_einsum as se\n"
        "x = se.TensorSymbol('x', (3,))\n"
        "se.lambdify([x], se.gradient(se.sigmoid(x).sum(), x))([1.0, 2.0, 3.0])\n"
        "others = ('loop_nests', 'kernel_calls', 'stock_code', 'emit.c_', 'importlib.metadata')\n"
        "print([name for name in sys.modules if any(other in name for other in others)])"
    )
    assert _output(code) == "[]"


def test_signs_are_known_whatever_is_loaded():
    code = (
        "import sympy, sympy_einsum as se\n"
        "y = se.TensorSymbol('y', (3,), positive=True)\n"
        "print(abs(y), se.sqrt(y**2), sympy.sqrt((y @ y) ** 2))"
    )
    assert _output(code) == "y y y @ y"


def test_an_import_loads_little():
    code = (
        "import sys, sympy, numpy\n"
        "before = set(sys.modules)\n"
        "import sympy_einsum\n"
        "new = sorted(set(sys.modules) - before)\n"
        "ours = [name.split('.') for name in new if name.startswith('sympy_einsum.')]\n"
        "print(*sorted({name for _, name, *_ in ours}))\n"
        "print(len(ours), len([name for name in new if not name.startswith('sympy_einsum')]))"
    )
    packages, counts = _output(code).splitlines()
    assert packages.split() == ["core", "expressions", "operations", "sympy_hooks"]
    ours, others = map(int, counts.split())
    assert ours <= 114
    assert others <= 40


def test_numpys_functions_load_the_namespace():
    code = (
        "import sys, numpy as np, sympy_einsum as se\n"
        "x = se.TensorSymbol('x', (3,))\n"
        "print('sympy_einsum.numpy' in sys.modules)\n"
        "print(eval({call!r}), 'sympy_einsum.numpy' in sys.modules)"
    )
    for call, result in {
        "np.sum(x)": "x.sum()",
        "np.exp(x)": "exp(x)",
        "np.sqrt(1 + x @ x)": "sqrt(x @ x + 1)",
        "np.add(se.ComplexTensor(x, x), x).real": "2*x",
        "np.real(se.ComplexTensor(x, x))": "x",
        "np.array([1, 2, 3]) * x": "Constant([1, 2, 3])*x",
    }.items():
        before, after = _output(code.replace("{call!r}", repr(call))).splitlines()
        assert before == "False"
        assert after == f"{result} True"


def _output(code):
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    )
    return run.stdout.strip()


# Numbers that follow from something else, and so are no choice: NumPy's and doubles' bounds,
# letters of indices, constants of formulas, signals, names of cases.
FIXED_NUMBERS = {
    ("commandline/serving.py", "_OUT_OF_TIME"),
    ("compiler/backends/scalars.py", "INTEGER_BITS"),
    ("compiler/emit/fortran_language.py", "ENTRIES"),
    ("compiler/emit/fortran_language.py", "WIDTH"),
    ("compiler/runtime/special_functions.py", "LANGEVIN_SERIES"),
    ("core/activations.py", "_HUNDREDTH"),
    ("core/exact_powers.py", "BITS_PER_DIGIT"),
    ("core/exact_powers.py", "FLOAT_DIGITS"),
    ("core/exact_powers.py", "MAX_NUMBER"),
    ("expressions/conversion.py", "MAX_DEPTH"),
    ("expressions/scans.py", "FIRST_INDEX"),
    ("printing/forms.py", "ROW"),
    ("rules/compressed.py", "LETTERS"),
}
ARITHMETIC = (
    *(ast.Constant, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.Call),
    *(ast.operator, ast.unaryop, ast.Load),
)


def numbers_of(path):
    """Return the names that a module gives to numbers."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        value = getattr(node, "value", None)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and value is not None:
            leaves = [leaf for leaf in ast.walk(value) if isinstance(leaf, ast.Constant)]
            is_formula = all(
                isinstance(part, ARITHMETIC)
                or (isinstance(part, ast.Name) and part.id == "Rational")
                for part in ast.walk(value)
            )
            if leaves and is_formula and all(type(leaf.value) in (int, float) for leaf in leaves):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = [n for t in targets for n in getattr(t, "elts", [t])]
                yield from (n.id for n in names if isinstance(n, ast.Name))


def test_tuning_constants_stand_in_their_table():
    found = {
        (name_of(path), name)
        for path in SOURCES
        for name in numbers_of(path)
        if name_of(path) != "core/tuning.py"
    }
    assert found == FIXED_NUMBERS


def test_every_tuning_constant_is_explained_and_used():
    path = PACKAGE / "core/tuning.py"
    names = [*numbers_of(path)]
    assert len(names) == len(set(names)) > 80
    lines = path.read_text(encoding="utf-8").splitlines()
    rest = "\n".join(p.read_text(encoding="utf-8") for p in SOURCES if p != path)
    used = set(re.findall(r"\btuning\.(\w+)\b", rest))
    for name in names:
        at = next(k for k, line in enumerate(lines) if line.startswith(f"{name} = "))
        above = next(line for line in reversed(lines[:at]) if not re.match(r"\w+ = ", line))
        assert above.startswith("# "), name
        assert name in used, name
