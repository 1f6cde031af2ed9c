"""Measure sparse derivatives: ``python -m benchmarks.sparse``.

Compares Jacobians and a Hessian as SciPy's CSR arrays, and functions that solve sparse systems,
with hand-written programs, once with a pattern that was computed before and once with one that each
call computes, and writes results-sparse.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import solve_banded
from scipy.sparse import bsr_array, csr_array
from scipy.sparse.linalg import spsolve
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.optimization.newton import squares_model

from .memory import peak
from .report import machine
from .tables import table
from .timing import interleaved

m, n, c = symbols("m n c", integer=True, positive=True)

# The reprojection errors of points in cameras: a small rotation, a translation, a focal length and
# two coefficients of distortion.
CAMERAS, POINTS = se.TensorSymbol("C", c, 9), se.TensorSymbol("P", n, 3)
SEEN = se.TensorSymbol("Y", m, 2)
CAMERA, POINT = se.tensors("camera point", m)
OBSERVATIONS = 10**5


def reprojection() -> Any:
    """Return the residuals of all observations."""
    own, X = CAMERAS[CAMERA], POINTS[POINT]
    moved = X + snp.cross(own[:, :3], X) + own[:, 3:6]
    image = moved[:, :2] / moved[:, 2:]
    r = (image**2).sum(axis=1)
    scale = own[:, 6] * (1 + own[:, 7] * r + own[:, 8] * r**2)
    return scale[:, None] * image - SEEN


def by_components() -> Any:
    """Return the same, written with a vector for each component."""
    X, own = POINTS[POINT], CAMERAS[CAMERA]
    x, y, z = X[:, 0], X[:, 1], X[:, 2]
    a, b, d = own[:, 0], own[:, 1], own[:, 2]
    moved = [x + b * z - d * y, y + d * x - a * z, z + a * y - b * x]
    moved = [part + own[:, 3 + k] for k, part in enumerate(moved)]
    u, v = moved[0] / moved[2], moved[1] / moved[2]
    r = u**2 + v**2
    scale = own[:, 6] * (1 + own[:, 7] * r + own[:, 8] * r**2)
    return se.stack([scale * u, scale * v], axis=1) - SEEN


def block_pattern(positions: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return indices and their starts, for two rows of one block each."""
    columns = width * positions[:, None, None] + np.arange(width)
    indices = np.broadcast_to(columns, (len(positions), 2, width)).ravel().astype(np.int32)
    return indices, np.arange(0, indices.size + 1, width, dtype=np.int32)


def jacobians_by_hand(
    C: np.ndarray, P: np.ndarray, camera: np.ndarray, point: np.ndarray, patterns: Any = None
) -> list[csr_array]:
    """Return the Jacobians by cameras and points."""
    own, X = C.take(camera, 0), P.take(point, 0)
    x, y, z = X.T
    a, b, d, t0, t1, t2, f, k1, k2 = own.T
    depth = z + a * y - b * x + t2
    u, v = (x + b * z - d * y + t0) / depth, (y + d * x - a * z + t1) / depth
    r = u**2 + v**2
    distortion = 1 + k1 * r + k2 * r**2
    scale, derivative = f * distortion, 2 * f * (k1 + 2 * k2 * r)
    # The derivative of the image by the moved point.
    uu, uv, vv = scale + derivative * u * u, derivative * u * v, scale + derivative * v * v
    B = np.empty((len(u), 2, 3))
    for k, (first, second) in enumerate([(uu, uv), (uv, vv)]):
        B[:, k, 0], B[:, k, 1] = first / depth, second / depth
        B[:, k, 2] = -(first * u + second * v) / depth
    by_camera, by_point = np.empty((len(u), 2, 9)), np.empty((len(u), 2, 3))
    for k in range(2):
        b0, b1, b2 = B[:, k].T
        by_point[:, k, 0] = b0 + d * b1 - b * b2
        by_point[:, k, 1] = b1 - d * b0 + a * b2
        by_point[:, k, 2] = b2 + b * b0 - a * b1
        by_camera[:, k, 0] = y * b2 - z * b1
        by_camera[:, k, 1] = z * b0 - x * b2
        by_camera[:, k, 2] = x * b1 - y * b0
    by_camera[:, :, 3:6] = B
    for k, own_image in enumerate((u, v)):
        by_camera[:, k, 6] = own_image * distortion
        by_camera[:, k, 7] = own_image * f * r
        by_camera[:, k, 8] = own_image * f * r**2
    results = []
    for data, positions, count in [(by_camera, camera, len(C)), (by_point, point, len(P))]:
        width = data.shape[2]
        pattern = patterns[width] if patterns else block_pattern(positions, width)
        shape = (2 * len(u), width * count)
        results.append(csr_array((data.ravel(), *pattern), shape=shape))
    return results


x = se.TensorSymbol("x", n)


def rosenbrock() -> Any:
    """Return the Hessian of the Rosenbrock function."""
    return se.hessian((100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum(), x)


def banded_pattern(length: int) -> tuple[np.ndarray, np.ndarray]:
    """Return indices and their starts, of three bands."""
    columns = np.arange(length, dtype=np.int32)[:, None] + np.arange(-1, 2, dtype=np.int32)
    starts = np.arange(-1, 3 * length, 3, dtype=np.int32)
    starts[0], starts[-1] = 0, 3 * length - 2
    return columns.ravel()[1:-1], starts


def hessian_by_hand(x: np.ndarray, pattern: Any = None) -> list[csr_array]:
    """Return the Hessian of the Rosenbrock function."""
    bands = np.zeros((len(x), 3))
    bands[:-1, 1] = 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
    bands[1:, 1] += 200
    bands[1:, 0] = bands[:-1, 2] = -400 * x[:-1]
    own = pattern or banded_pattern(len(x))
    return [csr_array((bands.ravel()[1:-1], *own), shape=(len(x), len(x)))]


def gradient_and_blocks(jacobians: Sequence[csr_array], residual: np.ndarray) -> tuple[Any, Any]:
    """Return J'r and the blocks of J'J above the diagonal."""
    by_camera, by_point = jacobians
    turned, other = by_camera.T.tocsr(), by_point.T.tocsr()
    derivatives = [turned @ residual, other @ residual]
    return derivatives, (turned @ by_camera, turned @ by_point, other @ by_point)


def step_by_hand(jacobians: Sequence[csr_array], residual: np.ndarray) -> np.ndarray:
    """Return the Levenberg–Marquardt step, with 1 added to the diagonal of J'J, by the Schur
    complement of the points."""
    (by_camera, by_point), (corner, beside, points) = gradient_and_blocks(jacobians, residual)
    count = points.shape[0] // 3
    blocks = np.zeros((count, 3, 3))
    entries = points.tocoo()
    i, j = entries.coords
    blocks[i // 3, i % 3, j % 3] = entries.data
    own = np.linalg.inv(blocks + np.eye(3))
    starts = np.arange(count + 1)
    inverse = bsr_array((own, starts[:-1], starts), shape=points.shape)
    above = (beside.tobsr((9, 3)) @ inverse).tobsr((9, 3))
    complement = (
        corner.toarray() + np.eye(len(by_camera)) - (above @ beside.T.tobsr((3, 9))).toarray()
    )
    cameras = np.linalg.solve(complement, by_camera - above @ by_point)
    return -np.append(cameras, inverse @ (by_point - beside.T @ cameras))


@dataclass(frozen=True)
class Case:
    """Define a case: its function, arguments, and hand-written assembly with and without a known
    pattern."""

    name: str
    arguments: Sequence[Any]
    build: Callable[[], Any]
    values: Sequence[np.ndarray]
    by_hand: Callable[[], Sequence[csr_array]]
    with_pattern: Callable[[], Sequence[csr_array]]


def cases(observations: int = OBSERVATIONS) -> list[Case]:
    """Return the cases."""
    rng = np.random.default_rng(0)
    cameras, points = max(2, observations // 500), max(2, observations // 5)
    C = 0.1 * rng.normal(size=(cameras, 9))
    C[:, 6] += 1
    P = rng.normal(size=(points, 3)) + np.array([0, 0, 5])
    camera, point = rng.integers(0, cameras, observations), rng.integers(0, points, observations)
    z, seen = rng.normal(size=10 * observations), rng.normal(size=(observations, 2))
    patterns = {9: block_pattern(camera, 9), 3: block_pattern(point, 3)}
    bands = banded_pattern(len(z))
    reprojections = [
        Case(
            f"two Jacobians of {observations} reprojections{how}",
            [CAMERAS, POINTS, SEEN, CAMERA, POINT],
            lambda residuals=residuals: [
                se.jacobian(residuals(), own) for own in (CAMERAS, POINTS)
            ],
            [C, P, seen, camera, point],
            lambda: jacobians_by_hand(C, P, camera, point),
            lambda: jacobians_by_hand(C, P, camera, point, patterns),
        )
        for residuals, how in [(reprojection, ""), (by_components, ", written by components")]
    ]
    return [
        *reprojections,
        Case(
            f"Hessian of Rosenbrock, n = {len(z)}",
            [x],
            lambda: [rosenbrock()],
            [z],
            lambda: hessian_by_hand(z),
            lambda: hessian_by_hand(z, bands),
        ),
    ]


def step_calls(case: Case) -> dict[str, Callable[[], Any]]:
    """Return runs of a Levenberg–Marquardt step for a case of reprojections: of ours, and by
    hand."""
    cameras, points, *_ = case.values
    residual = se.lambdify(case.arguments, reprojection())
    problem = se.Problem.least_squares(reprojection(), [CAMERAS, POINTS])
    data = dict(zip(case.arguments[2:], case.values[2:], strict=True))
    instance, vector = problem._prepared(data, {CAMERAS: cameras, POINTS: points})
    model = squares_model(instance)

    def ours() -> np.ndarray:
        # The gradient is that of the squares, twice J'r.
        _, derivatives = instance.both(vector)
        instance._at = b""
        return model(vector).plus_diagonal(2.0).solve(-derivatives)

    def by_hand(jacobians: Callable[[], Sequence[csr_array]]) -> Callable[[], np.ndarray]:
        return lambda: step_by_hand(jacobians(), residual(*case.values).ravel())

    return {"ours": ours, "by hand": by_hand(case.by_hand), "known": by_hand(case.with_pattern)}


# A matrix that is assembled from square elements, each a multiple of one, and some of its rows.
q = symbols("q", integer=True, positive=True)
CORNERS, ELEMENT, FREE = (
    se.TensorSymbol("D", m, 8),
    se.TensorSymbol("K", (8, 8), symmetric=True),
    se.TensorSymbol("I", q),
)
DENSITY, LOAD = se.TensorSymbol("rho", m), se.TensorSymbol("f", n)


def beam(columns: int, rows: int) -> dict[str, Callable[[], Any]]:
    """Return runs of the compliance of a beam with its gradient by the densities of its elements,
    as of O. Sigmund's "A 99 line topology optimization code", 2001."""
    corner = np.arange(columns)[:, None] * (rows + 1) + np.arange(rows)
    places = [corner + 1, corner + rows + 2, corner + rows + 1, corner]
    corners = np.stack([2 * own + k for own in places for k in (0, 1)], axis=-1).reshape(-1, 8)
    # The stiffness of a plane square, Poisson's ratio 0.3.
    a = np.array([45, 17.5, -27.5, -2.5, -22.5, -17.5, 5, 2.5]) / 91
    order = ["01234567", "10765432", "27056341", "36507214"]
    order += ["45634701", "54321076", "63412705", "72143650"]
    element = np.array([[a[int(k)] for k in line] for line in order])
    count = 2 * (columns + 1) * (rows + 1)
    load = np.zeros(count)
    load[1] = -1
    fixed = np.append(np.arange(0, 2 * (rows + 1), 2), count - 1)
    free = np.setdiff1d(np.arange(count), fixed)
    density = np.random.default_rng(0).uniform(0.3, 1, len(corners))
    i, j = np.repeat(corners, 8, axis=1).ravel(), np.tile(corners, 8).ravel()

    hots = se.one_hot(CORNERS, n)
    stiffness = se.einsum("e,eai,ebj,ab->ij", DENSITY**3, hots, hots, ELEMENT)[FREE][:, FREE]
    compliance = LOAD[FREE] @ se.solve(stiffness, LOAD[FREE])
    function = se.lambdify(
        [DENSITY, CORNERS, ELEMENT, FREE, LOAD], [compliance, se.gradient(compliance, DENSITY)]
    )

    def solved(matrix: Any) -> tuple[float, np.ndarray]:
        moved = np.zeros(count)
        moved[free] = spsolve(matrix, load[free])
        own = moved[corners]
        return load @ moved, -3 * density**2 * ((own @ element) * own).sum(axis=1)

    def by_hand() -> tuple[float, np.ndarray]:
        entries = np.multiply.outer(density**3, element.ravel()).ravel()
        return solved(csr_array((entries, (i, j)), shape=(count, count))[free][:, free].tocsc())

    whole = csr_array((np.ones(len(i)), (i, j)), shape=(count, count))[free][:, free].tocsc()
    number = np.full(count, -1)
    number[free] = np.arange(len(free))
    kept = (number[i] >= 0) & (number[j] >= 0)
    whole.data[:] = np.arange(whole.nnz)
    slots = np.asarray(whole[number[i][kept], number[j][kept]]).ravel().astype(int)

    def known() -> tuple[float, np.ndarray]:
        entries = np.multiply.outer(density**3, element.ravel()).ravel()[kept]
        data = np.bincount(slots, entries, whole.nnz)
        matrix = whole.copy()
        matrix.data = data
        return solved(matrix)

    return {
        "ours": lambda: function(density, corners, element, free, load),
        "by hand": by_hand,
        "known": known,
    }


def diffusion(count: int) -> dict[str, Callable[[], Any]]:
    """Return runs of an implicit step of diffusion, the squared distance to a goal, with its
    gradient by the diffusivities."""
    rate, start, goal = (
        se.TensorSymbol("k", n - 1),
        se.TensorSymbol("u", n),
        se.TensorSymbol("g", n),
    )
    differences = snp.eye(n)[1:] - snp.eye(n)[:-1]
    end = se.solve(se.Delta(n) + differences.T @ (rate[:, None] * differences), start)
    distance = ((end - goal) ** 2).sum()
    function = se.lambdify([rate, start, goal], [distance, se.gradient(distance, rate)])
    rng = np.random.default_rng(0)
    k, u, g = rng.uniform(1, 2, count - 1), rng.normal(size=count), rng.normal(size=count)

    def by_hand() -> tuple[float, np.ndarray]:
        bands = np.zeros((3, count))
        bands[1] = 1
        bands[1, 1:] += k
        bands[1, :-1] += k
        bands[0, 1:] = bands[2, :-1] = -k
        end = solve_banded((1, 1), bands, u)
        adjoint = solve_banded((1, 1), bands, 2 * (end - g))
        return ((end - g) ** 2).sum(), -np.diff(adjoint) * np.diff(end)

    return {"ours": lambda: function(k, u, g), "by hand": by_hand, "known": by_hand}


def row(name: str, calls: dict[str, Callable[[], Any]], seconds: float) -> list[str]:
    """Return milliseconds by hand and the ratios of ours, in time to both and in memory."""
    times = interleaved(calls, seconds)
    return [
        name,
        f"{1000 * times['by hand']:.1f}",
        f"{times['ours'] / times['by hand']:.2f}",
        f"{times['ours'] / times['known']:.2f}",
        f"{peak(calls['ours']) / peak(calls['by hand']):.2f}",
    ]


def run(seconds: float = 6.0) -> list[list[str]]:
    """Return a row for each case, and one for a step of bundle adjustment."""
    rows = []
    for case in cases():
        ours = se.lambdify(case.arguments, case.build(), sparse=True)
        for own, theirs in zip(ours(*case.values), case.by_hand(), strict=True):
            assert abs(own - theirs).max() < 1e-9 * abs(theirs).max()
        calls: dict[str, Callable[[], Any]] = {
            "ours": lambda ours=ours, case=case: ours(*case.values),
            "by hand": case.by_hand,
            "known": case.with_pattern,
        }
        rows.append(row(case.name, calls, seconds))
    calls = step_calls(cases()[0])
    steps = calls["ours"](), calls["by hand"]()
    assert abs(steps[0] - steps[1]).max() < 1e-8 * abs(steps[1]).max()
    name = f"a step by the Schur complement, {OBSERVATIONS} reprojections"
    rows.append(row(name, calls, seconds))
    systems = {
        "compliance of a beam of 60×20 elements, gradient": beam(60, 20),
        "compliance of a beam of 150×50 elements, gradient": beam(150, 50),
        "a step of diffusion, n = 100000, gradient": diffusion(10**5),
    }
    for name, calls in systems.items():
        for own, theirs in zip(calls["ours"](), calls["by hand"](), strict=True):
            assert abs(own - theirs).max() < 1e-8 * abs(theirs).max()
        rows.append(row(name, calls, seconds))
    return rows


if __name__ == "__main__":
    found = run()
    head = ["case", "by hand, ms", "ours", "ours, pattern known", "memory of ours"]
    text = "\n".join(
        [
            "# Sparse derivatives",
            "",
            ", ".join([f"{key} {value}" for key, value in machine().items()]) + ".",
            "",
            "Ratios are to hand-written assembly that computes the pattern in each call, and to "
            "one with a pattern computed before; ours plans it once for each set of positions.",
            "",
            table(head, found),
            "",
        ]
    )
    Path(__file__).with_name("results-sparse.md").write_text(text)
    print(text)
