"""Linear models: scikit-learn's checks, equality with the kernel solvers, LIBLINEAR's model, exact relations, chunks, warm starts."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import LinearOneClassSVM, LinearSVC, LinearSVCCV, LinearSVR

CHECKED = [
    LinearSVC(),
    LinearSVC(loss="hinge"),
    LinearSVC(loss="hinge", intercept="regularised"),
    LinearSVC(solver="coordinate", max_iter=100_000),
    LinearSVR(),
    LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1),
    LinearOneClassSVM(),
    LinearSVCCV(Cs=3, cv=3),
]


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings of their own
@parametrize_with_checks(CHECKED)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
