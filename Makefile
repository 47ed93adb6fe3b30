# Two commands on a fresh machine do all: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow check format bench clean

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

clean:  ## remove the environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
