#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what no compiler does: that every source is in a build list and carries its licence, that
no two headers give one name to two types, that nothing depends on the order of a hash table, and that
what the project takes from others is listed.

A header that is in no list is neither compiled alone nor installed, and a test file that is in no
list never runs. Of two types with one name, in one namespace, the linker keeps the functions of
either, such as those of their vectors, and says nothing.
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["model", "sim", "profiles", "calibrate", "kernels", "study", "web", "cli", "python", "bench", "tests"]
LICENCE = "// SPDX-License-Identifier: Apache-2.0"


def listed_in(source):
    """The words of the build list that is responsible for a source: the nearest one above it."""
    for folder in source.parents:
        build_list = folder / "CMakeLists.txt"
        if build_list.exists():
            words = set(build_list.read_text().replace(")", " ").replace("(", " ").split())
            return build_list, words
    raise FileNotFoundError(f"no CMakeLists.txt above {source}")


def problems_of(source):
    text = source.read_text(encoding="utf-8")
    if not text.startswith(LICENCE + "\n"):
        yield f"does not begin with `{LICENCE}`"
    if source.suffix in (".hpp", ".cuh") and "\n#pragma once\n" not in text:
        yield "has no #pragma once"
    if source.suffix == ".cuh":  # nvcc's, which no list has
        return
    build_list, words = listed_in(source)
    name = str(source.relative_to(build_list.parent))
    # tests/units_must_not_compile lists its cases by name, without the suffix.
    if name not in words and source.stem not in words:
        yield f"is not in {build_list.relative_to(ROOT)}"


def types_with_one_name(headers):
    """Types at namespace scope that are defined in more than one header."""
    defined = {}
    for header in headers:
        namespace = ""
        for line in header.read_text(encoding="utf-8").splitlines():
            if opened := re.match(r"namespace (\S*) ?\{", line):
                namespace = opened[1]
            elif found := re.match(r"(?:struct|class|enum class) (\w+)(?: final)?(?: : .*)? \{", line):
                defined.setdefault(f"{namespace}::{found[1]}", []).append(header)
    return {name: files for name, files in defined.items() if len(files) > 1}


def walked_over(source):
    """Hash tables that a source goes through: in which order is the library's choice, and would be an answer's."""
    text = source.read_text(encoding="utf-8")
    for name in sorted(set(re.findall(r"\bunordered_(?:map|set)<[^;{}]*?>&? (\w+)\b", text, re.S))):
        if re.search(rf"\bfor \([^;)]*: (?:\w+(?:\.|->))*{name}\)|\b{name}\.c?begin\(", text):
            yield f"goes through the hash table {name}, in no order"


def taken_from_others():
    """What the lists of packages name: Debian's, and npm's by the lock file."""
    for name in ("apt-packages.txt", "apt-packages-all.txt"):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        yield from (line for line in lines if line and not line.startswith("#"))
    npm = json.loads((ROOT / "web/page/package.json").read_text(encoding="utf-8"))
    yield from [*npm["dependencies"], *npm["devDependencies"]]


def unlisted():
    """Of those, what THIRD-PARTY.md does not name, and what it names that is not taken any more."""
    text = (ROOT / "THIRD-PARTY.md").read_text(encoding="utf-8")
    rows = [line.split("|")[2] for line in text.splitlines() if line.startswith("| ")]
    named = {name for cell in rows for name in re.findall(r"`([^`]+)`", cell)}
    taken = set(taken_from_others())
    yield from (f"THIRD-PARTY.md does not name {name}" for name in sorted(taken - named))
    yield from (f"THIRD-PARTY.md names {name}, which no list has" for name in sorted(named - taken))


def main():
    sources = [p for f in FOLDERS for s in ("*.hpp", "*.cpp", "*.cu", "*.cuh") for p in (ROOT / f).rglob(s)]
    helpers_of_tests = set((ROOT / "tests").rglob("*.hpp"))  # compiled with what includes them
    found = 0
    for source in sorted(set(sources) - helpers_of_tests):
        for problem in problems_of(source):
            print(f"{source.relative_to(ROOT)} {problem}")
            found += 1
    for source in sorted(set(sources)):
        for problem in walked_over(source):
            print(f"{source.relative_to(ROOT)} {problem}")
            found += 1
    headers = [path for path in sources if path.suffix == ".hpp" and path not in helpers_of_tests]
    for name, files in sorted(types_with_one_name(headers).items()):
        print(f"{name} is defined in {', '.join(str(path.relative_to(ROOT)) for path in files)}")
        found += 1
    for problem in unlisted():
        print(problem)
        found += 1
    print(f"{len(sources)} sources, {found} problems")
    return 1 if found or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
