"""A corpus of problems in both notations, read from data/."""

import json
from pathlib import Path

import scipy.special
from oracles import LENGTH_NAMED

import sympy_einsum as se

CORPUS = json.loads((Path(__file__).parent / "data" / "problems.json").read_text(encoding="utf-8"))[
    "problems"
]


def symbols_of(problem):
    return {
        name: se.TensorSymbol(name, tuple(LENGTH_NAMED[axis] for axis in axes))
        for name, axes in problem["variables"].items()
    }


def wrt_names(problem):
    wrt = problem["wrt"]
    return wrt if isinstance(wrt, list) else [wrt] * problem["order"]


def run(code, namespace, variables, special=scipy.special):
    return eval(code, {"np": namespace, "ss": special, **variables})
