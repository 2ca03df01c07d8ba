"""Right answers are accepted, wrong ones are not, and no message gives the answer away."""

import numpy as np
import pytest

from maxmargin import textbook
from maxmargin.textbook import exercises


def hinge(t, y):
    return max(0, 1 - t * y)


def bounds(y_i, y_j, a_i, a_j, C):
    if y_i == y_j:
        return max(0, a_i + a_j - C), min(C, a_i + a_j)
    return max(0, a_j - a_i), min(C, C + a_j - a_i)


def new_a_j(a_j, y_j, E_i, E_j, eta, L, H):
    if eta >= 0:
        return a_j
    return min(H, max(L, a_j - y_j * (E_i - E_j) / eta))


def place(a, C, xi):
    if a == 0:
        return "outside"
    if a < C:
        return "on"
    return "inside" if xi <= 1 else "wrong side"


def bias(K, y, a, C):
    free = (a > 0) & (a < C)
    return np.mean(y[free] - K[free] @ (a * y)) if free.any() else None


def trained(X, y, C, tol=1e-3, shift=0.0):
    model, _ = textbook.smo(X, y, C, tol=tol, trace=0)
    return model.alpha, model.b + shift


def converged(a, m, C):
    return (a == 0 and m < 1) or (a == C and m > 1) or (0 < a < C and m != 1)


def widest(planes, X, y):
    return max(range(3), key=lambda k: margin(*planes[k], X, y))


def margin(w, b, X, y):
    return min(y * (X @ w + b)) / np.linalg.norm(w)


def touching(w, X, y):
    inside = y * (X @ w) < 1
    return [inside.sum(), *-(y[inside] @ X[inside])]


def best_path(emit, follow):
    best = emit[0]
    for row in emit[1:]:
        best = row + (best[:, None] + follow).max(axis=0)
    return best.max()


def swapped(scores, y):
    return sum(y[i] > y[j] and scores[i] < scores[j] for i in range(7) for j in range(7))


ANSWERS = {
    "converged": (converged, lambda a, m, C: m < 1),
    "bounds": (bounds, lambda y_i, y_j, a_i, a_j, C: (0.0, C)),
    "eta": (lambda x, z: 2 * x @ z - x @ x - z @ z, lambda x, z: (x - z) @ (x - z)),
    "a_j": (new_a_j, lambda a_j, y_j, E_i, E_j, eta, L, H: a_j - y_j * (E_i - E_j) / (eta or 1)),
    "a_i": (
        lambda a, s, t, old, new: a - s * t * (new - old),
        lambda a, s, t, old, new: a + s * t * (new - old),
    ),
    "smo": (trained, lambda X, y, C: trained(X, y, C, shift=0.3)),
    "many planes": ([([1, 0], 0), ([1, 0.5], 0)], [([1, 0], 0), ([2, 0], 0)]),
    "prefer": (widest, lambda planes, X, y: 0),
    "projection": (
        lambda mu, nu: mu @ nu / np.linalg.norm(mu),
        lambda mu, nu: abs(mu @ nu) / np.linalg.norm(mu),
    ),
    "distance": (
        lambda w, b, x: abs(w @ x + b) / np.linalg.norm(w),
        lambda w, b, x: abs(w @ x + b),
    ),
    "margin": (margin, lambda w, b, X, y: min(abs(X @ w + b)) / np.linalg.norm(w)),
    "slack": (hinge, lambda t, y: abs(t - y)),
    "three cases": (place, lambda a, C, xi: "outside" if a == 0 else "on"),
    "bias": (bias, lambda K, y, a, C: np.mean(y[a > 0] - K[a > 0] @ (a * y))),
    "exclusive or": (lambda X: np.c_[X, X[:, 0] * X[:, 1]], lambda X: X**2),
    "why no kernel": (lambda m, n: (m**2, m * n), lambda m, n: (m * n, m * n)),
    "plane": (touching, lambda w, X, y: [len(y), *-(y @ X)]),
    "switch": (lambda f, g: f < 1 and g > -1 and f - g < 0, lambda f, g: f - g < 0),
    "best path": (best_path, lambda emit, follow: emit.max(axis=1).sum()),
    "swapped pairs": (swapped, lambda scores, y: np.sum(np.diff(scores[np.argsort(y)]) < 0)),
}


@pytest.mark.parametrize("name", exercises.EXERCISES)
def test_right_and_wrong_answers(name):
    right, wrong = ANSWERS[name]
    found = exercises.check(name, right)
    assert found.right, found.message
    found = exercises.check(name, wrong)
    assert not found.right
    assert len(str(found)) > 20
    assert exercises.task(name).count("\n") >= 1


def test_messages_do_not_give_the_answer_away():
    """The number that the wrong answer should have been is not in the message."""
    seen = []

    def wrong(t, y):
        seen.append(hinge(t, y))
        return -1.0

    message = exercises.check("slack", wrong).message
    assert "too small" in message
    assert f"{seen[-1]:.4g}" not in message.replace("y = ", "")


@pytest.mark.parametrize(
    ("name", "answer", "message"),
    [
        ("slack", 3, "must be a function of t, y"),
        ("slack", lambda t: t, "raised TypeError"),
        ("slack", lambda t, y: "much", "not made of numbers"),
        ("slack", lambda t, y: None, "None is wrong"),
        ("bounds", lambda *case: 1.0, "shape"),
        ("many planes", 3, "two pairs"),
        ("many planes", [([1, 0], 0)], "has 1 planes"),
        ("many planes", [([1, 0], 0), ([0, 1], 0)], "Plane 2 does not separate"),
        ("exclusive or", None, "must be a function"),
        ("exclusive or", lambda X: X, "not separable"),
        ("smo", "smo", "must be a function"),
        ("smo", lambda X, y, C: (2 * C * np.ones(30), 0), "outside"),
        ("smo", lambda X, y, C: (np.full(30, C), 0.0), "do not balance"),
        ("smo", lambda X, y, C: (np.zeros(30), 0.0), "the multipliers"),
        ("smo", lambda X, y, C: trained(X, y, C, shift=1.0), "look at b"),
        ("smo", lambda X, y, C: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_what_is_wrong_is_said(name, answer, message):
    found = exercises.check(name, answer)
    assert not found.right
    assert message in found.message


def test_unknown_exercises_are_named():
    with pytest.raises(ValueError, match="there are converged, bounds"):
        exercises.task("homework")
