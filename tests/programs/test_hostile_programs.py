"""Harmful or endless programs as text: a ParseError in bounded time."""

import builtins
import time

import pytest
from hostile import NAMES
from hypothesis import given, settings, strategies as st

import sympy_einsum as se

# What loads when it is first used is executed, of course.
se.parse_python("import numpy as np\ndef f(x): return gamma(x) + np.arange(3).sum()")
BODIES = [
    "return __import__('os').system('touch {target}')",
    "return open('{target}', 'w')",
    "return eval('1')",
    "return exec('1')",
    "return x.__class__.__mro__[1].__subclasses__()",
    "return np.__loader__",
    "return np.lib.npyio",
    "return np.load('{target}')",
    "return np.sin('x')",
    "return np.sin(['__import__(\\'os\\')'])",
    "return np.array('__import__(\\'os\\')')",
    "return np.einsum('__import__(\\'os\\')', x)",
    "return np.sum(x, axis='__import__(\\'os\\')')",
    "return x.subs(x, 1)",
    "return sum.__globals__",
    "return (lambda: f)().__globals__",
    "import os\n    return os.getcwd()",
    "from os import path\n    return path",
    "return f'{{x}}'",
    "return '%s' % x",
    "return getattr(x, 'shape')",
    "return math.factorial(10**9)",
    "return 10**10**10",
    "return 2**x**10**10**10",
    "return 9**9**9",
    "return math.gamma(10**300)",
    "return exp(exp(exp(exp(exp(10)))))",
    "return [0] * 10**9",
    "return [[[0] * 1000] * 1000] * 1000",
    "return sum(1 for i in range(10**9))",
    "return sum(i for i in range(9999) for j in range(9999))",
    "return np.arange(10**12).sum()",
    "return np.eye(10**9)[3]",
    "return np.linspace(0, 1, 10**9)",
    "return (" + "9" * 5000 + ")",
    "return 1j",
    "return 1 / 0",
    "return x % 'a'",
    "while True: x = x + 1\n    return x",
    "while True: pass",
    "return f(x)",
    "g = lambda y: g(y)\n    return g(x)",
    "for i in range(10**5):\n        for j in range(10**5): pass\n    return x",
    "for i in range(200): x = sin(x) * x + cos(x)\n    return x",
    "for i in range(200): x = x * x\n    return x",
    "for i in range(60): x = (x, x)\n    return x",
    "return " + "(" * 150 + "x" + ")" * 150,
    "return " + "(" * 1000 + "x" + ")" * 1000,
    "return " + "-" * 1000 + "x",
    "return " + "not " * 2000 + "x",
    "return " + "sin(" * 90 + "x" + ")" * 90,
    "return " + "+".join(["x"] * 3000),
    "return " + "*".join(["(x + 1)"] * 3000),
    "return " + "**".join(["x"] * 500),
    "return x" + "[0]" * 1000,
    "return x" + ".T" * 1000,
    "return " + "x if x > 0 else " * 200 + "x",
    "if x > 0:\n        x = 2 * x\n    " * 40 + "return x",
    "if x > 0: return x\n    x = x + 1\n    " * 40 + "return x",
    "return " + "lambda: " * 500 + "x",
    "return " + "[" * 150 + "x" + "]" * 150,
    "yield x",
    "global x\n    return x",
    "del x\n    return x",
    "raise ValueError(x)",
    "with open('{target}') as y: return y",
    "try: return x\n    except: return open('{target}', 'w')",
    "class A: pass\n    return A",
    "return (y := [x]).append(y)",
    "y = [x]\n    y.append(y)\n    return y",
    "x.shape = 3\n    return x",
    "return x[::0]",
    "return x.astype(float).__dict__",
    "return \x00",
    "return '\\ud800'",
    "",
]


def outcome(text, **options):
    """Return the error of parsing a text, None without one; nothing is executed, in bounded
    time."""

    def refuse(*args, **options):
        raise AssertionError(f"executed {args[0]!r}")

    start = time.process_time()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builtins, "eval", refuse)
        patch.setattr(builtins, "exec", refuse)
        patch.setattr("sympy_einsum.core.tuning.MAX_SECONDS", 0.2)
        try:
            se.parse_python(text, **options)
        except se.ParseError as error:
            return str(error)
        finally:
            assert time.process_time() - start < 15


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body[:30].encode().hex()[:12])
def test_nothing_is_executed(body, tmp_path):
    text = f"def f(x):\n    {body.replace('{target}', str(tmp_path / 'harm'))}\n"
    outcome(text)
    outcome(text, shapes={"x": 3})
    assert not list(tmp_path.iterdir())


def test_names_are_no_code(tmp_path):
    for name in NAMES:
        name = name.replace("{target}", str(tmp_path / "harm")).replace("{{", "{")
        outcome(f"def f({name}): return sin({name})")
        outcome(f"{name}\ndef f(x): return {name}")
        outcome("def f(x): return x", name=name)
        outcome(f"import {name}\nfrom {name} import x\ndef f(x): return x")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_bounds():
    with pytest.raises(se.ParseError, match="at most 100000 are read"):
        se.parse_python("def f(x): return x  #" + "x" * 100_000)
    with pytest.raises(se.ParseError, match="takes longer than 2 s"):
        se.parse_python("def f(x):\n    while True: pass")
    with pytest.raises(se.ParseError, match=r"too deeply|too many nested"):
        se.parse_python("def f(x): return " + "(" * 1000 + "x" + ")" * 1000)


WORDS = """
    x y 1 2.5 sin np . sum ( ) [ ] , + - * / ** @ = : < if else for in range lambda not and return
    0 None True def f shape T"""


@settings(max_examples=150)
@given(st.lists(st.sampled_from([*WORDS.split(), "\n    "]), max_size=25))
def test_random_words(words):
    outcome("def f(x, y):\n    return " + " ".join(words), shapes={"x": 3})


@settings(max_examples=60)
@given(st.text(max_size=60))
def test_random_text(text):
    outcome(text)
    outcome(f"def f(x): return x{text}")
