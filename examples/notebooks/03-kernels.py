# %% [markdown]
# # 3. Kernels
# The dual sees the data through inner products only. Replace them by k(x, z) = phi(x)'phi(z) and
# the same machine works in the space of phi.

# %%
import numpy as np
from sklearn.datasets import make_moons

from maxmargin import SVC, Kernel, kernel_matrix, textbook
from maxmargin.plots import DecisionDisplay, EffectDisplay, KernelMatrixDisplay
from maxmargin.textbook.primal_versus_dual import polynomial_features

# %% [markdown]
# ## Exclusive or
# No line separates the corners of a square by their diagonal. With (1 + x'z)^2 one plane does:
# y(x) = x1 x2, all multipliers 1/8.

# %%
X = np.array([[-1.0, -1], [-1, 1], [1, -1], [1, 1]])
y = np.array([1, -1, -1, 1])
model, _ = textbook.hard_margin_qp(X, y, kernel=textbook.kernels.polynomial(2))
print(model.alpha.round(6))
DecisionDisplay.from_estimator(model, X, y)

# %% [markdown]
# ## A kernel is an inner product of features
# Those of (1 + x'z)^3, built explicitly:

# %%
Z = np.random.default_rng(0).normal(size=(5, 2))
phi = polynomial_features(Z, 3)
print(phi.shape[1], "features")
np.testing.assert_allclose(
    phi @ phi.T + 1, kernel_matrix(Kernel.poly(degree=3, gamma=1.0, coef0=1.0), Z)
)

# %% [markdown]
# ## The width of the RBF kernel

# %%
X, labels = make_moons(100, noise=0.25, random_state=0)
EffectDisplay.from_estimator(SVC(), X, labels, parameter="gamma", values=(0.05, 1, 50))

# %%
KernelMatrixDisplay.from_estimator(SVC(gamma=2.0).fit(X, labels), X, labels)
