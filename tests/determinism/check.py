#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same inputs give the same bytes, whoever compiled the program and however.

  check.py PROGRAM OTHER-PROGRAM [EXAMPLE...]

Both predict and simulate the named examples, or all of them, as JSON, which has every figure that
a table rounds and the hash over all events of a simulation; then both write a timeline of the
first, explain it, and price a sweep of collectives. The hashes have to be those of golden.txt, too.
"""

import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import golden

ROOT = Path(__file__).resolve().parents[2]
SIZES = ["--sizes", "8B..8GiB:x2"]
TIMELINE = "timeline.json"  # of a run's own folder


def commands(names):
    experiments = [f"examples/{name}/experiment.yaml" for name in names] or sorted(
        str(path.relative_to(ROOT)) for path in ROOT.glob("examples/*/experiment.yaml"))
    for experiment in experiments:
        yield ["predict", experiment, "--json"]
        yield ["simulate", experiment, "--json"]
    yield ["simulate", experiments[0], "--trace", TIMELINE]
    yield ["explain", experiments[0]]
    for collective in ("all_reduce", "all_gather", "all_to_all"):
        yield ["collective", collective, "--cluster", "dgx-h100", "--nodes", "4", *SIZES]


def printed(program, command):
    """What a command prints, with the timeline that it writes."""
    with tempfile.TemporaryDirectory() as folder:
        timeline = Path(folder) / TIMELINE
        words = [str(timeline) if word == TIMELINE else word for word in command]
        done = subprocess.run([program, *words], cwd=ROOT, stdin=subprocess.DEVNULL,
                              capture_output=True)
        if done.returncode != 0:
            sys.stdout.write(done.stderr.decode("utf-8", "replace"))
            sys.exit(f"error: {program} {' '.join(command)} exits with {done.returncode}")
        return done.stdout + (timeline.read_bytes() if timeline.exists() else b"")


def first_difference(one, other):
    for number, (a, b) in enumerate(zip(one.splitlines(), other.splitlines()), start=1):
        if a != b:
            return f"line {number}:\n  {a.decode()}\n  {b.decode()}"
    return "the one is longer than the other"


def main(program, other, *names):
    different = compared = 0
    steps = {}
    for command in commands(names):
        with ThreadPoolExecutor(2) as both:
            expected, got = both.map(lambda which: printed(which, command), (program, other))
        compared += 1
        if command[0] == "simulate" and command[-1] == "--json":
            steps.update(golden.steps_of(Path(command[1]).parent.name, json.loads(expected)))
        if got != expected:
            different += 1
            print(f"payoff {' '.join(command)}: {first_difference(expected, got)}", flush=True)
    print(f"{compared} outputs of {program} and {other} compared, with {len(steps)} trace hashes; "
          f"{different} differ")
    wanted = {step: was for step, was in golden.read_golden().items() if not names or step[0] in names}
    told = golden.differences(wanted, steps)
    print(*told, f"{len(told)} differ from tests/determinism/golden.txt", sep="\n")
    return 1 if different or told or not steps else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
