# Every target sets up what it needs in .venv and writes only inside this directory.

PYTHON ?= python3
JAVA ?= $(if $(JAVA_HOME),$(JAVA_HOME)/bin/java,java)
# Extra arguments for pytest or the benchmarks: make test ARGS="-k framing"
ARGS ?=
# Number of test processes; WORKERS= runs the tests in one process, as a debugger needs it.
WORKERS ?= --numprocesses 2

BIN := .venv/bin
STAMP := .venv/.installed
PYTEST := $(BIN)/python -m pytest $(WORKERS)

export TMPDIR := $(CURDIR)/.cache/tmp
export PIP_NO_CACHE_DIR := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export ROLLCALL_CACHE := $(CURDIR)/.cache/rollcall
export MAVEN_OPTS += -Dmaven.repo.local=.cache/maven

# $(error) stops make with one line before the first line of the recipe has run.
python_is = $(shell "$(PYTHON)" -c 'import sys; print("good" if sys.version_info >= (3, 11) else \
	"version %d.%d" % sys.version_info[:2])' 2>/dev/null || echo missing)
need_python = $(if $(filter good,$(python_is)),,$(error rollcall needs Python 3.11 or newer, \
	and $(PYTHON) is $(python_is): install one, or name it with PYTHON=/path/to/python3.11))

java_is = $(shell "$(JAVA)" -version 2>&1 | sed -n 's/.* version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p')
java_fits = $(shell [ "$(java_is)" -ge 17 ] 2>/dev/null && echo yes)
java_lacks = '$(1)' needs Java 17 or newer, and $(JAVA) is $(or $(addprefix version ,$(java_is)),missing): \
	install openjdk-17 or set JAVA_HOME
need_java = $(if $(java_fits),,$(error $(call java_lacks,$(1))))

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow test-kafka test-browser check lint bench docs clean

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1 /p' Makefile | while read -r name what; do \
		printf '  make %-13s %s\n' "$$name" "$$what"; done

$(STAMP): pyproject.toml requirements/dev.txt
	$(need_python)
	@mkdir -p "$$TMPDIR"
	@echo 'Setting up .venv (once, about a minute)'
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || "$(PYTHON)" -m venv --clear .venv
	@$(BIN)/python -m pip install --quiet --use-pep517 --requirement requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

setup: $(STAMP) ## Create the virtual environment .venv with rollcall installed
	@echo 'Ready: $(BIN)/rollcall'

# Checked before .venv is created, which takes a while.
java-for-%:
	$(call need_java,$*)

demo: java-for-demo $(STAMP) ## Run the main job on an embedded cluster (a minute; needs Java 17)
	@$(BIN)/rollcall demo --output build/demo $(ARGS)

test: java-for-test $(STAMP) ## Run the tests (Python and Java 17 only)
	$(PYTEST) -m 'not slow and not kafka and not browser' $(ARGS)

test-slow: java-for-test-slow $(STAMP) ## Run the slow tests: kills, interrupts, long Spark jobs
	$(PYTEST) -m 'slow and not kafka and not browser' --timeout 900 $(ARGS)

test-kafka: $(STAMP) ## Run the tests against real Apache Kafka (downloads it from Maven Central)
	$(if $(java_fits),$(PYTEST) -m kafka --timeout 900 $(ARGS),@echo "skipped: $(call java_lacks,$@)")

test-browser: $(STAMP) ## Run the tests of the HTML pages in chromium (skipped where it is missing)
	$(PYTEST) -m browser $(ARGS)

check: lint ## Run lint, types and the tests of what changed since BASE (default HEAD)
	$(PYTEST) -m 'not slow and not kafka' $$($(BIN)/python -m tests.changed $(BASE)) $(ARGS)

lint: $(STAMP) ## Check style and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(STAMP) ## Measure rollcall next to its peers
	$(BIN)/python -m bench $(ARGS)

docs: $(STAMP) ## Generate docs/commands.md, docs/tables.md and the protocol reference
	$(BIN)/python -m rollcall.cli.reference > docs/commands.md
	$(BIN)/rollcall protocol reference --output build/docs/protocol
	$(BIN)/python -c 'from rollcall.tables.reference import page; print(page(), end="")' > docs/tables.md

clean: ## Remove everything the other targets created
	rm -rf .venv .cache build dist
	find . -name __pycache__ -prune -exec rm -rf {} +
