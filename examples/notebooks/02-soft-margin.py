# %% [markdown]
# # 2. The soft margin
# Where classes overlap, errors must be allowed. Each point may miss its margin by a slack xi, at
# the price C for each unit.

# %%
import numpy as np

from maxmargin import SVC, textbook
from maxmargin.plots import DecisionDisplay, EffectDisplay, LossDisplay

random = np.random.default_rng(7)
y = np.repeat([-1, 1], 25)
X = random.normal(size=(50, 2)) + 1.1 * y[:, None]

# %%
model, _ = textbook.soft_margin_qp(X, y, C=1.0)
DecisionDisplay.from_estimator(model, X, y, title="C = 1")

# %% [markdown]
# The slack is the hinge loss, so the same problem reads: minimise 1/2 |w|^2 + C times the sum of
# hinge losses.

# %%
slack = textbook.slacks(model, X, y)
np.testing.assert_allclose(slack, textbook.losses.hinge(y, model.decision_function(X)))
LossDisplay.of_classification()

# %% [markdown]
# ## The conditions of the optimum, point by point

# %%
table = textbook.kkt_table(SVC(kernel="linear", C=1.0).fit(X, y), X, y)
print("\n".join(str(table).splitlines()[:14]), "\n...")
assert table.holds.all()

# %% [markdown]
# ## What C does
# As C grows, errors cost more: the sum of slacks falls, and so does the margin. C to infinity is
# the hard margin; C = 0 would ignore the data.

# %%
effect = EffectDisplay.from_estimator(SVC(kernel="linear"), X, y, values=(1, 5, 50))
assert np.all(np.diff(effect.margin) < 0)
assert np.all(np.diff(effect.slack) < 0)
