"""scikit-learn's checks of the online estimators, without an exception."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import NormaNovelty, NormaSVC, PegasosSVC

CHECKED = [
    PegasosSVC(max_iter=100),
    PegasosSVC(kernel="rbf", alpha=1e-2, max_iter=50),
    PegasosSVC(kernel="precomputed", alpha=1e-2, max_iter=50),
    PegasosSVC(batch_size=8, average=False, max_iter=100),
    NormaSVC(),
    NormaNovelty(),
]


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings of their own
@parametrize_with_checks(CHECKED)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
