#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long files and functions are, held to docs/quality.md.

  sizes.py        what differs from there, and how many functions are longer than 40 lines
  sizes.py list   those functions with their lines, the longest first

Every file of more than 300 lines has to be in the table there, which says why it is one, and the table
has no other; and of functions in what is shipped no more are longer than 40 lines than it says.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ["model", "sim", "profiles", "calibrate", "kernels", "study", "web", "cli", "python"]
FOLDERS = [*SHIPPED, "bench", "tests"]
SUFFIXES = (".hpp", ".cpp", ".cu", ".cuh", ".py")
MOST_LINES = 300
MOST_LINES_OF_FUNCTION = 40
NO_FUNCTION = re.compile(r" *(if|for|while|switch|do|try|else|catch|case|default|class|struct|enum|union|namespace|extern)\b|"
                         r" *\}|.* = \{$|.*\bTEST_CASE\(")
TABLE = re.compile(r"## Files above 300 lines.*?\n(\|.*?)\n\n", re.S)


def files(folders, suffixes):
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*"))
            if path.suffix in suffixes and "node_modules" not in path.parts]


def indent_of(line):
    return len(line) - len(line.lstrip())


def functions(text):
    """(first line, lines) of each: clang-format has the `}` of one under where its signature begins."""
    lines = text.splitlines()
    for end, line in enumerate(lines):
        if line.strip() != "}" or indent_of(line) > 4:
            continue
        begin = next((at for at in range(end - 1, -1, -1) if lines[at].strip()
                      and not lines[at].startswith("#") and indent_of(lines[at]) <= indent_of(line)), end)
        if indent_of(lines[begin]) == indent_of(line) and not NO_FUNCTION.match(lines[begin]):
            yield begin + 1, end - begin + 1


def long_functions():
    found = [(length, f"{path.relative_to(ROOT)}:{begin}")
             for path in files(SHIPPED, (".hpp", ".cpp", ".cu", ".cuh"))
             for begin, length in functions(path.read_text(encoding="utf-8"))
             if length > MOST_LINES_OF_FUNCTION]
    return sorted(found, reverse=True)


def tabled(quality):
    """Names in the table of long files; those of tests by their folder and stem alone."""
    rows = TABLE.search(quality)[1].splitlines()[2:]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])}


def differences(quality):
    long = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
            for path in files(FOLDERS, SUFFIXES)}
    long = {name: lines for name, lines in long.items() if lines > MOST_LINES}
    table = tabled(quality)
    yield from (f"{name} has {lines} lines and is not in the table of docs/quality.md"
                for name, lines in sorted(long.items()) if name not in table)
    yield from (f"{name} is in the table of docs/quality.md and has no more than {MOST_LINES} lines"
                for name in sorted(table - long.keys()))
    stated = re.search(r"\b([\d,]+) functions are longer than 40 lines", quality)
    count = len(long_functions())
    if not stated or count > int(stated[1].replace(",", "")):
        yield f"{count} functions are longer than 40 lines, more than docs/quality.md says"


def main(words):
    if words == ["list"]:
        print(*(f"{length:4} {place}" for length, place in long_functions()), sep="\n")
        return 0
    told = list(differences((ROOT / "docs/quality.md").read_text(encoding="utf-8")))
    print(*told, sep="\n", end="\n" if told else "")
    print(f"{len(long_functions())} functions are longer than {MOST_LINES_OF_FUNCTION} lines; {len(told)} problems")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
