# make run | test | check | compare: each sets up .venv by itself; a second run is quick.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := pyproject.toml CMakeLists.txt $(wildcard src/maxmargin/core/*.cpp src/maxmargin/core/*.h)

.PHONY: run test check compare clean

run: .venv/installed
	$(BIN)/python examples/quick_start.py

test: .venv/installed
	$(BIN)/python -m pytest -q

check: .venv/installed
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

compare: .venv/installed
	$(BIN)/python benchmarks/compare.py

# The package is installed in editable mode: only a change of the compiled core or of the dependencies needs this again.
.venv/installed: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "scikit-build-core>=0.10" "nanobind>=2.4" "ninja" "cmake>=3.18"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable ".[test,check,plots,progress]"
	touch $@

clean:
	rm -rf .venv build run
