#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles alone every header that no source includes before anything else.

  alone.py BUILD-FOLDER    of a configured build with clang, for its flags

A header that a source includes first is alone there; the others are read as sources of their own, and no
code is made of them.
The headers that most sources include (cmake/CommonHeaders.cmake) are compiled once, in front of all:
reading them is most of the time. That a file includes those of them that it names is what includes.py checks.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULES = ["model", "sim", "profiles", "calibrate", "kernels", "study", "web", "cli"]
# Of a command of the compilation database: what is included and defined, the language and the warnings.
KEPT = re.compile(r"-(I|D|std=|W)")


def common_headers():
    text = (ROOT / "cmake/CommonHeaders.cmake").read_text(encoding="utf-8")
    return re.findall(r"<(\w+)>", re.search(r"set\(payoff_common_headers([^)]*)\)", text).group(1))


def flags(database):
    """Of each module those of one of its sources, with the compiler in front."""
    found = {}
    for entry in database:
        module = re.search(r"payoff_(\w+)\.dir/", entry["command"])
        if not module or Path(entry["file"]).suffix not in (".cpp", ".cxx") or module.group(1) in found:
            continue
        words = [word for word in shlex.split(entry["command"]) if not word.endswith("ccache")]
        kept = [words[0]]
        for word, following in zip(words[1:], [*words[2:], ""]):
            if KEPT.match(word) and not word.startswith("-Winvalid-pch"):
                kept.append(word)
            elif word == "-isystem":
                kept += [word, following]
        found[module.group(1)] = kept
    return found


def first_include(source):
    named = re.search(r'#include ([<"])([^">]+)', source.read_text(encoding="utf-8"))
    return named.group(2) if named and named.group(1) == '"' else None


def files():
    """(module, header) of those that are first in no source."""
    def of(suffix):
        return [(module, path) for module in MODULES for path in sorted((ROOT / module).rglob(f"*{suffix}"))]

    first = {first_include(path) for _, path in of(".cpp")}
    return [(module, path) for module, path in of(".hpp") if str(path.relative_to(ROOT)) not in first]


def main(folder):
    folder = Path(folder).resolve()
    commands = flags(json.loads((folder / "compile_commands.json").read_text(encoding="utf-8")))
    missing = [module for module in MODULES if module not in commands]
    if missing:
        sys.exit(f"error: no source of {', '.join(missing)} in the compilation database of {folder.name}")
    with tempfile.TemporaryDirectory() as scratch:
        common = Path(scratch, "common.hpp")
        common.write_text("".join(f"#include <{name}>\n" for name in common_headers()), encoding="utf-8")

        def compiled(module, *words):
            return subprocess.run([*commands[module], *words], cwd=ROOT, capture_output=True, text=True)

        def precompile(module):
            done = compiled(module, "-x", "c++-header", common, "-o", Path(scratch, f"{module}.pch"))
            return done.stderr if done.returncode else ""

        def alone(file):
            module, path = file
            done = compiled(module, "-include-pch", Path(scratch, f"{module}.pch"), "-fsyntax-only", "-x", "c++",
                            "-Wno-pragma-once-outside-header", "-Wno-unused", path)
            return f"{path.relative_to(ROOT)} does not stand alone:\n{done.stderr}" if done.returncode else ""

        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            told = [text for text in pool.map(precompile, MODULES) if text]
            found = files()
            told += [text for text in pool.map(alone, found) if text]
    print(*told, sep="\n")
    print(f"{len(found)} headers, {len(told)} failures")
    return 1 if told or not found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
