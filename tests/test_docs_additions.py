"""The recipes of docs/architecture.md, followed: each really adds something to the library.

The files that a recipe names are those that name an existing example of its kind.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import additions
from maxmargin import SVC, SVR, Kernel, NuSVC, OneClassSVM
from maxmargin.core.backend import Backend
from maxmargin.io import tables, tables_write
from maxmargin.io.tables import read_table
from maxmargin.io.tables_write import write_table
from maxmargin.kernel import training
from maxmargin.kernel.training import Method
from needs import programs

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "maxmargin"
PAGE = ROOT / "docs" / "architecture.md"
rng = np.random.default_rng(5)
X = rng.normal(size=(120, 3))
y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=120) > 1, 1, -1)


def recipe(title):
    """The files that a section of the page names in its numbered list."""
    text = PAGE.read_text()
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"no section {title!r}"
    steps = re.findall(r"^\d+\. (`[^:]*):", found[1], re.MULTILINE)
    return [name for step in steps for name in re.findall(r"`([\w./-]+\.\w+)`", step)]


RECIPES = {
    title: recipe(title) for title in re.findall(r"^## (Add an? .*)\n", PAGE.read_text(), re.M)
}


def naming(pattern):
    """The files of the package in which a pattern occurs, but for documentation and comments."""
    return {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*")
        if path.suffix in (".py", ".h", ".cpp", ".pyi") and re.search(pattern, path.read_text())
    }


def test_the_recipes_are_those_that_people_ask_for():
    words = ("kernel", "solver", "backend", "problem type", "file format", "core function")
    assert [f"Add a {word}" for word in words] == list(RECIPES)


@pytest.mark.parametrize(
    ("title", "name"), [(title, name) for title, names in RECIPES.items() for name in names]
)
def test_the_files_of_a_recipe_exist(title, name):
    place = PACKAGE / name if not name.startswith(("tests/", "docs/")) else ROOT / name
    assert place.is_file() or name.endswith("new.py")


# ---- a kernel ------------------------------------------------------------------------------------


def test_the_recipe_of_a_kernel_names_every_file_that_knows_one():
    known = naming(r"Kind(\.LAPLACIAN|::laplacian)\b|Kind(\.LOGISTIC|::logistic)\b|\blaplacian = 5")
    listed = {name for name in RECIPES["Add a kernel"] if not name.startswith("tests/")}
    assert known <= listed
    assert listed >= {edit.file for edit in additions.CAUCHY}


def test_a_kernel_is_added_to_the_python_code(tmp_path):
    """On the reference backend, whose formula is one more line."""
    reference = ("core/reference.py", (ROOT / "tests" / "numpy_backend.py").read_text())
    edits = [*additions.CAUCHY, *additions.REFERENCE, additions.CAUCHY_REFERENCE]
    package = additions.changed_copy(tmp_path, edits, [reference])
    code = f"""
import numpy as np
from maxmargin import SVC
X, y = np.array({X.tolist()}), np.array({y.tolist()})
model = SVC(kernel="cauchy", gamma=0.5).fit(X, y)
print(model.certificate_.status, model.certify(X, y).status, model.certificate_.primal)
"""
    fitted, certified, primal = additions.run_on_copy(package, code).split()
    assert (fitted, certified) == ("optimal", "optimal")
    theirs = SVC(kernel=lambda A, B: 1 / (1 + 0.5 * squared(A, B))).fit(X, y)
    assert float(primal) == pytest.approx(theirs.certificate_.primal, rel=1e-9)


def squared(A, B):
    return ((A[:, None] - B[None]) ** 2).sum(axis=2)


PROGRAM = """
#include <cstdio>
#include "products.h"
using namespace maxmargin;
int main() {
  const double x[] = {1, 2, 3, 4}, z[] = {0, 1, 5, 5};
  double norms_x[2], norms_z[2], out[4];
  Points<double> A{2, 2, x, nullptr, nullptr, norms_x}, B{2, 2, z, nullptr, nullptr, norms_z};
  base::norms<double>(A, norms_x);
  base::norms<double>(B, norms_z);
  const Kernel kernel{Kind::cauchy, 0.5, 0.0, 0};
  const Selection<double> a{A, nullptr, 2}, b{B, nullptr, 2};
  base::kernel_block<double>(kernel, a, b, out, nullptr, false, 1);
  for (double value : out) std::printf("%.17g ", value);
}
"""
COMPILER = next((name for name in ("c++", "g++", "clang++") if shutil.which(name)), "c++")


@programs(COMPILER, debian="g++")
def test_a_kernel_is_added_to_the_compiled_core(tmp_path):
    package = additions.changed_copy(tmp_path, additions.CAUCHY)
    (tmp_path / "main.cpp").write_text(PROGRAM)
    command = [COMPILER, "-std=c++17", "-pthread", "-DMAXMARGIN_LEVEL=base", "main.cpp"]
    subprocess.run(
        [*command, "-I", str(package / "core"), "-o", "main"], cwd=tmp_path, check=True, timeout=300
    )
    printed = subprocess.run([str(tmp_path / "main")], capture_output=True, text=True, check=True)
    A, B = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.0, 1.0], [5.0, 5.0]])
    want = 1 / (1 + 0.5 * squared(A, B))
    np.testing.assert_allclose([float(v) for v in printed.stdout.split()], want.ravel())


# ---- a backend -----------------------------------------------------------------------------------


def test_a_backend_is_added(tmp_path):
    """The whole library's kernel machines run on it, without a word of the compiled core."""
    assert {edit.file for edit in additions.REFERENCE} <= set(RECIPES["Add a backend"])
    reference = ("core/reference.py", (ROOT / "tests" / "numpy_backend.py").read_text())
    package = additions.changed_copy(tmp_path, additions.REFERENCE, [reference])
    code = f"""
import json
import numpy as np
import maxmargin
from maxmargin.core.choose import HOST
assert type(HOST).__name__ == "NumpyBackend"
X, y = np.array({X.tolist()}), np.array({y.tolist()})
models = [maxmargin.SVC(), maxmargin.NuSVC(nu=0.3), maxmargin.SVR(), maxmargin.OneClassSVM(nu=0.3)]
found = [model.fit(X, y).certificate_ for model in models]
print(json.dumps([(c.status, c.primal) for c in found]))
"""
    found = json.loads(additions.run_on_copy(package, code))
    for model, (status, primal) in zip(
        (SVC(), NuSVC(nu=0.3), SVR(), OneClassSVM(nu=0.3)), found, strict=True
    ):
        assert status == "optimal"
        assert primal == pytest.approx(model.fit(X, y).certificate_.primal, rel=1e-6)


def test_the_functions_of_a_backend_are_listed():
    rows = re.findall(r"^\| (`.*?`) \| ", PAGE.read_text().partition("## Add a backend")[2], re.M)
    listed = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert listed == Backend.__abstractmethods__
    assert "nine functions" in PAGE.read_text()
    assert len(listed) == 9


# ---- a solver ------------------------------------------------------------------------------------


def test_the_recipe_of_a_solver_names_every_file_that_knows_one():
    known = naming(r"\bprimal_newton\.solve\b|\bMethod\.NEWTON\b")
    assert known <= set(RECIPES["Add a solver"])


@pytest.mark.parametrize("model", [SVC(), NuSVC(nu=0.3), SVR(), OneClassSVM(nu=0.3)], ids=str)
def test_a_solver_is_added(model, monkeypatch):
    want = type(model)(**model.get_params()).fit(X, y).certificate_
    monkeypatch.setitem(training.SOLVERS, Method.BLOCK, additions.solve)
    found = model.fit(X, y).certificate_
    assert found.status == model.certify(X, y).status == "optimal"
    assert found.primal == pytest.approx(want.primal, rel=1e-2)
    assert found.n_iter != want.n_iter, "another solver"
    assert found.kkt_violation <= model.tol


def test_the_added_solver_ends_when_it_is_told(monkeypatch):
    monkeypatch.setitem(training.SOLVERS, Method.BLOCK, additions.solve)
    with pytest.warns(UserWarning, match="max_iter"):
        assert SVC(max_iter=3, C=100).fit(X, y).certificate_.status == "max_iter"


# ---- a problem type ------------------------------------------------------------------------------


def test_the_recipe_of_a_problem_type_names_every_file_that_knows_one():
    """The textbook's pages know nothing of the library's problems."""
    known = {name for name in naming(r"\bnu_svr\(") if not name.startswith("textbook/")}
    listed = {name for name in RECIPES["Add a problem type"] if not name.startswith("tests/")}
    assert known <= listed


def test_the_formulations_of_the_page_are_trained_by_tests():
    """The page includes them from there."""
    text = (ROOT / "tests" / "test_formulations.py").read_text()
    assert "<!-- code from: tests/test_formulations.py ranking -->" in PAGE.read_text()
    assert "trained(ranking(" in text


# ---- a file format -------------------------------------------------------------------------------


def test_a_file_format_is_added(tmp_path, monkeypatch):
    monkeypatch.setitem(tables.READERS, "json", additions.read_json)
    monkeypatch.setitem(tables.ENDINGS, ".json", "json")
    monkeypatch.setitem(tables_write.WRITERS, "json", additions.write_json)
    csv, packed = tmp_path / "data.csv", tmp_path / "data.json.gz"
    np.savetxt(csv, np.column_stack([X, y]), delimiter=",", header="a,b,c,target", comments="")
    first = read_table(csv)
    assert write_table(first, packed) == "json"
    found = read_table(packed)
    np.testing.assert_array_equal(found.X, first.X)
    np.testing.assert_array_equal(found.y, first.y)
    assert SVC(kernel=Kernel.rbf()).fit(found.X, found.y).certificate_.status == "optimal"


def test_the_recipe_of_a_file_format_names_its_tables():
    known = naming(r"(?m)^(READERS|WRITERS|ENDINGS)\b.* = \{")
    assert known <= set(RECIPES["Add a file format"])


# ---- a core function -----------------------------------------------------------------------------


def test_the_recipe_of_a_core_function_names_every_file_that_knows_one():
    known = {name for name in naming(r"\bupdate_gradient\b") if name.startswith("core/")}
    assert known <= set(RECIPES["Add a core function"])


def test_an_edit_that_does_not_fit_is_an_error(tmp_path):
    with pytest.raises(AssertionError, match="0 times"):
        additions.changed_copy(tmp_path, [additions.Edit("core/choose.py", "no such text", "")])
