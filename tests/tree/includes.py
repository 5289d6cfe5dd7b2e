#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks of includes what compilers do not see: builds from clean and clang-tidy read several sources
as one, the others precompile the commonest headers, so that one forgotten is found by nobody.

No header may include itself through others.
A source may leave to a header of the project what that header includes itself. Standard headers
that include others are no excuse: which ones do differs between libraries.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["model", "sim", "profiles", "calibrate", "kernels", "study", "web", "cli", "python", "bench", "tests"]

# What each header of cmake/CommonHeaders.cmake defines in namespace std; std::size_t is in most.
DEFINES = {
    "algorithm": "adjacent_find all_of any_of binary_search clamp copy_if copy_n count_if equal equal_range fill "
                 "fill_n find find_if find_if_not for_each generate includes is_sorted lexicographical_compare "
                 "lower_bound make_heap max max_element merge min min_element minmax minmax_element mismatch "
                 "next_permutation none_of nth_element partial_sort partition pop_heap push_heap remove_if replace "
                 "reverse rotate search set_difference set_intersection set_union shuffle sort stable_partition "
                 "stable_sort transform unique upper_bound",
    "array": "array",
    "cmath": "cbrt ceil copysign cos erf erfc exp expm1 fabs floor fma fmod frexp hypot ilogb isfinite isinf isnan "
             "ldexp llround log log10 log1p log2 lround nearbyint nextafter pow round signbit sin sqrt tan tanh trunc",
    "cstddef": "byte",
    "cstdint": "int8_t int16_t int32_t int64_t intptr_t uint8_t uint16_t uint32_t uint64_t uintptr_t",
    "functional": "bind_front cref function greater hash invoke mem_fn multiplies plus ref reference_wrapper",
    "map": "map multimap",
    "memory": "make_shared make_unique shared_ptr unique_ptr weak_ptr",
    "optional": "make_optional nullopt optional",
    "span": "span",
    "string": "getline stod stoi stoull string to_string",
    "string_view": "string_view",
    "utility": "as_const exchange forward index_sequence make_pair move pair swap",
    "variant": "get_if holds_alternative monostate variant visit",
    "vector": "vector",
}
# What a library's interface is written in comes with it.
COMES_WITH = {"catch2/catch.hpp": {"string"}}
DEFINED_IN = {name: header for header, names in DEFINES.items() for name in names.split()}

COMMENT_OR_TEXT = re.compile(r'R"(\w*)\((?:.|\n)*?\)\1"|//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"')


def code_of(text):
    """Without comments, and with empty strings where it is no include."""
    lines = [line for line in text.splitlines() if not line.startswith("#include")]
    return COMMENT_OR_TEXT.sub(lambda found: '""' if '"' in found[0][:2] else " ", "\n".join(lines))


class Source:
    def __init__(self, text):
        self.code = code_of(text)
        self.standard = set(re.findall(r"^#include <([^>]+)>", text, re.M))
        self.standard.update(*(COMES_WITH.get(library, ()) for library in list(self.standard)))
        self.own = re.findall(r'^#include "([^"]+)"', text, re.M)


def reached(path, sources, seen):
    """The standard headers that it includes, and those of the project that it does."""
    if path in seen or path not in sources:
        return set()
    seen.add(path)
    return set().union(sources[path].standard, *(reached(own, sources, seen) for own in sources[path].own))


def problems_of(path, sources):
    source = sources[path]
    has = reached(path, sources, set())
    named = {name for name in re.findall(r"\bstd::(?:ranges::)?(\w+)", source.code) if name in DEFINED_IN}
    for header in sorted({DEFINED_IN[name] for name in named} - has):
        example = min(name for name in named if DEFINED_IN[name] == header)
        yield f"names std::{example} and does not include <{header}>"
    for own in source.own:
        if own.endswith(".cpp"):
            yield f"includes the source {own}"
    for name in re.findall(r"^using [\w:]+::(\w+);", source.code, re.M):
        if path.endswith(".cpp") and len(re.findall(rf"\b{name}\b", source.code)) < 2:
            yield f"does not use {name} after saying that it does"


def cycles(sources):
    """Headers of the project that include each other, each circle once, from its first name on."""
    done, found = set(), []

    def visit(path, trail):
        if path in trail:
            circle = trail[trail.index(path):]
            first = circle.index(min(circle))
            found.append([*circle[first:], *circle[:first]])
        elif path not in done and path in sources:
            for own in sources[path].own:
                visit(own, [*trail, path])
            done.add(path)

    for path in sorted(sources):
        visit(path, [])
    return found


def main():
    paths = [p for f in FOLDERS for s in ("*.hpp", "*.cpp", "*.cu", "*.cuh") for p in (ROOT / f).rglob(s)]
    sources = {str(p.relative_to(ROOT)): Source(p.read_text(encoding="utf-8")) for p in paths}
    found = 0
    for path in sorted(sources):
        for problem in problems_of(path, sources):
            print(f"{path} {problem}")
            found += 1
    for circle in cycles(sources):
        print(f"{' includes '.join([*circle, circle[0]])}")
        found += 1
    print(f"{len(sources)} sources, {found} problems")
    return 1 if found or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
