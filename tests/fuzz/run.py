#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets libFuzzer drive every target for a stated time.

  run.py SECONDS [TARGET...]

Builds the preset `fuzz`, starts from the committed corpus of each target, keeps what else was found
worth keeping in build-fuzz/corpus/TARGET, and an input that breaks a law, crashes, takes more than
10 s (`answer`, which asks both engines several times: 60 s) or more than 2 GB in
build-fuzz/broken/TARGET-*. Ends with a line a target: executions, edges
that were reached, and what was broken. The exit status is 1 where anything was.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build-fuzz"
CORPUS = Path(__file__).resolve().parent / "corpus"
JOBS = os.environ.get("FUZZ_JOBS", str(len(os.sched_getaffinity(0))))


# Seconds for one input. Sanitizers make the program seven times as slow, and `answer` runs it several
# times on each: ten seconds of the program itself are more than this.
TIMEOUT = 10
TIMEOUTS = {"answer": 60}


def build():
    for command in (["cmake", "--preset", "fuzz"],
                    ["cmake", "--build", "--preset", "fuzz", "--parallel", JOBS]):
        done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            sys.exit(f"{done.stdout}\nerror: `{' '.join(command)}` exits with {done.returncode}")


def targets():
    printed = subprocess.run([BUILD / "payoff_fuzz_replay"], capture_output=True, text=True, check=True)
    return [line.split()[0] for line in printed.stdout.splitlines()]


def fuzz(target, seconds):
    """One line of result; whether nothing was broken."""
    found, broken = BUILD / "corpus" / target, BUILD / "broken"
    found.mkdir(parents=True, exist_ok=True)
    broken.mkdir(exist_ok=True)
    before = set(broken.glob(f"{target}-*"))
    run = subprocess.run(
        [BUILD / "payoff_fuzz", f"-max_total_time={seconds}", f"-timeout={TIMEOUTS.get(target, TIMEOUT)}", "-rss_limit_mb=2048",
         "-max_len=4096", "-print_final_stats=1", f"-dict={CORPUS.parent / 'words.dict'}",
         f"-artifact_prefix={broken}/{target}-", found, CORPUS / target],
        cwd=BUILD, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env={**os.environ, "PAYOFF_FUZZ_TARGET": target,
             "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0",
             "UBSAN_OPTIONS": "print_stacktrace=1"})
    text = run.stderr.decode("utf-8", "replace")
    (BUILD / f"{target}.log").write_text(text)
    executions = re.findall(r"stat::number_of_executed_units:\s*(\d+)", text) or ["?"]
    edges = re.findall(r"cov: (\d+)", text) or ["?"]
    new = sorted(path.name for path in set(broken.glob(f"{target}-*")) - before)
    reason = re.findall(r"(?:SUMMARY|broken law|runtime error): .*", text)[:2]
    print(f"{target:12} {executions[-1]:>10} inputs {edges[-1]:>7} edges  "
          + (f"BROKEN by {' '.join(new)}: {'; '.join(reason)}" if run.returncode else "nothing broken"),
          flush=True)
    return run.returncode == 0


def main(seconds, *names):
    build()
    known = targets()
    if unknown := set(names) - set(known):
        sys.exit(f"error: no target {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    results = [fuzz(target, int(seconds)) for target in names or known]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    if len(sys.argv) < 2 or not sys.argv[1].isdigit():
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
