#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The events of every example's simulated steps are those of golden.txt.

  golden.py PROGRAM            compares
  golden.py PROGRAM --update   writes golden.txt anew (docs/development.md says when that is right)

A line is an example, the hash over all events of its step, the number of events and the plan. The
hash is of what happens when and to whom: of no name of a file, and of no compiler.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).with_name("golden.txt")
FEWEST = 50  # steps; fewer would mean that examples are no longer simulated
HEADER = """\
# SPDX-License-Identifier: Apache-2.0
# example, hash over all events of a simulated step, their number, plan (tests/determinism/golden.py)
"""


def experiments():
    return sorted(path.parent.name for path in ROOT.glob("examples/*/experiment.yaml"))


def simulated(program, example):
    """What `simulate --json` says of an example with the profiles of this tree."""
    command = [program, "simulate", f"examples/{example}/experiment.yaml", "--json"]
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True,
                          env={**os.environ, "PAYOFF_PROFILES": str(ROOT / "profiles")})
    if done.returncode != 0:
        sys.stdout.write(done.stderr.decode("utf-8", "replace"))
        sys.exit(f"error: {' '.join(command)} exits with {done.returncode}")
    return json.loads(done.stdout)


def steps_of(example, result):
    """(example, plan) of each step that was simulated, with its hash and its number of events."""
    return {(example, plan["label"]): (plan["trace_hash"], str(plan["events"]))
            for plan in result["plans"] if plan["trace_hash"]}


def read_golden():
    lines = [line.split(maxsplit=3) for line in GOLDEN.read_text(encoding="utf-8").splitlines()
             if line and not line.startswith("#")]
    return {(example, plan): (trace, events) for example, trace, events, plan in lines}


def as_text(steps):
    return HEADER + "".join(f"{example} {trace} {events} {plan}\n"
                            for (example, plan), (trace, events) in steps.items())


def differences(golden, steps):
    """A line for each step that is not there, is new, or has other events."""
    told = [f"{' '.join(step)}: in golden.txt, and not simulated" for step in golden.keys() - steps.keys()]
    told += [f"{' '.join(step)}: simulated, and not in golden.txt" for step in steps.keys() - golden.keys()]
    told += [f"{' '.join(step)}: hash {steps[step][0]} of {steps[step][1]} events, golden is "
             f"{was[0]} of {was[1]}" for step, was in golden.items() if steps.get(step, was) != was]
    return sorted(told)


def main(program, update):
    program = str(Path(program).resolve())
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda example: (example, simulated(program, example)), experiments()))
    steps = {}
    for example, result in results:
        steps.update(steps_of(example, result))
    if len(steps) < FEWEST:
        sys.exit(f"error: {len(steps)} simulated steps; golden hashes are of {FEWEST} at least")
    if update:
        GOLDEN.write_text(as_text(steps), encoding="utf-8")
        print(f"{len(steps)} hashes written")
        return 0
    told = differences(read_golden(), steps)
    print(*told, sep="\n", end="\n" if told else "")
    print(f"{len(steps)} hashes of {len(results)} examples compared; {len(told)} differ")
    return 1 if told else 0


if __name__ == "__main__":
    words = sys.argv[1:]
    if len(words) not in (1, 2) or words[1:] not in ([], ["--update"]):
        sys.exit(__doc__)
    sys.exit(main(words[0], update=len(words) == 2))
