# %% [markdown]
# # 4. Sequential minimal optimisation
# The constraint sum a_i t_i = 0 forbids to move one multiplier alone, so SMO moves two. The rest is
# the choice of the two.

# %%
from pathlib import Path

import numpy as np
from sklearn.datasets import make_moons

from maxmargin import SVC, textbook
from maxmargin.plots import ConvergenceDisplay

X, labels = make_moons(60, noise=0.2, random_state=0)
y = 2 * labels - 1
fit = {"C": 10.0, "kernel": textbook.kernels.rbf(1.0)}

# %% [markdown]
# A random partner, the most violating pair, the partner with which the first point gains the most:

# %%
_, random = textbook.simplified_smo(X, y, **fit)
_, violating = textbook.smo(X, y, selection="maximal violating pair", tol=1e-6, **fit)
model, second = textbook.smo(X, y, selection="second order", tol=1e-6, **fit)
for trace in (random, violating, second):
    print(trace)
ConvergenceDisplay.from_traces(random, violating, second)

# %% [markdown]
# One step, looked at: which points, and what became of their multipliers.

# %%
before, after = second.steps[0], second.steps[1]
for i in after.chosen:
    print(f"point {i}: t = {y[i]:+d}, a {before.variables[i]:.4f} -> {after.variables[i]:.4f}")

# %% [markdown]
# The production solver ends at the same objective, by the same conditions.

# %%
exact = SVC(C=10.0, gamma=1.0).fit(X, y)
print(exact.certificate_.primal, second.steps[-1].primal)
np.testing.assert_allclose(second.steps[-1].primal, exact.certificate_.primal, rtol=1e-6)

# %% [markdown]
# A film of it:

# %%
Path("run").mkdir(exist_ok=True)
textbook.animate(second, "run/smo.gif", frames=20)
