#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which lines do the tests run?

  run.py [MODULE...]  builds the test programs with gcov's counters, runs those of the modules named
                      (all of TESTS unless some are), and prints for each module of the core how many
                      of its lines were run, then the sources with the most lines that were not

The counters are of all runs since the build folder was made; they lie in build-coverage.
"""

import collections
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build-coverage"
TESTS = ["model", "catalogue", "sim", "profiles", "calibrate", "study", "web", "cli"]
CORE = ["model", "sim", "calibrate", "profiles", "study", "cli"]
WORST = 25


def run(*command, **more):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, check=False, **more)
    if done.returncode != 0:
        print(f"error: {' '.join(map(str, command))} exits with {done.returncode}", file=sys.stderr)
    return done.returncode == 0


def lines_of(data):
    """Of each source, all lines and those that were run."""
    for source in data["files"]:
        lines = [line for line in source["lines"] if not line.get("gcovr/noncode")]
        yield source["file"], len(lines), sum(line["count"] > 0 for line in lines)


def report(data):
    modules, missed = collections.defaultdict(lambda: [0, 0]), []
    for name, lines, executed in lines_of(data):
        of = modules[name.split("/")[0]]
        of[0] += lines
        of[1] += executed
        missed.append((lines - executed, lines, name))
    for module in CORE:
        lines, executed = modules[module]
        share = 100 * executed / lines if lines else 0
        print(f"{module:10} {executed:6} of {lines:6} lines run, {share:.1f} %")
    print("\nmost lines that no test runs:")
    for lines_missed, lines, name in sorted(missed, reverse=True)[:WORST]:
        print(f"{lines_missed:5} of {lines:4}  {name}")


def main():
    tests = sys.argv[1:] or TESTS
    if unknown := [name for name in tests if name not in TESTS]:
        sys.exit(f"error: no tests called {', '.join(unknown)}; there are {', '.join(TESTS)}")
    programs = [f"payoff_{name}_tests" for name in tests]
    if not (run("cmake", "--preset", "coverage", cwd=ROOT)
            and run("cmake", "--build", BUILD, "--target", *programs, cwd=ROOT)):
        sys.exit(1)
    passed = [run(BUILD / "tests" / name / program, "--reporter", "compact",
                  cwd=BUILD / "tests" / name, stdout=subprocess.DEVNULL)
              for name, program in zip(tests, programs)]
    output = BUILD / "coverage.json"
    filters = [f"--filter={module}/" for module in CORE]
    if not run("gcovr", "--root", ROOT, "--json", output, *filters, BUILD, cwd=ROOT):
        sys.exit(1)
    report(json.loads(output.read_text()))
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
