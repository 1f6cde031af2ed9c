"""Derivatives as textbooks print them: the Matrix Cookbook, regression, classification,
factorisation, likelihoods, small networks.

A row is the function, the variables, and the derivative's LaTeX, str and pretty form. Numbers in
brackets are the equations of [MC].

References
==========

[MC] K. B. Petersen, M. S. Pedersen, "The Matrix Cookbook", 2012.
[LMG18] S. Laue, M. Mitterreiter, J. Giesen, "Computing Higher Order Derivatives of Matrix and
Tensor Expressions", NeurIPS 2018.
"""

# ruff: noqa: E501

from __future__ import annotations

import pytest
import sympy
from sympy import symbols
from texts import assert_same_value

import sympy_einsum as se

m, n, k, r = symbols("m n k r", integer=True, positive=True)
t = symbols("t", positive=True)


def tensors(names, *shape, **assumptions):
    return {name: se.TensorSymbol(name, shape, **assumptions) for name in names}


NAMES = {
    **vars(se),
    **{"m": m, "n": n, "k": k, "r": r, "t": t},
    **tensors("xacwp", n),
    **tensors("by", m),
    **tensors("ACDXQ", n, n),
    "Sigma": se.TensorSymbol("Sigma", (n, n), symmetric=True),
    **tensors("W", m, m, symmetric=True),
    **tensors("BMR", m, n),
    **tensors("Y", m, n),
    **tensors("U", m, r),
    **tensors("V", n, r),
    **tensors("Z", k, r),
    **tensors("T", m, n, k),
    **tensors("H", n, n, n),
    **tensors("F", m, k),
    **tensors("G", k, n),
    "sum": lambda tensor: tensor.sum(),
}


def textbook(y, *wrt):
    """Return the derivative as it is printed."""
    return se.diff(y, *wrt)


# fmt: off
ROWS = [
    ('a @ x', 'x', r"a", 'a', 'a'),
    ('x @ x', 'x', r"2 x", '2*x', '2⋅x'),
    ('x @ A @ x', 'x', r"A x + A^{\top} x", 'A @ x + A.T @ x', '       T\nA⋅x + A ⋅x'),
    ('x @ A @ x', 'x x', r"A + A^{\top}", 'A + A.T', '     T\nA + A'),
    ('x @ Sigma @ x', 'x', r"2 \Sigma x", '2*Sigma @ x', '2⋅Σ⋅x'),
    ('x @ Sigma @ x', 'x x', r"2 \Sigma", '2*Sigma', '2⋅Σ'),
    ('x @ A @ x', 'A', r"x x^{\top}", "outer(x, x)", '   T\nx⋅x'),
    ('c @ X @ a', 'X', r"c a^{\top}", "outer(c, a)", '   T\nc⋅a'),
    ('a @ X.T @ X @ c', 'X', r"X a c^{\top} + X c a^{\top}", "outer(X @ a, c) + outer(X @ c, a)", '     T        T\nX⋅a⋅c  + X⋅c⋅a'),
    ('(B @ x - b) @ (B @ x - b)', 'x', r"2 B^{\top} \left(B x - b\right)", '2*B.T @ (B @ x - b)', '   T\n2⋅B ⋅(B⋅x - b)'),
    ('(B @ x - b) @ (B @ x - b)', 'x x', r"2 B^{\top} B", '2*B.T @ B', '   T\n2⋅B ⋅B'),
    ('(B @ x - b) @ (B @ x - b)', 'B', r"2 \left(B x - b\right) x^{\top}", "2*outer(B @ x - b, x)", '             T\n2⋅(B⋅x - b)⋅x'),
    ('(B @ x - b) @ (B @ x - b) + t*(x @ x)', 'x', r"2 B^{\top} \left(B x - b\right) + 2 t x", '2*t*x + 2*B.T @ (B @ x - b)', '   T\n2⋅B ⋅(B⋅x - b) + 2⋅t⋅x'),
    ('(B @ x - b) @ W @ (B @ x - b)', 'x', r"2 B^{\top} W \left(B x - b\right)", '2*B.T @ (W @ (B @ x - b))', '   T\n2⋅B ⋅W⋅(B⋅x - b)'),
    ('(x - a) @ inv(Sigma) @ (x - a)', 'x', r"2 \Sigma^{-1} \left(x - a\right)", '2*inv(Sigma) @ (x - a)', '   -1\n2⋅Σ  ⋅(x - a)'),
    ('norm(x)', 'x', r"\frac{1}{\left\lVert x \right\rVert_{2}} x", 'x/norm(x)', ' 1\n────⋅x\n‖x‖\n   2'),
    ('norm(x - a)', 'x', r"\frac{1}{\left\lVert x - a \right\rVert_{2}} \left(x - a\right)", '(x - a)/norm(x - a)', '   1\n────────⋅(x - a)\n‖x - a‖\n       2'),
    ('norm(x)', 'x x', r"\frac{1}{\left\lVert x \right\rVert_{2}} I - \frac{1}{\left\lVert x \right\rVert_{2}^{3}} x x^{\top}", "Delta(n)/norm(x) - norm(x)**(-3)*outer(x, x)", ' 1         1      T\n────⋅𝕀 - ─────⋅x⋅x\n‖x‖          3\n   2     ‖x‖\n            2'),
    ('norm(B @ x - b)', 'x', r"\frac{1}{\left\lVert B x - b \right\rVert_{2}} B^{\top} \left(B x - b\right)", 'B.T @ (B @ x - b)/norm(B @ x - b)', '    1       T\n──────────⋅B ⋅(B⋅x - b)\n‖B⋅x - b‖\n         2'),
    ('x / norm(x)', 'x', r"\frac{1}{\left\lVert x \right\rVert_{2}} I - \frac{1}{\left\lVert x \right\rVert_{2}^{3}} x x^{\top}", "Delta(n)/norm(x) - norm(x)**(-3)*outer(x, x)", ' 1         1      T\n────⋅𝕀 - ─────⋅x⋅x\n‖x‖          3\n   2     ‖x‖\n            2'),
    ('(x @ A @ x) / (x @ x)', 'x', r"\frac{1}{x^{\top} x} \left(A x + A^{\top} x - \frac{2 x^{\top} A x}{x^{\top} x} x\right)", '(A @ x + A.T @ x - 2*(x @ A @ x)/(x @ x)*x)/(x @ x)', '     ⎛                T      ⎞\n 1   ⎜       T     2⋅x ⋅A⋅x  ⎟\n────⋅⎜A⋅x + A ⋅x - ────────⋅x⎟\n T   ⎜                T      ⎟\nx ⋅x ⎝               x ⋅x    ⎠'),
    ('exp(a @ x)', 'x', r"e^{a^{\top} x} a", 'exp(a @ x)*a', '  T\n a ⋅x\nℯ    ⋅a'),
    ('exp(a @ x)', 'x x', r"e^{a^{\top} x} a a^{\top}", "exp(a @ x)*outer(a, a)", '  T\n a ⋅x    T\nℯ    ⋅a⋅a'),
    ('exp(-(x @ x)/2)', 'x', r"- e^{- \frac{x^{\top} x}{2}} x", '-exp(-(x @ x)/2)*x', '    T\n  -x ⋅x\n  ──────\n    2\n-ℯ      ⋅x'),
    ('(a @ x)**3', 'x', r"3 \left(a^{\top} x\right)^{2} a", '3*(a @ x)**2*a', '        2\n  ⎛ T  ⎞\n3⋅⎝a ⋅x⎠ ⋅a'),
    ('1/(a @ x)', 'x', r"- \frac{1}{\left(a^{\top} x\right)^{2}} a", '-(a @ x)**(-2)*a', '    1\n-───────⋅a\n       2\n ⎛ T  ⎞\n ⎝a ⋅x⎠'),
    ('exp(x)', 'x', r"\operatorname{diag}\left(\exp\left(x\right)\right)", 'diag(exp(x))', 'diag(exp(x))'),
    ('sin(B @ x)', 'x', r"\operatorname{diag}\left(\cos{\left(B x \right)}\right) B", 'diag(cos(B @ x)) @ B', 'diag(cos(B⋅x))⋅B'),
    ('B @ x', 'x', r"B", 'B', 'B'),
    ('x*a', 'x', r"\operatorname{diag}\left(a\right)", 'diag(a)', 'diag(a)'),
    ('exp(x).sum()', 'x', r"\exp\left(x\right)", 'exp(x)', 'exp(x)'),
    ('(x*log(x)).sum()', 'x', r"\mathbf{1} + \log{\left(x \right)}", 'log(x) + 1', '𝟙 + log(x)'),
    ('(x**3).sum()', 'x x', r"6 \operatorname{diag}\left(x\right)", '6*diag(x)', '6⋅diag(x)'),
    ('tanh(B @ x).sum()', 'x', r"B^{\top} \left(\mathbf{1} - \tanh{\left(B x \right)}^{\odot 2}\right)", 'B.T @ (1 - tanh(B @ x)**2)', ' T ⎛             ∘2⎞\nB ⋅⎝𝟙 - tanh(B⋅x)  ⎠'),
    ('relu(B @ x).sum()', 'x', r"B^{\top} \left[B x > 0\right]", 'B.T @ step(B @ x)', ' T\nB ⋅[B⋅x > 0]'),
    ('trace(X)', 'X', r"I", 'Delta(n)', '𝕀'),
    ('trace(A @ X)', 'X', r"A^{\top}", 'A.T', ' T\nA'),
    ('trace(X @ X)', 'X', r"2 X^{\top}", '2*X.T', '   T\n2⋅X'),
    ('trace(X @ X @ X)', 'X', r"3 \left(X^{2}\right)^{\top}", '3*X.T @ X.T', '      T\n  ⎛ 2⎞\n3⋅⎝X ⎠'),
    ('trace(A @ X.T)', 'X', r"A", 'A', 'A'),
    ('trace(X.T @ X)', 'X', r"2 X", '2*X', '2⋅X'),
    ('trace(A @ X @ C @ X.T @ D)', 'X', r"D A X C + A^{\top} D^{\top} X C^{\top}", 'A.T @ D.T @ X @ C.T + D @ A @ X @ C', '           T  T    T\nD⋅A⋅X⋅C + A ⋅D ⋅X⋅C'),
    ('trace(A @ X @ C)', 'X', r"A^{\top} C^{\top}", 'A.T @ C.T', ' T  T\nA ⋅C'),
    ('trace(X.T @ A @ X @ C)', 'X', r"A X C + A^{\top} X C^{\top}", 'A @ X @ C + A.T @ X @ C.T', '         T    T\nA⋅X⋅C + A ⋅X⋅C'),
    ('trace(A @ inv(X))', 'X', r"- X^{- \top} A^{\top} X^{- \top}", '-inv(X).T @ A.T @ inv(X).T', '  -T  T  -T\n-X  ⋅A ⋅X'),
    ('trace(inv(X))', 'X', r"- \left(X^{- \top}\right)^{2}", '-inv(X).T @ inv(X).T', '      2\n ⎛ -T⎞\n-⎝X  ⎠'),
    ('c @ inv(X) @ a', 'X', r"- X^{- \top} c a^{\top} X^{- \top}", "-outer(inv(X).T @ c, inv(X) @ a)", '  -T    T  -T\n-X  ⋅c⋅a ⋅X'),
    ('inv(X)', 'X', r"- \left(X^{-1}\right)_{ik} \left(X^{-1}\right)_{lj}", "-einsum('ij,kl->iljk', inv(X), inv(X))", ' ⎛ -1⎞   ⎛ -1⎞\n-⎝X  ⎠  ⋅⎝X  ⎠\n      ik      lj'),
    ('det(X)', 'X', r"\operatorname{adj}\left(X\right)^{\top}", 'adj(X).T', '      T\nadj(X)'),
    ('logdet(X)', 'X', r"X^{- \top}", 'inv(X).T', ' -T\nX'),
    ('logdet(X)', 'X X', r"- \left(X^{-1}\right)_{li} \left(X^{-1}\right)_{jk}", "-einsum('ij,kl->jkli', inv(X), inv(X))", ' ⎛ -1⎞   ⎛ -1⎞\n-⎝X  ⎠  ⋅⎝X  ⎠\n      li      jk'),
    ('logdet(A @ X @ C)', 'X', r"X^{- \top}", 'inv(X).T', ' -T\nX'),
    ('det(X)**2', 'X', r"2 \det\left(X\right) \operatorname{adj}\left(X\right)^{\top}", '2*det(X)*adj(X).T', '               T\n2⋅det(X)⋅adj(X)'),
    ('logdet(X.T @ X)', 'X', r"2 X^{- \top}", '2*inv(X).T', '   -T\n2⋅X'),
    ('logdet(X @ X.T + t*Delta(n))', 'X', r"2 \left(X X^{\top} + t I\right)^{-1} X", '2*inv(X @ X.T + t*Delta(n)) @ X', '              -1\n  ⎛   T      ⎞\n2⋅⎝X⋅X  + t⋅𝕀⎠  ⋅X'),
    ('X.sum()', 'X', r"\mathbf{1} \mathbf{1}^{\top}", 'Ones(n, n)', '   T\n𝟙⋅𝟙'),
    ('X @ X', 'X', r"\delta_{jl} X_{ik} + \delta_{ik} X_{lj}", "einsum('ij,k->ikjk', X, Ones(n)) + einsum('ij,k->kjki', X, Ones(n))", 'δ  ⋅X   + δ  ⋅X\n jl  ik    ik  lj'),
    ('X.T', 'X', r"\delta_{il} \delta_{jk}", "einsum('i,j->ijji', Ones(n), Ones(n))", 'δ  ⋅δ\n il  jk'),
    ('(X*X).sum()', 'X', r"2 X", '2*X', '2⋅X'),
    ('norm(X)', 'X', r"\frac{1}{\left\lVert X \right\rVert_{F}} X", 'X/norm(X)', ' 1\n────⋅X\n‖X‖\n   F'),
    ('X @ a', 'X', r"\delta_{ij} a_{k}", "einsum('i,j->jji', a, Ones(n))", 'δ  ⋅a\n ij  k'),
    ('exp(X)', 'X', r"\delta_{ik} \delta_{jl} e^{X_{ij}}", "einsum('ij->ijij', exp(X))", '         X\n          ij\nδ  ⋅δ  ⋅ℯ\n ik  jl'),
    ('(A*X).sum()', 'X', r"A", 'A', 'A'),
    ('diag(X) @ a', 'X', r"\operatorname{diag}\left(a\right)", 'diag(a)', 'diag(a)'),
    ('(X @ C).trace()', 'C', r"X^{\top}", 'X.T', ' T\nX'),
    ('sum(log(1 + exp(-y*(B @ w))))', 'w', r"- B^{\top} \left(y \odot \operatorname{sigmoid}{\left(- y \odot \left(B w\right) \right)}\right)", '-B.T @ (y*sigmoid(-(y*(B @ w))))', '  T\n-B ⋅(y∘sigmoid(-y∘(B⋅w)))'),
    ('sum(log(1 + exp(-y*(B @ w))))', 'w w', r"B^{\top} \operatorname{diag}\left(y^{\odot 2} \odot \operatorname{sigmoid}{\left(- y \odot \left(B w\right) \right)} \odot \left(\mathbf{1} - \operatorname{sigmoid}{\left(- y \odot \left(B w\right) \right)}\right)\right) B", 'B.T @ diag(y**2*(sigmoid(-(y*(B @ w)))*(1 - sigmoid(-(y*(B @ w)))))) @ B', ' T     ⎛ ∘2                                          ⎞\nB ⋅diag⎝y  ∘sigmoid(-y∘(B⋅w))∘(𝟙 - sigmoid(-y∘(B⋅w)))⎠⋅B'),
    ('sum(softplus(B @ w) - y*(B @ w))', 'w', r"B^{\top} \left(\operatorname{sigmoid}{\left(B w \right)} - y\right)", 'B.T @ (sigmoid(B @ w) - y)', ' T\nB ⋅(sigmoid(B⋅w) - y)'),
    ('sum(softplus(B @ w) - y*(B @ w))', 'w w', r"B^{\top} \operatorname{diag}\left(\operatorname{sigmoid}{\left(B w \right)} \odot \left(\mathbf{1} - \operatorname{sigmoid}{\left(B w \right)}\right)\right) B", 'B.T @ diag(sigmoid(B @ w)*(1 - sigmoid(B @ w))) @ B', ' T\nB ⋅diag(sigmoid(B⋅w)∘(𝟙 - sigmoid(B⋅w)))⋅B'),
    ('logsumexp(x)', 'x', r"\operatorname{softmax}\left(x\right)", 'softmax(x)', 'softmax(x)'),
    ('logsumexp(x)', 'x x', r"\operatorname{diag}\left(\operatorname{softmax}\left(x\right)\right) - \operatorname{softmax}\left(x\right) \operatorname{softmax}\left(x\right)^{\top}", "diag(softmax(x)) - outer(softmax(x), softmax(x))", '                                        T\ndiag(softmax(x)) - softmax(x)⋅softmax(x)'),
    ('logsumexp(x) - p @ x', 'x', r"\operatorname{softmax}\left(x\right) - p", 'softmax(x) - p', 'softmax(x) - p'),
    ('softmax(x)', 'x', r"\operatorname{diag}\left(\operatorname{softmax}\left(x\right)\right) - \operatorname{softmax}\left(x\right) \operatorname{softmax}\left(x\right)^{\top}", "diag(softmax(x)) - outer(softmax(x), softmax(x))", '                                        T\ndiag(softmax(x)) - softmax(x)⋅softmax(x)'),
    ('softmax(x) @ a', 'x', r"a \odot \operatorname{softmax}\left(x\right) - \left(a^{\top} \operatorname{softmax}\left(x\right)\right) \operatorname{softmax}\left(x\right)", 'a*softmax(x) - (a @ softmax(x))*softmax(x)', '               ⎛ T           ⎞\na∘softmax(x) - ⎝a ⋅softmax(x)⎠⋅softmax(x)'),
    ('logsumexp(B @ x)', 'x x', r"\left(\operatorname{diag}\left(\operatorname{softmax}\left(B x\right)\right) B - \operatorname{softmax}\left(B x\right) \operatorname{softmax}\left(B x\right)^{\top} B\right)^{\top} B", "(B.T @ diag(softmax(B @ x)) - outer(B.T @ softmax(B @ x), softmax(B @ x))) @ B", '                                                     T\n⎛                                                T  ⎞\n⎝diag(softmax(B⋅x))⋅B - softmax(B⋅x)⋅softmax(B⋅x) ⋅B⎠ ⋅B'),
    ('logsumexp(F @ G, axis=1).sum() - (Y*(F @ G)).sum()', 'G', r"F^{\top} \left(\operatorname{softmax}_{1}\left(F G\right) - Y\right)", 'F.T @ (softmax(F @ G, axis=1) - Y)', ' T\nF ⋅⎛softmax (F⋅G) - Y⎞\n   ⎝       1         ⎠'),
    ('-logdet(Sigma)/2 - (x - a) @ inv(Sigma) @ (x - a)/2', 'a', r"\Sigma^{-1} \left(x - a\right)", 'inv(Sigma) @ (x - a)', ' -1\nΣ  ⋅(x - a)'),
    ('-logdet(Sigma)/2 - (x - a) @ inv(Sigma) @ (x - a)/2', 'Sigma', r"\frac{1}{2} \Sigma^{-1} \left(x - a\right) \left(x - a\right)^{\top} \Sigma^{-1} - \frac{1}{2} \Sigma^{-1}", "outer(inv(Sigma) @ (x - a), inv(Sigma) @ (x - a))/2 - inv(Sigma)/2", '1  -1                T  -1   1  -1\n─⋅Σ  ⋅(x - a)⋅(x - a) ⋅Σ   - ─⋅Σ\n2                            2'),
    ('-m*logdet(Sigma)/2 - trace(inv(Sigma) @ Q)/2', 'Sigma', r"\frac{1}{2} \Sigma^{-1} Q^{\top} \Sigma^{-1} - \frac{m}{2} \Sigma^{-1}", 'inv(Sigma) @ Q.T @ inv(Sigma)/2 - m*inv(Sigma)/2', '1  -1  T  -1   m  -1\n─⋅Σ  ⋅Q ⋅Σ   - ─⋅Σ\n2              2'),
    ('norm(U @ V.T - M)**2', 'U', r"2 \left(U V^{\top} - M\right) V", '2*((U @ V.T - M) @ V)', '  ⎛   T    ⎞\n2⋅⎝U⋅V  - M⎠⋅V'),
    ('norm(U @ V.T - M)**2', 'V', r"2 \left(U V^{\top} - M\right)^{\top} U", '2*(U @ V.T - M).T @ U', '            T\n  ⎛   T    ⎞\n2⋅⎝U⋅V  - M⎠ ⋅U'),
    ('norm(U @ V.T - M)**2', 'U U', r"2 \delta_{ik} \left(V^{\top} V\right)_{jl}", "2*einsum('ij,ik,l->ljlk', V, V, Ones(m))", '      ⎛ T  ⎞\n2⋅δ  ⋅⎝V ⋅V⎠\n   ik       jl'),
    ('norm(U @ V.T - M)**2', 'U V', r"2 U_{il} V_{kj} + 2 \delta_{jl} \left(U V^{\top} - M\right)_{ik}", "2*einsum('ij,kl->ilkj', U, V) + 2*einsum('ij,k->ikjk', U @ V.T - M, Ones(r))", '                  ⎛   T    ⎞\n2⋅U  ⋅V   + 2⋅δ  ⋅⎝U⋅V  - M⎠\n   il  kj      jl           ik'),
    ('norm(R*(U @ V.T - M))**2', 'U', r"2 \left(R^{\odot 2} \odot \left(U V^{\top} - M\right)\right) V", '2*((R**2*(U @ V.T - M)) @ V)', '  ⎛ ∘2 ⎛   T    ⎞⎞\n2⋅⎝R  ∘⎝U⋅V  - M⎠⎠⋅V'),
    ("norm(T - einsum('ir,jr,kr->ijk', U, V, Z))**2", 'U', r"- 2 \sum_{kl} V_{kj} Z_{lj} \left(T_{ikl} - \sum_{m} U_{im} V_{km} Z_{lm}\right)", "-2*einsum('ij,kj,lik->lj', V, Z, T - einsum('ij,kj,lj->ikl', U, V, Z))", '-2⋅∑  V  ⋅Z  ⋅⎛T    - ∑ U  ⋅V  ⋅Z  ⎞\n   kl  kj  lj ⎝ ikl   m  im  km  lm⎠'),
    ("einsum('ijk,i,j,k->', H, x, x, x)", 'x', r"\sum_{j} x_{j} \left(\sum_{k} H_{ijk} x_{k} + \sum_{k} H_{jik} x_{k} + \sum_{k} H_{jki} x_{k}\right)", "(einsum('ijk,k->ij', H, x) + einsum('ijk,k->ji', H, x) + einsum('ijk,j->ki', H, x)) @ x", '∑ x ⋅⎛∑ H   ⋅x  + ∑ H   ⋅x  + ∑ H   ⋅x ⎞\nj  j ⎝k  ijk  k   k  jik  k   k  jki  k⎠'),
    ("einsum('ijk,j,k->i', H, x, x)", 'x', r"\sum_{k} H_{ikj} x_{k} + \sum_{k} H_{ijk} x_{k}", "einsum('ijk,j->ik', H, x) + einsum('ijk,k->ij', H, x)", '∑ H   ⋅x  + ∑ H   ⋅x\nk  ikj  k   k  ijk  k'),
    ('exp(B @ x) @ exp(B @ x)', 'x', r"2 B^{\top} \exp\left(2 B x\right)", '2*B.T @ exp(2*B @ x)', '   T\n2⋅B ⋅exp(2⋅B⋅x)'),
    ('(F @ tanh(G @ x)) @ b', 'G', r"\left(\left(F^{\top} b\right) \odot \left(\mathbf{1} - \tanh{\left(G x \right)}^{\odot 2}\right)\right) x^{\top}", "outer((1 - tanh(G @ x)**2)*(F.T @ b), x)", '⎛⎛ T  ⎞ ⎛             ∘2⎞⎞  T\n⎝⎝F ⋅b⎠∘⎝𝟙 - tanh(G⋅x)  ⎠⎠⋅x'),
    ('norm(y - F @ sigmoid(G @ x))**2', 'G', r"- 2 \left(\operatorname{sigmoid}{\left(G x \right)} \odot \left(F^{\top} \left(y - F \operatorname{sigmoid}{\left(G x \right)}\right)\right) \odot \left(\mathbf{1} - \operatorname{sigmoid}{\left(G x \right)}\right)\right) x^{\top}", "-2*outer(sigmoid(G @ x)*(1 - sigmoid(G @ x))*(F.T @ (y - F @ sigmoid(G @ x))), x)", '   ⎛             ⎛ T                     ⎞                   ⎞  T\n-2⋅⎝sigmoid(G⋅x)∘⎝F ⋅(y - F⋅sigmoid(G⋅x))⎠∘(𝟙 - sigmoid(G⋅x))⎠⋅x'),
    ('norm(y - F @ sigmoid(G @ x))**2', 'F', r"- 2 \left(y - F \operatorname{sigmoid}{\left(G x \right)}\right) \operatorname{sigmoid}{\left(G x \right)}^{\top}", "-2*outer(y - F @ sigmoid(G @ x), sigmoid(G @ x))", '                                    T\n-2⋅(y - F⋅sigmoid(G⋅x))⋅sigmoid(G⋅x)'),
    ('sum(exp(-(B @ x)) + y*(B @ x))', 'x', r"B^{\top} \left(y - \exp\left(- B x\right)\right)", 'B.T @ (y - exp(-B @ x))', ' T\nB ⋅(y - exp(-B⋅x))'),
    ('sum(exp(B @ x) - y*(B @ x))', 'x x', r"B^{\top} \operatorname{diag}\left(\exp\left(B x\right)\right) B", 'B.T @ diag(exp(B @ x)) @ B', ' T\nB ⋅diag(exp(B⋅x))⋅B'),
    ('sum(Abs(x))', 'x', r"\operatorname{sign}{\left(x \right)}", 'sign(x)', 'sign(x)'),
    ('sum(sqrt(1 + (B @ x - b)**2))', 'x', r"B^{\top} \left(\left(B x - b\right) \oslash \left(\mathbf{1} + \left(B x - b\right)^{\odot 2}\right)^{\odot \frac{1}{2}}\right)", 'B.T @ ((B @ x - b)/sqrt((B @ x - b)**2 + 1))', '   ⎛                           ∘1/2⎞\n T ⎜          ⎛             ∘2⎞    ⎟\nB ⋅⎝(B⋅x - b)⊘⎝𝟙 + (B⋅x - b)  ⎠    ⎠'),
    ('b @ (B*R) @ x', 'B', r"\operatorname{diag}\left(b\right) R \operatorname{diag}\left(x\right)", 'diag(b) @ R @ diag(x)', 'diag(b)⋅R⋅diag(x)'),
    ('trace(B.T @ diag(b) @ B)', 'b', r"\operatorname{diag}\left(B B^{\top}\right)", '(B**2).sum(axis=1)', '    ⎛   T⎞\ndiag⎝B⋅B ⎠'),
    ('trace(B.T @ diag(b) @ B)', 'B', r"2 \operatorname{diag}\left(b\right) B", '2*diag(b) @ B', '2⋅diag(b)⋅B'),
    ('x[0]*x[1]', 'x', r"x_{1} e_{0} + x_{0} e_{1}", 'x[1]*Delta(n)[0] + x[0]*Delta(n)[1]', 'x ⋅e  + x ⋅e\n 1  0    0  1'),
    ('(X @ X).trace()*(x @ X @ x)', 'x', r"\operatorname{tr}\left(X^{2}\right) \cdot \left(X x + X^{\top} x\right)", '(X @ X).trace()*(X @ x + X.T @ x)', '  ⎛ 2⎞ ⎛       T  ⎞\ntr⎝X ⎠⋅⎝X⋅x + X ⋅x⎠'),
    ('trace(A @ X @ X @ C)', 'X', r"A^{\top} C^{\top} X^{\top} + X^{\top} A^{\top} C^{\top}", 'A.T @ C.T @ X.T + X.T @ A.T @ C.T', ' T  T  T    T  T  T\nA ⋅C ⋅X  + X ⋅A ⋅C'),
    ('logdet(A - X)', 'X', r"- \left(A - X\right)^{- \top}", '-inv(A - X).T', '        -T\n-(A - X)'),
    ('(a @ x)*(b @ y)', 'x', r"\left(b^{\top} y\right) a", '(b @ y)*a', '⎛ T  ⎞\n⎝b ⋅y⎠⋅a'),
    ('sum(log(x))', 'x', r"x^{\odot -1}", '1/x', ' ∘-1\nx'),
    ('x @ A @ x - 2*(a @ x)', 'x', r"A x + A^{\top} x - 2 a", 'A @ x + A.T @ x - 2*a', '       T\nA⋅x + A ⋅x - 2⋅a'),
    ('exp(-((x - a) @ inv(Sigma) @ (x - a))/2)', 'x', r"- e^{- \frac{\left(x - a\right)^{\top} \Sigma^{-1} \left(x - a\right)}{2}} \Sigma^{-1} \left(x - a\right)", '-exp(-((x - a) @ inv(Sigma) @ (x - a))/2)*inv(Sigma) @ (x - a)', '          T  -1\n  -(x - a) ⋅Σ  ⋅(x - a)\n  ──────────────────────\n            2             -1\n-ℯ                      ⋅Σ  ⋅(x - a)'),
    ('sum((U @ V.T - M)**2) + t*sum(U**2)', 'U', r"2 \left(U V^{\top} - M\right) V + 2 t U", '2*t*U + 2*((U @ V.T - M) @ V)', '  ⎛   T    ⎞\n2⋅⎝U⋅V  - M⎠⋅V + 2⋅t⋅U'),
    ('softmax(B @ x) @ b', 'x', r"B^{\top} \left(b \odot \operatorname{softmax}\left(B x\right) - \left(b^{\top} \operatorname{softmax}\left(B x\right)\right) \operatorname{softmax}\left(B x\right)\right)", 'B.T @ (b*softmax(B @ x) - (b @ softmax(B @ x))*softmax(B @ x))', ' T ⎛                 ⎛ T             ⎞             ⎞\nB ⋅⎝b∘softmax(B⋅x) - ⎝b ⋅softmax(B⋅x)⎠⋅softmax(B⋅x)⎠'),
    ("sum(Max(x, 0))", "x", r"\left[x > 0\right]_{\frac{1}{2}}", "step(x, Rational(1, 2))", "step(x, 1/2)"),
]
# fmt: on


@pytest.mark.parametrize(
    ("code", "wrt", "latex", "text", "pretty"), ROWS, ids=[f"{row[0]} by {row[1]}" for row in ROWS]
)
def test_derivative(code, wrt, latex, text, pretty):
    derivative = textbook(eval(code, NAMES), *[NAMES[name] for name in wrt.split()])
    assert se.latex(derivative) == sympy.latex(derivative) == latex
    assert str(derivative) == text
    assert_same_value(eval(text, {**vars(sympy), **NAMES}), derivative)
    shown = sympy.pretty(derivative, use_unicode=True, wrap_line=False)
    assert "\n".join(line.rstrip() for line in shown.split("\n")) == pretty


def test_the_table_is_long_enough():
    assert len(ROWS) >= 60
