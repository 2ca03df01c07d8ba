"""scikit-learn's checks of every estimator in every configuration; those that fail are listed, with
the reason, in docs/scikit-learn-suite.md, and a listed one that passes is a failure."""

import re
from pathlib import Path
from unittest import SkipTest

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import maxmargin
from maxmargin import (
    LSSVC,
    LSSVR,
    MISVC,
    MKLSVC,
    SVC,
    SVDD,
    SVR,
    ExpectileSVR,
    LaplacianSVC,
    LatentSVM,
    LinearOneClassSVM,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    LinearSVRCV,
    MultiOutputSVR,
    NormaNovelty,
    NormaSVC,
    NuSVC,
    NuSVR,
    OneClassSVM,
    PegasosSVC,
    PerfSVC,
    QuantileSVR,
    RankSVC,
    RankSVR,
    SequenceSVM,
    StructuredSVM,
    TransductiveSVC,
)
from maxmargin.estimators import liblinear
from maxmargin.model_selection import (
    LSSVCCV,
    LSSVRCV,
    SVCCV,
    SVRCV,
    AutoSVC,
    AutoSVR,
    NuSVCCV,
    NuSVRCV,
    OneClassSVMCV,
)
from maxmargin.model_selection.auto_plan import Settings
from needs import NOT_APPLICABLE

TABLE = Path(__file__).parent.parent / "docs" / "scikit-learn-suite.md"
ROWS = re.findall(
    r"^\| `(\w+\(.*?\))` \| (`check_.*?`) \| (.*?) \|$", TABLE.read_text(), re.MULTILINE
)

KERNELS = ("linear", "poly", "sigmoid", "logistic", "laplacian", "chi2", "cosine", "precomputed")

MACHINES = [
    SVC(),
    *(SVC(kernel=name) for name in KERNELS),
    SVC(C=np.inf),
    SVC(multiclass="ovr"),
    SVC(break_ties=True),
    SVC(probability=True),
    SVC(probability="isotonic", multiclass="ovr"),
    LinearSVC(probability=True),
    SVC(decision_function_shape="ovo"),
    SVC(loss="squared_hinge"),
    SVC(loss="squared_hinge", solver="newton"),
    SVC(loss="squared_hinge", solver="newton", multiclass="ovr", kernel="linear"),
    # three unbalanced classes of the checks allow no nu above 0.46, and an infeasible nu must raise
    NuSVC(nu=0.02),
    NuSVC(nu=0.02, probability=True),
    NuSVC(nu=0.05),
    NuSVC(nu=0.05, break_ties=True),
    NuSVC(nu=0.1),
    NuSVC(nu=0.2),
    NuSVC(nu=0.02, multiclass="ovr"),
    SVR(),
    SVR(kernel="poly", degree=2, coef0=1.0),
    SVR(kernel="precomputed"),
    SVR(loss="squared_epsilon_insensitive"),
    SVR(loss="squared_epsilon_insensitive", solver="newton"),
    SVR(interval=True),
    NuSVR(),
    NuSVR(interval=True),
    NuSVR(nu=0.1),
    OneClassSVM(),
    OneClassSVM(kernel="precomputed"),
]

LINEAR = [
    LinearSVC(),
    LinearSVC(loss="hinge"),
    LinearSVC(loss="hinge", intercept="regularised"),
    LinearSVC(solver="coordinate", max_iter=100_000),
    LinearSVC(dual=True),
    LinearSVC(dual=False),
    LinearSVC(penalty="l1"),
    LinearSVC(fit_intercept=False),
    LinearSVC(multi_class="crammer_singer"),
    LinearSVC(multi_class="crammer_singer", fit_intercept=False),
    LinearSVR(),
    LinearSVR(interval=True),
    LinearSVR(fit_intercept=False),
    LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1),
    LinearOneClassSVM(),
    LinearSVCCV(Cs=3, cv=3),
    LinearSVCCV(Cs=2, cv=3, scale="standard"),
    LinearSVRCV(Cs=3, epsilons=2, cv=3),
    liblinear.LinearSVC(),
    liblinear.LinearSVC(multi_class="crammer_singer"),
    liblinear.LinearSVR(),
]

ONLINE = [
    PegasosSVC(max_iter=100),
    PegasosSVC(kernel="rbf", max_iter=100),
    PegasosSVC(kernel="rbf", alpha=1e-2, max_iter=50),
    PegasosSVC(kernel="precomputed", alpha=1e-2, max_iter=50),
    PegasosSVC(batch_size=8, average=False, max_iter=100),
    PegasosSVC(fit_intercept=False, max_iter=100),
    NormaSVC(),
    NormaNovelty(),
]


class Labelled(OneClassSVMCV):
    """A one-class search with the labels that it needs: the checks give others, or none."""

    def fit(self, X, y=None, sample_weight=None):
        rows = X.toarray() if sparse.issparse(X) else np.asarray(X)
        first = rows.reshape(len(rows), -1)[:, :1].ravel().astype(float)
        outlier = np.floor(1e4 * np.abs(first)) % 7 == 3
        return super().fit(X, np.where(outlier, -1, 1), sample_weight)


SEARCHES = [
    SVCCV(Cs=2, gammas=2, cv=3),
    SVCCV(Cs=2, gammas=2, cv=3, scale="standard"),
    SVCCV(Cs=2, gammas=2, cv=3, scale="minmax"),
    NuSVCCV(nus=[0.02], gammas=2, cv=3),
    # with two gammas the samples of a check tie to rounding, and weights and copies part
    SVRCV(Cs=2, gammas=1, epsilons=2, cv=3),
    SVRCV(Cs=2, gammas=2, epsilons=1, cv=3, scale="standard"),
    NuSVRCV(Cs=2, gammas=2, nus=2, cv=3),
    Labelled(nus=2, gammas=2, cv=3),
]


QUICK = Settings(C=(0.1, 10.0), gamma=(0.1, 1.0), epsilon=(0.1,), linear_C=(0.1, 1.0), zooms=0)


class QuickAutoSVC(AutoSVC):
    """With a small grid: the checks make a hundred fits."""

    _plan = QUICK


class QuickAutoSVR(AutoSVR):
    """With a small grid."""

    _plan = QUICK


FAMILY_LEAST_SQUARES = [
    LSSVC(),
    LSSVC(kernel="linear", probability=True),
    LSSVC(kernel="precomputed"),
    LSSVR(),
    LSSVR(kernel="linear"),
    LSSVCCV(Cs=3, gammas=2),
    LSSVRCV(Cs=3, gammas=2),
    MKLSVC(),
    MKLSVC(["linear", ("rbf", [0])], norm=2, normalize="trace"),
]
FAMILY_MEASURES = [PerfSVC(), PerfSVC(kernel="rbf"), PerfSVC(kernel="cosine")]
FAMILY_RANKING = [RankSVC(), RankSVR(), RankSVC(kernel="rbf"), RankSVR(kernel="precomputed")]
FAMILY_STRUCTURED = [StructuredSVM(), LatentSVM(n_init=1)]
NOT_MATRICES = {SequenceSVM, MISVC}
"""Estimators whose X is a list of matrices, which scikit-learn's checks do not make: see
test_sequence.py and test_latent.py."""
AUTOMATIC = [QuickAutoSVC(cv=3), QuickAutoSVR(cv=3)]
FAMILY_SEMI_SUPERVISED = [
    TransductiveSVC(),
    TransductiveSVC(kernel="linear"),
    TransductiveSVC(kernel="precomputed", algorithm="continuation"),
    LaplacianSVC(),
    LaplacianSVC(kernel="precomputed"),
]

LOSSES = [
    QuantileSVR(),
    QuantileSVR(quantiles=0.3),
    ExpectileSVR(expectile=0.7),
    SVR(loss="huber"),
    MultiOutputSVR(),
    MultiOutputSVR(loss="huber", kernel="linear"),
    SVDD(),
    SVDD(kernel="linear", nu=0.5),
]
CHECKED = [
    *LOSSES,
    *MACHINES,
    *LINEAR,
    *ONLINE,
    *SEARCHES,
    *AUTOMATIC,
    *FAMILY_LEAST_SQUARES,
    *FAMILY_MEASURES,
    *FAMILY_RANKING,
    *FAMILY_SEMI_SUPERVISED,
    *FAMILY_STRUCTURED,
]


def expected(estimator):
    """The checks that the estimator is to fail, with the reason."""
    reasons = {}
    for name, checks, reason in ROWS:
        if name == str(estimator):
            reasons |= dict.fromkeys(re.findall(r"`(check_\w+)`", checks), reason)
    return reasons


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings of their own
@parametrize_with_checks(CHECKED, expected_failed_checks=expected)
def test_scikit_learns_checks(estimator, check):
    try:
        check(estimator)
    except SkipTest as reason:
        if "SCIPY_ARRAY_API" not in str(reason):
            raise
        pytest.skip(f"{NOT_APPLICABLE}{reason}")


def test_every_row_of_the_table_is_checked():
    assert {name for name, _, _ in ROWS} <= {str(estimator) for estimator in CHECKED}
    assert len(ROWS) > 5


def test_every_public_estimator_is_checked():
    classes = (getattr(maxmargin, name) for name in maxmargin.__all__)
    public = {
        found for found in classes if isinstance(found, type) and issubclass(found, BaseEstimator)
    }
    assert public <= {type(estimator) for estimator in CHECKED} | NOT_MATRICES
    assert not any(one().__sklearn_tags__().input_tags.two_d_array for one in NOT_MATRICES)
    assert len(public) > 10
