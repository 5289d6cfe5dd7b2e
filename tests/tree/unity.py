#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do sources that are compiled as one (PAYOFF_UNITY) mean what they mean alone?

  unity.py BUILD-FOLDER [MODULE...]    of a configured build with clang, for its flags

A function in the unnamed namespace of one source may be a better match for a call in another than what
that source means: compilers take it without a word. Reads all sources of a module as one, and tells every
use of such a function by another source.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from alone import MODULES, ROOT, flags

QUERY = """set output diag
set bind-root false
let source isExpansionInFileMatching("{sources}")
let hidden functionDecl(hasAncestor(namespaceDecl(isAnonymous())), source)
match declRefExpr(source, to(hidden.bind("function"))).bind("use")
"""
BOUND = re.compile(r'^(/.*?):(\d+):\d+: note: "(function|use)" binds here', re.M)


def sources_of(database, module):
    """What the build compiles of it: there are sources of other builds, as of the page's WebAssembly."""
    found = set()
    for entry in database:
        path = Path(entry["file"])
        if f"payoff_{module}.dir/" not in entry["command"] or path.suffix not in (".cpp", ".cxx"):
            continue
        found.update([str(path)] if path.suffix == ".cpp" else re.findall(r'#include "(.*)"', path.read_text()))
    return sorted(found)


def taken(database, module, words):
    """How many uses were looked at, and those of another source's function."""
    with tempfile.TemporaryDirectory() as folder:
        whole, query = Path(folder, "whole.cpp"), Path(folder, "query")
        whole.write_text("".join(f'#include "{path}"\n' for path in sources_of(database, module)))
        query.write_text(QUERY.format(sources=f"/{module}/.*[.]cpp$"))
        done = subprocess.run(["clang-query-16", "-f", query, whole, "--", *words[1:], "-w"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0 or " error: " in done.stderr:
        sys.exit(f"error: the sources of {module} cannot be read as one:\n{done.stderr}")
    # A match binds the function, then its use.
    bound = BOUND.findall(done.stdout)
    pairs = list(zip(bound[::2], bound[1::2]))
    return len(pairs), sorted({(use[0], int(use[1]), function[0], int(function[1]))
                               for function, use in pairs if function[0] != use[0]})


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    database = json.loads((ROOT / sys.argv[1] / "compile_commands.json").read_text(encoding="utf-8"))
    of_module = flags(database)
    modules = sys.argv[2:] or [module for module in MODULES if module in of_module]
    uses, wrong = 0, 0
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for looked_at, found in pool.map(lambda module: taken(database, module, of_module[module]), modules):
            uses += looked_at
            for user, line, source, where in found:
                print(f"{Path(user).relative_to(ROOT)}:{line}: takes the function of "
                      f"{Path(source).relative_to(ROOT)}:{where} if compiled with it")
                wrong += 1
    print(f"{uses} uses of functions in unnamed namespaces, {wrong} of another source's")
    return 1 if wrong or uses == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
