"""Points that the lectures print or show.

``revisited`` shows a soft margin on twenty points at C = 50, 5 and 1 and prints the sums of their
slacks, 6.37, 7.07 and 10.58, but not the points. They stand in the program that it shows:
github.com/meanxai/machine_learning, 6.SVM/2.cvxopt(soft_margin).py.
"""

import numpy as np

from maxmargin.textbook.checks import Array

TWENTY = (
    (0.200, 0.869, -1),
    (0.687, 0.212, +1),
    (0.822, 0.411, +1),
    (0.738, 0.694, +1),
    (0.176, 0.458, -1),
    (0.306, 0.753, -1),
    (0.936, 0.413, +1),
    (0.215, 0.410, -1),
    (0.612, 0.375, +1),
    (0.784, 0.602, +1),
    (0.612, 0.554, -1),
    (0.357, 0.254, +1),
    (0.204, 0.775, -1),
    (0.512, 0.745, +1),
    (0.498, 0.287, -1),
    (0.251, 0.557, -1),
    (0.502, 0.523, +1),
    (0.119, 0.687, -1),
    (0.495, 0.924, +1),
    (0.612, 0.851, +1),
)
"""x_1, x_2 and the label of each point, in the order of the program."""

SUMS_OF_SLACKS = {50.0: 6.37, 5.0: 7.07, 1.0: 10.58}
"""C and the sum of slacks that the lecture prints for it."""


def twenty_points() -> tuple[Array, Array]:
    """X and y of the points of "Soft Margin Revisited".

    Returns
    -------
    X, y : 20 x 2 coordinates, labels -1 and +1.

    Examples
    --------
    >>> from maxmargin import textbook
    >>> X, y = textbook.data.twenty_points()
    >>> model, _ = textbook.soft_margin_qp(X, y, C=5)
    >>> round(float(textbook.slacks(model, X, y).sum()), 2)
    7.07
    """
    table = np.array(TWENTY)
    return table[:, :2], table[:, 2]
