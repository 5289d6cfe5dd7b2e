# The steps of every developer and of CI. The builds themselves are described in CMakePresets.json.
#   make build      the program, optimised, at build/payoff
#   make demo       builds, answers the field's first question, leaves tables and plots in demo/
#   make test       installs what is missing, builds, runs every quick test
#   make test-all   that, the slow tests, sanitizers, second compiler, clang-tidy, formatting
#   make fuzz       feeds every reader random inputs, SECONDS=60 each; what breaks one is kept
#   make mutants    puts wrong formulas into a copy, one at a time: do the tests notice? Takes hours
#   make coverage   which lines the tests run, by module (gcov's counters; half an hour)
#   make bench      builds and runs the benchmarks
#   make kernels    the CUDA program that measures GPUs, at build-kernels/payoff-kernels; needs nvcc
#   make page       the page of `payoff report`, at build/page/report.html; needs Node.js with npm
#   make install    installs program, profiles, manual, completions and libraries below PREFIX (/usr/local)
#   make package    a .deb and a .tar.gz in build/packages
#   make archive    the sources of the last commit as build/packages/payoff-VERSION.tar.gz
#   make format     formats every source

.DEFAULT_GOAL := build
.PHONY: build demo test test-all fuzz mutants coverage bench kernels page install package archive format nvcc install-packages install-packages-all clean

SHELL := /bin/bash

# Used where installed. The base directory lets two checkouts share their results.
ifneq ($(shell command -v ccache),)
export CMAKE_CXX_COMPILER_LAUNCHER ?= ccache
export CCACHE_SLOPPINESS ?= pch_defines,time_macros
endif
export CCACHE_DIR ?= $(or $(HOME),/tmp)/.cache/ccache
export CCACHE_BASEDIR ?= $(CURDIR)
export CCACHE_NOHASHDIR ?= 1

install-packages:
	@cmake/install-packages apt-packages.txt

install-packages-all: install-packages
	@cmake/install-packages apt-packages-all.txt

build: install-packages
	cmake --preset release
	cmake --build build --target payoff

demo: build
	examples/demo/run.sh build/payoff demo

test: install-packages
	@python3 tests/run.py test

test-all: install-packages-all
	@python3 tests/run.py all

SECONDS ?= 60
fuzz: install-packages-all
	@python3 tests/fuzz/run.py $(SECONDS) $(TARGETS)

mutants: install-packages
	@python3 tests/mutants/run.py

coverage: install-packages-all
	@python3 tests/coverage/run.py

bench: install-packages-all
	cmake --preset release -DPAYOFF_BUILD_BENCH=ON
	cmake --build build --target benchmarks

kernels nvcc: export CUDACXX ?= $(or $(shell command -v nvcc),/usr/local/cuda/bin/nvcc)
nvcc:
	@command -v "$$CUDACXX" >/dev/null || { \
	  echo "error: the CUDA program needs nvcc, and $$CUDACXX is not there: install a CUDA toolkit, or name its nvcc by CUDACXX" >&2; exit 1; }

kernels: nvcc install-packages
	cmake -S kernels -B build-kernels -G Ninja
	cmake --build build-kernels

page: install-packages-all
	@web/build-page build/page

PREFIX ?= /usr/local
install: build
	cmake --build build --target installed_files
	DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(PREFIX)"

package: install-packages-all
	cmake --preset release
	cmake --build build --target installed_files
	@web/build-page build/page || { [ $$? -eq 77 ] && echo "notice: the packages have no page for \`payoff report\`"; }
	cpack --config build/CPackConfig.cmake

archive:
	@mkdir -p build/packages
	cmake/archive-source "build/packages/payoff-$$(sed -n 's/^project(payoff VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt).tar.gz"

format: install-packages-all
	@python3 tests/run.py reformat

clean:
	rm -rf build build-* demo web/page/node_modules
