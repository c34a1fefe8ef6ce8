# make run: open the window on the demo.  make test: lint and all tests.  Nothing is needed but Python 3.11+ and make.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test lint bench clean

run: .venv/run.stamp
	$(BIN)/embedding-explorer demo

test: lint
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile tests/unit
	QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest --ignore tests/unit

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/dev.stamp
	$(BIN)/pip install --quiet -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Embedding Explorer needs Python 3.11 or newer: make PYTHON=python3.11 run")'
	$(PYTHON) -m venv .venv

.venv/run.stamp: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

.venv/dev.stamp: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@ .venv/run.stamp

clean:
	rm -rf .venv dist build
