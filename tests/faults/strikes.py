# SPDX-License-Identifier: Apache-2.0
"""SIGINT, SIGTERM or SIGKILL at a random moment of sweep, calibrate fit, report and simulate --trace.

No result is ever a part of one; and a sweep that was stopped goes on to the very bytes of one that
was not. The moments are drawn from a fixed seed; where in the program they fall depends on the
machine.
"""

import json
import os
import random
import re
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from runs import PLAIN, ROOT, SWEPT, TRACED, expect, finished, names_in, start

# A law that fits from little, into a folder of the run's own.
FIT = ["calibrate", "fit", "codecs", "--data", str(ROOT / "tests/validation"), "--out", "."]
IN_ORDER = ("sweep", "search", "simulate")  # what they have when they are interrupted is kept


def seconds_of(program, words, folder):
    since = time.monotonic()
    code, _, err = finished(program, words, folder)
    expect(f"{words[0]} works when nothing happens", code == 0, err)
    return time.monotonic() - since


def struck(program, words, folder, moment, kind):
    """Whether the signal came before the end."""
    run = start(program, words, folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        run.wait(timeout=moment)
        return False
    except subprocess.TimeoutExpired:
        run.send_signal(kind)
    run.wait(timeout=60)
    # docs/shell.md: in order with 1 where something is kept, else by the signal. Before a command
    # has begun, and after it has ended, the signal is nobody's.
    ways = (0, -kind, 1) if words[0] in IN_ORDER else (0, -kind)
    expect(f"{words[0]}, {kind.name}: ends as it is documented", run.returncode in ways, run.returncode)
    return run.returncode != 0


def status_of(program, words, kind):
    """Of a signal while it is under way; a run that was over before had it too late."""
    for moment in (0.2, 0.1, 0.05, 0.02, 0.01):
        run = start(program, words, ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if words[0] == "sweep":  # its first line is there
            run.stdout.readline()
        else:
            time.sleep(moment)
        run.send_signal(kind)
        run.communicate(timeout=60)
        if run.returncode != 0:
            break
    return run.returncode


def ended_by(program):
    """Long commands say by their exit status what ended them, once they are under way."""
    long = [["sweep", *SWEPT, "--over", "nodes=1..4096", "--threads", "1", "--no-share"],
            ["search", "examples/05-gpt3-175b-a100/experiment.yaml", "--finalists", "8"],
            ["survey", "examples/11-survey/grid.yaml"],
            ["predict", "examples/05-gpt3-175b-a100/experiment.yaml"]]
    for words in long:
        for kind in (signal.SIGINT, signal.SIGTERM):
            status = status_of(program, words, kind)
            ways = (1,) if words[0] == "sweep" else (1, -kind) if words[0] in IN_ORDER else (-kind,)
            expect(f"{words[0]}, {kind.name}: its exit status says so", status in ways, status)


KINDS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


class Strikes:
    """Signals at random moments, and how many came in time."""

    def __init__(self, program, words, result, sound):
        self.program, self.words, self.result, self.sound = program, words, result, sound
        self.sent = self.in_time = self.leftovers = 0
        with tempfile.TemporaryDirectory() as folder:
            self.seconds = seconds_of(program, words, folder)
            self.expected = (Path(folder) / result).read_bytes()

    def strike(self, rng):
        with tempfile.TemporaryDirectory() as folder:
            kind = rng.choice(KINDS)
            moment = rng.random() * self.seconds * 1.05
            self.in_time += struck(self.program, self.words, folder, moment, kind)
            self.sent += 1
            what = f"{self.words[0]}, {kind.name} after {moment:.4f} s"
            left = names_in(folder)
            if self.result in left:
                expect(f"{what}: the result is whole", self.sound((Path(folder) / self.result), self.expected))
            parts = [name for name in left if name != self.result]
            # Nobody can clean up after SIGKILL; what is left has a name that says what it is.
            self.leftovers += bool(parts)
            expect(f"{what}: nothing else is left",
                   not parts or (kind == signal.SIGKILL and all(".part-" in name for name in parts)), parts)


def same_bytes(path, expected):
    return path.read_bytes() == expected


def whole_timeline(path, _):
    return isinstance(json.loads(path.read_text())["traceEvents"], list)


class SweepStrikes(Strikes):
    """The same file, struck again and again and gone on with until it is done."""

    def strike(self, rng):
        with tempfile.TemporaryDirectory() as folder:
            log, before = Path(folder) / self.result, b""
            for _ in range(200):
                kind = rng.choice(KINDS)
                moment = rng.random() * self.seconds
                came = struck(self.program, [*self.words, "--resume"], folder, moment, kind)
                self.sent += 1
                self.in_time += came
                now = log.read_bytes() if log.exists() else b""
                what = f"sweep, {kind.name} after {moment:.4f} s"
                whole = before[:before.rfind(b"\n") + 1]
                expect(f"{what}: no finished line is lost", now.startswith(whole[:self._jobs_end(whole)]))
                expect(f"{what}: what is there is right", self.expected.startswith(now))
                before = now
                if now == self.expected:
                    return
            expect("sweep: it gets on between signals", False, f"{len(before)} of {len(self.expected)} bytes")

    @staticmethod
    def _jobs_end(text):
        """Where the last whole job ends: two strategies a job, after the header."""
        ends = [match.end() for match in re.finditer(b"\n", text)]
        return ends[len(ends) - 1 - (len(ends) - 1) % 2] if ends else 0


def signals(program, count):
    rng = random.Random(20261123)
    kinds = [
        # One job after the other: jobs that share are over before most signals come.
        SweepStrikes(program, ["sweep", *SWEPT, "--over", "nodes=1..96", "--threads", "2", "--no-share",
                               "-o", "runs.jsonl"], "runs.jsonl", None),
        Strikes(program, FIT, "codecs.yaml", same_bytes),
        Strikes(program, ["report", *PLAIN, "-o", "page.html"], "page.html", same_bytes),
        Strikes(program, ["simulate", *TRACED, "--trace", "step.json"], "step.json", whole_timeline),
    ]
    for strikes in kinds:
        # Each has a generator of its own, so that the moments do not depend on who is faster.
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            while strikes.sent < count / len(kinds):
                round_of = [random.Random(rng.random()) for _ in range(2)]
                list(pool.map(strikes.strike, round_of))
        print(f"{strikes.words[0]}: {strikes.sent} signals, {strikes.in_time} before the end of "
              f"{strikes.seconds:.2f} s, {strikes.leftovers} left a temporary file", flush=True)
