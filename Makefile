# Every target sets up what it needs: Python 3.11 or newer (with venv) and make are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.setup-stamp
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --fork-strategy fewest --system-certs \
	--custom-compile-command "make lock" $(if $(UPGRADE),--upgrade)

EMBEDDERS ?= static minilm

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo serve test lint types eval bench lock

help: ## Print this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z]+:.*## / {printf "make %-7s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: $(STAMP) ## Make .venv with the locked versions (each target below does this by itself)

$(STAMP): pyproject.toml requirements-dev.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Python 3.11 or newer is needed; $(PYTHON) is not. Name one: make PYTHON=python3.12" >&2; exit 1; }
	@echo "Setting up $(VENV) with the locked versions; this takes a minute or two."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(STAMP) ## Load a sample, search it with explanations, then serve (ONCE=1 ends by itself)
	@$(BIN)/loom demo $(if $(ONCE),--once)

serve: $(STAMP) ## Serve on http://127.0.0.1:7777 from the data directory .loom
	@$(BIN)/loom serve

test: $(STAMP) ## Run the tests (ARGS="-k bm25" or a path narrows them)
	@$(BIN)/python -m pytest --ignore=tests/bench -n 2 --dist loadfile $(ARGS)

lint: $(STAMP) ## Check style, format, floors and house rules
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/lint-imports
	@$(BIN)/python tests/support/house_rules.py

types: $(STAMP) ## Check types (pyright, strict over the product)
	@$(BIN)/pyright

eval: $(STAMP) ## Ask the judged sets in DATA in every mode with each of EMBEDDERS; page and tables in .eval/
	@test -n "$(DATA)" || { echo "Name a folder of judged sets: make eval DATA=folder" >&2; exit 1; }
	@for one in $(EMBEDDERS); do \
		$(BIN)/loom eval run $(DATA) --mode all --embedder $$one --baseline oracle --out .eval/$$one.json || exit 1; \
	done
	@$(BIN)/loom eval report $(EMBEDDERS:%=.eval/%.json) --out .eval/report.html
	@$(BIN)/loom eval report $(EMBEDDERS:%=.eval/%.json) --markdown --out .eval/report.md

bench: $(STAMP) ## Measure speed
	@$(BIN)/python tests/bench/search.py
	@$(BIN)/python tests/bench/write_rates.py

lock: $(STAMP) ## Compile the locked versions from pyproject.toml (UPGRADE=1 takes the newest)
	@$(COMPILE) pyproject.toml --group dev --all-extras -o requirements-dev.lock
	@$(COMPILE) pyproject.toml --constraint requirements-dev.lock -o requirements.lock
