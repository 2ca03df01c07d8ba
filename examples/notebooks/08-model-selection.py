# %% [markdown]
# # 8. Model selection
# C and gamma decide everything, and nothing but data can choose them. Scale the features first: the
# RBF kernel measures distances.

# %%
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, LinearSVCCV
from maxmargin.plots import DecisionDisplay, GridSearchDisplay, PathDisplay

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

# %%
search = GridSearchCV(
    make_pipeline(StandardScaler(), SVC()),
    {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.001, 0.01, 0.1, 1]},
    cv=4,
).fit(X_train, y_train)
GridSearchDisplay.from_search(search)

# %%
print(search.best_params_, "on the test set:", search.score(X_test, y_test))
DecisionDisplay.from_estimator(search.best_estimator_, X_test, y_test)

# %% [markdown]
# For linear machines the whole path of C is one warm-started sweep:

# %%
Z = StandardScaler().fit_transform(X_train)
linear = LinearSVCCV(cv=4).fit(Z, y_train)
print("C =", linear.C_)

# %% [markdown]
# Along C each multiplier leaves its bound at its own moment:

# %%
PathDisplay.from_estimator(SVC(kernel="linear"), Z[:60], y_train[:60])
