"""Fit a logistic regression by Newton's method, with derived gradient and Hessian.

The data are scikit-learn's: 569 tumours, of which ten features of cell nuclei are known. The steps
are drawn to logistic_regression.svg; the notebook beside this file explains them.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sympy import symbols

import sympy_einsum as se

m, n = symbols("m n", integer=True, positive=True)
X, y, w = se.TensorSymbol("X", m, n), se.TensorSymbol("y", m), se.TensorSymbol("w", n)
loss = se.log(1 + se.exp(-y * (X @ w))).sum()
gradient, hessian = se.gradient(loss, w), se.hessian(loss, w)
print(f"loss      {loss}\ngradient  {gradient}\nHessian   {hessian}\n")

data = load_breast_cancer()
features = data.data[:, :10]
features = (features - features.mean(axis=0)) / features.std(axis=0)
samples = np.column_stack([np.ones(len(features)), features])
labels = np.where(data.target == 1, 1.0, -1.0)

terms = se.lambdify([X, y, w], [loss, gradient, hessian])
weights, steps = np.zeros(samples.shape[1]), []
for step in range(10):
    value, gradient, hessian = terms(samples, labels, weights)
    steps.append(np.abs(gradient).max())
    print(f"{step:2}  loss {value:12.8f}  |gradient| {steps[-1]:8.1e}")
    weights -= np.linalg.solve(hessian, gradient)

model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10).fit(features, labels)
theirs = [*model.intercept_, *model.coef_[0]]
print(f"\n{'':24}     Newton  scikit-learn")
for name, own, other in zip(["intercept", *data.feature_names], weights, theirs, strict=False):
    print(f"{name:24} {own:10.6f}  {other:12.6f}")

figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
axes.semilogy(steps, "o-")
axes.set(xlabel="Newton step", ylabel="largest entry of the gradient")
figure.savefig("logistic_regression.svg")
print("\nThe steps are drawn in logistic_regression.svg.")
