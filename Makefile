# make run | test | check | format | docs: each sets up what it needs by itself, and no more; a second run is quick.
# make fresh | oldest | versions | downstream: the same as on a machine that has nothing, and with other versions.
# make sanitize: the core under the compiler's sanitizers.
# make lab | check-lab: the page of the lab, and the linters of its sources.
# make gallery | notebooks | tour | bench | bench-quick | bench-threads | bench-linear | bench-tune | bench-probability | bench-auto | bench-memory | bench-svmlight | bench-perf | bench-ranking | bench-transductive | bench-lab | fuzz | hunt | mutate | figures
PYTHON ?= python3
BIN := .venv/bin
PIP := -m pip --quiet --disable-pip-version-check
CPP := $(wildcard src/maxmargin/core/*.cpp src/maxmargin/core/*.h)
LAB_CPP := $(wildcard lab/core/*.cpp lab/core/*.h)
SOURCES := pyproject.toml CMakeLists.txt $(CPP)
PACKAGE := $(SOURCES) $(shell find src -name '*.py')

.PHONY: downstream run test check docs linkcheck lab check-lab lab-baseline lab-tour format fresh oldest versions sanitize sanitize-address sanitize-thread \
  gallery notebooks bench bench-quick bench-threads bench-linear bench-tune bench-probability bench-auto bench-memory bench-svmlight bench-perf bench-ranking bench-transductive bench-lab fuzz hunt mutate figures tour clean

run: .venv/for-run
	$(BIN)/python examples/quick_start.py

# On all cores; ARGS="tests/test_x.py -k name" selects tests, and a few of them run in one process: see tests/workers.py.
SHARED := -n auto --dist worksteal
test: .venv/for-test
	$(BIN)/python -m pytest -q $(SHARED) $(ARGS)

check: .venv/for-check
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CPP) $(LAB_CPP)

# Python and C++ in the form that `make check` asks for.
format: .venv/for-check
	$(BIN)/ruff format . && $(BIN)/clang-format -i $(CPP) $(LAB_CPP)

# The page of the lab, src/maxmargin/lab/index.html: see lab/README.md.
lab: lab/node_modules/.package-lock.json lab/build/core.wasm
	node lab/build.mjs

check-lab: lab/node_modules/.package-lock.json
	cd lab && npm run --silent check

# docs/pictures/lab.gif, a film of the lab: see examples/lab_tour.py.
lab-tour: .venv/for-test
	$(BIN)/python examples/lab_tour.py

# The plots that tests/lab compares with, drawn again: look at them before committing.
lab-baseline: .venv/for-test
	MAXMARGIN_LAB_BASELINE=1 $(BIN)/python -m pytest -q tests/lab/test_playground_pictures.py -k baseline

lab/build/core.wasm: lab/core/build.sh $(LAB_CPP) $(CPP)
	lab/core/build.sh

lab/node_modules/.package-lock.json: lab/package-lock.json
	cd lab && npm ci --silent --ignore-scripts
	@touch $@

# The documentation site into build/docs/html; a warning is an error, and so is a link that leads nowhere: see docs/conf.py.
docs: .venv/for-docs
	MPLBACKEND=Agg $(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --jobs auto --doctree-dir build/docs/doctrees docs build/docs/html
	$(BIN)/python docs/_extensions/check.py build/docs/html

# The links of the site to other sites, which needs the network.
linkcheck: .venv/for-docs
	MPLBACKEND=Agg $(BIN)/python -m sphinx --builder linkcheck --quiet --doctree-dir build/docs/doctrees docs build/docs/linkcheck

# The figures of the lectures into docs/gallery/: see examples/gallery/build.py.
gallery: .venv/for-textbook
	$(BIN)/python examples/gallery/build.py $(FIGURES)

# The notebooks with their output, as .ipynb beside their sources: see tools/notebooks.py.
notebooks: .venv/for-notebooks
	$(BIN)/python tools/notebooks.py $(NAMES)

# CASES="magic sweep" selects by substring of a case's name or group; ARGS="--timeout 30 --save" are options: see benchmarks/run.py.
bench: .venv/for-run
	$(BIN)/python benchmarks/run.py $(CASES) $(ARGS)

bench-quick: .venv/for-run
	$(BIN)/python benchmarks/run.py --quick $(CASES) $(ARGS)

# Seconds of a fit by the number of threads: see benchmarks/threads.py.
bench-threads: .venv/for-run
	$(BIN)/python benchmarks/threads.py $(CASES) $(ARGS)

# Time to the same objective of linear models: see benchmarks/linear/run.py.
bench-linear: .venv/for-run
	PYTHONPATH=benchmarks $(BIN)/python -m linear.run $(CASES) $(ARGS)

# Whole-grid searches beside GridSearchCV: see benchmarks/tune.py.
bench-tune: .venv/for-run
	$(BIN)/python benchmarks/tune.py $(CASES) $(ARGS)

# AutoSVC beside a grid search by hand: see benchmarks/auto.py.
bench-auto: .venv/for-test
	$(BIN)/python benchmarks/auto.py $(CASES) $(ARGS)

# Probabilities beside CalibratedClassifierCV's: see benchmarks/probabilities.py.
bench-probability: .venv/for-run
	$(BIN)/python benchmarks/probabilities.py $(CASES) $(ARGS)

# Training from a file of 4 GB with less than 1 GB of memory: see benchmarks/memory.py.
bench-memory: .venv/for-run
	$(BIN)/python benchmarks/memory.py $(ARGS)

# Reading a file of 500 MB beside scikit-learn and LIBSVM: see benchmarks/svmlight.py.
bench-svmlight: .venv/for-run
	$(BIN)/python benchmarks/svmlight.py $(ARGS)

# PerfSVC: the objective of "error", unbalanced classes, 200,000 rows of text: see benchmarks/perf.py.
bench-perf: .venv/for-run
	$(BIN)/python benchmarks/perf.py $(CASES) $(ARGS)

# The loss of all pairs, fits and quality of rankings: see benchmarks/ranking.py.
bench-ranking: .venv/for-run
	$(BIN)/python benchmarks/ranking.py $(ARGS)

# Transductive machines: errors, the global optimum, a million rows (CASES="errors", "optimum" or "scale"): see benchmarks/transductive.py.
bench-transductive: .venv/for-run
	$(BIN)/python benchmarks/transductive.py $(CASES) $(ARGS)

# The lab in a browser: see benchmarks/lab.py.
bench-lab: .venv/for-test
	$(BIN)/python benchmarks/lab.py $(ARGS)

# Every reader of files against random bytes, SECONDS each; NAMES chooses some: see tests/fuzz/run.sh.
fuzz: .venv/for-test
	$(BIN)/python $(PIP) install atheris
	tests/fuzz/run.sh $(or $(SECONDS),600) $(NAMES)

# Random problems until an answer is wrong or the time is up: see tests/hunt/run.py.
hunt: .venv/for-run
	$(BIN)/python tests/hunt/run.py $(ARGS)

# Faults put into copies of the sources, to see whether tests find them: see tests/mutate. ARGS="--minutes 10 --seed 1 --jobs 2 solvers/".
mutate: .venv/for-test
	PYTHONPATH=tests $(BIN)/python -m mutate $(ARGS)

# Numbers in the documents that come from committed results or from the code: see benchmarks/figures.py.
figures:
	$(PYTHON) benchmarks/figures.py

# docs/command-line.svg and the text of the tour: see examples/terminal_tour.py.
tour: .venv/for-run
	$(BIN)/python examples/terminal_tour.py

# The package is installed in editable mode: only a change of the core or of the requirements needs
# this again. Without isolation the build folder is used again, and nothing is compiled twice.
.venv/for-run: $(SOURCES)
	@echo "Setting up .venv for running"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python tools/requirements.py build > $@.txt
	@$(BIN)/python $(PIP) install --requirement $@.txt "cmake>=3.18" ninja
	@echo "Compiling the core for each instruction level: one to two minutes the first time"
	@$(BIN)/python $(PIP) install --no-build-isolation --editable ".[cli]"
	@touch $@

# The packages of an extra of pyproject.toml. Those that come as sources are built in isolation.
.venv/for-%: .venv/for-run pyproject.toml tools/requirements.py
	@echo "Installing the packages of [$*]"
	@$(BIN)/python tools/requirements.py $* > $@.txt
	@$(BIN)/python $(PIP) install --use-pep517 --requirement $@.txt
	@touch $@

# A few tests of everything that is compiled or leans on other packages: for other versions.
SMOKE := tests/test_core.py tests/test_backend_functions.py tests/test_kernels.py tests/test_problems.py tests/test_estimators.py tests/test_linear.py \
  tests/test_calibration.py tests/test_multiclass.py

# `make run` and `make test` as on a machine that has nothing; ARGS selects tests.
fresh:
	PYTHON=$(PYTHON) tools/fresh.sh $(ARGS)

# A plain install with each Python that is found; VERSIONS="3.12 3.13" chooses, ARGS selects tests.
VERSIONS ?= 3.11 3.12 3.13 3.14
versions:
	tools/versions.sh "$(VERSIONS)" $(or $(ARGS),$(SMOKE))

# The core under the compiler's sanitizers, at the shipped optimisation; ARGS selects tests.
sanitize: sanitize-address sanitize-thread

sanitize-address: .venv/for-test
	tools/sanitize.sh address $(or $(ARGS),$(ADDRESS_TESTS))

sanitize-thread: .venv/for-test
	tools/sanitize.sh thread $(or $(ARGS),$(THREAD_TESTS))

# An empty environment has no sanitizer either.
ADDRESS_TESTS := $(SMOKE) tests/test_rows.py tests/test_workspace.py tests/test_distances.py tests/test_given_kernels.py \
  tests/test_svmlight.py tests/test_lasso.py tests/test_crammer_singer.py tests/test_linear_chunks.py tests/test_online.py \
  tests/test_norma.py tests/regressions/test_crashes.py \
  --deselect tests/regressions/test_crashes.py::test_thundersvm_97_importing_needs_no_configuration
# The coordinate solver starts its threads for each part of a pass: warm starts would take minutes.
# Here even small calls start threads: the test that they do not is left out.
THREAD_TESTS := tests/test_core.py tests/test_backend_functions.py tests/test_workspace.py tests/test_rows.py tests/test_multiclass.py tests/test_svmlight.py \
  tests/test_lasso.py tests/test_crammer_singer.py tests/test_norma.py tests/test_linear.py \
  --deselect tests/test_linear.py::test_warm_start --deselect tests/test_linear.py::test_the_path_is_warm \
  --deselect tests/test_core.py::test_threads_of_large_calls_and_of_callers_that_run_side_by_side

# A wheel of this working tree, from the compiled core of .venv.
build/wheel/made: $(PACKAGE) .venv/for-run
	@rm -rf build/wheel
	@$(BIN)/python $(PIP) wheel --no-build-isolation --no-deps --wheel-dir build/wheel .
	@touch $@

# The oldest versions that pyproject.toml allows, with a plain install; ARGS selects tests.
oldest: .venv-oldest/for-test
	tools/installed.sh $(CURDIR)/.venv-oldest/bin
	.venv-oldest/bin/python -m pytest -q $(SHARED) -W ignore::DeprecationWarning $(or $(ARGS),$(SMOKE) tests/test_sklearn_suite.py)

.venv-oldest/for-test: build/wheel/made tools/requirements.py
	@echo "Setting up .venv-oldest with the oldest versions that pyproject.toml allows"
	@test -x .venv-oldest/bin/python || $(BIN)/python -m venv .venv-oldest
	@$(BIN)/python tools/requirements.py --oldest run test > $@.txt
	@.venv-oldest/bin/python $(PIP) install --use-pep517 --only-binary numpy,scipy,scikit-learn --requirement $@.txt
	@.venv-oldest/bin/python $(PIP) install --no-deps --force-reinstall build/wheel/*.whl
	@touch $@

# Tests of other packages with and without our SVMs; ARGS chooses packages: see tests/downstream/run.py.
downstream: .venv-downstream/made
	.venv-downstream/bin/python tests/downstream/run.py $(ARGS)

.venv-downstream/made: build/wheel/made tests/downstream/packages.py
	@echo "Setting up .venv-downstream"
	@test -x .venv-downstream/bin/python || $(BIN)/python -m venv .venv-downstream
	@.venv-downstream/bin/python tests/downstream/run.py --requirements > $@.txt
	@.venv-downstream/bin/python $(PIP) install --requirement $@.txt
	@.venv-downstream/bin/python $(PIP) install --no-deps --force-reinstall build/wheel/*.whl
	@touch $@

clean:
	rm -rf .venv .venv-* .bench build run
