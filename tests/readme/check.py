#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that the documentation shows and compares what they print.

  check.py [--update] --payoff PROGRAM [FILE.md...]

Without files: README.md, everything in docs/ and the READMEs of the examples. In every fenced block marked `console`, a line `$ COMMAND` is run by bash and the lines after it,
up to the next `$`, are what it has to print, stderr included. A line that is only `...` stands
for any lines. A line ending in a backslash goes on in the next. An HTML comment right before the
block changes what is expected: `<!-- exit 2 -->` the exit status of its last command,
`<!-- not run: REASON -->` leaves it out, and the reason is printed; `<!-- draws FILE -->` says that
its commands write, under the last part of that name, the bytes of FILE in the source tree;
`<!-- quoted above -->` that every line it prints stands in the text between it and the heading above it,
so that figures in sentences are those of today.

The commands run in a scratch folder that shows the source tree through links, `build/payoff` and
`payoff` being PROGRAM; what they write stays there, and the blocks of one file share it.
--update writes what was printed into the files instead of comparing.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_SECONDS = 300
ANY_LINES = "..."


class Block:
    """One fenced block: where it starts, what its comment says, and its commands."""

    def __init__(self, first_line, comment):
        self.first_line = first_line
        self.commands = []  # [line number, command, expected lines]
        exit_status = re.fullmatch(r"exit (\d+)", comment)
        self.exit_status = int(exit_status.group(1)) if exit_status else 0
        not_run = re.fullmatch(r"not run: (.+)", comment)
        self.not_run = not_run.group(1) if not_run else None
        draws = re.fullmatch(r"draws (\S+)", comment)
        self.draws = Path(draws.group(1)) if draws else None
        self.quoted = comment == "quoted above"


def read_blocks(lines):
    blocks, block, comment, continued = [], None, "", False
    for number, line in enumerate(lines, start=1):
        if block is None:
            if line.rstrip() == "```console":
                block = Block(number, comment)
            elif line.strip():
                said = re.fullmatch(r"<!--\s*(.*?)\s*-->", line.strip())
                comment = said.group(1) if said else ""
        elif line.rstrip() == "```":
            blocks.append(block)
            block, comment = None, ""
        elif continued:
            block.commands[-1][1] += "\n" + line
            continued = line.endswith("\\")
        elif line.startswith("$ "):
            block.commands.append([number, line[2:], []])
            continued = line.endswith("\\")
        elif block.commands:
            block.commands[-1][2].append(line)
        else:
            sys.exit(f"error: line {number}: a console block begins with `$ COMMAND`")
    return blocks


def matches(expected, printed):
    """Whether the lines are equal, where `...` stands for any number of lines."""
    if ANY_LINES not in expected:
        return expected == printed
    gap = expected.index(ANY_LINES)
    if expected[:gap] != printed[:gap]:
        return False
    rest = expected[gap + 1:]
    return any(matches(rest, printed[i:]) for i in range(gap, len(printed) + 1))


def run(command, folder):
    environment = dict(os.environ, NO_COLOR="1", LC_ALL="C.UTF-8",
                       PATH=f"{folder / 'build'}:{os.environ['PATH']}")
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=TIMEOUT_SECONDS)
    return done.returncode, [line.rstrip() for line in done.stdout.splitlines()]


def scratch_tree(folder, program):
    for entry in ROOT.iterdir():
        if not entry.name.startswith((".", "build", "demo")):
            (folder / entry.name).symlink_to(entry)
    (folder / "build").mkdir()
    (folder / "build" / "payoff").symlink_to(program)


def check_block(path, block, folder, replacements):
    """Runs one block and says what differs; returns the number of differences."""
    differences = 0
    for position, (number, command, expected) in enumerate(block.commands):
        status, printed = run(command, folder)
        last = position == len(block.commands) - 1
        wanted_status = block.exit_status if last else 0
        if status != wanted_status:
            print(f"{path}:{number}: `{command}` exits with {status}, not {wanted_status}")
            print(*printed, sep="\n")
            differences += 1
        elif not matches([line.rstrip() for line in expected], printed):
            replacements[number] = (command.count("\n") + 1, len(expected), printed)
            print(f"{path}:{number}: `{command}` prints something else")
            print(*difflib.unified_diff(expected, printed, "documented", "printed", lineterm=""),
                  sep="\n")
            differences += 1
    return differences


def check_picture(path, block, folder, update):
    """Compares what the block drew with what is kept, or keeps it; returns 1 if it differs."""
    drawn, kept = folder / block.draws.name, ROOT / block.draws
    if not drawn.exists():
        print(f"{path}:{block.first_line}: {block.draws.name} was not drawn")
        return 1
    if kept.exists() and kept.read_bytes() == drawn.read_bytes():
        return 0
    if update:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(drawn.read_bytes())
        return 0
    print(f"{path}:{block.first_line}: {block.draws} is not what is drawn now")
    return 1


def section_above(lines, block):
    """The text from the last heading to the block, as one line."""
    above = lines[:block.first_line - 1]
    heading = max((i for i, line in enumerate(above) if line.startswith("#")), default=0)
    return " ".join(" ".join(above[heading:]).split())


def check_quotes(path, block, lines, replacements):
    """Whether the sentences above a block say what it prints; returns the number of lines that they do not."""
    text = section_above(lines, block)
    missing = 0
    for number, _, expected in block.commands:
        printed = replacements[number][2] if number in replacements else expected
        for line in printed:
            if " ".join(line.split()) not in text:
                print(f"{path}:{number}: no sentence above says `{line}`")
                missing += 1
    return missing


def check_file(path, program, update):
    """Returns how many commands were run and how many differ."""
    lines = path.read_text(encoding="utf-8").splitlines()
    replacements, run_count, differences = {}, 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        scratch_tree(folder, program)
        for block in read_blocks(lines):
            if block.not_run:
                print(f"{path}:{block.first_line}: not run: {block.not_run}")
                continue
            run_count += len(block.commands)
            differences += check_block(path, block, folder, replacements)
            if block.draws:
                differences += check_picture(path, block, folder, update)
            if block.quoted:
                differences += check_quotes(path, block, lines, replacements)
    if update and replacements:
        for number, (command_lines, old, printed) in sorted(replacements.items(), reverse=True):
            start = number - 1 + command_lines
            lines[start:start + old] = printed
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        differences -= len(replacements)
    return run_count, differences


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--payoff", type=Path, required=True)
    parser.add_argument("files", type=Path, nargs="*")
    arguments = parser.parse_args()
    commands = failures = 0
    files = arguments.files or [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")),
                                *sorted((ROOT / "examples").glob("*/README.md"))]
    for path in files:
        run_count, differences = check_file(path, arguments.payoff.resolve(), arguments.update)
        print(f"{path}: {run_count} commands, {differences} differ")
        commands += run_count
        failures += differences
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
