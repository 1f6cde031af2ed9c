"""The examples of the local page."""

# Fields of a ReportRequest by title; kinds are declarations by variable.
EXAMPLES: dict[str, dict[str, object]] = {
    "Logistic regression": {
        "text": "sum(log(exp(-y .* (X*w)) + vector(1)))",
        "wrt": ["w"],
    },
    "Least squares": {"text": "norm2(A*x - b)^2", "wrt": ["x"], "kinds": {"b": "vector"}},
    "Ridge regression, in Python": {
        "text": "np.sum((X @ w - y)**2) + c*np.sum(w**2)",
        "wrt": ["w"],
        "kinds": {"c": "positive scalar"},
    },
    "Quadratic form": {"text": "x'*K*x", "wrt": ["x"], "kinds": {"K": "symmetric matrix"}},
    "Gaussian log-density": {
        "text": "-1/2*(x - m)'*inv(S)*(x - m) - 1/2*logdet(S)",
        "wrt": ["m", "S"],
        "kinds": {"S": "pd matrix"},
    },
    "Matrix factorization": {"text": "normF(X - U*V')^2", "wrt": ["U", "V"]},
    "Softmax cross entropy": {"text": "logsumexp(W*x) - y'*W*x", "wrt": ["W"]},
    "Log-determinant": {
        "text": "logdet(K + c*eye)",
        "wrt": ["c"],
        "kinds": {"K": "psd matrix", "c": "positive scalar"},
    },
    "Tensor of order 3": {
        "text": "T *(ijk,k->ij) x",
        "wrt": ["x"],
        "declarations": "T 3 x 1",
    },
    "A problem with constraints": {
        "text": "parameters\n  Matrix A\n  Vector b\nvariables\n  Vector x\n"
        "min\n  norm2(A*x - b)^2\nst\n  x >= 0",
        "data": '{"A": [[1, 2], [3, 4], [5, 6]], "b": [1, 0, 2]}',
    },
}
