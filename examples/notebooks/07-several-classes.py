# %% [markdown]
# # 7. Several classes
# Machines for two classes, combined: one against the rest, or one for each pair and a vote.

# %%
import numpy as np

from maxmargin import SVC, textbook
from maxmargin.plots import ClassesDisplay

random = np.random.default_rng(0)
y = np.arange(90) % 3
places, width = random.uniform(-2.2, 2.2, size=(3, 2)), random.uniform(0.2, 0.9, size=3)
X = places[y] + width[y][:, None] * random.normal(size=(90, 2))

# %%
rest, _ = textbook.one_vs_rest(X, y)
ClassesDisplay.from_estimator(rest, X, y)

# %% [markdown]
# Voting leaves ambiguous regions where each class has a vote: the boundaries of the three pairs do
# not meet in one point.

# %%
pairs, _ = textbook.one_vs_one(X, y)
grid = random.uniform(-3, 3, size=(4000, 2))
print(f"{pairs.ambiguous(grid).mean():.1%} of the square is ambiguous")
ClassesDisplay.from_estimator(pairs, X, y)

# %% [markdown]
# Softmax regression trains all scores together, and has probabilities:

# %%
soft, _ = textbook.softmax_regression(X, y)
np.testing.assert_allclose(soft.predict_proba(X).sum(axis=1), 1)
ClassesDisplay.from_estimator(soft, X, y)

# %% [markdown]
# In production: one-versus-one by default, one kernel for all pairs, one certificate for each.

# %%
machine = SVC(gamma=0.5).fit(X, y)
print([part.status for part in machine.certificate_.parts], machine.score(X, y))
