"""The table of replaced attributes of SymPy: complete, explained, and not needed for importing."""

import subprocess
import sys

import pytest
from sympy import Basic
from sympy.physics.quantum import Commutator

from sympy_einsum.sympy_hooks import PATCHES, Patch, PatchWarning
from sympy_einsum.sympy_hooks.patches import install

RENAMED = ("_constructor_postprocessor_mapping", "_monotonic_sign")
# Those that SymPy doesn't document.
PRIVATE = [
    patch
    for patch in PATCHES
    if any(part.startswith("_") and not part.startswith("__") for part in patch.path.split("."))
    or patch.name in ("recast_to_symbols", "solve_linear", "Iterable")
    # SymPy's own sums fail without these: SymPy with others in their place is imported instead.
    if patch.name not in RENAMED
]

# What stands at SymPy's classes and in its modules, by name; those of it that change are printed.
CHANGES = """
import sys, sympy, sympy.physics.quantum, sympy.physics.vector, sympy.stats

def all_names():
    modules = [m for name, m in sys.modules.items() if name.split(".")[0] == "sympy"]
    owners = {module.__name__: module for module in modules}
    for module in modules:
        for value in vars(module).values():
            if isinstance(value, type) and value.__module__.startswith("sympy."):
                owners[f"{value.__module__}:{value.__qualname__}"] = value
    return {
        (owner, name): value
        for owner, held in owners.items() if owner.startswith("sympy.")
        for name, value in list(vars(held).items())
    }

before = all_names()
import sympy_einsum, sympy_einsum.compiler, sympy_einsum.printing, sympy_einsum.convert
import sympy_einsum.programs, sympy_einsum.languages, sympy_einsum.verification
owners = {owner for owner, _ in before}
for (owner, name), value in all_names().items():
    is_module = type(value) is type(sys)
    if owner in owners and not is_module and before.get((owner, name)) is not value:
        print(owner, name, type(value).__name__)
"""

WITHOUT = """
import warnings, sympy
from importlib import import_module
owner = import_module({module!r})
for part in {parts!r}:
    owner, holder = getattr(owner, part), owner
{removal}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import sympy_einsum as se
print(*[w.message for w in caught if isinstance(w.message, se.sympy_hooks.PatchWarning)], sep=";")
x = se.TensorSymbol("x", 3)
assert se.gradient(se.exp(x).sum(), x) == se.exp(x)
"""


# A version of SymPy in which a private name is another.
WITH_ANOTHER_NAME = """
import sys, warnings
from importlib.machinery import PathFinder, SourceFileLoader

class Renaming(SourceFileLoader):
    def get_code(self, fullname):
        text = self.get_data(self.path).decode().replace({name!r}, "_renamed")
        return compile(text, self.path, "exec", dont_inherit=True)

class Finder:
    def find_spec(self, name, path=None, target=None):
        spec = PathFinder.find_spec(name, path, target)
        if name.split(".")[0] == "sympy" and isinstance(spec.loader, SourceFileLoader):
            spec.loader = Renaming(name, spec.origin)
        return spec

sys.meta_path.insert(0, Finder())
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import sympy_einsum as se
print(*[w.message for w in caught if isinstance(w.message, se.sympy_hooks.PatchWarning)], sep=";")
x = se.TensorSymbol("x", 3)
assert se.gradient(2 * (x @ x) + se.exp(x).sum(), x) == 4 * x + se.exp(x)
"""


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_table_is_complete():
    """Compare the attributes of SymPy changed by the import with the rows of the table."""
    changed = set()
    for owner, name, kind in map(str.split, run(CHANGES).splitlines()):
        # SymPy's own caches and counters; and what NumPy asks scalars for, which SymPy lacks.
        caches = ("_count", "__doc__", "__warningregistry__")
        if name not in (*caches, "__array_ufunc__") and kind != "_CalledByNumpy":
            changed.add((owner, name))
    # The hook of Add, Mul and Pow stays one dictionary.
    hook = ("sympy.core.basic:Basic", "_constructor_postprocessor_mapping")
    assert changed | {hook} == {(patch.owner, patch.name) for patch in PATCHES}


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.path)
def test_rows_are_whole(patch):
    """Each row has a reason and the consequence of leaving it out."""
    assert len(patch.reason) > 20
    assert len(patch.fallback) > 10
    assert patch.path.startswith("sympy.")


def test_no_attribute_is_replaced_twice():
    paths = [patch.path for patch in PATCHES]
    assert len(paths) == len(set(paths))


@pytest.mark.parametrize("patch", PRIVATE, ids=lambda patch: patch.path)
def test_imports_without_a_private_name(patch):
    """With a version of SymPy that lacks a private name, the import succeeds with a warning."""
    module, _, inner = patch.owner.partition(":")
    parts = inner.split(".") if inner else []
    private_class = parts and parts[-1].startswith("_")
    removal = f"delattr(holder, {parts[-1]!r})" if private_class else f"del owner.{patch.name}"
    said = run(WITHOUT.format(module=module, parts=parts, removal=removal))
    assert f"has no {patch.path}" in said
    assert patch.fallback in said


@pytest.mark.parametrize("name", RENAMED)
def test_imports_where_a_private_name_is_another(name):
    """SymPy's own sums need these names, so that all of its modules get another instead."""
    (patch,) = [patch for patch in PATCHES if patch.name == name]
    said = run(WITH_ANOTHER_NAME.format(name=name))
    assert f"has no {patch.path}" in said
    assert patch.fallback in said


@pytest.mark.parametrize("owner", ["sympy.core.basic:Basic", "sympy.core.absent", "sympy:Absent"])
def test_a_missing_name_is_named(owner):
    """Neither a missing module, class nor attribute stops the import."""
    patch = Patch(owner, "absent", lambda stock: stock, "no reason", "nothing works")
    with pytest.warns(PatchWarning, match=r"has no sympy\..*absent.*nothing works"):
        patch.install()


def test_a_missing_name_in_a_late_module_is_named(monkeypatch):
    """A module imported later is patched, or warned of, at that time."""
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.delitem(sys.modules, "sympy.physics.wigner", raising=False)
    rows = ["wigner_3j", "absent"]
    owner = "sympy.physics.wigner"
    install([Patch(owner, row, lambda _: "ours", "no reason", "lost", True) for row in rows])
    with pytest.warns(PatchWarning, match=r"sympy\.physics\.wigner\.absent.*: lost"):
        import sympy.physics.wigner as late
    assert late.wigner_3j == "ours"


def test_slow_modules_are_left_alone():
    """sympy.physics.quantum is loaded by the user's import, and patched then."""
    code = (
        "import sys, sympy_einsum as se\n"
        "print('sympy.physics.quantum' in sys.modules)\n"
        "from sympy.physics.quantum import Commutator\n"
        "A, B = se.tensors('A B', 3, 3)\n"
        "print(Commutator(A, B))"
    )
    assert run(code).split("\n")[:2] == ["False", "A @ B - B @ A"]


def test_replacements_keep_texts():
    """``help`` of a replaced attribute shows SymPy's text."""
    assert Commutator.__new__.__name__ == "__new__"
    assert "old" in Basic.subs.__doc__
