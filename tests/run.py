#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs test stages and prints what each contributed; the last line is `N passed, N failed`.

  tests/run.py test      the release build and its quick tests            (make test)
  tests/run.py all       that and every other stage                       (make test-all)
  tests/run.py STAGE...  only those; `tests/run.py list` names them
  tests/run.py reformat  formats every source in place                    (make format)

A stage that runs ctest contributes its tests, any other stage contributes one. What cannot run
is listed as SKIPPED with the reason and counts as neither. `all` takes over the counts of a
`test` that passed after the last change of any source. The full output of a stage is left in
build/results/STAGE.log and shown when the stage fails.
"""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "results"
SOURCE_FOLDERS = ["model", "sim", "profiles", "calibrate", "kernels", "study", "web", "cli", "python", "tests", "bench"]
JOBS = str(len(os.sched_getaffinity(0)))
CLANG_FORMAT = "clang-format-16"
FILES_FORMATTED_AT_ONCE = 40
LINES_SHOWN_ON_FAILURE = 200
LINES_SHOWN_AT_END = 60
# What a long log says of its failures, beside its end: compilers, clang-tidy, ctest.
TELLS_A_FAILURE = re.compile(r"(error|warning): .*\[|error:|\*\*\*(Failed|Exception|Timeout|Not Run)|^FAILED:|REQUIRE|SUMMARY:")


class Counts(NamedTuple):
    passed: int = 0
    failed: int = 0
    skipped: tuple = ()  # (what, why)
    failures: tuple = ()  # names of the failed tests


class Failure(Exception):
    """A command of a stage did not succeed; its output is in the stage's log."""


def run(log, *command):
    """Runs one command of a stage with its output in the stage's log."""
    print("+", *command, file=log, flush=True)
    status = subprocess.run(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
    ).returncode
    if status != 0:
        raise Failure(f"`{' '.join(command)}` exited with {status}")


def build(log, preset, wrapper=()):
    run(log, "cmake", "--preset", preset)
    run(log, *wrapper, "cmake", "--build", "--preset", preset, "--parallel", JOBS)


def ctest(log, preset, wrapper=()):
    report = RESULTS / f"{preset}.xml"
    report.unlink(missing_ok=True)
    error = None
    try:
        run(log, *wrapper, "ctest", "--preset", preset, "--parallel", JOBS,
            "--output-junit", str(report))
    except Failure as failure:
        error = str(failure)
    if not report.exists():
        return Counts(failed=1, failures=(error or "ctest wrote no report",))
    counts = read_junit(report)
    if counts.passed + counts.failed == 0:
        return Counts(failed=1, failures=("no test ran",), skipped=counts.skipped)
    if error and counts.failed == 0:
        return counts._replace(failed=1, failures=(error,))
    return counts


def read_junit(report):
    passed, failures, skipped = 0, [], []
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name, status = case.get("name"), case.get("status")
        reason = case.find("skipped")
        why = reason.get("message", "") if reason is not None else ""
        if status == "run":
            passed += 1
        elif status == "disabled":
            skipped.append((name, "disabled"))
        elif status == "notrun" and why.startswith("SKIP_"):
            skipped.append((name, skip_line(case) or why))
        else:  # failed, or could not be started
            failures.append(name)
    return Counts(passed, len(failures), tuple(skipped), tuple(failures))


def skip_line(case):
    """The line `SKIPPED: reason` that the test itself printed."""
    lines = (case.findtext("system-out") or "").splitlines()
    return next((line.strip() for line in lines if "SKIPPED" in line), None)


def sources(*suffixes):
    found = []
    for folder in SOURCE_FOLDERS:
        found += [p for p in (ROOT / folder).rglob("*") if p.suffix in suffixes]
    return [str(path.relative_to(ROOT)) for path in sorted(found)]


def stage_test(log):
    build(log, "release")
    return ctest(log, "release")


def stage_slow(log):
    build(log, "release")
    return ctest(log, "slow")


def stage_asan(log):
    build(log, "asan")
    return ctest(log, "asan")


def stage_alone(log):
    run(log, "cmake", "--preset", "asan")
    run(log, sys.executable, "-B", "tests/tree/alone.py", "build-asan")
    run(log, sys.executable, "-B", "tests/tree/unity.py", "build-asan")
    return Counts(passed=2)


def stage_tsan(log):
    # The runtime cannot map its shadow memory under the address randomisation of newer
    # kernels, so this stage runs without it where that is allowed.
    unrandomised = ("setarch", "-R")
    allowed = subprocess.run([*unrandomised, "true"], capture_output=True).returncode == 0
    wrapper = unrandomised if allowed else ()
    build(log, "tsan", wrapper)
    listed = subprocess.run(["ctest", "--test-dir", "build-tsan", "-N", "-L", "threads"], cwd=ROOT,
                            capture_output=True, text=True)
    if "Total Tests: 0" in listed.stdout:
        return Counts(skipped=(("stage tsan", "no test is labelled threads"),))
    return ctest(log, "tsan", wrapper)


def stage_bytes(log):
    for preset in ("release", "asan"):
        build(log, preset)
    run(log, sys.executable, "-B", "tests/determinism/check.py", "build/payoff", "build-asan/payoff")
    return Counts(passed=1)


def stage_tidy(log):
    build(log, "tidy")
    return Counts(passed=1)


def stage_format(log):
    def unformatted(paths):
        command = [CLANG_FORMAT, "--dry-run", "-Werror", *paths]
        told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        named = {line.split(":")[0] for line in told.stderr.splitlines() if "error: code should be" in line}
        return sorted(named) if told.returncode == 0 or named else list(paths)

    every = sources(".hpp", ".cpp", ".cu", ".cuh")
    with ThreadPoolExecutor(int(JOBS)) as pool:
        batches = [every[first:first + FILES_FORMATTED_AT_ONCE]
                   for first in range(0, len(every), FILES_FORMATTED_AT_ONCE)]
        wrong = [path for found in pool.map(unformatted, batches) for path in found]
    if wrong:
        print("`make format` would change:", *wrong, sep="\n  ", file=log)
        raise Failure(f"{len(wrong)} files are not formatted")
    return Counts(passed=1)


class Stage(NamedTuple):
    function: object
    tools: tuple
    what: str


STAGES = {
    "test": Stage(stage_test, (), "release build, quick tests"),
    "format": Stage(stage_format, (CLANG_FORMAT,), "sources are formatted"),
    "slow": Stage(stage_slow, (), "consumer, documented commands, fits, SimGrid"),
    "asan": Stage(stage_asan, ("clang++-16",), "second compiler with sanitizers"),
    "alone": Stage(stage_alone, ("clang++-16", "clang-query-16"), "headers compile alone, and sources as one mean the same"),
    "tsan": Stage(stage_tsan, ("clang++-16",), "thread sanitizer on the threaded tests"),
    "bytes": Stage(stage_bytes, ("clang++-16",), "both compilers' programs print the same bytes"),
    "tidy": Stage(stage_tidy, ("clang-tidy-16", "run-clang-tidy-16"), "clang-tidy"),
}


def reusable(result):
    """Whether nothing that `test` depends on has changed since it passed."""
    if not result.exists():
        return False
    newest = result.stat().st_mtime
    inputs = [ROOT / name for name in ("CMakeLists.txt", "CMakePresets.json", "README.md", "THIRD-PARTY.md",
                                       "apt-packages.txt", "apt-packages-all.txt")]
    for folder in [*SOURCE_FOLDERS, "cmake", "examples", "docs"]:
        inputs += (ROOT / folder).rglob("*")
    return all(
        path.stat().st_mtime <= newest
        for path in inputs
        if path.is_file() and "__pycache__" not in path.parts
    )


def run_stage(name):
    """Runs one stage, prints its line, and returns its counts."""
    stage = STAGES[name]
    missing = [tool for tool in stage.tools if shutil.which(tool) is None]
    if missing:
        counts = Counts(skipped=((f"stage {name}", f"{', '.join(missing)} not found"),))
        print_line(name, counts, "")
        return counts
    path = RESULTS / f"{name}.log"
    start, cpu_start = time.monotonic(), cpu_seconds()
    with path.open("w+", encoding="utf-8", errors="replace") as log:
        try:
            counts = stage.function(log)
        except (Failure, OSError) as failure:
            counts = Counts(failed=1, failures=(str(failure),))
        if counts.failed:
            log.seek(0)
            lines = log.readlines()
            print(f"--- failures told in {path.relative_to(ROOT)}:")
            print("".join([line for line in lines if TELLS_A_FAILURE.search(line)][:LINES_SHOWN_ON_FAILURE]))
            print(f"--- end of {path.relative_to(ROOT)}:")
            print("".join(lines[-LINES_SHOWN_AT_END:]))
    wall, cpu = time.monotonic() - start, cpu_seconds() - cpu_start
    print_line(name, counts, f"{wall:4.0f} s, {cpu:4.0f} s cpu")
    return counts


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def print_line(name, counts, note):
    print(f"{name:8} {counts.passed:5} passed {counts.failed:3} failed {len(counts.skipped):3}"
          f" skipped  {note:>18}  {STAGES[name].what}", flush=True)
    for what in counts.failures:
        print(f"  FAILED {what}")
    for what, why in counts.skipped:
        print(f"  SKIPPED {what}: {why}")


def run_stages(names, may_reuse):
    RESULTS.mkdir(parents=True, exist_ok=True)
    total = Counts()
    for name in names:
        result = RESULTS / f"{name}.json"
        if may_reuse and name == "test" and reusable(result):
            counts = Counts(**json.loads(result.read_text()))
            print_line(name, counts, "before")
        else:
            result.unlink(missing_ok=True)
            counts = run_stage(name)
            if counts.failed == 0:
                result.write_text(json.dumps(counts._asdict()))
        total = Counts(total.passed + counts.passed, total.failed + counts.failed)
    print(f"{total.passed} passed, {total.failed} failed", flush=True)
    return 0 if total.failed == 0 and total.passed > 0 else 1


def main(arguments):
    if arguments == ["list"]:
        for name, stage in STAGES.items():
            print(f"{name:8} {stage.what}")
        return 0
    if arguments == ["reformat"]:
        return subprocess.run([CLANG_FORMAT, "-i", *sources(".hpp", ".cpp", ".cu", ".cuh")], cwd=ROOT).returncode
    if arguments == ["all"]:
        return run_stages(STAGES, may_reuse=True)
    unknown = [name for name in arguments if name not in STAGES]
    if unknown or not arguments:
        print(f"error: {', '.join(unknown) or 'no stage'}: see tests/run.py list", file=sys.stderr)
        return 2
    return run_stages(arguments, may_reuse=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
