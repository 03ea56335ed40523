# Two commands on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
WORKERS ?= 2
# A file of tests runs on one worker, and so do all those of Spark (tests/conftest.py). One thread a worker:
# with more threads than cores they wait for one another.
PARALLEL = -n $(WORKERS) --dist loadfile
# Bytecode is kept even where the environment says no: else every process of a test compiles every module again.
PYTEST = OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest

.PHONY: demo test test-full coverage java lint style types quick-tests all-tests bench docs clean

demo: $(VENV)/.run
	$(BIN)/shoal demo --out build/demo

# Types take the better part of a minute on one core: they are checked while tests run.
test: java style
	@$(MAKE) --no-print-directory --jobs=2 types quick-tests

test-full: java style
	@$(MAKE) --no-print-directory --jobs=2 types all-tests

quick-tests: $(VENV)/.test
	$(PYTEST) $(PARALLEL) -m "not full"

all-tests: $(VENV)/.test
	$(PYTEST) $(PARALLEL)

# What no test runs, by file; slower than `make test`, so a target of its own.
coverage: $(VENV)/.test java
	$(PYTEST) $(PARALLEL) -m "not full" -q --cov --cov-report=term-missing:skip-covered \
	  --cov-report=html:build/coverage

lint: style types

style: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.test
	$(BIN)/mypy

bench: $(VENV)/.bench $(VENV)/peers/.made
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/out_of_core.py --records 2e7
	$(BIN)/python benchmarks/cluster_estimate.py
	$(BIN)/python benchmarks/many_columns.py

docs: $(VENV)/.docs
	$(BIN)/mkdocs build --strict --quiet --site-dir build/docs
	@echo "docs: build/docs/index.html"

# Spark needs Java; without it, the tests of Spark are skipped and say so.
java:
	@command -v java >/dev/null || test -x "$${JAVA_HOME:-/none}/bin/java" || \
	  { command -v apt-get >/dev/null && test "$$(id -u)" = 0 && echo "installing Java for Spark" && \
	    apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends default-jre-headless >/dev/null; } || \
	  echo "no Java: tests of Spark will be skipped; run: apt-get install default-jre-headless"

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

# pip before 25.1 does not know dependency groups.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "shoal needs Python 3.11 or newer: run make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@touch $@

$(VENV)/.run: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[plot]"
	@touch $@

$(VENV)/.test: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[plot,arrow,spark,attacks]" --group test
	@touch $@

$(VENV)/.bench: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[plot,arrow]"
	@touch $@

# diffprivlib, which ours is measured against, needs an older scikit-learn than ours.
$(VENV)/peers/.made: $(VENV)/.made
	$(BIN)/python -m venv $(VENV)/peers
	@$(VENV)/peers/bin/python -m pip install --quiet --disable-pip-version-check \
	  diffprivlib "scikit-learn<1.9" && touch $@ || \
	  { rm -rf $(VENV)/peers; echo "diffprivlib cannot be installed: measured without it"; }

$(VENV)/.docs: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[plot]" --group docs
	@touch $@
