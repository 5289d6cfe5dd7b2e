#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py PROGRAM PROGRAM...: the same inputs give the same bytes, whoever compiled the program.

The programs come from different compilers and optimisation levels. Every example is predicted by
each of them, as a table and as JSON, and a sweep of collectives is priced; the first program is the
reference.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SIZES = ["--sizes", "8B..8GiB:x2"]


def commands():
    for experiment in sorted(ROOT.glob("examples/*/experiment.yaml")):
        file = str(experiment.relative_to(ROOT))
        yield ["predict", file]
        yield ["predict", file, "--json"]
        yield ["explain", file]
    for collective in ("all_reduce", "all_gather", "all_to_all"):
        yield ["collective", collective, "--cluster", "dgx-h100", "--nodes", "4", *SIZES]


def printed(program, command):
    done = subprocess.run([program, *command], cwd=ROOT, stdin=subprocess.DEVNULL,
                          capture_output=True)
    if done.returncode != 0:
        sys.stdout.write(done.stderr.decode("utf-8", "replace"))
        sys.exit(f"error: {program} {' '.join(command)} exits with {done.returncode}")
    return done.stdout


def first_difference(one, other):
    for number, (a, b) in enumerate(zip(one.splitlines(), other.splitlines()), start=1):
        if a != b:
            return f"line {number}:\n  {a.decode()}\n  {b.decode()}"
    return "the one is longer than the other"


def main(reference, *others):
    different = compared = 0
    for command in commands():
        expected = printed(reference, command)
        for program in others:
            got = printed(program, command)
            compared += 1
            if got != expected:
                different += 1
                print(f"{program} {' '.join(command)}: {first_difference(expected, got)}")
    print(f"{compared} outputs compared with those of {reference}, {different} differ")
    return 1 if different or not compared else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
