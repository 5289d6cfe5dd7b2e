#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every example that the program's help shows.

  check.py PROGRAM

The commands come from `payoff --help`, their examples from `payoff COMMAND --help`: a line that
begins with `payoff`. Each has to exit with 0 in a folder that shows the source tree, and the help of
each command has to stand in docs/commands.md.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_SECONDS = 300


def help_of(program, words):
    return subprocess.run([program, *words, "--help"], capture_output=True, text=True,
                          check=True).stdout


def examples_in(text):
    return re.findall(r"^\s+(payoff \S.*)$", text.split("Example", 1)[-1], re.MULTILINE)


def reads_results(example):
    """Whether an example begins with what another one writes: `runs.jsonl`, `result.json`."""
    words = shlex.split(example)
    return len(words) > 2 and "/" not in words[2] and words[2].endswith((".jsonl", ".json"))


def undocumented(commands):
    """Commands whose help docs/commands.md does not show; what it shows is checked with the docs."""
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    return [command for command in commands if f"$ payoff {command} --help\n" not in page]


def runs(program, example, folder):
    words = [program, *shlex.split(example)[1:]]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=TIMEOUT_SECONDS)
    if "the page of reports is not built" in done.stderr:
        print(f"`{example}` was not run: make page")
        return True
    if done.returncode != 0:
        print(f"`{example}` exits with {done.returncode}\n{done.stderr}")
    return done.returncode == 0


def main():
    program = os.path.abspath(sys.argv[1])
    start = help_of(program, [])
    listed = start.split("Commands:\n", 1)[1].split("\n\n", 1)[0]
    commands = [line.split()[0] for line in listed.splitlines()]
    failures = 0
    examples = [(None, example) for example in examples_in(start)]
    for command in commands:
        own = examples_in(help_of(program, [command]))
        if not own:
            print(f"`payoff {command} --help` shows no example")
            failures += 1
        examples += [(command, example) for example in own]
    for command in undocumented(commands):
        print(f"docs/commands.md does not show `payoff {command} --help`")
        failures += 1
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        # What reads results comes after what writes them.
        for command, example in sorted(examples, key=lambda each: reads_results(each[1])):
            if command and shlex.split(example)[1] != command:
                print(f"`{example}` is an example of another command than {command}")
                failures += 1
            failures += not runs(program, example, folder)
    print(f"{len(examples)} examples of {len(commands)} commands, {failures} failures")
    return 1 if failures or len(examples) < len(commands) else 0


if __name__ == "__main__":
    sys.exit(main())
