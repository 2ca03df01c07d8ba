"""AutoSVC and AutoSVR: a table and a time in, a model and a report out."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import check_array, column_or_1d

from maxmargin.estimators import SVC, SVR, LinearSVC, LinearSVR
from maxmargin.estimators._targets import encode, numbers
from maxmargin.model_selection.auto_base import AutoMachine, gamma_unit
from maxmargin.model_selection.auto_model import AutoModel
from maxmargin.model_selection.auto_plan import Units
from maxmargin.model_selection.explorer import Machine
from maxmargin.model_selection.linear_cv import LinearSVCCV, LinearSVRCV
from maxmargin.model_selection.subsamples import Samples
from maxmargin.model_selection.svc_cv import SVCCV
from maxmargin.model_selection.svr_cv import SVRCV


class AutoSVC(AutoModel, ClassifierMixin, AutoMachine):  # type: ignore[misc]
    """A classifier that prepares a table and chooses kernel and parameters within a time.

    Numbers are standardised, categories one-hot encoded, missing values filled in. Linear and RBF
    machines compete in cross-validation, first on a subsample, then on as many samples as the time
    allows; the linear one wins where the scores do not tell them apart. The winner is fitted on all
    samples and certified. ``report_`` says in words what was done and how sure the score is.

    Parameters
    ----------
    time_budget : float, default=60
        Seconds for everything. With time to spare ``fit`` ends early, and the result depends on the
        data and ``random_state`` alone; else it also depends on the speed of the machine.
    kernel : {"auto", "linear", "rbf"}, default="auto"
        Which machines take part.
    cv : int, cross-validation generator or iterable, default=None
        How to split; None is 5-fold. A number of folds is shuffled and stratified.
    scoring : str, callable or None, default=None
        What is maximised; None is the accuracy.
    probability : bool, default=True
        Whether the model learns ``predict_proba``.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C for each class.
    n_jobs : int or None, default=None
        Fits at once; None is the number of threads that a single fit may use.
    verbose : bool or int, default=0
        Say after each stage what is best.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: raise, or end the search and fit the best so far.
    random_state : int, RandomState instance or None, default=None
        Chooses folds and subsamples; None is 0.

    Attributes
    ----------
    report_ : AutoReport
        What was found, tried, chosen and fitted: ``print(report_)``, ``report_.plot()``.
    best_estimator_ : Pipeline
        The preparation of the table and the fitted machine. ``maxmargin.io.save`` keeps both.
    best_params_ : dict
        The kernel and its parameters.
    best_score_ : float
        Their mean score in cross-validation: the best of many, so a little too good.
    n_samples_fit_ : int
        Samples of the last fit: all, unless time was short.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from maxmargin.model_selection import AutoSVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AutoSVC(time_budget=20).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    _classifier = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **AutoMachine._parameter_constraints,
        "probability": ["boolean"],
        "class_weight": SVC._parameter_constraints["class_weight"],
    }

    def __init__(
        self,
        time_budget: float = 60,
        *,
        kernel: str = "auto",
        cv: Any = None,
        scoring: Any = None,
        probability: bool = True,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: Any = 0,
        on_interrupt: str = "raise",
        random_state: Any = None,
    ) -> None:
        self.time_budget = time_budget
        self.kernel = kernel
        self.cv = cv
        self.scoring = scoring
        self.probability = probability
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.on_interrupt = on_interrupt
        self.random_state = random_state

    def _targets(self, y: Any) -> NDArray[Any]:
        y = column_or_1d(y, warn=True)
        encode(y)  # raises for one class, mixed labels, numbers that are no labels
        return np.asarray(y)

    def _final(self) -> dict[str, Any]:
        both = self._both(self.probability, on_interrupt=self.on_interrupt)
        return both if self.kernel == "auto" else {self.kernel: both[self.kernel]}

    def _both(self, probability: bool, **options: Any) -> dict[str, Any]:
        """The machines by kernel, with probabilities where they have them."""
        linear = LinearSVC(class_weight=self.class_weight, **options)
        rbf = SVC(class_weight=self.class_weight, random_state=self.random_state, **options)
        for machine in (linear, rbf):
            if "probability" in machine.get_params():
                machine.set_params(probability=probability)
        return {"linear": linear, "rbf": rbf}

    def _machines(self) -> dict[str, Machine]:
        scored = self._scores_probabilities()
        if scored and not self.probability:
            raise ValueError(
                f"scoring={self.scoring!r} scores probabilities: use probability=True."
            )
        both = self._both(scored)
        return {
            "linear": Machine(LinearSVCCV, both["linear"]),
            "rbf": Machine(SVCCV, both["rbf"]),
        }

    def _units(self, samples: Samples) -> Units:
        return Units(1.0, gamma_unit(samples), None)


class AutoSVR(AutoModel, RegressorMixin, AutoMachine):  # type: ignore[misc]
    """A regressor that prepares a table and chooses kernel and parameters within a time.

    As AutoSVC, with epsilon as a further parameter. C and epsilon are searched in units of the
    standard deviation of y, so the units of y do not matter.

    Parameters
    ----------
    time_budget : float, default=60
        Seconds for everything.
    kernel, cv, n_jobs, verbose, on_interrupt, random_state
        As for AutoSVC.
    interval : bool, default=True
        Whether the model learns ``predict_interval``.
    scoring : str, callable or None, default=None
        What is maximised; None is R^2.

    Attributes
    ----------
    report_, best_estimator_, best_params_, best_score_, n_samples_fit_
        As for AutoSVC.

    See Also
    --------
    AutoSVC : for classification, with all parameters explained.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.model_selection import AutoSVR
    >>> X = np.linspace(0, 5, 60).reshape(-1, 1)
    >>> model = AutoSVR(time_budget=20).fit(X, np.sin(X[:, 0]))
    >>> model.score(X, np.sin(X[:, 0])) > 0.95
    True
    """

    _classifier = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **AutoMachine._parameter_constraints,
        "interval": ["boolean"],
    }

    def __init__(
        self,
        time_budget: float = 60,
        *,
        kernel: str = "auto",
        cv: Any = None,
        scoring: Any = None,
        interval: bool = True,
        n_jobs: int | None = None,
        verbose: Any = 0,
        on_interrupt: str = "raise",
        random_state: Any = None,
    ) -> None:
        self.time_budget = time_budget
        self.kernel = kernel
        self.cv = cv
        self.scoring = scoring
        self.interval = interval
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.on_interrupt = on_interrupt
        self.random_state = random_state

    def _targets(self, y: Any) -> NDArray[Any]:
        y = check_array(column_or_1d(numbers(y), warn=True), ensure_2d=False, input_name="y")
        return np.asarray(y, np.float64)

    def _final(self) -> dict[str, Any]:
        options = {
            "interval": self.interval,
            "on_interrupt": self.on_interrupt,
            "random_state": self.random_state,
        }
        both = {"linear": LinearSVR(**options), "rbf": SVR(**options)}
        return both if self.kernel == "auto" else {self.kernel: both[self.kernel]}

    def _machines(self) -> dict[str, Machine]:
        return {"linear": Machine(LinearSVRCV, LinearSVR()), "rbf": Machine(SVRCV, SVR())}

    def _units(self, samples: Samples) -> Units:
        mean = np.average(samples.y, weights=samples.weight)
        variance = np.average((samples.y - mean) ** 2, weights=samples.weight)
        deviation = float(np.sqrt(variance)) or 1.0
        return Units(deviation, gamma_unit(samples), deviation)
