# %% [markdown]
# # 5. Primal methods, and the dual one variable at a time
# For linear machines w itself is at hand, and millions of rows are no problem.

# %%
import numpy as np

from maxmargin import SVC, LinearSVC, PegasosSVC, textbook
from maxmargin.plots import ConvergenceDisplay

random = np.random.default_rng(0)
y = np.repeat([-1, 1], 40)
X = random.normal(size=(80, 2)) + y[:, None]
C = 0.5
lam = 1 / (C * len(y))

# %% [markdown]
# ## Pegasos
# Draw a point, take a subgradient step of length 1 / (lambda k). The objective falls like
# log k / k: quickly useful, slowly exact.

# %%
exact = LinearSVC(loss="hinge", fit_intercept=False, C=C, tol=1e-12).fit(X, y)
_, trace = textbook.pegasos(X, y, lam, steps=20_000, trace=50)
ConvergenceDisplay.from_traces(trace, best=lam * exact.certificate_.primal)

# %% [markdown]
# With kernels the counts alpha take the place of w; for the linear kernel both take the same steps.

# %%
one, _ = textbook.pegasos(X, y, lam, steps=500)
two, _ = textbook.kernel_pegasos(X, y, lam, steps=500)
np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-9)

# %% [markdown]
# ## Dual coordinate descent
# Without b one multiplier can move alone, and w is kept beside it: LIBLINEAR's algorithm.

# %%
_, trace = textbook.dual_coordinate_descent(X, y, C, tol=1e-10)
print(trace)
ConvergenceDisplay.from_traces(trace)

# %% [markdown]
# ## Newton's method
# The squared hinge loss is smooth enough: a handful of linear systems.

# %%
_, trace = textbook.primal_newton(X, y, C)
print(trace)
np.testing.assert_allclose(
    trace.steps[-1].primal,
    SVC(kernel="linear", loss="squared_hinge", C=C).fit(X, y).certificate_.primal,
)

# %% [markdown]
# ## Primal or dual?

# %%
print(
    textbook.primal_versus_dual(
        random.normal(size=(300, 4)), np.where(random.normal(size=300) > 0, 1, -1), degree=2
    )
)

# %% [markdown]
# ## In production

# %%
print(LinearSVC(loss="hinge", C=C).fit(X, y).certificate_)
print(
    "Pegasos, online:",
    PegasosSVC(alpha=lam, tol=None, max_iter=20, random_state=0).fit(X, y).score(X, y),
)
