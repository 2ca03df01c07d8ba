"""Pictures: drawn without a screen, compared with kept images, and their contents checked where
numbers can be."""

import os
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from PIL import Image
from scipy.stats import binom
from sklearn import svm
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_diabetes, load_iris, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import GridSearchCV

from maxmargin import SVC, SVR, Kernel, LinearSVC, NuSVR, OneClassSVM, textbook
from maxmargin.model_selection import SVCCV, SVRCV, svc_path, svr_path
from maxmargin.model_selection.trials import Trial
from maxmargin.plots import (
    ClassesDisplay,
    ConvergenceDisplay,
    DecisionDisplay,
    EffectDisplay,
    GridSearchDisplay,
    IntervalDisplay,
    KernelMatrixDisplay,
    LossDisplay,
    OutlierDisplay,
    PathDisplay,
    Plane,
    ReliabilityDisplay,
    SurfaceDisplay,
    TubeDisplay,
)
from maxmargin.plots.effect import margin_and_slack
from maxmargin.plots.shares import share_band

BASELINE = Path(__file__).parent / "baseline"
BLOCK, TOLERANCE = 12, 2.0
"""Side of a block of pixels, and the largest mean difference (0 to 255) of a block. Texts are
compared as texts: their pixels depend on fonts."""


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    plt.close("all")


def moons(n=60, noise=0.2):
    X, labels = make_moons(n, noise=noise, random_state=0)
    return X, 2 * labels - 1


def clouds(n=40):
    y = np.repeat([-1, 1], n // 2)
    return np.random.default_rng(7).normal(size=(n, 2)) + 1.1 * y[:, None], y


def triangle(n=90):
    random = np.random.default_rng(0)
    y = np.arange(n) % 3
    places, width = random.uniform(-2.2, 2.2, size=(3, 2)), random.uniform(0.2, 0.9, size=3)
    return places[y] + width[y][:, None] * random.normal(size=(n, 2)), y


def sine(n=50):
    x = np.linspace(0, 6, n)
    return x[:, None], np.sin(x) + 0.2 * np.random.default_rng(0).normal(size=n)


def search():
    X, y = moons()
    return GridSearchCV(
        SVC(), {"C": [0.1, 1, 10], "gamma": [0.1, 1.0], "shrinking": [True]}, cv=3
    ).fit(X, y)


def refined_search():
    """With candidates that lack a fold, and some that are not certified."""
    X, y = moons()
    found = SVCCV([0.1, 1, 10], [0.1, 1.0, 10.0], cv=3, refine=True).fit(X, y)
    found.cv_results_["status"][0] = "max_iter"
    found.cv_results_["split0_test_score"][1] = np.nan
    found.cv_results_["mean_test_score"][1] = np.nan
    return found


def decision():
    X, y = clouds()
    return DecisionDisplay.from_estimator(SVC(kernel="linear").fit(X, y), X, y, title="linear")


def decision_in_more_dimensions():
    X, y = load_iris(return_X_y=True)
    return DecisionDisplay.from_estimator(SVC().fit(X[y > 0], y[y > 0]), X[y > 0], y[y > 0])


def tube():
    X, t = sine()
    return TubeDisplay.from_estimator(SVR(epsilon=0.2, gamma=0.5).fit(X, t), X, t)


def outliers():
    X, _ = moons(noise=0.1)
    return OutlierDisplay.from_estimator(OneClassSVM(nu=0.15, gamma=2.0).fit(X), X)


def classes():
    X, y = triangle()
    return ClassesDisplay.from_estimator(textbook.one_vs_one(X, y)[0], X, y)


def effect():
    X, y = clouds()
    return EffectDisplay.from_estimator(SVC(kernel="linear"), X, y, values=(0.05, 50))


def convergence():
    X, y = moons()
    runs = [
        textbook.smo(X, y, C=10, kernel=textbook.kernels.rbf(1.0), selection=s)[1]
        for s in ("maximal violating pair", "second order")
    ]
    return ConvergenceDisplay.from_traces(*runs)


def path():
    X, y = clouds(20)
    return PathDisplay.from_estimator(SVC(kernel="linear"), X, y, C=np.geomspace(0.01, 100, 30))


def path_panels(panels=("support", "margin", "objective", "error", "gap")):
    X, y = moons(80, 0.35)
    path = svc_path(X[::2], y[::2], np.geomspace(0.01, 1000, 16), estimator=SVC(gamma=2.0))
    return PathDisplay.from_path(path, X[1::2], y[1::2], panels=panels)


def kernel():
    X, y = moons()
    return KernelMatrixDisplay.from_estimator(SVC(gamma=2.0).fit(X, y), X, y)


def surface():
    """Candidates on 100 samples, then around the best one on 400; one did not converge."""

    def trial(kernel, C, gamma, samples):
        mean = 0.9 - 0.02 * np.log10(C / 3) ** 2 - 0.03 * np.log10(gamma / 0.2) ** 2
        parameters = {"C": C, "gamma": gamma} if kernel == "rbf" else {"C": C}
        scores = tuple(mean + samples / 1e4 + 0.01 * np.array([-1, 0, 1]))
        return Trial(kernel, parameters, samples, scores, 0.0, C < 1000)

    coarse = [(C, gamma) for C in (0.1, 1.0, 10.0, 100.0, 1000.0) for gamma in (0.01, 0.1, 1.0)]
    fine = [(C, gamma) for C in (1.0, 3.0, 10.0) for gamma in (0.1, 0.3)]
    trials = [trial("linear", C, 2.0, m) for m in (100, 400) for C in (0.01, 0.1, 1.0)]
    trials += [trial("rbf", *one, 100) for one in coarse] + [trial("rbf", *o, 400) for o in fine]
    report = SimpleNamespace(trials=trials, chosen=trials[-3], score_name="accuracy")
    return SurfaceDisplay.from_report(report)


def intervals(confidence=0.8, **options):
    X, t = sine(160)
    model = SVR(gamma=0.5, interval=True).fit(X[::2], t[::2])
    return IntervalDisplay.from_estimator(
        model, X[1::2], t[1::2], confidence=confidence, name="x", **options
    )


def reliability(classes=2, n_bins=10):
    """Probabilities that are right, and labels drawn by them."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(classes, 0.7), 300)
    y = (rng.uniform(size=(300, 1)) > np.cumsum(p, axis=1)).sum(axis=1)
    return ReliabilityDisplay.from_predictions(y, p, n_bins=n_bins)


def several():
    """A path of three classes."""
    return svc_path(*triangle(), [0.1, 1.0, 10.0])


PICTURES = {
    "decision": decision,
    "decision-pca": decision_in_more_dimensions,
    "tube": tube,
    "outliers": outliers,
    "classes": classes,
    "losses": LossDisplay.of_classification,
    "losses-regression": LossDisplay.of_regression,
    "effect": effect,
    "convergence": convergence,
    "path": path,
    "path-panels": path_panels,
    "grid": lambda: GridSearchDisplay.from_search(search()),
    "grid-refined": lambda: GridSearchDisplay.from_search(refined_search()),
    "kernel": kernel,
    "surface": surface,
    "intervals": intervals,
    "reliability": reliability,
    "reliability-classes": lambda: reliability(4, 5),
}


def texts(figure):
    """Everything that is written in a picture but for the numbers along the axes."""
    return [artist.get_text() for ax in figure.axes for artist in _written(ax) if artist.get_text()]


def _written(ax):
    legend = ax.get_legend()
    return [
        ax.title,
        ax._left_title,
        ax.xaxis.label,
        ax.yaxis.label,
        *ax.texts,
        *(legend.get_texts() if legend else []),
    ]


def pixels(figure):
    """The picture without its texts, each part of it at a place that does not depend on them."""
    figure.set_layout_engine("none")
    for k, ax in enumerate(figure.axes):
        ax.set_position([0.08 + k / len(figure.axes), 0.1, 0.8 / len(figure.axes), 0.7])
        for artist in _written(ax):
            artist.set_visible(False)
        ax.tick_params(labelbottom=False, labelleft=False, labelright=False)
        ax.xaxis.offsetText.set_visible(False)
        ax.yaxis.offsetText.set_visible(False)
    figure.set_dpi(60)
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(float)


def difference(one, other):
    """The mean difference in the block that differs most."""
    if one.shape != other.shape:
        return np.inf
    apart = np.abs(one - other).mean(axis=2)
    rows, columns = (-(-side // BLOCK) * BLOCK for side in apart.shape)
    padded = np.pad(apart, [(0, rows - apart.shape[0]), (0, columns - apart.shape[1])])
    return padded.reshape(rows // BLOCK, BLOCK, columns // BLOCK, BLOCK).mean(axis=(1, 3)).max()


def kept(name):
    with Image.open(BASELINE / f"{name}.png") as image:
        return np.asarray(image.convert("RGB")).astype(float)


@pytest.mark.parametrize("name", PICTURES)
def test_picture_is_as_kept(name):
    """MAXMARGIN_NEW_BASELINE=1 keeps the pictures drawn now; look at each before you commit it."""
    figure = PICTURES[name]().figure_
    written, drawn = texts(figure), pixels(figure)
    if os.environ.get("MAXMARGIN_NEW_BASELINE"):
        Image.fromarray(drawn.astype(np.uint8)).save(BASELINE / f"{name}.png")
        (BASELINE / f"{name}.txt").write_text("\n".join(written) + "\n")
    assert "\n".join(written) + "\n" == (BASELINE / f"{name}.txt").read_text()
    assert difference(drawn, kept(name)) < TOLERANCE


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_without_one_of_its_parts_is_not_as_kept(name):
    parts = len(drawn_parts(PICTURES[name]().figure_))
    assert parts > 1
    for k in range(parts):
        figure = PICTURES[name]().figure_
        part = drawn_parts(figure)[k]
        for artist in part:
            artist.set_visible(False)
        assert difference(pixels(figure), kept(name)) > 1.5 * TOLERANCE, part
        plt.close(figure)


def drawn_parts(figure):
    """Lines, points, areas, images and legends of a picture.

    Artists that look the same are one part.
    """
    found = {}
    for k, ax in enumerate(figure.axes):
        for artist in (*ax.lines, *ax.collections, *ax.images, *ax.patches):
            if hasattr(artist, "get_paths") and not any(
                len(path.vertices) for path in artist.get_paths()
            ):
                continue  # there for the legend only
            label = "" if str(artist.get_label()).startswith("_") else artist.get_label()
            width = str(artist.get_linewidth()) if hasattr(artist, "get_linewidth") else ""
            found.setdefault((k, type(artist).__name__, label, width), []).append(artist)
        if ax.get_legend():
            found[k, "legend"] = [ax.get_legend()]
    return list(found.values())


def framed(**options):
    X, y = load_iris(return_X_y=True, as_frame=True)
    X, y = X[y > 0], y[y > 0]
    return DecisionDisplay.from_estimator(SVC().fit(X, y), X, y, **options)


WORDY = {
    "all of a path": lambda: path_panels(None),
    "features": lambda: framed(features=("petal length (cm)", "sepal width (cm)")),
    "long title": lambda: framed(
        title="A title of many words that takes more than a line and has to be broken somewhere"
    ),
    "named classes": lambda: ClassesDisplay.from_estimator(SVC().fit(*named()), *named()),
}


def named():
    X, y = triangle()
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


@pytest.mark.parametrize("name", [*PICTURES, *WORDY])
def test_no_text_overlaps_or_is_cut(name):
    """Every text lies inside the picture, and no title, label or legend covers another."""
    shown = (PICTURES | WORDY)[name]()
    shown.figure_.canvas.draw()
    edge = shown.figure_.bbox
    for ax in np.ravel(shown.ax_):
        parts = [
            part
            for part in (ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label, ax.get_legend())
            if part is not None
        ]
        boxes = [
            part.get_window_extent()
            for part in parts
            if not hasattr(part, "get_text") or part.get_text()
        ]
        for k, box in enumerate(boxes):
            assert box.x0 >= -1
            assert box.y0 >= -1
            assert box.x1 <= edge.x1 + 1
            assert box.y1 <= edge.y1 + 1
            assert not any(box.overlaps(other) for other in boxes[k + 1 :])


def test_data_frames_name_the_axes_without_a_warning():
    frame = pd.DataFrame(moons()[0], columns=["age", "income"])
    y = moons()[1]
    shown = DecisionDisplay.from_estimator(SVC().fit(frame, y), frame, y)
    assert (shown.ax_.get_xlabel(), shown.ax_.get_ylabel()) == ("age", "income")
    assert (
        DecisionDisplay.from_estimator(SVC().fit(frame.to_numpy(), y), frame, y).ax_.get_xlabel()
        == "age"
    )
    polar = pl.DataFrame(frame.to_dict("list"))
    assert (
        DecisionDisplay.from_estimator(SVC().fit(polar, y), polar, y).ax_.get_ylabel() == "income"
    )
    assert ClassesDisplay.from_estimator(SVC().fit(frame, y), frame, y).ax_.get_xlabel() == "age"
    assert OutlierDisplay.from_estimator(OneClassSVM().fit(frame), frame).ax_.get_xlabel() == "age"
    assert (
        TubeDisplay.from_estimator(SVR().fit(frame[["age"]], y), frame[["age"]], y).ax_.get_xlabel()
        == "age"
    )
    effect = EffectDisplay.from_estimator(SVC(), frame, y, values=(1, 10))
    assert effect.ax_.flat[0].get_xlabel() == "age"
    assert (
        framed(features=("petal width (cm)", "sepal length (cm)")).ax_.get_xlabel()
        == "petal width (cm)"
    )
    with pytest.raises(ValueError, match="no feature 'height'"):
        framed(features=("height", "sepal length (cm)"))


def test_legends_say_which_words_are_classes():
    X, y = triangle()
    assert texts(ClassesDisplay.from_estimator(SVC().fit(X, y), X, y).figure_)[2:5] == [
        "class 0",
        "class 1",
        "class 2",
    ]
    assert "setosa" in texts(ClassesDisplay.from_estimator(SVC().fit(*named()), *named()).figure_)


def test_borders_of_regions_are_lines_not_steps():
    """The border between two classes of a linear model is straight to within a tenth of a grid's
    cell.
    """
    X, y = clouds()
    shown = ClassesDisplay.from_estimator(SVC(kernel="linear").fit(X, y), X, y)
    border = next(c for c in shown.ax_.collections if c.get_linewidth()[0] == 0.9)
    points = border.get_paths()[0].vertices
    inner = points[10:-10]
    direction = np.linalg.svd(inner - inner.mean(0))[2][1]
    cell = np.ptp(shown.plane.limits[:2]) / shown.regions.shape[0]
    assert np.abs((inner - inner.mean(0)) @ direction).max() < 0.35 * cell


def test_rounding_is_not_shown_as_a_range():
    line = np.linspace(0, 1, 30)[:, None] * [1.0, 2.0, 3.0]
    assert np.ptp(Plane.of(line).limits[2:]) == pytest.approx(2.0)
    X = np.column_stack([np.linspace(0, 1e-6, 30), np.linspace(0, 1e6, 30)])
    assert np.ptp(Plane.of(X).limits[:2]) < 2e-6


def test_pictures_are_of_print_quality(tmp_path):
    decision().figure_.savefig(tmp_path / "picture.png")
    with Image.open(tmp_path / "picture.png") as image:
        assert image.width >= 900


def test_convention_of_displays():
    shown = decision()
    assert shown.ax_.figure is shown.figure_
    _, ax = plt.subplots()
    assert shown.plot(ax=ax).ax_ is ax
    assert matplotlib.rcParams["axes.spines.top"]  # nobody's settings are changed


def test_slacks_end_on_the_margin():
    X, y = clouds()
    model = SVC(kernel="linear").fit(X, y)
    shown = DecisionDisplay.from_estimator(model, X, y)
    starts, ends = (np.array(part) for part in zip(*shown.segments, strict=True))
    np.testing.assert_allclose(np.abs(model.decision_function(ends)), 1.0, atol=1e-9)
    assert len(starts) == np.sum(y * model.decision_function(X) < 1 - 1e-3)
    assert len(shown.support) == len(model.support_)
    assert not DecisionDisplay.from_estimator(
        SVC().fit(X, y), X, y
    ).segments  # curved margins: no straight slack


def test_other_models_can_be_drawn():
    X, y = clouds()
    for model in (
        svm.SVC().fit(X, y),
        LinearSVC().fit(X, y),
        LogisticRegression().fit(X, y),
        textbook.smo(X, y)[0],
    ):
        assert DecisionDisplay.from_estimator(model, X, y).support.max() < len(y)
    X, y = triangle()
    for model in (
        svm.SVC().fit(X, y),
        SVC(multiclass="ovr").fit(X, y),
        LogisticRegression().fit(X, y),
        textbook.one_vs_rest(X, y)[0],
    ):
        ClassesDisplay.from_estimator(model, X, y)
    X, t = sine()
    assert TubeDisplay.from_estimator(NuSVR(nu=0.3, gamma=0.5).fit(X, t), X, t).epsilon > 0
    TubeDisplay.from_estimator(textbook.epsilon_svr(X, t)[0], X, t, epsilon=0.1)
    OutlierDisplay.from_estimator(
        textbook.one_class(X @ [[1.0, 0.5]], kernel=textbook.kernels.rbf(1.0))[0], X @ [[1.0, 0.5]]
    )
    KernelMatrixDisplay.from_estimator(Kernel.rbf(gamma=0.5), X)
    KernelMatrixDisplay.from_estimator(textbook.kernels.linear, X, np.arange(len(X)) % 2)


def test_ties_are_those_of_the_votes():
    X, y = triangle()
    mine = ClassesDisplay.from_estimator(
        textbook.one_vs_one(X, y, partial(textbook.smo, tol=1e-8))[0], X, y
    )
    theirs = ClassesDisplay.from_estimator(SVC(kernel="linear").fit(X, y), X, y)
    assert mine.tied.mean() > 0.03
    assert np.mean(mine.tied != theirs.tied) < 0.01
    assert np.mean(mine.regions != theirs.regions) < 0.01


def test_effect_of_C_is_measured():
    X, y = clouds(50)
    shown = EffectDisplay.from_estimator(SVC(kernel="linear"), X, y)
    assert np.all(np.diff(shown.margin) < 0)
    assert np.all(np.diff(shown.slack) < 0)
    model = SVC(kernel="linear").fit(X, y)
    margin, slack = margin_and_slack(model, X, y)
    assert margin == pytest.approx(1 / np.linalg.norm(model.coef_))
    assert 0.5 / margin**2 + slack == pytest.approx(model.certificate_.primal, rel=1e-6)
    rbf = SVC(gamma=0.5).fit(X, y)
    margin, slack = margin_and_slack(rbf, X, y)
    assert 0.5 / margin**2 + slack == pytest.approx(rbf.certificate_.primal, rel=1e-6)
    assert len(shown.plot_curves().lines) == 1


def test_grid_search_takes_the_best_of_what_it_does_not_show():
    X, y = moons()
    found = GridSearchCV(
        SVC(), {"C": [0.1, 1, 10], "gamma": [0.1, 1.0], "kernel": ["rbf", "linear"]}, cv=3
    ).fit(X, y)
    shown = GridSearchDisplay.from_search(found)
    assert shown.scores.shape == (2, 3)
    assert shown.scores.max() == pytest.approx(found.best_score_)
    assert "kernel" in shown.note
    one = GridSearchDisplay.from_search(
        GridSearchCV(SVC(), {"C": [0.1, 1]}, cv=3).fit(X, y).cv_results_
    )
    assert one.scores.shape == (1, 2)
    with pytest.raises(ValueError, match="which has C"):
        GridSearchDisplay.from_search(found, x="nu")
    with pytest.raises(ValueError, match="mean_"):
        GridSearchDisplay.from_search(found, score="accuracy")


def test_a_search_with_several_scores_shows_the_one_that_decided():
    X, y = moons()
    names = ["accuracy", "balanced_accuracy", "neg_log_loss"]
    found = SVCCV(
        [0.1, 1, 10],
        [0.1, 1.0],
        cv=3,
        scoring=names,
        refit="neg_log_loss",
        estimator=SVC(probability=True),
    ).fit(X, y)
    shown = GridSearchDisplay.from_search(found)
    assert shown.score_name == "mean test neg log loss"
    assert "mean test neg log loss" in texts(shown.figure_)
    assert shown.best[2] == pytest.approx(found.best_score_)
    for name in ("accuracy", "mean_test_accuracy"):
        other = GridSearchDisplay.from_search(found, score=name)
        assert other.score_name == "mean test accuracy"
        assert other.scores.max() == found.cv_results_["mean_test_accuracy"].max()
    one = GridSearchDisplay.from_search(SVCCV([1.0, 2.0], [1.0], scoring="roc_auc").fit(X, y))
    assert one.score_name == "mean test roc auc"
    found.cv_results_["split0_test_accuracy"][:2] = np.nan
    assert (GridSearchDisplay.from_search(found).marks == "not all folds").sum() == 0
    assert (GridSearchDisplay.from_search(found, score="accuracy").marks != "certified").sum() == 2
    with pytest.raises(ValueError, match=r"several scores: .* mean_test_balanced_accuracy, mean"):
        GridSearchDisplay.from_search(found.cv_results_)


def test_a_search_shows_what_is_certified_and_what_it_refined():
    shown = GridSearchDisplay.from_search(refined_search())
    assert shown.scores.shape == (3, 3)
    names = ["gamma", "C"] if shown.x_name == "gamma" else ["C", "gamma"]
    assert [shown.x_name, shown.y_name] == names
    marks = {name: int((shown.marks == name).sum()) for name in np.unique(shown.marks)}
    assert marks == {"certified": 7, "not certified": 1, "not all folds": 1}
    assert len(shown.points) > 2
    assert {point.mark for point in shown.points} == {"certified"}
    assert shown.ax_.get_xscale() == "log"
    legend = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    assert legend == ["refined", "certified", "not certified", "not all folds"]


def test_the_best_candidate_is_that_of_the_search():
    """Ties go to the candidate that comes first, and those that lack a fold do not count."""
    results = {
        "param_C": [1.0, 1.0, 2.0, 2.0],
        "param_gamma": [0.1, 10.0, 0.1, 10.0],
        "mean_test_score": [0.5, 0.9, 0.9, 1.0],
        "split0_test_score": [0.5, 0.9, 0.9, np.nan],
        "status": ["optimal"] * 4,
    }
    assert GridSearchDisplay.from_search(results).best == (1.0, 10.0, 0.9)
    results["split0_test_score"] = [np.nan] * 4
    assert GridSearchDisplay.from_search(results).best == (2.0, 10.0, 1.0)
    results["mean_test_score"] = [np.nan] * 4
    none = GridSearchDisplay.from_search(results)
    assert none.best is None
    assert "no scores" in none.ax_.get_title(loc="left")


def test_solvers_in_time():
    X, y = moons()
    shown = ConvergenceDisplay.from_estimators(
        {"block": SVC(loss="squared_hinge"), "newton": SVC(loss="squared_hinge", solver="newton")},
        X,
        y,
        tols=(0.1, 1e-3),
    )
    assert [curve.name for curve in shown.curves] == ["block", "newton"]
    assert all(np.all(curve.x > 0) for curve in shown.curves)


def test_plane_keeps_distances_and_says_what_it_is():
    X, _ = load_iris(return_X_y=True)
    plane = Plane.of(X)
    assert "4 features" in plane.note
    assert plane.u @ plane.v == pytest.approx(0, abs=1e-12)
    a, b, grid = plane.grid(20)
    np.testing.assert_allclose(
        plane.project(grid), np.column_stack([a.ravel(), b.ravel()]), atol=1e-9
    )
    chosen = Plane.of(X, features=(1, 3), names=["a", "b", "c", "d"])
    assert "b and d" in chosen.note
    np.testing.assert_allclose(chosen.project(X), X[:, [1, 3]])
    assert Plane.of(X[:, :2]).note == ""


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (
            lambda: DecisionDisplay.from_estimator(SVC().fit(*triangle()), *triangle()),
            "ClassesDisplay",
        ),
        (lambda: Plane.of(np.ones((5, 1))), "two features"),
        (
            lambda: TubeDisplay.from_estimator(textbook.linear_regression(*sine())[0], *sine()),
            "has no epsilon",
        ),
        (lambda: ConvergenceDisplay.from_traces(textbook.pegasos(*clouds())[1]), "give best"),
        (lambda: PathDisplay.from_estimator(SVC(), *triangle()), "two classes"),
        (lambda: PathDisplay.from_path(several(), panels=["multipliers"]), "two classes"),
        (lambda: PathDisplay.from_path(several(), panels=["width"]), "panels must be some of"),
        (lambda: PathDisplay.from_path(several(), triangle()[0]), "both X and y"),
        (lambda: PathDisplay.from_path(several(), ax=plt.figure().subplots()), "as many axes"),
        (lambda: intervals(ax=plt.figure().subplots()), "two panels and needs two axes, got 1"),
        (lambda: intervals(confidence=9), "between 0 and 1"),
        (lambda: IntervalDisplay.from_estimator(SVR().fit(*sine()), *sine()), "interval=True"),
        (
            lambda: ReliabilityDisplay.from_estimator(SVC().fit(*moons()), *moons()),
            "fit it with probability=True",
        ),
        (lambda: ReliabilityDisplay.from_predictions([0, 1], [[0.5], [0.5]]), "a column for each"),
        (
            lambda: ReliabilityDisplay.from_predictions([0, 2], np.eye(2), classes=[0, 1]),
            "no column for",
        ),
        (lambda: textbook.animate(textbook.smo(*clouds(), trace=0)[1]), "trace=1"),
        (lambda: textbook.animate(textbook.smo(*clouds())[1], "film.avi"), "gif or .mp4"),
        (
            lambda: textbook.animate(textbook.coordinate_descent(lambda w: float(w @ w), [1.0])[1]),
            "two features",
        ),
    ],
)
def test_errors_name_cause_and_remedy(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


@pytest.mark.parametrize(
    "train",
    [
        textbook.smo,
        textbook.simplified_smo,
        partial(textbook.pegasos, bias=True),
        textbook.kernel_pegasos,
    ],
)
def test_film(train, tmp_path):
    _, trace = train(*clouds())
    textbook.animate(trace, tmp_path / "film.gif", frames=6)
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames > 2


def test_rings_are_drawn_on_the_points_of_the_fit_only():
    X, y = clouds()
    model = SVC().fit(X, y)
    assert len(DecisionDisplay.from_estimator(model, X, y).support) == len(model.support_)
    assert len(DecisionDisplay.from_estimator(model, X + 0.5, y).support) == 0
    assert (
        DecisionDisplay.from_estimator(LogisticRegression().fit(X, y), X, y).rings
        != "support vectors"
    )


def test_long_names_do_not_squeeze_the_picture():
    X, y = clouds()
    names = np.where(
        y > 0,
        "a class with a very long name indeed, longer than a line",
        "another class with a name that is no shorter",
    )
    shown = DecisionDisplay.from_estimator(SVC().fit(X, names), X, names)
    shown.figure_.canvas.draw()
    assert shown.ax_.get_position().height > 0.5


# ---- paths ---------------------------------------------------------------------------------------


def test_a_path_shows_its_numbers():
    """Every panel against the models themselves."""
    X, y = moons(80, 0.35)
    path = svc_path(X[::2], y[::2], [0.1, 1.0, 10.0], estimator=SVC(gamma=2.0))
    shown = PathDisplay.from_path(path, X[1::2], y[1::2])
    axes = dict(zip(shown.panels, shown.ax_.flat, strict=True))
    lines = {name: [line.get_ydata() for line in ax.lines] for name, ax in axes.items()}
    counts = [len(model.support_) for model in path.models]
    np.testing.assert_array_equal(lines["support"][0], counts)
    wrong = [np.mean(model.predict(X[1::2]) != y[1::2]) for model in path.models]
    np.testing.assert_allclose(lines["error"][1], wrong)
    assert lines["error"][2] == min(wrong)
    np.testing.assert_allclose(lines["objective"][0], path.objectives)
    np.testing.assert_allclose(lines["margin"][0], 1 / path.norms[:, 0])
    assert (lines["gap"][1] <= lines["gap"][0][0]).all()


def test_a_path_of_several_classes_has_no_multipliers():
    shown = PathDisplay.from_path(several())
    assert "multipliers" not in shown.panels
    assert len(shown.ax_.flat[1].lines) == 3  # a margin for each pair
    assert not shown.ax_.flat[5].axison


def test_a_path_of_a_regression():
    X, y = sine()
    path = svr_path(X, y, [0.1, 1.0, 10.0])
    shown = PathDisplay.from_path(path, panels=["error"])
    assert shown.ax_.get_ylabel() == "mean absolute error"
    np.testing.assert_allclose(shown.ax_.lines[0].get_ydata(), path.errors)
    drawn = PathDisplay.from_estimator(SVR(), X, y, C=[0.1, 1.0])
    assert drawn.alpha.shape == (2, len(y))


def test_a_path_of_another_library():
    X, y = clouds(20)
    ours = PathDisplay.from_estimator(SVC(kernel="linear"), X, y, C=[0.1, 1.0])
    theirs = PathDisplay.from_estimator(svm.SVC(kernel="linear", tol=1e-8), X, y, C=[0.1, 1.0])
    np.testing.assert_allclose(ours.alpha, theirs.alpha, atol=1e-5)


def test_intervals_show_what_they_cover():
    shown = intervals()
    inside = (shown.interval[:, 0] <= shown.y) & (shown.y <= shown.interval[:, 1])
    assert texts(shown.figure_)[0] == f"{100 * inside.mean():.3g} % of 80 targets lie inside"
    assert f"outside ({(~inside).sum()})" in texts(shown.figure_)
    k = np.flatnonzero(np.isclose(shown.levels, 0.8))
    assert shown.coverage[k] == inside.mean()
    assert (np.diff(shown.coverage) >= 0).all()
    assert shown.levels.max() == 0.98  # 80 samples give finite intervals up to 80 / 81
    X, t = load_diabetes(return_X_y=True, as_frame=True)
    search = SVRCV([30], [0.1], [1.0], scale="standard", estimator=SVR(interval=True)).fit(X, t)
    shown = IntervalDisplay.from_estimator(search, X, t)
    assert shown.ax_[0].get_xlabel() == "samples, in the order of the predictions"
    assert (np.diff(shown.prediction) >= 0).all()
    shown = IntervalDisplay.from_estimator(search, X, t, feature=2)
    assert shown.ax_[0].get_xlabel() == "bmi"


def test_reliability_shows_shares_of_bins():
    """The curve is scikit-learn's with quantiles, and the scores are its scores."""
    rng = np.random.default_rng(0)
    p = rng.uniform(size=500)
    y = rng.uniform(size=500) < p
    shown = ReliabilityDisplay.from_predictions(y, np.column_stack([1 - p, p]))
    share, mean = calibration_curve(y, p, n_bins=10, strategy="quantile")
    np.testing.assert_allclose([y[part].mean() for part in shown.bins()], share)
    np.testing.assert_allclose([p[part].mean() for part in shown.bins()], mean)
    assert f"{brier_score_loss(y, p):.4f}, log loss {log_loss(y, p):.3f}" in shown.scores
    few = ReliabilityDisplay.from_predictions(y[:25], np.column_stack([1 - p, p])[:25])
    assert len(few.bins()) == 2  # ten samples at least


def test_bands_of_shares():
    """Against the definition: binomial tails at the ends are 2.5 %."""
    low, high = share_band(np.array([0, 3, 20]), 20)
    assert (low[0], high[2]) == (0, 1)
    assert binom.sf(2, 20, low[1]) == pytest.approx(0.025)
    assert binom.cdf(3, 20, high[1]) == pytest.approx(0.025)
    assert binom.cdf(0, 20, high[0]) == pytest.approx(0.025)
    assert binom.sf(19, 20, low[2]) == pytest.approx(0.025)


# ---- texts in the picture, angles ----------------------------------------------------------------


def test_what_is_perpendicular_looks_perpendicular():
    """Slacks meet their margin at a right angle on the screen."""
    shown = decision()
    shown.figure_.canvas.draw()
    w = SVC(kernel="linear").fit(*clouds()).coef_[0]
    to_screen = shown.ax_.transData.transform
    margin = to_screen([0.0, 0.0]) - to_screen([-w[1], w[0]])
    assert shown.segments
    for start, end in shown.segments:
        across = to_screen(end) - to_screen(start)
        assert abs(across @ margin) < 1e-6 * np.linalg.norm(across) * np.linalg.norm(margin)


def test_slacks_are_written_beside_their_points():
    X, y = clouds(20)
    model = SVC(kernel="linear").fit(X, y)
    shown = DecisionDisplay.from_estimator(model, X, y, slack_values=True)
    slacks = np.maximum(0, 1 - y * model.decision_function(X))
    shown.figure_.canvas.draw()
    written = {tuple(t.xy): t.get_text() for t in shown.ax_.texts if hasattr(t, "xy")}
    for point, slack in zip(X, slacks, strict=True):
        name = f"$\\xi$ = {slack:.2f}" if slack > 1e-3 else "$\\xi$ = 0"
        assert written[tuple(point)] == name
    boxes = [t.get_window_extent() for t in shown.ax_.texts if hasattr(t, "xy")]
    over = sum(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[k + 1 :])
    assert over == 0, "texts cover each other"


def test_lines_are_named_away_from_points_or_not_at_all():
    shown = decision()
    shown.figure_.canvas.draw()
    names = {text.get_text(): text for text in shown.ax_.texts}
    assert set(names) == {"$y = -1$", "$y = 0$", "$y = 1$"}
    value = SVC(kernel="linear").fit(*clouds()).decision_function
    for name, text in names.items():
        at = np.array([text.get_position()])
        assert value(at)[0] == pytest.approx(float(name[5:-1]), abs=0.05)
        apart = np.linalg.norm(
            shown.ax_.transData.transform(shown.points) - text.get_window_extent().p0, axis=1
        )
        assert apart.min() > 5
    X, y = clouds()
    narrow = DecisionDisplay.from_estimator(textbook.LinearModel(np.array([9.0, 9.0])), X, y)
    assert len(narrow.ax_.texts) <= 3


def test_labels_of_classes_are_as_people_write_them():
    X, y = clouds()
    assert DecisionDisplay.computed(SVC().fit(X, y * 1.0), X, y * 1.0).names == (
        "class -1",
        "class 1",
    )
