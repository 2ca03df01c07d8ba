"""The graph of nearest neighbours and its Laplacian.

Two samples are joined if one of them is among the k nearest neighbours of the other. With edge
weights W_ij and degrees d_i = sum_j W_ij the Laplacian is

    L = diag(d) - W                              f' L f = sum over edges of W_ij (f_i - f_j)^2
    L = I - diag(d)^(-1/2) W diag(d)^(-1/2)      normalised

The weight of an edge is 1, or exp(-|x_i - x_j|^2 / t), the heat kernel, where t is the mean of the
squared lengths of all edges.
"""

from enum import Enum
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

from maxmargin.core.arrays import Floats


class EdgeWeights(Enum):
    """How edges are weighted; the value is the name for the user."""

    BINARY = "binary"
    HEAT = "heat"


def neighbour_graph(X: Any, k: int, weights: EdgeWeights, precomputed: bool = False) -> Any:
    """The symmetric matrix W as CSR, of samples or of their distances."""
    if k == 0:  # a single sample
        return sparse.csr_matrix((1, 1))
    metric = "precomputed" if precomputed else "minkowski"
    lengths = kneighbors_graph(X, k, mode="distance", metric=metric, include_self=False)
    lengths.data **= 2
    if weights is EdgeWeights.BINARY:
        lengths.data[:] = 1.0
    else:
        width = float(lengths.data.mean())
        lengths.data = np.exp(-lengths.data / width) if width > 0 else np.ones(lengths.nnz)
    return lengths.maximum(lengths.T).tocsr()


def laplacian(W: Any, normalised: bool) -> Any:
    """L as CSR; see the top of this file."""
    degree = np.asarray(W.sum(axis=1)).ravel()
    L = sparse.diags(degree) - W
    if normalised:
        root = sparse.diags(1 / np.sqrt(np.where(degree > 0, degree, 1.0)))
        L = root @ L @ root
    return L.tocsr()


def feature_distances(K: Floats) -> Floats:
    """Distances in the feature space of a kernel, from the matrix of its values."""
    diagonal = np.diagonal(K)
    squares = diagonal[:, None] + diagonal[None, :] - 2 * K
    np.fill_diagonal(squares, 0.0)
    return np.sqrt(np.maximum(squares, 0.0))
