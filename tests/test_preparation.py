"""Models that keep their preparation: scalers in files and exports, and searches that scale.

The oracle is scikit-learn's pipeline itself, in this process.
"""

import hashlib
import json
import subprocess

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC as TheirSVC

import needs
from helpers import assert_close, assert_same_bits, binary, three
from maxmargin import (
    SVC,
    SVR,
    LinearOneClassSVM,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    LinearSVRCV,
    OneClassSVM,
    io,
)
from maxmargin.io.folding import linear_without_scaling
from maxmargin.model_selection import SVCCV, SVRCV, NuSVCCV, NuSVRCV, OneClassSVMCV
from test_models_crafted import packed, parts, refused
from test_models_export import MAIN, c_format, run_c, run_onnx, runtime  # noqa: F401

SCALERS = {
    "standard": StandardScaler,
    "standard-mean": lambda: StandardScaler(with_std=False),
    "standard-spread": lambda: StandardScaler(with_mean=False),
    "standard-neither": lambda: StandardScaler(with_mean=False, with_std=False),
    "minmax": MinMaxScaler,
    "minmax-range": lambda: MinMaxScaler(feature_range=(-1, 3)),
    "minmax-clip": lambda: MinMaxScaler(clip=True),
    "maxabs": MaxAbsScaler,
    "robust": RobustScaler,
    "robust-quantiles": lambda: RobustScaler(quantile_range=(10.0, 90.0), with_centering=False),
}


def raw(make=three):
    """Samples whose features have different sizes and places, one of them constant."""
    X, y = make()
    X = np.column_stack([X, np.full(len(X), 7.0)])
    return X * 10.0 ** np.arange(X.shape[1]) + np.arange(X.shape[1]) * 100.0, y


def points(X):
    draw = np.random.default_rng(3)
    return X[draw.integers(0, len(X), 200)] + draw.normal(size=(200, X.shape[1])) * X.std(axis=0)


def outputs(model, X):
    """Everything that a model says of samples."""
    names = ("predict", "decision_function", "predict_proba", "score_samples")
    return [getattr(model, name)(X) for name in names if hasattr(model, name)]


def round_trip(model, path, X):
    io.save(model, path)
    loaded = io.load(path)
    for ours, theirs in zip(outputs(loaded, X), outputs(model, X), strict=True):
        assert_same_bits(ours, theirs)
    return loaded


# ---- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCALERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scalers_are_kept(name, dtype, tmp_path):
    X, y = raw()
    model = make_pipeline(SCALERS[name](), SVC(gamma=0.1)).fit(X.astype(dtype), y)
    loaded = round_trip(model, tmp_path / "m.mm", points(X))
    assert [step for step, _ in loaded.steps] == [step for step, _ in model.steps]
    before, after = model[0], loaded[0]
    assert type(before) is type(after)
    assert vars(before).keys() == vars(after).keys()
    for key, value in vars(before).items():
        np.testing.assert_array_equal(vars(after)[key], value)
        assert type(vars(after)[key]) is type(value)
    io.save(loaded, tmp_path / "again.mm")
    assert (tmp_path / "m.mm").read_bytes() == (tmp_path / "again.mm").read_bytes()


SEARCHES = {
    "SVCCV": lambda X, y: SVCCV([1, 10], [0.1], cv=2, scale="standard").fit(X, y),
    "SVCCV-minmax": lambda X, y: SVCCV([1], [0.1, 1], cv=2, scale="minmax").fit(X, y),
    "SVCCV-plain": lambda X, y: SVCCV([1], [1e-6], cv=2).fit(X, y),
    "SVCCV-probability": lambda X, y: SVCCV(
        [1], [0.1], cv=2, scale="standard", estimator=SVC(probability=True)
    ).fit(X, y),
    "NuSVCCV": lambda X, y: NuSVCCV([0.2], [0.1], cv=2, scale="minmax").fit(X, y),
    "SVRCV": lambda X, y: SVRCV([1], [0.1], [0.1], cv=2, scale="standard").fit(X, y * 1.0),
    "NuSVRCV": lambda X, y: NuSVRCV([0.5], [1], [0.1], cv=2, scale="standard").fit(X, y * 1.0),
    "OneClassSVMCV": lambda X, y: OneClassSVMCV([0.1], [0.1], cv=2, scale="standard").fit(
        X, np.where(y == 0, -1, 1)
    ),
    "LinearSVCCV": lambda X, y: LinearSVCCV([0.1, 1], cv=2, scale="standard").fit(X, y),
    "LinearSVRCV": lambda X, y: LinearSVRCV([1], [0.1], cv=2, scale="minmax").fit(X, y * 1.0),
    "GridSearchCV": lambda X, y: GridSearchCV(
        make_pipeline(StandardScaler(), SVC()), {"svc__C": [1, 10]}, cv=2
    ).fit(X, y),
    "search in a pipeline": lambda X, y: make_pipeline(
        MinMaxScaler(), SVCCV([1], [0.1], cv=2, scale="standard")
    ).fit(X, y),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_is_saved_as_what_it_chose(name, tmp_path):
    X, y = raw()
    search = SEARCHES[name](X, y)
    best = getattr(search, "best_estimator_", search)
    loaded = round_trip(best, tmp_path / "m.mm", points(X))
    assert_same_bits(loaded.predict(points(X)), search.predict(points(X)))
    saved = (tmp_path / "m.mm").read_bytes()
    io.save(search, tmp_path / "m.mm")
    assert (tmp_path / "m.mm").read_bytes() == saved
    assert type(loaded) is type(best)
    assert str(loaded) == str(best) or name == "search in a pipeline"


def test_sparse_and_named_features(tmp_path):
    pandas = needs.package("pandas")
    X, y = raw(binary)
    rows = sparse.csr_matrix(X)
    round_trip(SVCCV([1], [0.1], cv=2, scale="standard").fit(rows, y), tmp_path / "m", rows)
    round_trip(SVCCV([1], [0.1], cv=2, scale="minmax").fit(rows, y), tmp_path / "m", rows)
    frame = pandas.DataFrame(X, columns=[f"f{k}" for k in range(X.shape[1])])
    loaded = round_trip(
        SVCCV([1], [0.1], cv=2, scale="minmax").fit(frame, y), tmp_path / "m", frame
    )
    assert loaded.feature_names_in_.tolist() == list(frame)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[frame.columns[::-1]])
    model = make_pipeline(StandardScaler(), SVC()).set_output(transform="pandas").fit(frame, y)
    loaded = round_trip(model, tmp_path / "m", frame)
    assert type(loaded[:-1].transform(frame)) is pandas.DataFrame


def test_refused(tmp_path):
    X, y = raw()
    path = tmp_path / "m.mm"
    with pytest.raises(TypeError, match="PolynomialFeatures cannot be part of a model file"):
        io.save(make_pipeline(PolynomialFeatures(), SVC()).fit(X, y), path)
    with pytest.raises(TypeError, match="passthrough cannot be part"):
        io.save(Pipeline([("no", "passthrough"), ("svc", SVC())]).fit(X, y), path)
    with pytest.raises(TypeError, match="from_sklearn"):
        io.save(make_pipeline(StandardScaler(), TheirSVC()).fit(X, y), path)
    with pytest.raises(NotFittedError):
        io.save(SVCCV(), path)
    with pytest.raises(NotFittedError):
        io.save(make_pipeline(StandardScaler(), SVC()), path)
    scaler = StandardScaler().fit(X)
    scaler.scale_ = scaler.scale_[:-1]
    with pytest.raises(ValueError, match="scale_ is wrong"):
        io.save(Pipeline([("s", scaler), ("svc", SVC().fit(X, y))]), path)
    other = Pipeline([("s", StandardScaler().fit(X[:, :2])), ("svc", SVC().fit(X, y))])
    for write in (io.save, lambda model, _: io.to_c(model)):
        with pytest.raises(ValueError, match="features"):
            write(other, path)

    class Own(StandardScaler):
        """Does what it likes."""

    with pytest.raises(TypeError, match="Own cannot be part"):
        io.save(make_pipeline(Own(), SVC()).fit(X, y), path)
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def scaled(tmp_path_factory):
    X, y = raw(binary)
    path = tmp_path_factory.mktemp("scaled") / "m.mm"
    io.save(make_pipeline(MinMaxScaler(), SVC(gamma=0.1)).fit(X, y), path)
    return path.read_bytes()


def _set(header, *path):
    *way, last, value = path
    for key in way:
        header = header[key]
    header[last] = value


SCALER = ("model", "steps", 0, 1)
CRAFTED = {
    "other class": (*SCALER, "class", "FunctionTransformer"),
    "no class": (*SCALER, "class", None),
    "our class as a scaler": (*SCALER, "class", "SVC"),
    "an unknown parameter": (*SCALER, "parameters", {"func": "os.system"}),
    "a bad parameter": (*SCALER, "parameters", {"feature_range": "wide"}),
    "an unknown attribute": (*SCALER, "attributes", "evil_", 1),
    "a method": (*SCALER, "attributes", "transform", 1),
    "a dunder": (*SCALER, "attributes", "__class__", 1),
    "a wrong width": (*SCALER, "attributes", "n_features_in_", 2),
    "a huge width": (*SCALER, "attributes", "n_features_in_", 2**60),
    "a missing array": (*SCALER, "attributes", "scale_", {"array": 10**6}),
    "no scale": (*SCALER, "attributes", "scale_", None),
    "a scale of numbers": (*SCALER, "attributes", "scale_", [1.0]),
    "an output": (*SCALER, "attributes", "_sklearn_output_config", {"dict": [["transform", "x"]]}),
    "no steps": ("model", "steps", []),
    "steps of text": ("model", "steps", "steps"),
    "a dunder in a name": ("model", "steps", 0, 0, "a__b"),
    "a name twice": ("model", "steps", 0, 0, "svc"),
    "a number as a name": ("model", "steps", 0, 0, 3),
    "an unknown last step": ("model", "steps", 1, 1, "class", "LinearRegression"),
    "a scaler at the end": ("model", "steps", 1, 1, "class", "MinMaxScaler"),
    "a pipeline as a scaler": (*SCALER, "class", "Pipeline"),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_crafted_files_are_refused(name, scaled, tmp_path):
    header, members = parts(scaled)
    _set(header, *CRAFTED[name])
    assert refused(packed(header, members), tmp_path)


def test_crafted_numbers_are_refused(scaled, tmp_path):
    """Scales of 0, NaN and other lengths; and the unchanged file loads."""
    header, members = parts(scaled)
    assert not refused(packed(header, members), tmp_path, raw(binary)[0])
    place = header["model"]["steps"][0][1]["attributes"]["scale_"]["array"]
    width = header["arrays"][place][1][0]

    for values in (
        np.zeros(width),
        np.full(width, np.nan),
        np.ones(width - 1),
        np.ones((width, 1)),
    ):
        data = values.tobytes()
        header["arrays"][place] = ["<f8", list(values.shape), hashlib.sha256(data).hexdigest()]
        assert refused(packed(header, members | {f"arrays/{place}": data}), tmp_path)


def test_nested_pipelines_end(scaled, tmp_path):
    header, members = parts(scaled)
    for _ in range(150):
        header["model"] = {"class": "Pipeline", "steps": [["a", header["model"]]]}
    assert refused(packed(header, members), tmp_path)


# ---- exports -------------------------------------------------------------------------------------

EXPORTED = {
    **{name: (make, SVC, three) for name, make in SCALERS.items()},
    "two": (StandardScaler, lambda: SVC(gamma=0.1), binary),
    "linear": (StandardScaler, LinearSVC, three),
    "linear kernel": (MinMaxScaler, lambda: SVC(kernel="linear"), three),
    "poly": (MinMaxScaler, lambda: SVC(kernel="poly", gamma=1.0), binary),
    "laplacian": (MinMaxScaler, lambda: SVC(kernel="laplacian"), binary),
    "cosine": (StandardScaler, lambda: SVC(kernel="cosine"), binary),
    "regression": (StandardScaler, SVR, three),
    "one class": (StandardScaler, lambda: OneClassSVM(nu=0.2), three),
    "probability, two": (StandardScaler, lambda: SVC(probability=True), binary),
    "probability": (StandardScaler, lambda: SVC(C=10, probability=True), three),
    "probability, strings": (MinMaxScaler, lambda: SVC(probability=True, break_ties=True), three),
}
EXPORTED["probability, one class"] = (
    StandardScaler,
    lambda: OneClassSVM(nu=0.3, probability=True),
    three,
)
EXPORTED |= {
    "sigmoid, two": (StandardScaler, lambda: SVC(probability="sigmoid"), binary),
    "sigmoid": (StandardScaler, lambda: SVC(C=10, probability="sigmoid"), three),
    "isotonic, two": (StandardScaler, lambda: SVC(probability="isotonic"), binary),
    "isotonic": (StandardScaler, lambda: SVC(C=10, probability="isotonic"), three),
    "isotonic, rest": (
        MinMaxScaler,
        lambda: SVC(multiclass="ovr", probability="isotonic"),
        three,
    ),
    "rest": (StandardScaler, lambda: SVC(multiclass="ovr", probability=True), three),
    "linear, two": (StandardScaler, lambda: LinearSVC(probability=True), binary),
    "linear, three": (MinMaxScaler, lambda: LinearSVC(probability="isotonic"), three),
    "linear, together": (
        StandardScaler,
        lambda: LinearSVC(multi_class="crammer_singer", probability=True),
        three,
    ),
}
SOME = [name for name in EXPORTED if "-" not in name]


def exported(name):
    scaler, model, make = EXPORTED[name]
    X, y = raw(make)
    y = np.array(["ant", "bee", "cat"])[y] if "strings" in name else y
    return make_pipeline(scaler(), model()).fit(X, y), points(X)


def expected_pairs(model, X):
    """Values of the decision functions, of the pairs where there are some."""
    last = model[-1]
    if hasattr(last, "_decision_values") and hasattr(last, "classes_"):
        return last._decision_values(model[:-1].transform(X))
    values = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    return values.reshape(len(X), -1)


@pytest.mark.parametrize("name", EXPORTED)
def test_onnx(name, runtime):  # noqa: F811
    model, X = exported(name)
    found = run_onnx(runtime, model, X)
    if "value" in found:
        return assert_close(found["value"], model.predict(X), 1e-10)
    np.testing.assert_array_equal(found["label"], model.predict(X))
    assert_close(found["decision"], model.decision_function(X), 1e-10)
    assert ("probability" in found) is hasattr(model, "predict_proba")
    if "probability" in found:
        assert_close(found["probability"], model.predict_proba(X), 1e-10)
    return None


PROBABILITY = r"""
    double p[MAXMARGIN_CLASSES];
    maxmargin_probability(x, p);
    for (int c = 0; c < MAXMARGIN_CLASSES; c++) printf("%.17g ", p[c]);
"""


@needs.programs("cc", debian="gcc")
@pytest.mark.parametrize("name", SOME)
def test_c(name, tmp_path, monkeypatch):
    model, X = exported(name)
    with_p = hasattr(model, "predict_proba")
    if with_p:
        own = MAIN.replace("    maxmargin_decision", PROBABILITY + "    maxmargin_decision")
        monkeypatch.setattr("test_models_export.MAIN", own)
    words = run_c(io.to_c(model), c_format(model), X, tmp_path)
    numbers = np.array([line[:-1] for line in words], float)
    if with_p:
        expected = model.predict_proba(X)
        k = expected.shape[1]
        assert_close(numbers[:, :k], expected, 1e-10)
        numbers = numbers[:, k:]
    assert_close(numbers, expected_pairs(model, X), 1e-10)
    if name == "regression":
        assert_close(np.array([line[-1] for line in words], float), model.predict(X), 1e-10)
    else:
        assert [line[-1] for line in words] == [str(label) for label in model.predict(X).tolist()]


SCRIPT = """
const m = require("./m.js");
const X = JSON.parse(require("fs").readFileSync(0, "utf8"));
const all = (x) => [m.decision(x), m.predict(x), m.probability ? m.probability(x) : null];
console.log(JSON.stringify(X.map(all)));
"""


@needs.programs("node", debian="nodejs")
@pytest.mark.parametrize("name", SOME)
def test_javascript(name, tmp_path):
    model, X = exported(name)
    (tmp_path / "m.js").write_text(io.to_javascript(model))
    (tmp_path / "run.js").write_text(SCRIPT)
    done = subprocess.run(
        ["node", "run.js"],
        cwd=tmp_path,
        input=json.dumps(X.tolist()),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    values, labels, p = map(list, zip(*json.loads(done.stdout), strict=True))
    assert_close(np.array(values), expected_pairs(model, X), 1e-10)
    if name == "regression":
        assert_close(np.array(labels), model.predict(X), 1e-10)
    else:
        assert labels == model.predict(X).tolist()
    if hasattr(model, "predict_proba"):
        assert_close(np.array(p, float), model.predict_proba(X), 1e-10)
    else:
        assert set(p) == {None}


def contradicting():
    """A model many of whose probabilities would contradict its votes, and its points."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    y = rng.integers(0, 5, 150)
    model = SVC(C=100, gamma=2.0, probability=True).fit(X, y)
    record = model.model_
    model._probB = record.prob_b + rng.normal(size=len(record.prob_b))
    return model, rng.normal(size=(400, 2))


def test_probabilities_of_exports_agree_with_the_label(runtime, tmp_path):  # noqa: F811
    from maxmargin import calibration

    model, X = contradicting()
    values, record = model._decision_values(X), model.model_
    plain = calibration.pair_probabilities(values, record.prob_a, record.prob_b, 5)
    assert np.mean(model.classes_[plain.argmax(axis=1)] != model.predict(X)) > 0.1  # it matters
    p = run_onnx(runtime, model, X)["probability"]
    assert_close(p, model.predict_proba(X), 1e-12)
    np.testing.assert_array_equal(p.argmax(axis=1), model.predict(X))


@needs.programs("cc", debian="gcc")
def test_probabilities_in_c_agree_with_the_label(tmp_path, monkeypatch):
    model, X = contradicting()
    own = MAIN.replace("    maxmargin_decision", PROBABILITY + "    maxmargin_decision")
    monkeypatch.setattr("test_models_export.MAIN", own)
    words = run_c(io.to_c(model), "%lld", X, tmp_path)
    p = np.array([line[:5] for line in words], float)
    assert_close(p, model.predict_proba(X), 1e-12)
    np.testing.assert_array_equal(p.argmax(axis=1), model.predict(X))


# ---- formats without scaling ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(),
        LinearSVC(fit_intercept=False),
        LinearSVCCV([0.1, 1]),
        LinearSVR(),
        LinearOneClassSVM(nu=0.2),
    ],
    ids=str,
)
@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler(), RobustScaler()], ids=str)
def test_liblinear_takes_the_scaling_into_the_weights(model, scaler, tmp_path):
    X, y = raw()
    if isinstance(model, LinearOneClassSVM):  # centred samples have no linear machine
        scaler = MinMaxScaler((1, 2))
    fitted = make_pipeline(scaler, model).fit(X, y)
    io.save_liblinear(fitted, tmp_path / "m.model")
    loaded = io.load(tmp_path / "m.model")
    new = points(X)
    if hasattr(fitted, "decision_function"):
        assert_close(loaded.decision_function(new), fitted.decision_function(new), 1e-9)
    np.testing.assert_allclose(loaded.predict(new), fitted.predict(new), rtol=1e-9)


def test_what_folding_rounds():
    """In exact arithmetic the weights of scaled and of raw features give the same values."""
    from fractions import Fraction

    X, y = raw(binary)
    fitted = make_pipeline(StandardScaler(), LinearSVC()).fit(X, y)
    _, found = linear_without_scaling(fitted)
    weights, b = fitted[-1].coef_[0], float(fitted[-1].intercept_[0])
    scaler = fitted[0]
    for x in points(X)[:5]:
        terms = [
            Fraction(w) * (Fraction(v) - Fraction(m)) / Fraction(s)
            for w, v, m, s in zip(weights, x, scaler.mean_, scaler.scale_, strict=True)
        ]
        exact = sum(terms) + Fraction(b)
        ours = sum(Fraction(w) * Fraction(v) for w, v in zip(found.coef[0], x, strict=True))
        ours += Fraction(float(found.intercept[0]))
        size = np.abs(weights * scaler.mean_ / scaler.scale_).sum() + abs(b)
        size += sum(abs(float(t)) for t in terms)
        assert abs(float(ours - exact)) <= 16 * np.finfo(float).eps * size


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix])
def test_libsvm_takes_the_scaling_of_a_linear_kernel_in(wrap, tmp_path):
    X, y = raw()
    scaler = StandardScaler() if wrap is np.asarray else MaxAbsScaler()
    fitted = make_pipeline(scaler, SVC(kernel="linear", probability="sigmoid")).fit(wrap(X), y)
    io.save_libsvm(fitted, tmp_path / "m.model")
    loaded = io.load(tmp_path / "m.model")
    new = points(X)
    assert_close(loaded.decision_function(new), fitted.decision_function(new), 1e-9)
    assert_close(loaded.predict_proba(new), fitted.predict_proba(new), 1e-9)


def test_formats_without_scaling_refuse_the_rest(tmp_path):
    X, y = raw()
    search = SVCCV([1], [0.1], cv=2, scale="standard").fit(X, y)
    with pytest.raises(ValueError, match=r"hold no scaling.*\.mm file.*maxmargin scale --save"):
        io.save_libsvm(search, tmp_path / "m.model")
    clipped = make_pipeline(MinMaxScaler(clip=True), LinearSVC()).fit(X, y)
    with pytest.raises(ValueError, match="clip=True is not linear"):
        io.save_liblinear(clipped, tmp_path / "m.model")
    assert not list(tmp_path.iterdir())


def test_scikit_learn_both_ways():
    X, y = raw()
    theirs = make_pipeline(StandardScaler(), TheirSVC()).fit(X, y)
    ours = io.from_sklearn(theirs)
    assert type(ours[-1]) is SVC
    assert_close(ours.decision_function(X), theirs.decision_function(X), 1e-10)
    back = io.to_sklearn(SVCCV([1], [0.1], cv=2, scale="minmax").fit(X, y))
    assert type(back[-1]) is TheirSVC
    back.predict(X)
