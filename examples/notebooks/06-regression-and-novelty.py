# %% [markdown]
# # 6. Regression and novelty
# The same machine with other losses: a tube that forgives small errors, and one class alone.

# %%
import numpy as np
from sklearn.datasets import make_moons

from maxmargin import SVR, NuSVR, OneClassSVM, textbook
from maxmargin.plots import LossDisplay, OutlierDisplay, TubeDisplay

random = np.random.default_rng(0)
X = np.sort(random.uniform(0, 2 * np.pi, 60))[:, None]
t = np.sin(X[:, 0]) + 0.18 * random.normal(size=60)

# %%
LossDisplay.of_regression()

# %% [markdown]
# Points inside the tube cost nothing and are no support vectors.

# %%
machine = SVR(C=1.0, epsilon=0.25, gamma=0.5).fit(X, t)
TubeDisplay.from_estimator(machine, X, t)

# %% [markdown]
# Stacked as [a+; a-] the problem is a classification of twice the points, and a QP library solves
# it too:

# %%
model, _ = textbook.epsilon_svr(X, t, C=1.0, epsilon=0.25, kernel=textbook.kernels.rbf(0.5))
np.testing.assert_allclose(model.decision_function(X), machine.predict(X), atol=1e-4)

# %% [markdown]
# nu-regression is told the share of points outside and finds the width:

# %%
nu = NuSVR(nu=0.2, C=10.0, gamma=0.5).fit(X, t)
TubeDisplay.from_estimator(nu, X, t)

# %% [markdown]
# ## One class

# %%
moons, _ = make_moons(150, noise=0.12, random_state=0)
watch = OneClassSVM(nu=0.1, gamma=3.0).fit(moons)
print("novel among the training points:", np.mean(watch.predict(moons) < 0))
OutlierDisplay.from_estimator(watch, moons)
