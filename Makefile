# Two commands on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
ifeq ($(OS),Windows_NT)
BIN    := $(VENV)/Scripts
else
BIN    := $(VENV)/bin
endif
WORKERS ?= 3
# One worker more than CI has cores, since some tests wait for others' processes. A file of tests runs on one worker, and
# so do all those of Spark (tests/conftest.py). One thread a worker: with more threads than cores they wait for one another.
PARALLEL = -n $(WORKERS) --dist loadfile
# Bytecode is kept even where the environment says no: else every process of a test compiles every module again.
PYTEST = OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest
MATHJAX = build/mathjax/tex-svg.js

.PHONY: demo js test test-full test-lowest coverage tools debian node wrk lint style types quick-tests all-tests bench docs linkcheck clean

demo: $(VENV)/.run
	$(BIN)/shoal demo --out build/demo

# Contracts and types take the better part of a minute on one core: they are checked while tests run.
test: tools
	@$(MAKE) --no-print-directory style
	@$(MAKE) --no-print-directory --jobs=2 types quick-tests

test-full: tools
	@$(MAKE) --no-print-directory style
	@$(MAKE) --no-print-directory --jobs=2 types all-tests

# In a fresh clone one process compiles what is tested, while types are checked; else each worker would compile all of it.
quick-tests: $(VENV)/.test
	@test -d tests/__pycache__ || $(PYTEST) --collect-only -qq -m "not full" >/dev/null || true
	$(PYTEST) $(PARALLEL) -m "not full"

all-tests: $(VENV)/.test
	$(PYTEST) $(PARALLEL)

# Does what pyproject.toml declares work? Newer packages are what every other target installs. Old pandas casts a NaN.
LOWEST := $(VENV)/lowest
test-lowest: $(LOWEST)/.made
	OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(LOWEST)/bin/python -m pytest $(PARALLEL) -m "not full" -q \
	  -W "ignore:invalid value encountered in cast:RuntimeWarning" --ignore-glob="*spark*" tests/schema tests/service \
	  tests/plotting tests/tables tests/mechanisms/test_pipelines.py tests/privacy/test_ledger.py tests/cli/test_ledger.py

# What no test runs, by file; slower than `make test`, so a target of its own.
coverage: tools
	$(PYTEST) $(PARALLEL) -m "not full" -q --cov --cov-report=term-missing:skip-covered \
	  --cov-report=html:build/coverage

lint: style types

style: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/typos

types: $(VENV)/.test
	$(BIN)/lint-imports
	$(BIN)/mypy

bench: $(VENV)/.bench $(VENV)/peers/.made debian wrk
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/out_of_core.py --records 2e7
	$(BIN)/python benchmarks/cluster_estimate.py
	$(BIN)/python benchmarks/many_columns.py
	$(BIN)/python benchmarks/collector_load.py
	$(BIN)/python benchmarks/studio.py

# Warnings are errors: a link inside that leads nowhere is one. Nothing is fetched; with SHOAL_DOCS_ONLINE=1 names of
# other projects link to their pages.
SPHINX = OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -n -q -j 2
docs: $(VENV)/.docs $(MATHJAX)
	@start=$$(date +%s); $(SPHINX) docs build/docs && \
	  echo "docs: build/docs/index.html, in $$(($$(date +%s) - start)) s"

# Links to elsewhere, which need a network.
linkcheck: $(VENV)/.docs $(MATHJAX)
	SHOAL_DOCS_ONLINE=1 $(SPHINX) -D plot_gallery=0 -b linkcheck docs build/linkcheck

# Formulas are drawn in the browser by this one file, which fetches no others (those of version 4 do).
$(MATHJAX):
	@command -v npm >/dev/null || { echo "formulas need MathJax: install nodejs, 20 or later, with npm"; exit 1; }
	npm install --silent --no-save --prefix build/npm mathjax@3.2.2
	@mkdir -p $(@D) && cp build/npm/node_modules/mathjax/es5/tex-svg.js $@

.PHONY: check-release check-built release-files workflows
# What would be published: built, compared with the committed files, installed extra by extra, used (docs/releasing.md).
# READY=--ready refuses what must not be published yet.
check-release: $(VENV)/.release node
	$(BIN)/python tools/release.py $(READY)

# Built and compared, and no more. Nothing is installed for it but what builds: no package that shoal only needs to run has
# a say in what is published.
release-files: $(VENV)/.release node
	$(BIN)/python tools/release.py --build $(READY)

# The files that are in build/release already: compared and used.
check-built: $(VENV)/.release
	$(BIN)/python tools/release.py --built $(READY)

workflows: $(VENV)/.test
	$(PYTEST) -q tests/test_release.py

$(VENV)/.release: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --group release
	@touch $@

# What tests need: Python's packages, Debian's and tools of the JavaScript client, fetched at the same time.
tools:
	@$(MAKE) --no-print-directory --jobs=3 $(VENV)/.test debian node

# Spark needs Java, the collector PostgreSQL, pages a browser. What is missing is installed; where it cannot be, the tests
# that need it are skipped and say so. Tests start a database of their own: Debian's package would make another.
CLUSTERS := /etc/postgresql-common/createcluster.d
debian:
	@missing=""; \
	command -v java >/dev/null || test -x "$${JAVA_HOME:-/none}/bin/java" || missing="$$missing default-jre-headless"; \
	command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$$missing postgresql"; \
	command -v chromium >/dev/null || missing="$$missing chromium"; \
	test -z "$$missing" || \
	  { command -v apt-get >/dev/null && test "$$(id -u)" = 0 && echo "installing$$missing" && \
	    mkdir -p $(CLUSTERS) && echo "create_main_cluster = false" >$(CLUSTERS)/shoal.conf && \
	    trap 'rm -f $(CLUSTERS)/shoal.conf' EXIT && apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; } || \
	  echo "tests that need them will be skipped; run: apt-get install$$missing"

# What checks the types and the size of the JavaScript client; the client itself needs none of it.
node:
	@command -v npm >/dev/null || \
	  { echo "no Node: the JavaScript client will not be tested; install nodejs, 20 or later, with npm"; exit 0; }; \
	  test clients/js/node_modules/.package-lock.json -nt clients/js/package-lock.json || \
	  { echo "installing tools of the JavaScript client" && npm ci --silent --prefix clients/js; } || \
	  echo "no registry: types and size of the JavaScript client will not be checked; run: npm ci in clients/js"

js: node
	@cd clients/js && npm run --silent size

# The load of the collector's benchmark.
wrk:
	@command -v wrk >/dev/null || \
	  { command -v apt-get >/dev/null && test "$$(id -u)" = 0 && echo "installing wrk" && apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends wrk >/dev/null; } || \
	  echo "no wrk: the collector is not measured; run: apt-get install wrk"

clean:
	rm -rf $(VENV) build dist clients/js/dist clients/js/node_modules .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

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

# Modules are compiled when they are first imported: all of them would take half a minute, most are not needed.
$(VENV)/.test: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --no-compile -e ".[plot,arrow,spark,serve,attacks]" --group test
	@touch $@

# scikit-learn 1.6 reads frames of polars by a protocol that polars 1.40 warns of.
$(LOWEST)/.made: $(VENV)/.made pyproject.toml tools/lowest_versions.py
	$(BIN)/python -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --upgrade "pip>=25.1" packaging
	$(LOWEST)/bin/python tools/lowest_versions.py plot arrow frame serve >$(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --constraint $(LOWEST)/constraints.txt \
	  -e ".[plot,arrow,frame,serve]" pytest pytest-xdist hypothesis httpx "polars<1.40"
	@touch $@

$(VENV)/.bench: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[plot,arrow,serve]" --group test
	@touch $@

# diffprivlib, which ours is measured against, needs an older scikit-learn than ours.
$(VENV)/peers/.made: $(VENV)/.made
	$(BIN)/python -m venv $(VENV)/peers
	@$(VENV)/peers/bin/python -m pip install --quiet --disable-pip-version-check \
	  diffprivlib "scikit-learn<1.9" && touch $@ || \
	  { rm -rf $(VENV)/peers; echo "diffprivlib cannot be installed: measured without it"; }

$(VENV)/.docs: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[plot,arrow,spark,serve,attacks]" --group docs
	@touch $@
