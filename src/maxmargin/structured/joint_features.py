"""Structured outputs as the user describes them: joint features and loss-augmented inference.

    predict  y_hat = argmax over y of  <w, psi(x, y)>
    train    R(w) = sum_i weight_i max over y of [loss(y_i, y) + <w, psi(x_i, y) - psi(x_i, y_i)>]

The maximum is attained by ``task.infer(x_i, w, y_i)`` (margin rescaling, Tsochantaridis et al.
2005). This is the only place that calls a user's methods. What they return is checked, and errors
name the sample.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse

from maxmargin.core.arrays import Floats, Integers
from maxmargin.structured.spaces import LinearSpace, WeightSpace


@runtime_checkable
class StructuredTask(Protocol):
    """What StructuredSVM must know about a kind of output: two methods, and a loss.

    Inputs x and outputs y may be objects of any kind.

    Examples
    --------
    A line x is to be cut into two halves at a place y. The features of a cut are the difference of
    the means on its sides, and how far it is from the middle.

    >>> import numpy as np
    >>> class Cut:
    ...     def joint_feature(self, x, y):
    ...         return np.array([x[y:].mean() - x[:y].mean(), abs(y / len(x) - 0.5)])
    ...     def infer(self, x, w, y=None):
    ...         def value(cut):
    ...             wrong = 0 if y is None else self.loss(y, cut)
    ...             return wrong + w @ self.joint_feature(x, cut)
    ...         return max(range(1, len(x)), key=value)
    ...     def loss(self, y, y_hat):
    ...         return abs(y - y_hat) / 10
    >>> from maxmargin import StructuredSVM
    >>> rng = np.random.default_rng(0)
    >>> cuts = rng.integers(5, 15, 30).tolist()
    >>> lines = [rng.normal(size=20) + 3 * (np.arange(20) >= cut) for cut in cuts]
    >>> model = StructuredSVM(Cut()).fit(lines[:20], cuts[:20])
    >>> model.certificate_.status
    'optimal'
    >>> float(np.mean(np.abs(np.subtract(model.predict(lines[20:]), cuts[20:])))) < 1
    True
    """

    def joint_feature(self, x: Any, y: Any) -> Any:
        """psi(x, y): a vector, or a sparse row, of the same length for every x and y."""

    def infer(self, x: Any, w: Floats, y: Any = None) -> Any:
        """The output y' of greatest <w, psi(x, y')>.

        If the true output y is given, the one of greatest loss(y, y') + <w, psi(x, y')>.
        """


def loss_of(task: Any) -> Callable[[Any, Any], float]:
    """The loss of a task; 0 for equal outputs and 1 for others where it has none."""
    return getattr(task, "loss", None) or _zero_one


def _zero_one(y: Any, y_hat: Any) -> float:
    return float(not np.array_equal(y, y_hat))


class JointSpace(WeightSpace):
    """Weights of the samples' features, and weights u of the labels themselves: w = (W, u).

    Scores are those of the samples, row by row, and then u. So a risk of transitions or pairs of
    labels is a loss of scores too.
    """

    def __init__(self, linear: LinearSpace, extra: int) -> None:
        super().__init__(linear.size + extra)
        self.linear = linear

    def scores(self, v: Floats) -> Floats:
        """(X W', u), one vector."""
        split = self.linear.size
        return np.concatenate([self.linear.scores(v[:split]).ravel(), v[split:]])

    def element(self, t: Floats) -> Floats:
        """(t'X, the last of t)."""
        split = self.linear.design.shape[0] * self.linear.columns
        own = t[:split] if self.linear.columns == 1 else t[:split].reshape(-1, self.linear.columns)
        return np.concatenate([self.linear.element(own), t[split:]])


class Answer(NamedTuple):
    """What inference found for a sample: the loss and psi(x, y_hat) - psi(x, y)."""

    loss: float
    change: Any
    """A sparse row."""
    size: float
    """The magnitude of the scores that its value is a difference of."""

    def value(self, w: Floats) -> float:
        """The loss-augmented score, less the score of the true output."""
        return self.loss + float((self.change @ w)[0])


class Examples(NamedTuple):
    """The samples of a fit, with the joint features of their true outputs."""

    task: Any
    X: Sequence[Any]
    y: Sequence[Any]
    weight: Floats
    true: list[Any]
    """psi(x_i, y_i), sparse rows."""
    number: Integers
    """Their numbers among the user's samples."""
    n_jobs: int | None

    @property
    def width(self) -> int:
        """The number of joint features."""
        return int(self.true[0].shape[1])

    def infer(self, w: Floats) -> list[Answer]:
        """Loss-augmented inference for every sample, in parallel."""
        jobs = effective_n_jobs(self.n_jobs)
        if jobs == 1:
            return self._answers(0, len(self.y), w)
        size = -(-len(self.y) // (4 * jobs))
        parts = Parallel(self.n_jobs, prefer="threads")(
            delayed(self._answers)(begin, begin + size, w) for begin in range(0, len(self.y), size)
        )
        return [answer for part in parts for answer in part]

    def _answers(self, begin: int, end: int, w: Floats) -> list[Answer]:
        return [self._answer(i, w) for i in range(begin, min(end, len(self.y)))]

    def _answer(self, i: int, w: Floats) -> Answer:
        x, y = self.X[i], self.y[i]
        where = f"sample {self.number[i]}: infer returned"
        y_hat = self.task.infer(x, w.copy(), y)
        if y_hat is None:
            raise ValueError(f"{where} None instead of an output.")
        found = feature_row(self.task, x, y_hat, self.width, f"{where} {y_hat!r:.80}")
        loss = checked_loss(self.task, y, y_hat, f"{where} {y_hat!r:.80}")
        scores = float((found @ w)[0]), float((self.true[i] @ w)[0])
        answer = Answer(loss, found - self.true[i], abs(scores[0]) + abs(scores[1]) + loss)
        if answer.value(w) < -ROUNDING * answer.size:
            raise ValueError(
                f"{where} {y_hat!r:.80}, whose loss plus score {loss + scores[0]:.6g} is less than "
                f"that of the true output, {scores[1]:.6g}. infer(x, w, y) must return the output "
                "of greatest loss(y, y') + w @ joint_feature(x, y')."
            )
        return answer


ROUNDING = 1e-9
"""Share of the scores by which rounding may change their differences."""


def examples_of(
    task: Any, X: Sequence[Any], y: Sequence[Any], weight: Floats, n_jobs: int | None = None
) -> Examples:
    """The samples of positive weight; ValueError where joint features or losses make no sense."""
    true: list[Any] = []
    number = np.flatnonzero(weight > 0)
    used = number.tolist()
    X, y = [X[i] for i in used], [y[i] for i in used]
    for i, one, output in zip(used, X, y, strict=True):
        where, width = f"sample {i}: with its true output", true[0].shape[1] if true else None
        true.append(feature_row(task, one, output, width, where))
        own = checked_loss(task, output, output, where)
        if own != 0:
            raise ValueError(
                f"sample {i}: the loss of the true output with itself is {own:g}, but must be 0."
            )
    return Examples(task, X, y, weight[number], true, number, n_jobs)


def feature_row(task: Any, x: Any, y: Any, width: int | None, where: str) -> Any:
    """psi(x, y) as a sparse row; ValueError if it is no finite vector of the right length."""
    try:
        found = task.joint_feature(x, y)
    except Exception as error:
        error.add_note(f"{where}: joint_feature raised this.")
        raise
    row = found if sparse.issparse(found) else np.atleast_2d(np.asarray(found, np.float64))
    row = sparse.csr_matrix(row, dtype=np.float64)
    if row.shape[0] != 1 or (width is not None and row.shape[1] != width):
        expected = f"one vector of length {width}, as for the others" if width else "one vector"
        raise ValueError(
            f"{where}, joint_feature has the shape {np.shape(found)}, but must be {expected}."
        )
    if not np.isfinite(row.data).all():
        raise ValueError(f"{where}, joint_feature has values that are NaN or infinite.")
    return row


def checked_loss(task: Any, y: Any, y_hat: Any, where: str) -> float:
    """The loss as a number; ValueError if it is negative or not finite."""
    found = float(loss_of(task)(y, y_hat))
    if not 0 <= found < np.inf:
        raise ValueError(f"{where}, the loss is {found:g}, but must be finite and >= 0.")
    return found


def predictions(task: Any, X: Sequence[Any], w: Floats, n_jobs: int | None) -> Iterator[Any]:
    """The output of greatest score for each sample, in parallel."""
    if effective_n_jobs(n_jobs) == 1:
        return (task.infer(x, w.copy()) for x in X)
    found: Iterator[Any] = iter(
        Parallel(n_jobs, prefer="threads")(delayed(task.infer)(x, w.copy()) for x in X)
    )
    return found
