"""Files of our own format: what is loaded is what was saved, bit for bit.

A process killed while saving leaves the old file or the new.
"""

import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import fields

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVC as TheirSVC

import needs
from helpers import assert_same_bits, binary, child_environment, three
from maxmargin import SVC, LinearSVC, LinearSVCCV, LinearSVR, LinearSVRCV, NormaSVC, PegasosSVC, io
from maxmargin.io import archive
from maxmargin.io.model import _encode
from maxmargin.kernel.model import KernelModel
from maxmargin.linear.model import LinearModel
from maxmargin.online.model import OnlineModel
from maxmargin.structured.model import PlaneModel
from models import ALL, outputs


def same(a, b):
    """Whether two attribute values are equal, whatever they are."""
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and (a == b).all()
    if hasattr(a, "toarray"):
        return (
            type(a) is type(b)
            and all(
                same(getattr(a, name), getattr(b, name)) for name in ("data", "indices", "indptr")
            )
            and a.shape == b.shape
        )
    if isinstance(a, KernelModel | LinearModel | OnlineModel | PlaneModel):
        return all(same(getattr(a, field.name), getattr(b, field.name)) for field in fields(a))
    if isinstance(a, tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if hasattr(a, "get_params"):
        return (
            type(a) is type(b)
            and vars(a).keys() == vars(b).keys()
            and all(same(vars(a)[k], vars(b)[k]) for k in vars(a))
        )
    return a == b or (a != a and b != b)


@pytest.mark.parametrize("name", ALL)
def test_round_trip(name, tmp_path):
    model, X = ALL[name]()
    io.save(model, tmp_path / "a.mm")
    loaded = io.load(tmp_path / "a.mm")
    assert type(loaded) is type(model)
    assert vars(loaded).keys() == vars(model).keys()
    for key, value in vars(model).items():
        assert same(value, vars(loaded)[key]), key
    for a, b in zip(outputs(model, X), outputs(loaded, X), strict=True):
        assert_same_bits(a, b)
    io.save(loaded, tmp_path / "b.mm")
    assert (tmp_path / "a.mm").read_bytes() == (tmp_path / "b.mm").read_bytes()


def test_a_search_is_saved_as_the_model_that_it_chose(tmp_path):
    X, y = three(90)
    for search, kind in ((LinearSVCCV([0.1, 1]), LinearSVC), (LinearSVRCV([1], [0.1]), LinearSVR)):
        io.save(search.fit(X, y), tmp_path / "a.mm")
        loaded = io.load(tmp_path / "a.mm")
        assert type(loaded) is kind
        assert_same_bits(loaded.predict(X), search.predict(X))


def test_searches_in_files_of_earlier_versions(tmp_path):
    """They held the search, with its model inside."""
    X, y = three(90)
    model, arrays = LinearSVC(C=0.5).fit(X, y), archive.Arrays()
    inner = _encode(model, arrays)
    old = {
        "class": "LinearSVCCV",
        "parameters": {"Cs": [0.5, 1.0], "verbose": 0},
        "attributes": {"C_": 0.5, "best_score_": 0.9, "estimator_": {"model": inner}},
    }
    archive.write(tmp_path / "a.mm", old, arrays)
    loaded = io.load(tmp_path / "a.mm")
    assert type(loaded) is LinearSVC
    assert_same_bits(loaded.decision_function(X), model.decision_function(X))
    for odd in ({"model": {**inner, "attributes": {}}}, 3, {"dict": []}):
        archive.write(tmp_path / "b.mm", {**old, "attributes": {"estimator_": odd}}, arrays)
        with pytest.raises(ValueError, match="holds no fitted model"):
            io.load(tmp_path / "b.mm")


def test_loaded_models_go_on(tmp_path):
    X, y = three(90)
    path = tmp_path / "m.mm"
    for model in (NormaSVC(random_state=0), PegasosSVC(kernel="rbf", random_state=0)):
        model.partial_fit(X[:50], y[:50], classes=[0, 1, 2])
        io.save(model, path)
        loaded = io.load(path)
        for each in (model, loaded):
            each.partial_fit(X[50:], y[50:])
        assert_same_bits(model.decision_function(X), loaded.decision_function(X))
    model = SVC(warm_start=True).fit(X, y)
    io.save(model, path)
    loaded = io.load(path)
    assert loaded.certify(X, y).status == "optimal"
    assert_same_bits(
        model.set_params(C=2).fit(X, y).decision_function(X),
        loaded.set_params(C=2).fit(X, y).decision_function(X),
    )
    clone(loaded)


def test_names_of_features(tmp_path):
    pandas = needs.package("pandas")
    X, y = binary()
    frame = pandas.DataFrame(X, columns=["a", "b", "ç", "d"])
    io.save(LinearSVC().fit(frame, y), tmp_path / "m")
    loaded = io.load(tmp_path / "m")
    assert loaded.feature_names_in_.tolist() == ["a", "b", "ç", "d"]
    loaded.predict(frame)


def test_refused(tmp_path):
    X, y = binary()
    path = tmp_path / "m.mm"

    def product(A, B):
        return A @ B.T

    with pytest.raises(ValueError, match="Python function"):
        io.save(SVC(kernel=product).fit(X, y), path)
    with pytest.raises(ValueError, match="random_state"):
        io.save(SVC(random_state=np.random.RandomState(0)).fit(X, y), path)
    with pytest.raises(TypeError, match="not an estimator of maxmargin"):
        io.save(TheirSVC().fit(X, y), path)
    with pytest.raises(NotFittedError):
        io.save(SVC(), path)
    model = SVC().fit(X, y)
    model._dual_coef_ = model._dual_coef_[:, :-1]
    with pytest.raises(ValueError, match="altered"):
        io.save(model, path)
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_what_the_documentation_says(tmp_path):
    X, y = binary()
    io.save(SVC().fit(X, y), tmp_path / "m.mm")
    with zipfile.ZipFile(tmp_path / "m.mm") as file:
        names = file.namelist()
        header = json.loads(file.read("header.json"))
        assert all(info.compress_type == zipfile.ZIP_STORED for info in file.infolist())
    assert header["version"] == 2
    assert header["model"]["class"] == "SVC"
    assert names == ["header.json", *(f"arrays/{k}" for k in range(len(header["arrays"])))]


def test_other_numbers_survive(tmp_path):
    X, y = binary()
    model = SVC(C=np.float32(0.1), class_weight={0: 1, 1: np.float64(2.0)}, time_limit=1e9).fit(
        X, y
    )
    model.certificate_ = model.certificate_.__class__(
        "max_iter", np.inf, -np.inf, np.nan, 5e-324, -0.0, 1.0, 1e308
    )
    io.save(model, tmp_path / "m.mm")
    loaded = io.load(tmp_path / "m.mm")
    assert type(loaded.C) is np.float32
    assert loaded.C == model.C
    assert loaded.class_weight == model.class_weight
    assert str(loaded.certificate_) == str(model.certificate_)
    assert np.signbit(loaded.certificate_.kkt_violation)


def test_pickles_and_files_agree(tmp_path):
    for name in ("SVC-three", "LinearSVC", "NormaSVC"):
        model, X = ALL[name]()
        io.save(model, tmp_path / "m.mm")
        assert_same_bits(
            pickle.loads(pickle.dumps(model)).predict(X), io.load(tmp_path / "m.mm").predict(X)
        )


@pytest.mark.parametrize("save", [io.save, io.save_libsvm])
def test_a_full_disk_leaves_the_old_file(save, tmp_path, monkeypatch):
    X, y = binary()
    path = tmp_path / "m"
    save(SVC(C=1.0).fit(X, y), path)
    before = path.read_bytes()

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save(SVC(C=10.0).fit(X, y), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


SAVES = int(os.environ.get("MAXMARGIN_SAVES", "200"))
CHILD = """
import os, sys
from maxmargin import SVC, io
from helpers import three
X, y = three(300)
models = [SVC(C=C).fit(X, y) for C in (1.0, 10.0)]
print("ready", flush=True)
for line in sys.stdin:
    child = os.fork()
    while child == 0:
        for model in models:
            io.save(model, sys.argv[1])
    print(child, flush=True)
    os.waitpid(child, 0)
    print("gone", flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and kill -9")
def test_killed_while_saving(tmp_path):
    """pylearn2#1079, gama#35, joblib#1319.

    Killed at random moments, the file is always one of the two models, whole.
    """
    X, y = three(300)
    path = tmp_path / "m.mm"
    expected = []
    for C in (1.0, 10.0):
        io.save(SVC(C=C).fit(X, y), path)
        expected.append(path.read_bytes())
    draw, seen = random.Random(0), set()
    command = [sys.executable, "-c", CHILD, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=child_environment(), text=True
    ) as server:
        assert server.stdout.readline() == "ready\n"
        for _ in range(SAVES):
            print("go", file=server.stdin, flush=True)
            child = int(server.stdout.readline())
            time.sleep(draw.uniform(0.0, 0.05))
            os.kill(child, signal.SIGKILL)
            assert server.stdout.readline() == "gone\n"
            assert path.read_bytes() in expected
            seen.add(expected.index(path.read_bytes()))
            io.load(path)
        server.stdin.close()
    assert seen == {0, 1}  # the children did save


def test_what_is_no_model_of_ours_is_refused_with_a_remedy(tmp_path):
    X, y = np.eye(4), [0, 1, 0, 1]
    others = {
        "the last step of the pipeline here": make_pipeline(PolynomialFeatures(), SVC()),
        "from_sklearn": TheirSVC(),
        "can be saved": 4,
    }
    for remedy, model in others.items():
        with pytest.raises(TypeError, match=remedy):
            io.save(model.fit(X, y) if hasattr(model, "fit") else model, tmp_path / "m.mm")
    assert not list(tmp_path.iterdir())
