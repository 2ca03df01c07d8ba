"""The outputs of StructuredSVM's ready-made tasks: labels of the user as numbers, and back."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.core.arrays import Floats, Integers
from maxmargin.estimators._targets import encode
from maxmargin.structured.multiclass import zero_one
from maxmargin.structured.multilabel import Labels, labels_of
from maxmargin.structured.tasks import LabelTask, SetsTask
from maxmargin.structured.taxonomy import Taxonomy, tree_of

OTHER_LABELS = "certify needs the data the model was fitted on: other labels were given."


class ClassOutputs(NamedTuple):
    """A class for each sample."""

    classes: NDArray[Any]
    task: LabelTask

    def encode(self, y: Any) -> Integers:
        """The classes as their positions."""
        return encode_known(self.classes, y)

    def decode(self, label: Any) -> NDArray[Any]:
        """Positions as classes."""
        found: NDArray[Any] = self.classes[label]
        return found


class SetOutputs(NamedTuple):
    """A set of labels for each sample."""

    task: SetsTask

    def encode(self, y: Any) -> Floats:
        """The sets as rows of 0 and 1."""
        return sets_of(y, self.task.columns)

    def decode(self, z: Any) -> NDArray[Any]:
        """Rows of integers."""
        rows: NDArray[Any] = z.astype(np.int64)
        return rows


def sets_of(y: Any, n_labels: int | None = None) -> Floats:
    """Rows of 0 and 1; ValueError for anything else."""
    y = np.asarray(y.toarray() if sparse.issparse(y) else y)
    if y.ndim != 2 or not np.isin(y, (0, 1)).all():
        raise ValueError(
            "task='multilabel' needs a matrix of zeros and ones y, a column for each label "
            f"(MultiLabelBinarizer makes one); got the shape {y.shape}."
        )
    if n_labels not in (None, y.shape[1]):
        raise ValueError(f"y has {y.shape[1]} labels, but the model was fitted on {n_labels}.")
    sets: Floats = y.astype(np.float64)
    return sets


def learnt(task: Any, y: Any, weight: Floats) -> dict[str, Any]:
    """What a fit learns about the outputs: the estimator's attributes."""
    if isinstance(task, str) and task == "multilabel":
        sets = sets_of(y)
        return {"pairs_": labels_of(sets, weight).pairs}
    classes, label = encode(y)
    refuse_single_class(classes, label[weight > 0])
    return {"classes_": classes}


def encode_known(classes: NDArray[Any], y: Any) -> Integers:
    """Labels as their positions in classes; ValueError for one that is not there."""
    y = np.asarray(y).ravel()
    label: Integers = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    if not np.array_equal(classes[label], y):
        raise ValueError(OTHER_LABELS)
    return label


def refuse_single_class(classes: NDArray[Any], label: Integers) -> None:
    """Refuse labels of samples of positive weight that are all the same."""
    present = np.unique(label)
    if len(present) < 2:
        raise ValueError(
            "Invalid input - all samples with positive weights belong to the same class"
            f" ({classes[present].tolist()}); at least two are needed."
        )


def outputs_of(estimator: Any) -> Any:
    """The outputs of a fitted estimator."""
    if "pairs_" in vars(estimator):
        pairs = estimator.pairs_
        return SetOutputs(SetsTask(Labels(int(pairs.max()) + 1, pairs)))
    classes, task = estimator.classes_, estimator.task
    if isinstance(task, Taxonomy):
        tree = tree_of(task, classes.tolist())
        return ClassOutputs(classes, LabelTask(tree.delta, tree.paths))
    return ClassOutputs(classes, LabelTask(zero_one(len(classes))))


def as_list(values: Any, name: str) -> list[Any]:
    """A sequence of objects as a list; ValueError if it has no length or is empty."""
    try:
        found = list(values)
    except TypeError:
        raise ValueError(f"{name} must be a sequence, got {type(values).__name__}.") from None
    if not found:
        raise ValueError(f"{name} is empty: at least one sample is needed.")
    return found
