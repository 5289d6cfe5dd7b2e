#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the suite notice a wrong formula?

  run.py check                   every text of list.txt stands exactly once in its file
  run.py [--every N] [--from M]  applies the mutants one at a time (every Nth, from the Mth on) to a
                                 copy of the tree, builds the tests of its module, and runs them
  run.py --only N,M,...          applies those

A mutant is killed when its tests fail, do not end within ten minutes, or it does not compile. The
result is appended to build-mutants/results.txt, one line a mutant, so that a run that is stopped has
lost nothing; the last lines say how many were killed, and which survived.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).resolve().parent / "list.txt"
WORK = ROOT / "build-mutants"
TREE = WORK / "tree"
# The tests that are asked, in this order, until one notices.
TESTS = {"model": ["model", "catalogue", "study", "sim"], "sim": ["sim"], "calibrate": ["calibrate"]}
MINUTES = 10


class Mutant(NamedTuple):
    number: int
    file: str
    before: str
    after: str


def mutants():
    file, found = None, []
    for line in LIST.read_text().splitlines():
        if section := re.fullmatch(r"\[(.*)\]", line):
            file = section[1]
        elif line and not line.startswith("#"):
            before, after = line.split("  =>  ")
            found.append(Mutant(len(found) + 1, file, before, after))
    return found


def check():
    wrong = 0
    for mutant in mutants():
        path = ROOT / mutant.file
        count = path.read_text().count(mutant.before) if path.exists() else 0
        if count != 1 or mutant.before == mutant.after:
            print(f"{mutant.file}: `{mutant.before}` stands there {count} times")
            wrong += 1
    print(f"{len(mutants())} mutants, {wrong} without their place")
    return 1 if wrong else 0


def run(command, **more):
    # The compiler's cache takes what another checkout has compiled if paths are told from the tree.
    environment = {**os.environ, "CCACHE_BASEDIR": str(TREE)}
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env=environment, **more)


def prepare():
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in files.decode().split("\0"):
        source, copy = ROOT / name, TREE / name
        if name and source.is_file() and (not copy.exists() or copy.read_bytes() != source.read_bytes()):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy)
    # A wrong formula is compiled alone, not with the sources that other builds compile beside it.
    configured = run(["cmake", "--preset", "release", "-DPAYOFF_UNITY=OFF"], cwd=TREE)
    if configured.returncode != 0:
        sys.exit(configured.stdout)


def verdict(module):
    """What noticed, or nothing."""
    for tests in TESTS[module]:
        binary = f"payoff_{tests}_tests"
        if run(["cmake", "--build", "build", "--target", binary], cwd=TREE).returncode != 0:
            return "does not compile"
        try:
            done = run([TREE / "build" / "tests" / tests / binary, "--abort"],
                       cwd=TREE / "build" / "tests" / tests, timeout=60 * MINUTES)
        except subprocess.TimeoutExpired:
            return f"{tests}: does not end"
        if done.returncode != 0:
            # A long name is told in several lines.
            name = re.search(r"^-{20,}\n(.+)\n(?:(?!-{20}).*\n)*-{20,}$", done.stdout, re.MULTILINE)
            return f"{tests}: {name[1] if name else 'a crash'}"
    return None


def wanted(options):
    if options.only:
        return [mutant for mutant in mutants() if mutant.number in options.only]
    return mutants()[options.first - 1::options.every]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["check"])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--from", dest="first", type=int, default=1)
    parser.add_argument("--only", type=lambda text: [int(number) for number in text.split(",")])
    options = parser.parse_args()
    if options.what == "check":
        return check()
    if check() != 0:
        return 1
    WORK.mkdir(exist_ok=True)
    prepare()
    if noticed := verdict("model"):
        sys.exit(f"error: the tests fail without any mutant: {noticed}")
    killed, survivors = 0, []
    with (WORK / "results.txt").open("a") as results:
        for mutant in wanted(options):
            path = TREE / mutant.file
            sound = path.read_text()
            path.write_text(sound.replace(mutant.before, mutant.after))
            try:
                noticed = verdict(mutant.file.split("/")[0])
            finally:
                path.write_text(sound)
            line = f"{mutant.number} {mutant.file}: `{mutant.before}` -> `{mutant.after}`: "
            line += f"killed by {noticed}" if noticed else "SURVIVED"
            print(line, file=results, flush=True)
            print(line, flush=True)
            killed += noticed is not None
            survivors += [] if noticed else [line]
    print(f"{killed} of {killed + len(survivors)} killed", *survivors, sep="\n")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
