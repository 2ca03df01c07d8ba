"""Which values parameters may have, and what constants of the estimators mean at their edges."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import InvalidParameterError

import maxmargin
from helpers import binary, three
from maxmargin import SVC, Kernel, NormaSVC, PegasosSVC, monitor
from maxmargin.estimators import _classifier, _norma, _pegasos, _plain
from maxmargin.estimators.records import restore
from maxmargin.kernel import labels, prediction
from maxmargin.kernel.model import Problem, imported
from maxmargin.kernel.sources import NativeSource
from maxmargin.online.budget import Points

ALL = [
    cls
    for _, cls in inspect.getmembers(maxmargin, inspect.isclass)
    if issubclass(cls, BaseEstimator)
]
TINY = 5e-324
LIMITS = {
    "C": ([TINY, 0.5, 1e300], [0.0, -1.0, "1"]),
    "alpha": ([TINY, 0.5, 7.0], [0.0, -1.0]),
    "batch_size": ([1, 2], [0, 1.5]),
    "budget": ([None, 1, 2], [0, 1.5]),
    "cache_size": (["auto", 0.5, 1], [0, -1, "all"]),
    "coef0": ([-5.0, 0, 0.5], ["0", None]),
    "degree": ([0, 1, 7], [-1, 1.5]),
    "eta0": ([TINY, 0.5], [0.0]),
    "fit_intercept": ([True, False], [2, "yes"]),
    "gamma": (["scale", "auto", 0.0, 0.5], [-0.1, "size"]),
    "intercept_scaling": ([TINY, 0.5, 2], [0, -1]),
    "on_interrupt": (["raise", "keep"], ["stop"]),
    "power_t": ([0.0, 0.3, 1.0], [-0.1, 1.1]),
    "random_state": ([None, 0, 7], ["seed", -1]),
    "shrinking": ([True, False], [2]),
    "shuffle": ([True, False], [2]),
    "time_limit": ([None, 0, 0.5], [-0.1]),
    "tol": ([TINY, 0.5, 3], [0.0, -1.0]),
    "verbose": ([True, 0, 3], [-1]),
    "warm_start": ([True, False], [2, None]),
}


@pytest.mark.parametrize("name", LIMITS)
def test_values_that_parameters_may_have(name):
    good, bad = LIMITS[name]
    takers = [
        cls
        for cls in ALL
        if name in cls._parameter_constraints and name in inspect.signature(cls).parameters
    ]
    assert takers
    for cls in takers:
        for value in good:
            cls(**{name: value})._validate_params()
        for value in bad:
            with pytest.raises(
                InvalidParameterError, match=f"The '{name}' parameter of {cls.__name__} must be"
            ):
                cls(**{name: value})._validate_params()


@pytest.mark.parametrize(
    "cls", [cls for cls in ALL if "max_iter" in inspect.signature(cls).parameters]
)
def test_steps_that_may_be_asked_for(cls):
    rounds = any(name in cls.__name__ for name in ("Pegasos", "Norma", "MKL"))
    least = 0 if "Linear" in cls.__name__ else 1 if rounds else -1
    cls(max_iter=least)._validate_params()
    with pytest.raises(InvalidParameterError, match="max_iter"):
        cls(max_iter=least - 1)._validate_params()


def test_steps_without_a_limit():
    assert monitor.Monitor().max_iter == monitor.Monitor(-1).max_iter == 100_000_000
    assert monitor.Monitor(0).max_iter == 0


def test_the_least_memory_of_pairs(monkeypatch):
    monkeypatch.setattr(_classifier, "free_memory", lambda: 5050 * 4096 - 1)
    with pytest.raises(MemoryError, match="101 classes"):
        SVC()._refuse_too_many(101)


def test_additions_in_float64_leave_rows_undecided():
    """Eight roundings of what is added.

    A difference of eight last digits of 0.99 is more than those, seven are less.
    """
    step = 2.0**-53
    for digits, decided in ((7, -1), (8, 0)):
        parts = np.zeros((3, 2, 1))
        parts[0, 0], parts[1, 0] = 0.99 + digits * step, 0.0  # 0 against 1
        parts[0, 1], parts[1, 1] = 5.0, 5.0  # 0 against 2, 1 against 2
        assert labels.by_pairs(parts, np.zeros((3, 1)), np.array([-0.99, 0.0, 0.0]))[0] == decided


def test_additions_leave_single_functions_undecided_too():
    X, y = three(30)
    step, model = 2.0**-53, SVC(multiclass="ovr").fit(X, y)
    model.intercept_ = np.array([-0.99, 0.0, 0.0])
    for digits, decided in ((15, -1), (16, 0)):  # twice the error between two functions
        parts = np.array([0.99 + digits * step, 0.0, -1e-30])[None, :, None]
        estimate = labels.Estimate(parts, np.zeros((1, 1)))
        assert labels.certain_winners(model.model_, estimate)[0] == decided
    model = SVC().fit(X[y < 2], y[y < 2])
    model.intercept_ = np.array([-0.99])
    for digits, decided in ((7, -1), (8, 1), (-7, -1), (-8, 0)):
        parts = np.array([[[0.99 + digits * step]]])
        estimate = labels.Estimate(parts, np.zeros((1, 1)))
        assert labels.certain_winners(model.model_, estimate)[0] == decided


def test_valid_parameters_are_remembered():
    SVC(C=0.123, class_weight={0: 2.0})._validate_params()
    assert (SVC, "C", float, 0.123) in _plain._valid
    assert not any(name == "class_weight" and kind is dict for _, name, kind, _ in _plain._valid)


@pytest.mark.parametrize("C", [1.0, 1e-3])
def test_distances_by_differences_where_decision_values_have_too_few_digits(C, monkeypatch):
    X, y = binary(40)
    model = SVC(C=C).fit(X, y)
    size = np.abs(model.dual_coef_).sum()
    error = NativeSource(model.kernel_, model.support_vectors_).value_error
    for factor, differences in ((1.01, False), (0.99, True)):
        record = replace(model.model_, unit=factor * error * size / 1e-5)
        assert prediction._known(record).differences is differences
    for factor, differences in ((1.01, False), (0.99, True)):
        settings = prediction.SETTINGS._replace(value_error=factor * error * size)
        monkeypatch.setattr(prediction, "SETTINGS", settings)
        assert prediction._known(model.model_).differences is differences
    poly = replace(SVC(kernel="poly").fit(X, y).model_, unit=1e-30)
    assert not prediction._known(poly).differences, "which need no distances"


def test_a_record_of_a_machine_needs_little():
    machine = imported(
        Problem.EPSILON_SVR,
        Kernel.rbf(0.5),
        np.eye(2),
        2,
        np.array([[1.0, -1.0]]),
        np.array([-0.25]),
        np.array([2]),
    )
    model = restore(machine)
    assert (len(machine.prob_a), len(machine.prob_b), len(machine.marks)) == (0, 0, 0)
    assert machine.label_order is None
    assert model.predict(np.eye(2)).tolist() == pytest.approx(
        [0.75 - np.exp(-1), np.exp(-1) - 1.25]
    )
    assert model.shape_fit_ == (2, 2)
    assert restore(replace(machine, marks=np.ones(3))).model_.marks.tolist() == [1, 1, 1]


def test_weights_of_features_of_an_online_model():
    X, y = binary(40)
    model = NormaSVC(kernel="linear").partial_fit(X, y, [0, 1])
    np.testing.assert_allclose(
        X @ model.coef_[0] + model.intercept_[0], model.decision_function(X), rtol=1e-10
    )
    model.dual_coef_ = model.dual_coef_[:, :-1]
    with pytest.raises(ValueError, match="altered"):
        _ = model.coef_


@pytest.mark.parametrize("cls", ALL)
def test_a_model_that_is_not_fitted_says_so(cls):
    """Not by an attribute that it lacks, whose name means nothing to the user."""
    X, y = binary(20)
    linear = {"kernel": "linear"} if "kernel" in inspect.signature(cls).parameters else {}
    for name in ("predict", "decision_function", "score_samples", "certify"):
        if hasattr(cls(**linear), name):
            arguments = (
                (X, y)
                if name == "certify" and "y" in inspect.signature(cls.certify).parameters
                else (X,)
            )
            with pytest.raises(
                NotFittedError, match=f"This {cls.__name__} instance is not fitted yet"
            ):
                getattr(cls(**linear), name)(*arguments)
    for name in ("kernel_", "coef_", "probA_", "probB_"):
        if isinstance(getattr(cls, name, None), property):
            with pytest.raises(
                NotFittedError, match=f"This {cls.__name__} instance is not fitted yet"
            ):
                getattr(cls(**linear), name)


def test_whole_kernel_matrices_are_for_several_epochs(monkeypatch):
    X, y = binary(20)
    asked = []

    class Recorded(Points):
        def __init__(self, kernel, X, whole):
            asked.append(whole)
            super().__init__(kernel, X, whole)

    for module in (_norma, _pegasos):
        monkeypatch.setattr(module, "Points", Recorded)
    for max_iter in (1, 2, 3):
        NormaSVC(max_iter=max_iter).fit(X, y)
    assert asked == [False, False, True]
    asked.clear()
    PegasosSVC(kernel="rbf", tol=None, max_iter=1).fit(X, y)
    assert asked == [True]
    asked.clear()
    for model in (NormaSVC(), PegasosSVC(kernel="rbf")):
        for _ in range(2):
            model.partial_fit(X, y, [0, 1])
    assert asked == [False] * 4


@pytest.mark.parametrize("cls", [SVC, PegasosSVC, NormaSVC])
def test_a_matrix_of_another_width_where_the_kernel_is_no_longer_one(cls):
    """A parameter that is set after the fit leaves the model as it is.

    X is not validated for a kernel function.
    """
    X, y = binary(30)
    K = X @ X.T
    model = cls(kernel="precomputed", **({} if cls is SVC else {"alpha": 0.5})).fit(K, y)
    values = model.decision_function(K)
    model.set_params(kernel=lambda P, Q: P @ Q.T)
    assert model.decision_function(K).tolist() == values.tolist()
    for width in (29, 31):
        with pytest.raises(
            ValueError,
            match=rf"X\.shape\[1\] = {width} should be equal to 30, the number of samples",
        ):
            model.decision_function(np.resize(K, (5, width)))
