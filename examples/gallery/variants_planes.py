"""The rest of the family: cutting planes, chains, ranking."""

import numpy as np
from strokes import arrow, square

from maxmargin import textbook
from maxmargin.plots.style import CLASS_COLOURS, DASHES, INK, PALE, figure
from maxmargin.textbook.cutting_planes import plane


def growing_lower_bound():
    """Cutting planes: a lower bound that grows

    $$P(w) = \\tfrac12 |w|^2 + C R(w),\\qquad R(w) \\ge \\mathrm{offset}_j +
    \\mathrm{slope}_j^\\top w$$

    Joachims (2006). Left the risk $R$ of thirty points with one feature and the planes that touch
    it, in their order. Middle the objective $P$ and what the planes know of it: each curve is
    minimised at its dot, where the next plane touches. Right $P(w)$ and the lower bound $D$ for
    200 points with 20 features.
    """
    random = np.random.default_rng(3)
    t, C = np.repeat([-1.0, 1.0], 15), 0.05
    x = 0.7 * t[:, None] + random.normal(size=(30, 1))
    _, trace = textbook.cutting_planes(x, t, C=C, tol=1e-2)
    grid = np.linspace(-0.4, 2.2, 400)
    R = np.maximum(0.0, 1.0 - t * (grid[:, None] @ x.T)).sum(axis=1)
    drawing, (left, middle, right) = figure(1, 3, size=(13.2, 4.1))
    left.plot(grid, R, color=INK, linewidth=2.2, label="$R(w)$")
    middle.plot(grid, 0.5 * grid**2 + C * R, color=INK, linewidth=2.2, label="$P(w)$")
    model = np.zeros(len(grid))
    for k, step in enumerate(trace.steps[:-1]):
        offset, slope = plane(step.variables, x, t)
        style = {"color": CLASS_COLOURS[k], "linestyle": DASHES[k % 4], "linewidth": 1.3}
        left.plot(grid, offset + slope * grid, label=f"plane {k + 1}", **style)
        left.plot(step.variables, offset + slope @ step.variables, "o", color=CLASS_COLOURS[k])
        model = np.maximum(model, offset + slope * grid)
        low = 0.5 * grid**2 + C * model
        middle.plot(grid, low, label=f"{k + 1} plane{'s' if k else ''}", **style)
        middle.plot(grid[np.argmin(low)], low.min(), "o", color=CLASS_COLOURS[k])
    left.set(xlabel="$w$", ylabel="risk", ylim=(-2, 45), title="the planes")
    middle.set(xlabel="$w$", ylabel="objective", title="what they know")
    middle.set(xlim=(0, 1.6), ylim=(0.4, 1.6))
    y = np.repeat([-1, 1], 100)
    X = random.normal(size=(200, 20)) + 0.25 * y[:, None]
    _, curve = textbook.cutting_planes(X, y, C=0.1, tol=1e-3)
    rounds = curve.column("iteration")
    lowest = np.minimum.accumulate(curve.column("primal"))
    right.plot(rounds, curve.column("primal"), ":", color=PALE, label="$P(w)$")
    right.plot(rounds, lowest, color=CLASS_COLOURS[1], label="the lowest $P$ so far")
    right.plot(rounds, curve.column("dual"), "--", color=CLASS_COLOURS[0], label="$D$")
    top = 1.6 * lowest[-1]
    right.set(xlabel="planes", ylabel="objective", ylim=(0, top), title="the gap closes")
    for ax in (left, middle, right):
        ax.legend()
    return drawing


def lattice():
    """Viterbi: the best labelling of a chain, and the worst for the machine

    $$\\mathrm{score}(y) = \\sum_p e_{p, y_p} + \\sum_p f_{y_{p-1}, y_p},\\qquad \\max_z\\
    \\mathrm{hamming}(y, z) + \\mathrm{score}(z)$$

    A node is a label at a place, with its emission $e$; staying on a label scores $f = 1$. Of the
    $2^6$ paths the algorithm finds the best (solid) from left to right. Training adds 1 to every
    wrong label and looks for the best path again (dashed): loss-augmented inference.
    """
    emit = np.array([[1.6, 0.1], [0.2, 0.9], [1.2, 0.4], [0.1, 1.1], [0.6, 0.8], [0.2, 1.5]])
    follow = np.eye(2)
    right, score = textbook.viterbi(emit, follow)
    worst, _ = textbook.worst_labelling(emit, follow, right)
    drawing, ax = figure(size=(8.4, 3.3))
    for p in range(len(emit) - 1):
        for a, b in np.ndindex(2, 2):
            ax.plot([p, p + 1], [a, b], color=PALE, linewidth=0.8, zorder=0)
    places = np.arange(len(emit))
    name = f"best, score {score:.1f}"
    ax.plot(places, right, color=CLASS_COLOURS[0], linewidth=5, alpha=0.75, label=name)
    lost = np.sum(worst != right)
    name = f"worst for the machine, {lost} labels wrong"
    ax.plot(places, worst, "--", color=CLASS_COLOURS[1], linewidth=2, label=name)
    for p, k in np.ndindex(emit.shape):
        ax.plot(p, k, "o", color="white", mec=INK, markersize=27, zorder=3)
        ax.text(p, k, f"{emit[p, k]:.1f}", ha="center", va="center", zorder=4, fontsize=9)
    ax.set(xlabel="place $p$", ylim=(-0.45, 1.95), xticks=places)
    ax.set_yticks([0, 1], ["label 0", "label 1"])
    ax.legend(loc="upper center", ncols=2)
    return drawing


def states_of_a_series():
    """A chain uses what comes before and after

    $$\\max_y\\ \\sum_p w_{y_p}^\\top x_p + \\sum_p f_{y_{p-1}, y_p}$$

    A state of 0 or 1 that seldom changes, seen through noise. A machine that looks at each place
    alone is wrong where the noise is large (crosses). A chain, trained by cutting planes with the
    Hamming loss on twenty other series, has learnt that states stay. In brackets: the share of
    wrong labels on forty new series.
    """
    random = np.random.default_rng(0)
    states = [np.cumsum(random.random(60) < 0.07) % 2 for _ in range(60)]
    seen = [np.column_stack([s + 0.6 * random.normal(size=60), np.ones(60)]) for s in states]
    chain, _ = textbook.chain_svm(seen[:20], states[:20], C=0.1)
    alone, _ = textbook.n_slack(np.vstack(seen[:20]), np.concatenate(states[:20]), C=0.1, tol=1e-2)
    x, state, places = seen[20], states[20], np.arange(60)
    drawing, (top, bottom) = figure(2, 1, size=(8.4, 4.4), height_ratios=(1.6, 1))
    top.plot(places, x[:, 0], "o", color=INK, markersize=3.5, label="seen")
    top.step(places, state, where="mid", color=PALE, label="state")
    top.set(ylabel="$x$", ylim=(-2, 3.4), xlim=(-0.8, 59.8))
    top.legend(loc="upper center", ncols=2)
    names = ["state"]
    for k, labels in enumerate((state, alone.predict(x), chain.predict(x))):
        for label in (0, 1):
            bars = [(p - 0.5, 1.0) for p in places[labels == label]]
            bottom.broken_barh(bars, (-k, 0.7), color=CLASS_COLOURS[label])
        wrong = places[labels != state]
        bottom.plot(wrong, np.full(len(wrong), 0.35 - k), "x", color="white", mew=1.6)
    for name, model in (("each alone", alone), ("chain", chain)):
        pairs = zip(seen[20:], states[20:], strict=True)
        share = np.mean([np.mean(model.predict(x) != s) for x, s in pairs])
        names.append(f"{name}\n({share:.0%})")
    bottom.set_yticks([0.35, -0.65, -1.65], names)
    bottom.set(xlabel="place", xlim=(-0.8, 59.8))
    return drawing


def pairs_to_order():
    """Ranking: a direction that orders the samples

    $$\\min_w\\ \\tfrac12 |w|^2 + C\\sum_{t_i > t_j} \\max(0, 1 - w^\\top(x_i - x_j))$$

    Herbrich et al. (2000), Joachims (2002). Left samples with targets 1 to 12 and the direction
    $w$. Right the order of the targets and that of the scores: each crossing is a swapped pair.
    Merge sort counts them in $n \\log n$ steps; Kendall's $\\tau$ is 1 - 2 swapped / pairs.
    """
    random = np.random.default_rng(11)
    n = 12
    X = random.uniform(-2, 2, size=(n, 2))
    quality = X @ [1.0, 0.6] + 1.0 * random.normal(size=n)
    t = np.argsort(np.argsort(quality)) + 1
    model, _ = textbook.ranking_svm(X, t, C=1.0)
    scores = model.decision_function(X)
    swapped = textbook.swapped_pairs(t[np.argsort(scores)])
    drawing, (left, right) = figure(1, 2, size=(10.2, 4.3))
    shades = left.scatter(*X.T, c=t, s=230, cmap="viridis", alpha=0.85)
    for point, target in zip(X, t, strict=True):
        dark = target < 8
        place = {"ha": "center", "va": "center", "fontsize": 9}
        left.text(*point, str(target), color="white" if dark else INK, **place)
    direction = model.w / np.linalg.norm(model.w)
    arrow(left, -2.1 * direction, 2.1 * direction, CLASS_COLOURS[1], "$w$")
    left.set(xlabel="$x_1$", ylabel="$x_2$")
    square(left, 2.4)
    place = np.argsort(np.argsort(scores)) + 1
    for target, found in zip(t, place, strict=True):
        colour = shades.cmap(shades.norm(target))
        right.plot([0, 1], [target, found], "o-", color=colour, linewidth=1.8)
    right.set(xlim=(-0.25, 1.25), ylabel="place", yticks=t)
    right.set_xticks([0, 1], ["by target", "by score"])
    right.set(title=f"{swapped} of {n * (n - 1) // 2} pairs are swapped")
    return drawing
