.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV := .venv/bin
FUZZ_SECONDS ?= 60
BENCH_ARGS ?=

# $(call configure_and_build,<preset>)
configure_and_build = cmake --preset $(1) --log-level=WARNING >/dev/null && cmake --build --preset $(1)

sources = find lithe apps tests bench fuzz examples python -name '*.h' -print0 -o -name '*.cpp' -print0

.PHONY: setup build demo test check bench compare rates experiments experiments-page gallery viewer viewer-test python python-test api bench-python format format-check layer-check tool-test clean help

setup:  ## install what is missing: packages and .venv
	@tools/setup.sh

build: setup  ## build everything into build/ (Release)
	@$(call configure_and_build,release)

demo: build viewer  ## build, then show what Lithe does
	@build/lithe demo

test: build layer-check format-check tool-test  ## build and run all tests
	@ctest --preset release
	@$(MAKE) viewer-test
	@$(MAKE) python-test

viewer:  ## build the viewer's page, viewer/dist/viewer.html
	@tools/setup.sh --viewer
	@tools/viewer.sh build

viewer-test: build  ## test the viewer: its code, and the page in Chromium with what build/lithe exports and serves
	@tools/setup.sh --browser
	@tools/viewer.sh build
	@tools/viewer.sh test

python: setup  ## build the Python package and install it into .venv-python
	@tools/python.sh install

python-test: python  ## test the Python package as installed: behaviour, types, examples, reference
	@tools/python.sh test

api: python  ## write docs/api.md from the docstrings
	@.venv-python/bin/python tools/api_reference.py --into docs/api.md

bench-python: python  ## what Python adds to a step, and how batches use the cores
	@$(call configure_and_build,bench)
	@.venv-python/bin/python bench/python_overhead.py --cpp build/bench_python_rates

check: setup  ## the slow checks: sanitizers, large random runs, fuzzers (FUZZ_SECONDS=60 each); builds the benchmarks too
	@$(call configure_and_build,bench)
	@tools/setup.sh --browser
	@tools/viewer.sh build
	@tools/viewer.sh mock
	@$(call configure_and_build,asan)
	@cmake --build --preset asan --target all_verify_interface_header_sets
	@ctest --preset asan
	@LITHE_TEST_SCALE=large ctest --preset release
	@LITHE_TEST_SCALE=50 ctest --preset release -R 'RandomLcp|Robots.AHalfCheetah'  # a million problems, a million steps
	@$(call configure_and_build,fuzz)
	@tools/fuzz.sh build-fuzz $(FUZZ_SECONDS)

bench:  ## run the benchmarks, print their tables and write docs/benchmarks.md (BENCH_ARGS=... passes arguments on)
	@tools/setup.sh --bench
	@$(call configure_and_build,bench)
	@tools/bench.sh $(BENCH_ARGS)

compare: build  ## compare what is read from robot files with MuJoCo, Pinocchio, urdfdom and libsdformat
	@tools/compare.sh build

rates: build  ## simulate scenes and write how often each stage of the solver answered to docs/lcp.md
	@python3 tools/solver_rates.py --into docs/lcp.md

experiments: build  ## run the experiments in optimisation: report, figures and motions in out/experiments
	@build/lithe experiments

gallery: build viewer  ## take the pictures of docs/gallery.md, with Chromium
	@tools/setup.sh --browser
	@node tools/gallery.mjs

experiments-page: build  ## run them and write docs/experiments.md; what was missed fails, but is written too
	@rm -f out/experiments/report.md
	@status=0; build/lithe experiments || status=$$?; python3 tools/experiments_page.py && exit $$status

format: setup  ## format all C++ code
	@$(sources) | xargs -0 -r $(VENV)/clang-format -i

format-check: setup  ## fail if any C++ code is not formatted
	@$(sources) | xargs -0 -r $(VENV)/clang-format --dry-run --Werror

layer-check: setup  ## fail if an include goes against the order of the rooms
	@python3 tools/check_layers.py

tool-test: setup  ## test the tools
	@$(VENV)/python -m pytest -q tools/tests

clean:  ## remove all build directories (not .venv)
	@rm -rf build build-debug build-asan build-fuzz build-clang build-gcc build-python

help:  ## show this table
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
