"""Drawings: the DOT text is parsed by an independent parser, and rendered where Graphviz is
installed."""

import doctest
import itertools
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import pydot
import pyparsing
import pytest
import sympy
from hostile import NAMES, applicable
from oracles import k, m, n, p
from sympy import Function, Symbol, symbols

import sympy_einsum as se
from sympy_einsum.printing import drawing

t = symbols("t")
A, x, y = se.TensorSymbol("A", (n, n)), se.TensorSymbol("x", n), se.TensorSymbol("y", n)

# pydot's parser tries the same alternatives many times.
pyparsing.ParserElement.enable_packrat()
# It calls its own parser by an old name.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:pydot")
needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz's dot isn't installed")


class Picture:
    """A parsed drawing: labels by node, and edges as pairs with their attributes."""

    def __init__(self, e, kind="graph", **options):
        (graph,) = pydot.graph_from_dot_data(se.to_dot(e, kind, **options))
        self.graph = graph
        self.attributes = {
            node.get_name(): {key: unquoted(text) for key, text in node.get_attributes().items()}
            for node in graph.get_nodes()
            if node.get_name() not in ("node", "edge", "graph")
        }
        self.labels = {name: found.get("label") for name, found in self.attributes.items()}
        edges = graph.get_edges()
        self.edges = sorted((edge.get_source(), edge.get_destination()) for edge in edges)
        self.ranks = [unquoted(edge.get_attributes().get("taillabel", "")) for edge in edges]
        self.legend = unquoted(graph.get_attributes().get("label", ""))

    def named(self, label):
        (name,) = [name for name, known in self.labels.items() if known == label]
        return name

    def below(self, label):
        """Return the labels of a node's operands."""
        return sorted(self.labels[b] for a, b in self.edges if self.labels[a] == label)

    def at(self, name):
        """Return the labels at the other ends of a node's edges; the label of a dot is a bullet."""
        ends = [b if a == name else a for a, b in self.edges if name in (a, b)]
        return sorted(self.labels[end] or "•" for end in ends)


def unquoted(text):
    """Return the text that Graphviz shows for a quoted string."""
    if not text.startswith('"'):
        return text
    assert text.endswith('"')
    shown = re.sub(r"\\(.)", lambda c: "\n" if c[1] == "n" else c[1], text[1:-1], flags=re.DOTALL)
    return shown.replace("&lt;", "<").replace("&quot;", '"').replace("&amp;", "&")


# --- the expression graph ------------------------------------------------------------------------


def test_a_product_its_leaves_and_their_order():
    picture = Picture(A @ x)
    assert picture.below("ij,j→i") == ["A\nn × n", "x\nn"]
    assert sorted(picture.ranks) == ["1", "2"]
    assert len(picture.labels) == 3


def test_a_shared_node_stands_once():
    z = A @ x
    picture = Picture(se.exp(z) * se.sin(z) + z)
    assert len(picture.labels) == 7
    ends = [end for _, end in picture.edges]
    assert ends.count(picture.named("ij,j→i")) == 3


def test_an_operand_used_twice_has_two_edges():
    picture = Picture(x @ x)
    assert picture.below("i,i→") == ["x\nn", "x\nn"]
    assert picture.ranks == ["", ""]


def test_roots_are_marked_and_named_by_their_places():
    f = x @ A @ x
    picture = Picture({"f": f, "gradient": se.diff(f, x)})
    marked = [name for name, found in picture.attributes.items() if found.get("penwidth") == "2"]
    assert len(marked) == 2
    assert {"f", "gradient"} < set(picture.labels.values())
    assert "[0][1]" in Picture([[x, y], [A]]).labels.values()
    assert "[1][0]" in Picture(sympy.Matrix([f, x @ y])).labels.values()
    assert "[0]" not in Picture(f).labels.values()
    same = Picture([f, f])
    assert {"[0]", "[1]"} < set(same.labels.values())
    assert Picture([]).labels == {}


def test_stock_scalars_are_drawn_with_their_numbers():
    picture = Picture(2 * t * sympy.sin(x @ y) ** 2 + 1 / t + 3)
    assert picture.below("+ 3") == ["1/□", "× 2"]
    assert picture.below("□^2") == ["sin"]
    assert picture.below("sin") == ["i,i→"]
    assert picture.below("1/□") == ["t"]


@pytest.mark.parametrize(
    ("e", "label"),
    [
        (2 * x, "× 2"),
        (-2 * A.T, "ij→ji\n× -2"),
        (t * x, ",i→i"),
        (se.einsum("i->ii", x), "i→ii"),
        (se.Ones(n) * t, "→i"),
        (x + y, "+"),
        (se.inv(A), "inv"),
        (se.relu(x), "relu"),
        (se.tanh(x) ** 2, "□^2"),
        (x / (1 + y**2), "i,i→i"),
        (se.elementwise(sympy.atan2, x, y), "atan2"),
        (se.elementwise(lambda a, b: sympy.sin(a / b), x, y), "sin(□₁/□₂)"),
        (se.elementwise(Function("g"), x), "g"),
        (se.softmax(A, axis=1), "softmax\naxis 1"),
        (A.reshape(n * n), "reshape\nn**2"),
        (sympy.besselj(2, x @ y), "besselj"),
        (t ** (x @ y), "□₁^□₂"),
        (sympy.Max(t, x @ y), "Max"),
    ],
)
def test_labels(e, label):
    picture = Picture(e)
    root = picture.named(label)
    assert picture.attributes[root]["penwidth"] == "2"
    numbered = [
        edge.get_attributes() for edge in picture.graph.get_edge_list() if edge.get_source() == root
    ]
    symmetric = label in ("+", "Max", "i,i→i")
    assert all(numbered) == (len(numbered) > 1 and not symmetric)


@pytest.mark.parametrize(
    ("e", "label"),
    [
        (se.Ones(m, n), "1\nm × n"),
        (se.Zeros(n), "0\nn"),
        (se.Delta(n), "δ\nn × n"),
        (se.einsum("i->iii", se.Ones(n)), "→iii\nn × n × n"),
        (t, "t"),
        (sympy.Integer(3), "3"),
        (se.TensorSymbol("s", ()), "s"),
    ],
)
def test_leaves(e, label):
    assert list(Picture(e).labels.values()) == [label]


def test_styles_are_those_of_stock_sympy():
    styles = [(se.TensorSymbol, {"fillcolor": "red"}), (sympy.Symbol, {"color": 'b"lue\\'})]
    picture = Picture(t * x, styles=styles)
    assert picture.attributes[picture.named("x\nn")]["fillcolor"] == "red"
    assert picture.attributes[picture.named("t")]["color"] == 'b"lue\\'


def test_the_text_does_not_depend_on_hashes():
    code = (
        "import sympy_einsum as se\n"
        "x, A = se.TensorSymbol('x', 3), se.TensorSymbol('A', (3, 3))\n"
        "f = se.exp(x @ A @ x) + se.softmax(A @ x).sum()\n"
        "print(ascii(se.to_dot([f, se.diff(f, x), se.hessian(f, x)])))\n"
        "print(ascii(se.to_dot(x @ A @ A @ x, kind='network')))\n"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=drawing.__file__.rpartition("sympy_einsum")[0],
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1


def test_size_is_linear_in_the_graph():
    z = x
    for _ in range(5000):
        z = se.sin(z) * z
    assert len(se.to_dot(z).splitlines()) < 40_000
    assert len(se.to_dot(z, kind="network").splitlines()) < 20_000


# --- the tensor network --------------------------------------------------------------------------


def test_operands_of_nested_products_are_nodes_and_summed_indices_edges():
    B, C = se.TensorSymbol("B", (n, k)), se.TensorSymbol("C", (k, m))
    picture = Picture(A @ B @ C, "network")
    assert sorted(picture.labels.values())[:3] == ["A", "B", "C"]
    assert picture.at(picture.named("B")) == ["A", "C"]
    loose = [label for label in picture.labels.values() if label.islower()]
    assert len(loose) == 2
    assert len(picture.edges) == 4


def test_an_index_of_three_operands_is_a_dot():
    U, V, W = (se.TensorSymbol(name, (m, p)) for name in "UVW")
    picture = Picture(se.einsum("ir,jr,lr->ijl", U, V, W), "network")
    (dot,) = [name for name, found in picture.attributes.items() if found.get("shape") == "point"]
    assert picture.at(dot) == ["U", "V", "W"]
    assert len(picture.edges) == 6
    assert picture.legend == "il,jl,kl→ijk\ni, j, k: m    l: p"


@pytest.mark.parametrize(
    ("e", "nodes", "edges"),
    [
        (x @ A @ x, 3, 2),
        (A.trace(), 1, 1),  # an edge from A to itself
        (x.sum(), 2, 1),  # a dot for what only one operand has
        (x * y, 4, 3),
        (se.einsum("i->ii", x), 4, 3),
        (A.diagonal(), 3, 3),
        (se.Delta(n), 2, 1),
        (se.Delta(m, n), 4, 2),
        (se.Ones(n), 2, 1),
        (A, 3, 2),
        (t * x, 3, 1),
        (2 * t * (x @ y), 4, 1),
        (A.T, 3, 2),
        (se.exp(A) @ x, 3, 2),
        ((x @ y) ** 2 * x, 3, 1),
        (t, 1, 0),
    ],
)
def test_nodes_and_edges_of_networks(e, nodes, edges):
    picture = Picture(e, "network")
    assert (len(picture.labels), len(picture.edges)) == (nodes, edges)


def test_index_letters_avoid_the_names_in_the_picture():
    i, j = symbols("i j", integer=True, positive=True)
    picture = Picture(se.TensorSymbol("k", (i, j)) @ se.TensorSymbol("l", j), "network")
    assert picture.legend == "mn,n→m\nm: i    n: j"


def test_index_letters_are_those_of_the_formula():
    U, V, Z = (se.TensorSymbol(name, (m, p)) for name in "UVZ")
    T = se.TensorSymbol("T", (m, p, p))
    for e, formula in (
        (se.einsum("ir,jr,lr->ijl", U, V, Z), "U_il V_jl Z_kl"),
        (se.einsum("abc,rb->rca", T, U), "T_klj U_il"),
        (se.einsum("abc,r->rrabc", T, y), "T_klo y_i"),
        (A.T @ (A @ y), "A_ji A_jk y_k"),
    ):
        terms = [term.split("_") for term in formula.split()]
        picture = Picture(e, "network")
        words = picture.legend.partition("→")[0].split(",")
        named = [picture.labels[f"{place}"] for place in range(len(words))]
        assert sorted(zip(named, words, strict=True)) == sorted(map(tuple, terms))
        # The letters m and n of lengths are left out in the picture, where lengths are shown.
        shown = se.latex(e, notation="index").replace("m", "o")
        assert all(f"{name}_{{{word}}}" in shown for name, word in terms if len(word) > 1)


def test_only_products_are_networks():
    for e in (x + y, se.exp(x), sympy.sin(x @ y), 1 + x @ y):
        with pytest.raises(se.UnsupportedError, match="one product"):
            se.to_dot(e, kind="network")


# --- what goes wrong -----------------------------------------------------------------------------


def test_bad_input():
    with pytest.raises(se.TensorError, match="choose from graph, network"):
        se.to_dot(x, kind="tree")
    for wrong in ("x", None, object()):
        with pytest.raises(se.TensorError):
            se.to_dot(wrong)


def test_draw_names_the_missing_program(monkeypatch):
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(se.UnsupportedError, match=r"pip install 'sympy_einsum\[draw\]'"):
        se.draw(x)
    monkeypatch.undo()
    monkeypatch.setattr(drawing.shutil, "which", lambda name: None)
    with pytest.raises(se.UnsupportedError, match="system package graphviz"):
        se.draw(x)


def named_everywhere(name):
    """Return a drawing of each kind, with the name for a tensor, a length, a function and a
    position."""
    tensor, scalar = se.TensorSymbol(name, (n,)), Symbol(name + "!")
    sized = se.TensorSymbol("sized", (Symbol(name, integer=True, positive=True),))
    function = Function(name if applicable(name) else "f")
    applied = se.elementwise(lambda s: function(s) + 1, se.elementwise(function, tensor))
    return (
        Picture({name: scalar * se.exp(tensor), "sized": sized.mean() + function(t), "f": applied}),
        Picture(scalar * (tensor @ applied) * (sized @ sized), "network"),
    )


HOSTILE = [name.replace("{{", "{").replace("}}", "}") for name in NAMES]
HOSTILE += [
    '"]; node[',
    "<b>",
    "&lt;b&gt;",
    "&amp;",
    "\\N\\G",
    "\\",
    '\\"',
    "a\\\nb",
    "x\x00y",
    '">',
]
MANY = dict(zip(itertools.count(), HOSTILE, strict=False))


@pytest.fixture(scope="module")
def harmless():
    return named_everywhere("plain")


@pytest.mark.parametrize("number", MANY)
def test_hostile_names_do_not_break_out(number, harmless):
    name = MANY[number]
    for picture, expected in zip(named_everywhere(name), harmless, strict=True):
        assert picture.ranks == expected.ranks
        assert len(picture.labels) == len(expected.labels)
        for node, found in picture.attributes.items():
            assert set(found) == set(expected.attributes[node])
    picture = Picture(se.TensorSymbol(name, (n,)))
    shown = drawing._shown(name)
    assert list(picture.labels.values()) == [f"{shown}\nn"]
    assert len(shown) <= max(60, 10 * len(name[:40]))
    assert all(c.isprintable() for c in shown)


@needs_dot
def test_graphviz_shows_hostile_names_as_they_are():
    names = [name for name in HOSTILE if name.isprintable() and len(name) < 40]
    roots = [se.TensorSymbol(name, (n,)) for name in dict.fromkeys(names)]
    for kind, text in (
        ("graph", se.to_dot(roots)),
        (
            "network",
            se.to_dot(se.einsum(*itertools.chain(*[(r, [0]) for r in roots]), []), "network"),
        ),
    ):
        run = subprocess.run(["dot", "-Tsvg"], input=text.encode(), capture_output=True, check=True)
        assert not run.stderr
        document = ElementTree.fromstring(run.stdout.decode())
        shown = {"".join(part.itertext()) for part in document.iter() if part.tag.endswith("}text")}
        # The parser and the renderer may write spaces in their own way.
        shown = {text.replace("\xa0", " ").strip() for text in shown}
        assert {name.strip() for name in names} <= shown, kind
        assert not [part for part in document.iter() if part.tag.endswith("}script")]


@pytest.fixture(params=["absent", "stub", "installed"])
def dot(request, tmp_path, monkeypatch):
    """The ``dot`` program on the path: none, a stub that returns an empty picture, or
    Graphviz's."""
    if request.param == "installed":
        if shutil.which("dot") is None:
            pytest.skip("Graphviz's dot isn't installed")
        return request.param
    if request.param == "stub":
        stub = tmp_path / "dot"
        stub.write_text(f"#!{sys.executable}\nprint('<svg></svg>')\n")
        stub.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    return request.param


def test_examples_hold_with_and_without_graphviz(dot):
    results = doctest.testmod(drawing)
    assert results.attempted
    assert not results.failed


@pytest.mark.parametrize("kind", ["graph", "network"])
def test_draw_returns_an_object_that_notebooks_show(kind, dot):
    graphviz = pytest.importorskip("graphviz")
    if dot == "absent":
        with pytest.raises(se.UnsupportedError, match="dot, which isn't on the path"):
            se.draw(x @ A @ x, kind)
        return
    picture = se.draw(x @ A @ x, kind)
    assert isinstance(picture, graphviz.Source)
    assert "</svg>" in picture._repr_image_svg_xml()
