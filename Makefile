.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV := .venv/bin
BENCH_ARGS ?=

TIMED := @tools/timed.sh

# $(call configure_and_build,<preset>)
configure_and_build = cmake --preset $(1) --log-level=WARNING >/dev/null && cmake --build --preset $(1)

sources = find lithe apps tests bench fuzz examples python -name '*.h' -print0 -o -name '*.cpp' -print0

.PHONY: build demo test check bench compare rates experiments experiments-page gallery viewer viewer-test wheel python python-test package api \
        bench-python format format-check layer-check tool-test clean help

build:  ## compile library, command line, examples and tests into build/ (Release)
	$(TIMED) "packages for the build" tools/setup.sh build test
	$(TIMED) "compile" bash -c '$(call configure_and_build,release)'

demo:  ## the first thing to try: find a throw and write out/demo.html; installs and compiles what that needs, and no more
	$(TIMED) "packages for the demo" tools/setup.sh build viewer
	$(TIMED) "the viewer's page" tools/viewer.sh build
	$(TIMED) "compile the library and the command line" tools/compile.sh lithe_cli
	@build/lithe demo

test:  ## everything that a change must pass; installs what that needs
	@tools/test.sh

viewer:  ## build the viewer's page, viewer/dist/viewer.html
	$(TIMED) "packages for the viewer" tools/setup.sh viewer
	$(TIMED) "the viewer's page" tools/viewer.sh build

viewer-test: viewer  ## test the viewer: its code, and the page in Chromium with what build/lithe exports and serves
	$(TIMED) "packages for the viewer's tests" tools/setup.sh build browser
	$(TIMED) "compile the library and the command line" tools/compile.sh lithe_cli
	$(TIMED) "tests of the viewer" tools/viewer.sh test

wheel: viewer  ## build the Python package, dist/lithe-*.whl, which needs nothing of the system it is installed on
	$(TIMED) "packages for the wheel" tools/setup.sh build wheel
	$(TIMED) "the wheel" tools/wheel.sh build

python: wheel  ## install the wheel into .venv-python
	$(TIMED) "packages for the tests of Python" tools/setup.sh python test
	$(TIMED) "install the wheel" tools/python.sh install

python-test: python  ## test the wheel on its own, and all of the Python package: behaviour, types, examples, reference
	$(TIMED) "tests of the wheel" tools/wheel.sh test
	$(TIMED) "tests of the Python package" tools/python.sh test

package: viewer  ## build a Debian package, dist/lithe_*.deb: library, headers, command line and viewer
	$(TIMED) "packages for the Debian package" tools/setup.sh build package
	$(TIMED) "the Debian package" tools/package.sh build

api: python  ## write docs/api.md from the docstrings
	@.venv-python/bin/python tools/api_reference.py --into docs/api.md

bench-python: python  ## what Python adds to a step, and how batches use the cores
	@tools/setup.sh build bench
	@$(call configure_and_build,bench)
	@.venv-python/bin/python bench/python_overhead.py --cpp build/bench_python_rates

check:  ## the slow checks: sanitizers, large random runs, fuzzers, hostile environments, packages; goes on where it was stopped
	@tools/check.sh

bench:  ## run the benchmarks and print the tables (BENCH_ARGS=... passes arguments on)
	@tools/setup.sh build bench
	@$(call configure_and_build,bench)
	@tools/bench.sh $(BENCH_ARGS)

compare: build  ## compare what is read from robot files with MuJoCo, Pinocchio, urdfdom and libsdformat
	@tools/compare.sh build

rates: build  ## simulate scenes and write how often each stage of the solver answered to docs/lcp.md
	@python3 tools/solver_rates.py --into docs/lcp.md

experiments: build  ## run the experiments in optimisation: report, figures and motions in out/experiments
	@build/lithe experiments

gallery: build viewer  ## take the pictures of docs/gallery.md, with Chromium
	@tools/setup.sh browser
	@tools/viewer.sh gallery

experiments-page: build  ## run them and write docs/experiments.md; what was missed fails, but is written too
	@rm -f out/experiments/report.md
	@status=0; build/lithe experiments || status=$$?; python3 tools/experiments_page.py && exit $$status

format:  ## format all C++ code
	@tools/setup.sh test
	@$(sources) | xargs -0 -r $(VENV)/clang-format -i

format-check:  ## fail if any C++ code is not formatted
	@tools/setup.sh test
	$(TIMED) "format" bash -c "$(sources) | xargs -0 -r $(VENV)/clang-format --dry-run --Werror"

layer-check:  ## fail if an include goes against the order of the rooms, or a file or a room is not as it should be
	$(TIMED) "layers" python3 tools/check_layers.py
	$(TIMED) "files and comments" python3 tools/house_figures.py --check

tool-test:  ## test the tools
	@tools/setup.sh test
	$(TIMED) "tests of the tools" $(VENV)/python -m pytest -q -p no:cacheprovider tools/tests

clean:  ## remove all build directories (not the environments of Python)
	@rm -rf build build-* dist

help:  ## show this table
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
