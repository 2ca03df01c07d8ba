"""Manifold regularisation: the Laplacian SVM (Belkin, Niyogi and Sindhwani 2006).

``fan`` names semi-supervised machines. Points without labels tell where the data lie. Join each
point to its nearest neighbours, W_ij = 1 for an edge; a good f changes little along the edges:

    1/2 sum_ij W_ij (f(x_i) - f(x_j))^2 = f'L f,     L = D - W,   D = diag(sum_j W_ij)

L is the graph's Laplacian. With f = sum_i coef_i k(x_i, .) + b over all n points, l of them with
labels t_i,

    minimise over f   1/2 |f|^2 + C sum_i max(0, 1 - t_i f(x_i)) + s/2 f'L f

which is convex. L has zero row sums, so b does not count in f'L f = coef'K L K coef. The derivative
by coef is zero where, with J the first l rows of the identity,

    K coef + s K L K coef = K J'(a t),       coef = (I + s L K)^-1 J'(a t)

and the dual is that of a soft margin on the labelled points with the kernel matrix

    K~ = J K (I + s L K)^-1 J'

The unlabelled points have deformed the kernel: points that the graph connects are close in K~. The
limit s = 0 is the soft margin.
"""

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, matrix, points
from maxmargin.textbook.kernels import Function, gram, linear, squared_distances
from maxmargin.textbook.models import KernelModel
from maxmargin.textbook.quadratic_program import solve, tidy, units
from maxmargin.textbook.soft_margin import bias_of_free, check_C, soft_margin_program
from maxmargin.textbook.trace import Trace, soft_margin_step


def graph_laplacian(X: ArrayLike, neighbours: int = 5) -> Array:
    """L = D - W of the graph that joins each point to its nearest neighbours, in both directions.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> textbook.graph_laplacian([[0.0], [1.0], [3.0]], neighbours=1)
    array([[ 1., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  1.]])
    """
    X = matrix(X)
    if not 0 < neighbours < len(X):
        raise ValueError(
            f"neighbours={neighbours} must be from 1 to {len(X) - 1} for {len(X)} points."
        )
    distances = squared_distances(X, X) + np.diag(np.full(len(X), np.inf))
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :neighbours]
    W = np.zeros((len(X), len(X)))
    W[np.arange(len(X))[:, None], nearest] = 1.0
    W = np.maximum(W, W.T)
    return np.diag(W.sum(axis=1)) - W


def laplacian_svm(
    X: ArrayLike,
    y: ArrayLike,
    U: ArrayLike,
    C: float = 1.0,
    smoothness: float = 1.0,
    neighbours: int = 5,
    kernel: Function = linear,
    trace: int = 1,
) -> tuple[KernelModel, Trace]:
    """The Laplacian SVM by a QP library.

    Parameters
    ----------
    X, y : the labelled points and their labels -1 and +1.
    U : the unlabelled points.
    C : the price of a unit of slack.
    smoothness : s, the price of a unit of f'L f.
    neighbours : edges of a point in the graph.
    kernel : a function of ``textbook.kernels``.
    trace : 0 to keep no trace; the trace has one step, the end.

    Returns
    -------
    model, trace
        The model has coefficients of all points, first those of X.

    See Also
    --------
    maxmargin.LaplacianSVC : for real work.
    transductive : another way to use unlabelled points.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y, U = [[0.0], [10.0]], [-1, 1], [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [11.0]]
    >>> rbf = textbook.kernels.rbf(0.1)
    >>> textbook.laplacian_svm(X, y, U, smoothness=0.0, kernel=rbf)[0].predict([[6.0]])
    array([1.])
    >>> textbook.laplacian_svm(X, y, U, 9.0, 9.0, 1, rbf)[0].predict([[6.0]])  # a gap from 6 on
    array([-1.])
    """
    X, t = points(X, y)
    both, n = np.vstack([X, matrix(U)]), len(X)
    check_C(C)
    if not smoothness >= 0:
        raise ValueError(f"smoothness={smoothness} must not be negative.")
    K, L = gram(kernel, both), graph_laplacian(both, neighbours)
    inverse = np.linalg.solve(np.eye(len(both)) + smoothness * L @ K, np.eye(len(both))[:, :n])
    deformed = K[:n] @ inverse
    deformed = 0.5 * (deformed + deformed.T)  # symmetric but for rounding
    a = tidy(solve(soft_margin_program(deformed, t, C), units(deformed, C)), C)
    b = bias_of_free(deformed, t, a, C)
    kept = Trace("Laplacian SVM", trace)
    if trace:
        kept.keep(soft_margin_step(0, None, deformed @ (a * t) + b, t, a, b, C))
    return KernelModel(both, inverse @ (a * t), b, kernel), kept
