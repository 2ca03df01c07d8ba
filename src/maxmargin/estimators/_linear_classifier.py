"""LinearSVC below its interface: from labels to problems, one for each class or one for all."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificate import Certificate
from maxmargin.core.arrays import Floats
from maxmargin.estimators._calibrated import method_of
from maxmargin.estimators._linear_probability import EARLY, GivesLinearProbabilities, Labelled
from maxmargin.estimators._record import field
from maxmargin.estimators._targets import class_weights
from maxmargin.linear.classes import ClassesProblem
from maxmargin.linear.designs import Design
from maxmargin.linear.losses import Hinges, Penalty
from maxmargin.linear.model import assemble_classes
from maxmargin.linear.training import Choice, ClassesTask, Solver
from maxmargin.linear.verification import certify_classes_again
from maxmargin.linear.workspace import LinearWorkspace
from maxmargin.training import train_many


class BaseLinearSVC(GivesLinearProbabilities):
    """Labels, class weights, one problem for each class or one for all."""

    classes_ = field("classes")

    def _refuse_combination(self) -> None:
        if self.multi_class == "crammer_singer":
            if self.penalty != "l2" or self.loss not in ("hinge", "squared_hinge"):
                raise ValueError("multi_class='crammer_singer' needs penalty='l2'.")
            return
        wrong = {
            (self.penalty, self.loss)
            == ("l1", "hinge"): "The l1 penalty needs loss='squared_hinge'.",
            self.penalty == "l1"
            and (
                self.dual is True or self.solver != "auto"
            ): "Use dual=False or 'auto', and solver='auto'.",
            self.loss == "hinge"
            and self.dual
            is False: "Use dual=True or 'auto'; solver='newton' asks for Newton's method.",
        }
        if True in wrong:
            raise ValueError(
                f"Unsupported set of arguments: The combination of penalty='{self.penalty}' and "
                f"loss='{self.loss}' is not supported when "
                f"dual={self.dual}, solver={self.solver!r}. {wrong[True]}"
            )

    def _fit_design(
        self,
        design: Design,
        classes: NDArray[Any],
        label: NDArray[np.int64],
        y: Any,
        weight: Floats,
    ) -> Self:
        class_weight = class_weights(self.class_weight, classes, label, y, weight)
        effective = weight * class_weight[label]
        present = np.flatnonzero(np.bincount(label[effective > 0], minlength=len(classes)))
        if len(present) < 2:
            raise ValueError(
                "Invalid input - all samples with positive weights belong to the same class"
                f" ({classes[present].tolist()}); at least two are needed."
            )
        self.class_weight_ = class_weight
        together = self.multi_class == "crammer_singer"
        squared = self.loss == "squared_hinge"
        choice = Choice(Solver.LASSO) if self.penalty == "l1" else self._choose(design, squared)
        n_classes = len(classes)
        if together:
            self._fit_together(design, classes, label, effective)
        else:
            self._run(self._problems(label, n_classes, effective), design, choice, classes)
        if method_of(self.probability) is None:
            return self

        def fit(
            rest: Floats, workspace: LinearWorkspace, tol: float
        ) -> tuple[Floats, Floats, bool]:
            if together:
                return self._together_without(label, n_classes, rest, workspace, tol)
            return self._without(self._problems(label, n_classes, rest), choice, workspace, tol)

        self._learn_probabilities(Labelled(design, label, weight, effective), fit)
        return self

    def _fit_together(
        self, design: Design, classes: NDArray[Any], label: NDArray[np.int64], effective: Floats
    ) -> Self:
        """All classes in one problem."""
        with self._watched() as (monitor, seed):
            task = ClassesTask(
                self._classes_problem(label, len(classes), effective), float(self.tol)
            )
            (trained,) = train_many([task], LinearWorkspace(design, monitor, seed))
        found = assemble_classes(trained, self.fit_intercept, classes)
        return self._conclude(found, Solver.CRAMMER_SINGER, trained.solution.n_iter)

    def _together_without(
        self,
        label: NDArray[np.int64],
        n_classes: int,
        rest: Floats,
        workspace: LinearWorkspace,
        tol: float,
    ) -> tuple[Floats, Floats, bool]:
        """The functions of all classes in one problem, with other weights."""
        task = ClassesTask(self._classes_problem(label, n_classes, rest), tol)
        (trained,) = train_many([task], workspace)
        found = assemble_classes(trained, self.fit_intercept, np.arange(n_classes))
        return found.weights(), found.intercepts(), trained.certificate.status in EARLY

    def _problems(self, label: NDArray[np.int64], n_classes: int, effective: Floats) -> Hinges:
        """One problem for two classes, else one for each class against the rest."""
        positive = np.arange(n_classes)[:, None] if n_classes > 2 else 1
        sign = np.atleast_2d(np.where(label == positive, 1.0, -1.0))
        squared, penalty = self.loss == "squared_hinge", Penalty(self.penalty)
        return Hinges(sign, self.C * effective, squared, *self._bias(), penalty)

    def _classes_problem(
        self, label: NDArray[np.int64], n_classes: int, effective: Floats
    ) -> ClassesProblem:
        return ClassesProblem(label, n_classes, self.C * effective, *self._bias())

    def _certify_labels(self, X: Any, y: NDArray[Any], weight: Floats) -> Certificate:
        """Recompute the certificate of a model of these samples."""
        classes = self.classes_
        label = np.searchsorted(classes, y)
        if not np.array_equal(classes[np.minimum(label, len(classes) - 1)], y):
            raise ValueError(
                "certify needs the data the model was fitted on: other labels were given."
            )
        effective = weight * self.class_weight_[label]
        if self.multi_class != "crammer_singer":
            return self._certify(self._problems(label, len(classes), effective), X)
        last = self._with_duals()
        coef, intercept = last.weights(), last.intercepts()
        if len(coef) == 1:  # the weights of all classes sum to 0
            coef, intercept = np.vstack([-coef, coef]) / 2, np.append(-intercept, intercept) / 2
        problem = self._classes_problem(label, len(classes), effective)
        return certify_classes_again(
            last.certificate, problem, X, coef, intercept, last.duals.toarray().T, self.tol
        )
