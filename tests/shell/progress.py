#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Watches long work on a terminal, and where there is none.

  progress.py PROGRAM

A sweep that takes minutes runs with its standard error on a pty: one line, written over again and
again, says how far it is, from two seconds on and not before; Ctrl-C leaves nothing of it. The same
into a pipe says nothing while it runs. What is over in less than two seconds says nothing at all.
"""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONG = ["sweep", str(ROOT / "examples/01-resnet50-v100/experiment.yaml"), "--over", "nodes=1..64",
        "--over", "micro-batch=1..128", "--verdicts", "--threads", "1"]
SHORT = ["sweep", str(ROOT / "examples/01-resnet50-v100/experiment.yaml"), "--over", "nodes=1,2"]
AFTER_SECONDS = 2.0
PATIENCE_SECONDS = 60
PROGRESS = re.compile(r"\r\x1b\[K(\d+) of 8192 jobs, \d+ s left")


def read_until(end, finished, seconds):
    """What comes out of a descriptor, until `finished` says so of it or it ends."""
    text, start = "", time.monotonic()
    while not finished(text) and time.monotonic() - start < seconds:
        if select.select([end], [], [], 0.1)[0]:
            try:
                piece = os.read(end, 65536)
            except OSError:  # the other end of a pty is closed
                break
            if not piece:
                break
            text += piece.decode("utf-8", "replace")
    return text


def on_terminal(program, folder, failures):
    controller, terminal = pty.openpty()
    start = time.monotonic()
    done = subprocess.Popen([program, *LONG, "-o", os.path.join(folder, "terminal.jsonl")],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    first = read_until(controller, PROGRESS.search, PATIENCE_SECONDS)
    shown = time.monotonic() - start
    more = read_until(controller, lambda text: len(PROGRESS.findall(text)) >= 2, PATIENCE_SECONDS)
    done.send_signal(signal.SIGINT)
    last = read_until(controller, lambda text: False, PATIENCE_SECONDS)
    status = done.wait()
    os.close(controller)
    counts = [int(count) for count in PROGRESS.findall(first + more)]
    if len(counts) < 3 or counts != sorted(counts):
        failures.append(f"on a terminal: {first + more!r}")
    if shown < AFTER_SECONDS:
        failures.append(f"the first line came after {shown:.2f} s")
    if status != 1 or "interrupted after" not in last:
        failures.append(f"Ctrl-C: status {status}, {last!r}")
    # The line is cleared before anything else is said.
    if not re.search(r"\r\x1b\[K(?!\d+ of)", last):
        failures.append(f"the line is not cleared: {last!r}")


def without_terminal(program, folder, failures):
    done = subprocess.Popen([program, *LONG, "-o", os.path.join(folder, "pipe.jsonl")],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE)
    text = read_until(done.stderr.fileno(), lambda text: False, AFTER_SECONDS + 2)
    done.send_signal(signal.SIGINT)
    text += done.stderr.read().decode()
    done.wait()
    if " s left" in text or "\x1b" in text or "\r" in text:
        failures.append(f"into a pipe: {text!r}")


def quick(program, folder, failures):
    controller, terminal = pty.openpty()
    done = subprocess.Popen([program, *SHORT, "-o", os.path.join(folder, "quick.jsonl")],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    text = read_until(controller, lambda text: False, PATIENCE_SECONDS)
    done.wait()
    os.close(controller)
    if "jobs," in text:
        failures.append(f"a quick sweep: {text!r}")


def plot(program, folder, failures):
    """Reading many results is long work too. These are the same ones again and again, which make no
    picture, but that is found when they were read."""
    if shutil.which("gnuplot") is None:
        return
    runs = os.path.join(folder, "plot.jsonl")
    subprocess.run([program, "sweep", SHORT[1], "--over", "nodes=1..40", "--over",
                    "layout.micro_batch=1..256", "--over", "compress=none,fp16", "-o", runs],
                   check=True, capture_output=True)
    lines = Path(runs).read_text(encoding="utf-8").splitlines(keepends=True)
    rows = lines[1:]
    with open(runs, "w", encoding="utf-8") as file:
        file.writelines([lines[0], *rows * 12])
    controller, terminal = pty.openpty()
    start = time.monotonic()
    done = subprocess.Popen([program, "plot", runs, "--x", "nodes", "--where", "layout.micro_batch=1", "--csv", os.devnull],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    text = read_until(controller, lambda text: False, PATIENCE_SECONDS)
    seconds = time.monotonic() - start
    if done.wait() != 2 or "are results of the same job" not in text:
        failures.append(f"the same results twice: {done.returncode}, {text!r}")
    os.close(controller)
    counts = re.findall(r"\r\x1b\[K(\d+) of (\d+) results, \d+ s left", text)
    if seconds > 2 * AFTER_SECONDS and not counts:
        failures.append(f"a plot of {seconds:.1f} s tells nothing: {text!r}")
    if counts and (any(int(total) != 12 * len(rows) for _, total in counts) or
                   not re.search(r"\r\x1b\[K(?!\d+ of)", text)):
        failures.append(f"a plot: {text!r}")


def main():
    program, failures = os.path.abspath(sys.argv[1]), []
    with tempfile.TemporaryDirectory() as folder:
        on_terminal(program, folder, failures)
        without_terminal(program, folder, failures)
        quick(program, folder, failures)
        plot(program, folder, failures)
    print(*failures, sep="\n")
    print(f"3 sweeps and a plot, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
