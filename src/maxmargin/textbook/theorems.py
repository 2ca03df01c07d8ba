"""Statements of the lectures as a few lines that run, so that they can be tried on any data.

``fan``, lemma 1 and claims 1 to 3. w is orthogonal to the plane w'x + b = 0, the signed distance of
x to it is r = (w'x + b) / |w|, and x - r w / |w| is the nearest point of the plane. The margin of a
plane is min_i t_i r_i, and scaling w and b does not change it.

``theory``, after (16). A point with a slack above 1 is misclassified, so sum_i xi_i is an upper
bound on the number of errors.

``theory``, (37) and (38), representer theorem (Kimeldorf and Wahba 1971). Split any w into a part
in the span of the phi(x_i) and one orthogonal to it. The second changes no w'phi(x_i) and only adds
to |w|, so the minimum of any loss plus an increasing function of |w| lies in the span:
w = sum_i beta_i phi(x_i).

``theory``, "Kernel trick", Mercer's condition on a sample. k is an inner product of some phi
exactly if no matrix K has a negative eigenvalue. Then K = V diag(d) V' gives the features
phi(x_i) = row i of V diag(sqrt(d)).

The likelihood view of the losses stands in losses.py, duality in duality.py.
"""

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.textbook.checks import Array, matrix, points
from maxmargin.textbook.kernels import Function, gram
from maxmargin.textbook.models import KernelModel, LinearModel, Model
from maxmargin.textbook.soft_margin import slacks


def distances(model: LinearModel | KernelModel, X: ArrayLike) -> Array:
    """The signed distance (w'x + b) / |w| of each point to the plane.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> plane = textbook.LinearModel([3.0, 4.0], -5.0)
    >>> textbook.theorems.distances(plane, [[3.0, 4.0], [0.0, 0.0]])
    array([ 4., -1.])
    """
    return model.decision_function(X) / float(np.linalg.norm(model.w))


def nearest_on_plane(model: LinearModel | KernelModel, X: ArrayLike) -> Array:
    """The point of the plane that is nearest to each point.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> plane = textbook.LinearModel([3.0, 4.0], -5.0)
    >>> textbook.theorems.nearest_on_plane(plane, [[3.0, 4.0]])
    array([[0.6, 0.8]])
    """
    unit = model.w / np.linalg.norm(model.w)
    return matrix(X) - distances(model, X)[:, None] * unit


def margin(model: LinearModel | KernelModel, X: ArrayLike, y: ArrayLike) -> float:
    """min_i t_i (w'x_i + b) / |w|; negative if a point is on the wrong side.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = [[0.0, 0.0], [2.0, 2.0]], [-1, 1]
    >>> model, _ = textbook.hard_margin_qp(X, y)
    >>> round(textbook.theorems.margin(model, X, y), 4)
    1.4142
    """
    X, t = points(X, y)
    return float(np.min(t * distances(model, X)))


def errors_and_slacks(model: Model, X: ArrayLike, y: ArrayLike) -> tuple[int, float]:
    """The number of misclassified points and the sum of the slacks, which is never smaller.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = textbook.data.twenty_points()
    >>> model, _ = textbook.soft_margin_qp(X, y, C=5)
    >>> errors, total = textbook.theorems.errors_and_slacks(model, X, y)
    >>> errors, round(total, 2)
    (3, 7.07)
    """
    X, t = points(X, y)
    return int(np.sum(model.predict(X) != t)), float(slacks(model, X, y).sum())


def representer(w: ArrayLike, Phi: ArrayLike) -> tuple[Array, Array]:
    """Split weights into the span of the rows of Phi and the rest.

    Parameters
    ----------
    w : weights in the feature space.
    Phi : phi(x_i), a row for each point.

    Returns
    -------
    beta, rest
        w = Phi' beta + rest, with Phi rest = 0.

    Examples
    --------
    >>> from maxmargin.textbook import theorems
    >>> beta, rest = theorems.representer([1.0, 2.0, 3.0], [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    >>> beta.round(9), rest.round(9)
    (array([1., 1.]), array([0., 0., 3.]))
    """
    w, Phi = np.asarray(w, float), matrix(Phi)
    beta = np.linalg.lstsq(Phi.T, w, rcond=None)[0]
    return beta, w - Phi.T @ beta


def mercer_eigenvalues(kernel: Function, X: ArrayLike) -> Array:
    """The eigenvalues of the kernel matrix, smallest first; a negative one breaks the condition.

    Examples
    --------
    >>> from maxmargin.textbook import kernels, theorems
    >>> X = [[0.0], [1.0], [2.0]]
    >>> bool(theorems.mercer_eigenvalues(kernels.rbf(1.0), X)[0] > 0)
    True
    >>> bool(theorems.mercer_eigenvalues(kernels.sigmoid(-1.0), X)[0] > 0)
    False
    """
    K = gram(kernel, matrix(X))
    return np.asarray(np.linalg.eigvalsh(0.5 * (K + K.T)))


def mercer_features(kernel: Function, X: ArrayLike) -> Array:
    """A row phi(x_i) for each point, with phi(x_i)'phi(x_j) = k(x_i, x_j).

    Examples
    --------
    >>> from maxmargin.textbook import kernels, theorems
    >>> phi = theorems.mercer_features(kernels.polynomial(2), [[0.0], [1.0]])
    >>> (phi @ phi.T).round(9)
    array([[1., 1.],
           [1., 4.]])
    """
    K = gram(kernel, matrix(X))
    values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    if values[0] < -1e-9 * abs(values[-1]):
        raise ValueError(
            f"The kernel matrix has the negative eigenvalue {values[0]:.3g}: no features have "
            "these inner products. Use a kernel that satisfies Mercer's condition."
        )
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
