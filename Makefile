# Two commands on a fresh machine do all: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow check format bench docs coverage clean

help:  ## what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --constraint constraints.txt -e '.[dev]'
	@touch $(STAMP)

demo: $(STAMP)  ## train on data with noisy labels, anchored and not, and compare
	@$(BIN)/python -m anchored.demo

test: $(STAMP)  ## the test suite (under four minutes on two free cores)
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2

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
	$(BIN)/pip install -q --constraint constraints.txt -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

coverage: $(STAMP)  ## all tests, the long ones too, with the share of lines that they run
	$(BIN)/pip install -q --constraint constraints.txt -e '.[coverage]'
	$(BIN)/coverage erase
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2 --cov --cov-report=
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2 -m slow --cov --cov-append --cov-report=
	$(BIN)/coverage report --sort=cover --fail-under=95

clean:  ## remove the environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
