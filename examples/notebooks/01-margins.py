# %% [markdown]
# # 1. Margins
# Two classes that a line can separate can be separated by many lines. The support vector machine
# takes the one that is farthest from both.

# %%
import numpy as np

from maxmargin import SVC, textbook
from maxmargin.plots import DecisionDisplay

X = np.array([[3, 1], [3, -1], [6, 1], [6, -1], [1, 0], [0, 1], [0, -1], [-1, 0]], dtype=float)
y = np.array([1, 1, 1, 1, -1, -1, -1, -1])

# %% [markdown]
# By hand: the nearest points of the two classes are (1, 0) on one side, (3, 1) and (3, -1) on the
# other, so the line is x1 = 2. The quadratic program says the same; its multipliers are not zero
# for exactly these three points, the support vectors.

# %%
model, trace = textbook.hard_margin_qp(X, y)
print(
    "w =",
    model.w.round(6),
    " b =",
    round(model.b, 6),
    " margin 1/|w| =",
    round(1 / np.linalg.norm(model.w), 6),
)
print("multipliers:", model.alpha.round(6))
print("w from them:", (model.alpha * y) @ X)

# %%
DecisionDisplay.from_estimator(model, X, y, title="the hard margin")

# %% [markdown]
# The library's estimator finds the same plane and proves it: the gap between primal and dual
# objective is zero.

# %%
machine = SVC(kernel="linear", C=np.inf).fit(X, y)
print(machine.coef_, machine.intercept_)
print(machine.certificate_)

# %% [markdown]
# **Points that are not support vectors do not matter.** Without them, the same plane:

# %%
again, _ = textbook.hard_margin_qp(X[model.support], y[model.support])
np.testing.assert_allclose(again.w, model.w, atol=1e-6)
