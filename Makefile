# Two commands on a fresh machine do all: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
# The lock of development. CI overrides it: constraints.txt for the newest of everything, constraints-oldest.txt.
LOCK   ?= constraints-dev.txt
# More options for pytest: old packages warn about newer ones, -W default lets them.
OPTIONS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow check format bench docs coverage lock clean

help:  ## what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

$(STAMP): pyproject.toml constraints.txt $(LOCK)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --constraint constraints.txt --constraint $(LOCK) -e '.[dev]'
	@touch $(STAMP)

demo: $(STAMP)  ## train on data with noisy labels, anchored and not, and compare
	@$(BIN)/python -m anchored.demo

test: $(STAMP)  ## the test suite (under four minutes on two free cores)
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2 $(OPTIONS)

test-slow: $(STAMP)  ## the long tests
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -m slow -n 2

check: $(STAMP)  ## format, lint, types
	$(BIN)/ruff format --check src tests
	$(BIN)/ruff check src tests
	$(BIN)/mypy

format: $(STAMP)  ## let ruff format and fix what it can
	$(BIN)/ruff format src tests
	$(BIN)/ruff check --fix src tests

bench: $(STAMP)  ## every benchmark, as ratios
	$(BIN)/anchored bench

docs: $(STAMP)  ## the site, strictly, into build/site
	$(BIN)/pip install -q --constraint constraints.txt --constraint $(LOCK) -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

coverage: $(STAMP)  ## all tests, the long ones too, with the share of lines that they run
	$(BIN)/pip install -q --constraint constraints.txt --constraint $(LOCK) -e '.[coverage]'
	$(BIN)/coverage erase
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2 --cov --cov-report=
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2 -m slow --cov --cov-append --cov-report=
	$(BIN)/coverage report --sort=cover

constraints-oldest.txt: pyproject.toml .github/pins.py
	$(PYTHON) .github/pins.py oldest > $@

lock: $(STAMP)  ## take the newest of everything, and write it to constraints-dev.txt
	$(BIN)/pip install -q --upgrade --upgrade-strategy eager --constraint constraints.txt \
		-e '.[dev,ray,slurm,cleanlab]'
	(sed -n 1p constraints-dev.txt; $(BIN)/python .github/pins.py lock) > constraints-dev.txt.new
	mv constraints-dev.txt.new constraints-dev.txt

clean:  ## remove the environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
