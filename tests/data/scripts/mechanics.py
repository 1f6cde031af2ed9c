"""Lagrange's equations of coupled pendulums: SymPy's symbols in tensors, and a simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

import sympy_einsum as se

N = 3
g, ell, stiffness = sp.symbols("g ell k", positive=True)
q, v = se.TensorSymbol("q", N), se.TensorSymbol("v", N)
kinetic = ell**2 * (v @ v) / 2
between = q[1:] - q[:-1]
potential = g * ell * (1 - se.cos(q)).sum() + stiffness * (between @ between) / 2
lagrangian = kinetic - potential

momentum = se.gradient(lagrangian, v)
mass = se.jacobian(momentum, v)
force = se.gradient(lagrangian, q)
acceleration = se.solve(mass, force)
assert mass.shape == (N, N)
assert acceleration.shape == (N,)
energy = kinetic + potential
arguments: list[Any] = [q, v, g, ell, stiffness]
motion = se.lambdify(arguments, [acceleration, energy])
constants = (9.81, 1.0, 0.5)


def simulate(angles: np.ndarray, steps: int, dt: float) -> list[float]:
    """Return the energies along a trajectory, by the leapfrog method."""
    speeds = np.zeros_like(angles)
    energies = []
    for _ in range(steps):
        half = speeds + dt / 2 * motion(angles, speeds, *constants)[0]
        angles = angles + dt * half
        found = motion(angles, half, *constants)[0]
        speeds = half + dt / 2 * found
        energies.append(float(motion(angles, speeds, *constants)[1]))
    return energies


energies = simulate(np.array([0.3, 0.0, -0.1]), 200, 0.01)
assert max(energies) - min(energies) < 1e-3
linear = se.jacobian(acceleration, q).subs(q, se.Zeros(N))
frequencies = se.lambdify([g, ell, stiffness], linear)(*constants)
assert np.all(np.linalg.eigvals(frequencies) < 0)
print(se.latex(force), sp.simplify(linear.as_explicit()[0, 0]))
