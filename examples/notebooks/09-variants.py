# %% [markdown]
# # 9. Variants
# The lectures end with names: semi-supervised, structured, latent, SVM-perf. Here each of them
# runs, some as they are taught, all as estimators.

# %%
import numpy as np

from maxmargin import (
    MISVC,
    SVC,
    LaplacianSVC,
    LinearSVC,
    PerfSVC,
    QuantileSVR,
    RankSVC,
    SequenceSVM,
    TransductiveSVC,
    textbook,
)
from maxmargin.plots import ConvergenceDisplay, DecisionDisplay

# %% [markdown]
# ## Semi-supervised
# Two strips of points, and a label at an end of each. Two labels alone say little.

# %%
random = np.random.default_rng(1)
side = np.repeat([-1, 1], 30)
U = np.column_stack([1.2 * random.normal(size=60), side + 0.3 * random.normal(size=60)])
X, y = np.array([[-1.5, -1.0], [1.5, 1.0]]), np.array([-1, 1])
few = SVC(kernel="linear", C=10).fit(X, y)
print("right with two labels:", np.mean(few.predict(U) == side))

# %% [markdown]
# Label switching (Joachims 1999) gives the other points labels and switches them in pairs. Each
# switch lowers the objective:

# %%
model, trace = textbook.transductive(X, y, U, C=10.0)
for step in trace.steps:
    if step.chosen:
        print(f"switch {step.chosen}: objective {step.primal:.4f}")
print("right after the switches:", np.mean(model.predict(U) == side))
DecisionDisplay.from_estimator(model, np.vstack([X, U]), np.concatenate([y, side]), slacks=False)

# %% [markdown]
# The estimator takes -1 for "no label". The problem is not convex, and its certificate says so.

# %%
points, labels = np.vstack([X, U]), np.concatenate([[0, 1], np.full(60, -1)])
machine = TransductiveSVC(kernel="linear", C=10, C_unlabelled=1).fit(points, labels)
print(machine.certificate_.status, np.mean((machine.predict(U) > 0) == (side > 0)))
graph = LaplacianSVC(gamma=1.0, C=10, manifold=10).fit(points, labels)
print(graph.certificate_.status, np.mean((graph.predict(U) > 0) == (side > 0)))

# %% [markdown]
# ## Cutting planes
# SVM-perf touches the risk from below, plane after plane. The lower bound grows until it meets the
# objective.

# %%
data = random.normal(size=(200, 10)) + 0.3 * np.repeat([-1, 1], 100)[:, None]
sign = np.repeat([-1, 1], 100)
_, trace = textbook.cutting_planes(data, sign, C=0.1)
exact = LinearSVC(C=0.1, loss="hinge", fit_intercept=False, tol=1e-8).fit(data, sign)
print(trace, "exact:", round(exact.certificate_.primal, 4))
ConvergenceDisplay.from_traces(trace)

# %% [markdown]
# The same algorithm trains for measures that are not sums over the points. One point in twenty is
# positive here:

# %%
rare = np.where(np.arange(400) < 20, 1, -1)
clouds = random.normal(size=(400, 2)) + np.where(rare > 0, 1.2, 0.0)[:, None]
for measure in ("error", "auc"):
    scores = PerfSVC(measure).fit(clouds, rare).decision_function(clouds)
    above = scores[rare > 0][:, None] > scores[rare < 0]
    print(f"trained for {measure}: area {np.mean(above):.3f}")

# %% [markdown]
# ## Structured outputs
# A state that seldom changes, seen through noise. A chain knows that states stay.

# %%
states = [np.cumsum(random.random(60) < 0.07) % 2 for _ in range(40)]
seen = [s[:, None] + 0.6 * random.normal(size=(60, 1)) for s in states]
chain = SequenceSVM().fit(seen[:20], states[:20])
alone = LinearSVC().fit(np.vstack(seen[:20]), np.concatenate(states[:20]))
new = list(zip(seen[20:], states[20:], strict=True))
print("each place alone:", np.mean([alone.score(x, s) for x, s in new]).round(3))
print("chain:", round(chain.score(seen[20:], states[20:]), 3), chain.certificate_.status)
print("staying and changing:", chain.transitions_.round(2).tolist())

# %% [markdown]
# ## Latent variables
# A bag is positive because of one of its parts, but of which one?

# %%
kinds = np.arange(60) % 2
bags = [random.normal(size=(5, 2)) for _ in kinds]
for bag, kind in zip(bags, kinds, strict=True):
    bag[2] += 3 * kind
parts = MISVC().fit(bags, kinds)
print(parts.certificate_.status, parts.score(bags, kinds))
print("the third part is the witness:", np.mean(parts.witnesses_[kinds == 1] == 2))

# %% [markdown]
# ## Ranking and quantiles

# %%
grades, query = random.integers(0, 4, size=60), np.arange(60) // 10
pages = random.normal(size=(60, 3)) + 0.8 * grades[:, None] * [1.0, 0.5, 0.0]
ranker = RankSVC().fit(pages, grades, qid=query)
first = query == 0
swapped = textbook.swapped_pairs(grades[first][np.argsort(ranker.predict(pages[first]))])
print("swapped pairs of the first query:", swapped)
x = np.sort(random.uniform(0, 6, 200))[:, None]
t = np.sin(x[:, 0]) + 0.15 * x[:, 0] * random.normal(size=200)
fan = QuantileSVR(quantiles=[0.1, 0.5, 0.9], C=10, gamma=0.3).fit(x, t)
print("share of targets below:", np.mean(t[:, None] < fan.predict(x), axis=0).round(2))
