# Two commands on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
WORKERS ?= 2

.PHONY: demo test test-full lint bench docs clean

demo: $(VENV)/.run
	$(BIN)/shoal demo --out build/demo

test: $(VENV)/.test lint
	$(BIN)/python -m pytest -n $(WORKERS) -m "not full"

test-full: $(VENV)/.test lint
	$(BIN)/python -m pytest -n $(WORKERS)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.run
	$(BIN)/python benchmarks/run.py

docs: $(VENV)/.docs
	$(BIN)/mkdocs build --strict --quiet --site-dir build/docs
	@echo "docs: build/docs/index.html"

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
	$(BIN)/python -m pip install --quiet -e ".[plot,arrow,attacks]" --group test
	@touch $@

$(VENV)/.docs: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[plot]" --group docs
	@touch $@
