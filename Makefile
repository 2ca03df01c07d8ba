# make run | test | check | gallery | bench | bench-quick | bench-linear | bench-memory | bench-svmlight | fuzz | tour: each sets up what it needs by itself; a second run is quick.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := pyproject.toml CMakeLists.txt $(wildcard src/maxmargin/core/*.cpp src/maxmargin/core/*.h)

.PHONY: run test check gallery bench bench-quick bench-linear bench-memory bench-svmlight fuzz tour clean

run: .venv/installed
	$(BIN)/python examples/quick_start.py

test: .venv/installed
	$(BIN)/python -m pytest -q

check: .venv/installed
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

# Every figure of the lectures into docs/gallery/: see examples/gallery/build.py.
gallery: .venv/installed
	$(BIN)/python examples/gallery/build.py $(FIGURES)

# CASES="magic sweep" selects by substring of a case's name or group; ARGS="--timeout 30 --save" are options: see benchmarks/run.py.
bench: .venv/installed
	$(BIN)/python benchmarks/run.py $(CASES) $(ARGS)

bench-quick: .venv/installed
	$(BIN)/python benchmarks/run.py --quick $(CASES) $(ARGS)

# Time to the same objective of linear models: see benchmarks/linear/run.py.
bench-linear: .venv/installed
	PYTHONPATH=benchmarks $(BIN)/python -m linear.run $(CASES) $(ARGS)

# Training from a file of 4 GB with less than 1 GB of memory: see benchmarks/memory.py.
bench-memory: .venv/installed
	$(BIN)/python benchmarks/memory.py $(ARGS)

# Reading a file of 500 MB beside scikit-learn and LIBSVM: see benchmarks/svmlight.py.
bench-svmlight: .venv/installed
	$(BIN)/python benchmarks/svmlight.py $(ARGS)

# Every reader of files against random bytes, SECONDS each; NAMES chooses some: see tests/fuzz/run.sh.
fuzz: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check atheris
	tests/fuzz/run.sh $(or $(SECONDS),600) $(NAMES)

# docs/command-line.svg and the text of the tour: see examples/terminal_tour.py.
tour: .venv/installed
	$(BIN)/python examples/terminal_tour.py

# The package is installed in editable mode: only a change of the compiled core or of the dependencies needs this again.
.venv/installed: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "scikit-build-core>=0.10" "nanobind>=2.4" "ninja" "cmake>=3.18"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable ".[test,check,plots,progress,textbook,cli]"
	touch $@

clean:
	rm -rf .venv .bench build run
