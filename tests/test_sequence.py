"""SequenceSVM: inference against brute force, training against a quadratic program, texts."""

import pickle
import re
from itertools import pairwise, product

import clarabel
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV

from maxmargin import LinearSVC, SequenceSVM, StructuredSVM, io
from maxmargin.linear.designs import ArrayDesign
from maxmargin.structured import Chain
from maxmargin.structured.chain import (
    ChainLoss,
    Weights,
    label_counts,
    layout_of,
    max_marginals,
    viterbi,
)
from maxmargin.structured.joint_features import JointSpace
from maxmargin.structured.spaces import LinearSpace
from texts import ALICE


def drawn(n=12, k=3, d=2, seed=0, longest=4):
    """Sequences of random lengths, one of them a single token, with labels that they suggest."""
    rng = np.random.default_rng(seed)
    lengths = np.append(1, rng.integers(1, longest + 1, n - 1))
    y = [rng.integers(0, k, length) for length in lengths]
    return [rng.normal(size=(len(one), d)) + np.eye(k, d)[one] for one in y], y


def path_score(e, weights, path):
    """The score of one labelling, term by term."""
    steps = sum(weights.step[a, b] for a, b in pairwise(path))
    own = sum(row[a] for row, a in zip(e, path, strict=True))
    return own + steps + weights.begin[path[0]] + weights.end[path[-1]]


def test_viterbi_and_max_marginals_are_brute_force():
    rng = np.random.default_rng(0)
    k, lengths = 3, np.array([4, 1, 5, 2, 5, 1])
    layout = layout_of(lengths)
    ends = np.cumsum(lengths)
    for _ in range(10):
        e = rng.normal(size=(ends[-1], k))
        weights = Weights(rng.normal(size=k), rng.normal(size=(k, k)), rng.normal(size=k))
        found, marginals = np.empty(ends[-1], int), np.empty_like(e)
        found[layout.order] = viterbi(e[layout.order], weights, layout)
        marginals[layout.order] = max_marginals(e[layout.order], weights, layout)
        for i, end in enumerate(ends):
            own = slice(end - lengths[i], end)
            paths = list(product(range(k), repeat=lengths[i]))
            values = [path_score(e[own], weights, path) for path in paths]
            assert tuple(found[own]) == paths[int(np.argmax(values))]
            for t, a in product(range(lengths[i]), range(k)):
                best = max(v for v, path in zip(values, paths, strict=True) if path[t] == a)
                assert marginals[own][t, a] == pytest.approx(best)


def test_tokens_lie_by_position():
    layout = layout_of(np.array([2, 3, 1]))
    assert layout.order.tolist() == [2, 0, 5, 3, 1, 4]
    assert layout.sequence.tolist() == [1, 0, 2, 1, 0, 1]
    assert layout.last.tolist() == [5, 4, 2]
    label = np.array([0, 1, 1, 0, 0, 1])  # by position: 0 0 1, 1 0, 1
    counts = label_counts(label, np.ones(6), layout, 2)
    assert counts.begin.tolist() == [1, 2]
    assert counts.end.tolist() == [1, 2]
    assert counts.step.tolist() == [[1, 1], [1, 0]]


def test_the_loss_is_the_brute_force_maximum():
    rng = np.random.default_rng(1)
    X, y = drawn()
    weight, k, task = rng.random(len(X)) + 0.5, 3, Chain(3)
    layout = layout_of(np.array([len(one) for one in y]))
    space = JointSpace(LinearSpace(ArrayDesign(np.concatenate(X)), k), k * k + 2 * k)
    loss = ChainLoss(np.concatenate(y)[layout.order], weight[layout.sequence], layout, k)
    for _ in range(5):
        w, v = rng.normal(size=(2, space.size))
        risk = 0.0
        for x, true, c in zip(X, y, weight, strict=True):
            own = w @ task.joint_feature(x, true)
            others = product(range(k), repeat=len(true))
            values = [task.loss(true, z) + w @ task.joint_feature(x, z) - own for z in others]
            risk += c * max(values)
        s = space.scores(w)
        tangent = loss(s)
        assert tangent.offset + tangent.t @ s == pytest.approx(risk)
        there = space.scores(v)
        other = loss(there)
        assert tangent.offset + tangent.t @ there <= other.offset + other.t @ there + 1e-9
        assert space.element(tangent.t) @ v == pytest.approx(tangent.t @ there)


def by_qp(X, y, k, C):
    """The objective with a slack for each sequence and a constraint for each labelling of it."""
    task, rows, bounds = Chain(k), [], []
    for i, (x, true) in enumerate(zip(X, y, strict=True)):
        own = task.joint_feature(x, true)
        for z in product(range(k), repeat=len(true)):
            slack = np.zeros(len(X))
            slack[i] = -1.0
            rows.append(np.append(task.joint_feature(x, z) - own, slack))
            bounds.append(-task.loss(true, z))
    d = len(own)
    P = sparse.diags_array(np.append(np.ones(d), np.zeros(len(X)))).tocsc()
    q = np.append(np.zeros(d), C * np.ones(len(X)))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cones = [clarabel.NonnegativeConeT(len(rows))]
    solver = clarabel.DefaultSolver(
        P, q, sparse.csc_matrix(np.array(rows)), np.array(bounds), cones, settings
    )
    return solver.solve().obj_val


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_training_is_the_quadratic_program_of_all_labellings(C):
    X, y = drawn()
    best = by_qp(X, y, 3, C)
    fast = SequenceSVM(C=C).fit(X, y).certificate_
    assert fast.status == "optimal"
    assert fast.primal == pytest.approx(best, rel=1e-7)  # small data are solved to rounding
    slow = StructuredSVM(Chain(3), C=C, tol=1e-7).fit(X, y).certificate_
    assert slow.primal == pytest.approx(best, rel=1e-6)


def test_weights_are_copies_and_order_does_not_matter():
    X, y = drawn(20)
    weight = np.arange(20) % 3
    few = SequenceSVM().fit(X, y, weight)
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(20), weight))
    many = SequenceSVM().fit([X[i] for i in rows], [y[i] for i in rows])
    same = SequenceSVM().fit([sparse.csr_matrix(x) for x in X], y, weight)
    words = SequenceSVM().fit(X, [np.array(["a", "b", "c"])[one] for one in y], weight)
    for other in (many, same, words):
        np.testing.assert_allclose(other.model_.weights, few.model_.weights, atol=1e-6)
    assert words.predict(X[:1])[0].dtype.kind == "U"
    assert few.score(X, y, weight) == pytest.approx(
        many.score([X[i] for i in rows], [y[i] for i in rows])
    )


def test_decision_values_are_those_of_the_prediction():
    X, y = drawn(30, longest=8)
    model = SequenceSVM().fit(X, y)
    values, found = model.decision_function(X), model.predict(X)
    for i, x in enumerate(X):
        assert values[i].shape == (len(x), 3)
        np.testing.assert_array_equal(values[i].argmax(axis=1), found[i])
        weights = Weights(model.start_, model.transitions_, model.end_)
        best = path_score(x @ model.coef_.T, weights, found[i])
        np.testing.assert_allclose(values[i].max(axis=1), best)
    np.testing.assert_array_equal(model.predict(X[3:5])[1], found[4])


# ---- corpora -------------------------------------------------------------------------------------


def hidden_markov(n, k=5, words=25, seed=0):
    """Sentences of a hidden Markov model: states follow each other, and each emits words."""
    rng = np.random.default_rng(seed)
    follow = (0.8 * np.roll(np.eye(k), 1, axis=1) + 0.2 / k).cumsum(axis=1)
    emit = rng.dirichlet(np.full(words, 1.0), k).cumsum(axis=1)
    X, y = [], []
    for _ in range(n):
        state, states, seen = int(rng.integers(k)), [], []
        for _ in range(rng.integers(5, 20)):
            states.append(state)
            seen.append(min(int(np.searchsorted(emit[state], rng.random())), words - 1))
            state = min(int(np.searchsorted(follow[state], rng.random())), k - 1)
        X.append(sparse.csr_matrix(np.eye(words)[seen]))
        y.append(np.array(states))
    return X, y


def beats_independent(X, y, train, model, margin):
    """Whether a chain is better than a classifier of single tokens on the sequences left out."""
    model.fit(X[:train], y[:train])
    assert model.certificate_.status == "optimal"
    assert model.certificate_.relative_gap <= model.tol
    assert model.certify(X[:train], y[:train]).status == "optimal"
    tokens, labels = sparse.vstack(X[:train]), np.concatenate(y[:train])
    others = sparse.vstack(X[train:]), np.concatenate(y[train:])
    best = max(LinearSVC(C=C).fit(tokens, labels).score(*others) for C in (0.1, 1.0))
    assert model.score(X[train:], y[train:]) > best + margin


def test_a_chain_beats_independent_labels_on_a_hidden_markov_model():
    X, y = hidden_markov(300)
    beats_independent(X, y, 200, SequenceSVM(tol=1e-2), 0.1)


KEYS = dict(zip("abcdefghijklmnopqrstuvwxyz ", "222333444555666777788899990", strict=True))


def keyed(width):
    """Sentences typed on the keys of a telephone, 2 for a, b and c: the labels are the letters.

    The features of a token are its key and those of ``width`` neighbours on each side.
    """
    sentences = re.split(r"[.!?;:,()]", ALICE.replace("'", "").lower())
    sentences = [re.sub("[^a-z]+", " ", one).strip() for one in sentences]
    X, y = [], []
    for one in (one for one in sentences if len(one) > 5):
        keys = np.eye(10)[[int(KEYS[letter]) for letter in one]]
        padded = np.pad(keys, ((width, width), (0, 0)))
        near = [padded[k : k + len(one)] for k in range(2 * width + 1)]
        X.append(sparse.csr_matrix(np.hstack(near)))
        y.append(np.array(list(one)))
    order = np.argsort(np.arange(len(X)) % 3 == 0, kind="stable")  # every third one is left out
    return [X[i] for i in order], [y[i] for i in order]


@pytest.mark.parametrize(("width", "C", "margin"), [(0, 0.1, 0.08), (2, 1.0, 0.005)])
def test_a_chain_reads_a_text_from_telephone_keys(width, C, margin):
    X, y = keyed(width)
    model = SequenceSVM(C=C, tol=2e-2)
    beats_independent(X, y, 2 * len(X) // 3, model, margin)
    t, h = np.searchsorted(model.classes_, ["t", "h"])
    assert model.transitions_[t, h] > model.transitions_[t].mean()


# ---- the estimator -------------------------------------------------------------------------------


def test_limits_and_warm_starts():
    X, y = drawn(40, seed=3)
    model = SequenceSVM(max_iter=3, warm_start=True, C=10.0)
    with pytest.warns(ConvergenceWarning, match="SequenceSVM failed to converge.*max_iter"):
        model.fit(X, y)
    first = model.certificate_.primal
    assert model.certify(X, y).status == "max_iter"
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        SequenceSVM(time_limit=0).fit(X, y)
    model.set_params(max_iter=-1).fit(X, y)
    assert model.certificate_.primal < first
    fresh = SequenceSVM(C=10.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, fresh.coef_, atol=1e-5)


def test_progress_is_shown(capsys, monkeypatch):
    from maxmargin import monitor

    monkeypatch.setattr(monitor, "SETTINGS", monitor.SETTINGS._replace(report_every=0.0))
    SequenceSVM(verbose=1).fit(*drawn())
    assert "SequenceSVM: 1 planes, objective" in capsys.readouterr().err


def test_certify_finds_other_data():
    X, y = drawn(20)
    model = SequenceSVM().fit(X, y)
    assert model.certify(X, y).status == "optimal"
    assert model.certify(X, [2 - one for one in y]).status == "refuted"
    assert model.certify([3 * x for x in X], y).status == "refuted"
    with pytest.raises(ValueError, match="other labels"):
        model.certify(X, [one + 1 for one in y])


def test_copies_and_files_keep_the_model(tmp_path):
    X, y = drawn()
    model = SequenceSVM(C=2.0).fit(X, y)
    assert clone(model).get_params() == model.get_params()
    io.save(model, tmp_path / "model.mm")
    for other in (io.load(tmp_path / "model.mm"), pickle.loads(pickle.dumps(model))):
        for a, b in zip(other.predict(X), model.predict(X), strict=True):
            np.testing.assert_array_equal(a, b)
        assert other.certify(X, y).status == "optimal"
    tags = model.__sklearn_tags__()
    assert not tags.input_tags.two_d_array
    assert tags.input_tags.sparse


def test_other_formats_refuse_it(tmp_path):
    model = SequenceSVM().fit(*drawn())
    for write in (io.save_libsvm, io.save_liblinear):
        with pytest.raises(TypeError, match="SequenceSVM"):
            write(model, tmp_path / "model")
    with pytest.raises(TypeError, match="SequenceSVM is not an estimator of maxmargin whose"):
        io.to_c(model)


def test_parameters_are_chosen_by_grid_search():
    X, y = drawn(30)
    search = GridSearchCV(SequenceSVM(), {"C": [0.1, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 1 / 3


def test_input_is_not_modified():
    X, y = drawn()
    before = [x.copy() for x in X], [one.copy() for one in y]
    SequenceSVM().fit(X, y).decision_function(X)
    for a, b in zip(X + y, before[0] + before[1], strict=True):
        np.testing.assert_array_equal(a, b)


X, Y = drawn(6)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (X[0], Y, r"X is one matrix of shape .* use \[X\]"),
        ([], [], "X is empty: at least one sequence is needed"),
        (7, Y, "X must be a list of matrices, got int"),
        ([*X[:5], X[5][:, :1]], Y, "sequence 5 of X has 1 features, but 2 are expected"),
        ([*X[:5], X[5][:, 0]], Y, "sequence 5 of X has 1 dimensions, but must be a matrix"),
        ([*X[:5], np.full((3, 2), np.nan)], Y, "sequence 5 of X contains NaN"),
        ([*X[:5], np.empty((0, 2))], Y, "sequence 5 of X is empty: leave it out"),
        (X, Y[:5], "X has 6 sequences, but y has 5"),
        (X, [*Y[:5], [0] * 9], r"sequence 5: X has \d tokens, but y has the shape \(9,\)"),
        (X, [np.zeros(len(one), int) for one in Y], "number of classes has to be greater than one"),
        (X, [0, 1, 0, 1, 0, 1], r"sequence 0: .*shape \(\)"),
        (X, 3, "y must be a list of sequences, got int"),
    ],
)
def test_bad_sequences_are_named(X, y, message):
    with pytest.raises(ValueError, match=message):
        SequenceSVM().fit(X, y)


def test_bad_use_is_named():
    with pytest.raises(NotFittedError):
        SequenceSVM().predict(X)
    model = SequenceSVM().fit(X, Y)
    with pytest.raises(ValueError, match="sequence 0 of X has 3 features, but 2 are expected"):
        model.predict([np.ones((4, 3))])
    with pytest.raises(ValueError, match="negative values"):
        SequenceSVM().fit(X, Y, np.r_[-1.0, np.ones(5)])
    with pytest.raises(ValueError, match="'C' parameter"):
        SequenceSVM(C=-1).fit(X, Y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="NaN"):
        model.fit([np.full((2, 2), np.nan)], [[0, 1]])
    np.testing.assert_array_equal(model.coef_, before)  # a failed fit changes nothing
