"""Compiled kernels: one for each dtype, compiled when it is first needed and cached on disk for
other processes; and the conversion of arguments that a kernel doesn't take as they are.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any

import numpy as np

from ..core import UnsupportedError, collector_paused, tuning
from .emit.kernels import KernelText

# Executes a text as that of a file, in a namespace.
Run = Callable[[str, str, dict[str, Any]], None]
# Types of numbers that need no conversion.
NUMBERS = (float, np.float64)


class Kernels(dict[np.dtype, Any]):
    """The compiled kernels by the type of the numbers.

    Attributes
    ==========

    kernel : what the kernels have in common
    texts : functions that return the source of the module of a kernel, by the names of types
    run : executes a source
    is_complex : whether complex numbers are computed with, whatever the arguments are
    converts : whether the arguments of the last call had to be converted; then those of the next
        are converted at once, since it takes Numba far longer to refuse them
    """

    def __init__(
        self,
        kernel: KernelText,
        texts: Mapping[str, Callable[[], str]],
        run: Run,
        is_complex: bool,
    ):
        super().__init__()
        self.kernel = kernel
        self.texts = texts
        self.run = run
        self.lock = RLock()
        self.is_complex = is_complex
        self.converts = is_complex

    def __missing__(self, kind: np.dtype) -> Any:
        if kind.name not in self.texts or not kind.isnative:
            raise TypeError(f"no code for the type {kind}")
        with self.lock, collector_paused():
            if kind not in self:
                self[kind] = self._compiled(kind)
        return self[kind]

    def _compiled(self, kind: np.dtype) -> Any:
        numba = import_module("numba")
        text = self.texts[kind.name]()
        types = [
            self._type(numba, order, np.dtype(np.int64) if is_integer else kind)
            for order, is_integer in self.kernel.arguments
        ]
        path = kept_file(text)
        if path is not None:
            # A cache that can't be used is no reason not to compute.
            with suppress(Exception):
                # Numba looks up the module of code that it finds on disk.
                module = sys.modules[path.stem] = ModuleType(path.stem)
                self.run(text, str(path), vars(module))
                function = vars(module)["compute"]
                function.enable_caching()
                # Numba may have been told another folder; what it finds there it unpickles.
                _require_own(Path(function.stats.cache_path), path.stem)
                function.compile(tuple(types))
                function.disable_compile()
                return function
        namespace: dict[str, Any] = {}
        self.run(text, "<sympy_einsum>", namespace)
        function = namespace["compute"]
        try:
            function.compile(tuple(types))
        except numba.core.errors.NumbaError as error:
            raise UnsupportedError(self._refusal(kind)) from error
        function.disable_compile()
        return function

    def _refusal(self, kind: np.dtype) -> str:
        """Return the error message where Numba can't compile the kernel."""
        message = f"Numba can't compile these expressions for numbers of type {kind}"
        if self.is_complex:
            message += ": a complex constant makes all numbers complex, and those can't be compared"
        elif kind.kind == "c":
            message += ": complex numbers can't be compared"
        return f"{message}; use another backend, such as 'numpy'"

    @staticmethod
    def _type(numba: Any, order: int, kind: np.dtype) -> Any:
        number = numba.from_dtype(kind)
        return numba.types.Array(number, order, "C") if order else number

    def converted(self, *values: Any) -> Any:
        """Call the kernel on arguments converted to what it takes: C order arrays of one type."""
        wanted = self.kernel.arguments
        count = len(values) - len(self.kernel.zeros)
        pairs = zip(map(np.asarray, values[:count]), wanted, strict=False)
        arrays = [array for array, (_, is_integer) in pairs if not is_integer]
        kinds = [a.dtype for a in arrays if a.ndim or a.dtype.kind == "c"]
        kind = np.result_type(*kinds, np.float32) if kinds else np.dtype(float)
        if self.is_complex:
            kind = np.result_type(kind, np.complex64)
        found = []
        for value, (order, is_integer) in zip(values[:count], wanted, strict=False):
            array = np.asarray(value)
            if is_integer and array.dtype.kind not in "iu":
                raise TypeError("positions must be of integer type")
            array = np.array(array, np.int64 if is_integer else kind, order="C", copy=None)
            if not array.flags.writeable:
                array = array.copy()
            found.append(array if order else array[()])
        self.converts = self.is_complex or not all(
            array is value if order else type(value) in ((int,) if is_integer else NUMBERS)
            for value, array, (order, is_integer) in zip(values, found, wanted, strict=False)
        )
        results = self[kind](*found, *[np.zeros(shape, kind) for shape in values[count:]])
        if len(self.kernel.results) == 1:
            return results if self.kernel.results[0] else kind.type(results)
        kept = zip(results, self.kernel.results, strict=True)
        return tuple([result if is_kept else kind.type(result) for result, is_kept in kept])


def kept_file(text: str) -> Path | None:
    """Return the file of a source text in the user's cache, beside which Numba keeps the compiled
    code; None if the folder isn't the user's alone to write to."""
    folder = _folder()
    if folder is None:
        return None
    versions = [version(name) for name in ("numba", "numpy")]
    # Compiled code depends on its binary interface.
    versions += [version("rocket-fft")] if "rocket_fft" in text else []
    key = hashlib.sha256("\n".join([*versions, sys.version, text]).encode()).hexdigest()
    path = folder / f"sympy_einsum_kernel_{key[:40]}.py"
    try:
        if path.exists():
            # Numba identifies it by its modification time.
            os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))
        else:
            _make_room(folder)
            with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as file:
                file.write(text)
            os.replace(file.name, path)
    except OSError:
        return None
    return path


def _make_room(folder: Path) -> None:
    """Evict the least recently used kernels, if there are too many."""
    paths = sorted(
        folder.glob("sympy_einsum_kernel_*.py"), key=lambda path: path.stat().st_atime_ns
    )
    for path in paths[: 1 - tuning.MAX_KEPT_KERNELS]:
        for file in [path, *folder.glob(f"__pycache__/{path.stem}.*")]:
            file.unlink(missing_ok=True)


def _folder() -> Path | None:
    """Return the folder of compiled code, if it and its parents are the user's own."""
    if not hasattr(os, "getuid"):
        return None
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(base).absolute() / "sympy_einsum" / "numba"
        # Numba would make the last as the user's mask says, which may let the group write.
        for made in (folder.parent, folder, folder / "__pycache__"):
            made.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = folder.resolve()
        is_own = _is_own(folder)
    except (OSError, RuntimeError):
        return None
    return folder if is_own and os.access(folder, os.W_OK) else None


def _require_own(folder: Path, stem: str) -> None:
    """Raise an error if others than the user can write the compiled code of a kernel."""
    folder = folder.resolve()
    # In a folder that others can't enter the modes of files don't matter.
    is_closed = not folder.stat().st_mode & 0o011
    files = [] if is_closed else [path.lstat() for path in folder.glob(f"{stem}.*")]
    others = [f for f in files if f.st_uid != os.getuid() or f.st_mode & 0o022]
    if others or not _is_own(folder):
        raise PermissionError(f"others can write to {folder}")


def _is_own(folder: Path) -> bool:
    """Tell whether a folder is the user's, and nobody else can write to it or put another in its
    place."""
    own = folder.stat()
    is_safe = own.st_uid == os.getuid() and not own.st_mode & 0o022
    return is_safe and all(map(_is_safe, folder.parents))


def _is_safe(folder: Path) -> bool:
    """Tell whether nobody else can put something in the place of what the user has in a folder."""
    state = folder.stat()
    others_write = state.st_mode & 0o022 and not state.st_mode & 0o1000
    return state.st_uid in (0, os.getuid()) and not others_write
