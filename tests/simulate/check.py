#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a signal and a full disk do to `payoff simulate`, run as its users run it.

  check.py PROGRAM

A real SIGINT at many moments of the run, pairs of signals, `timeout`, SIGTERM, SIGHUP, a device that is full, a disk that
fills up: a timeline under the wanted name is valid JSON, nothing else is left, and the exit code is
the documented one.
"""

import fcntl
import json
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
JOB = ["--model", "gpt3-175b", "--cluster", "selene", "--nodes", "128", "--tp", "8", "--pp", "8",
       "--dp", "16", "--micro-batch", "1"]
# 10 million events and a timeline of 2 GB, if nothing stops it.
LONG = [*JOB, "--micro-batches", "10000"]
# Each micro-batch leaves so much of a timeline, and one of more than the disk has is refused.
BYTES_PER_MICRO_BATCH = 206_221
failures = []


def expect(what, holds, detail=""):
    if not holds:
        failures.append(what)
        print(f"{what}: {detail}")


def start(program, words, folder, **more):
    return subprocess.Popen([program, "simulate", *words, "--trace", "step.json"], cwd=folder,
                            env={"PAYOFF_PROFILES": str(ROOT / "profiles"), "PATH": "/usr/bin:/bin"},
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **more)


def files_in(folder):
    return sorted(path.name for path in Path(folder).iterdir())


def spans(folder):
    events = json.loads((Path(folder) / "step.json").read_text(encoding="utf-8"))["traceEvents"]
    return sum(1 for event in events if event["ph"] == "X")


def growing(folder, size):
    """Waits for a timeline of so many bytes under its temporary name."""
    for _ in range(6000):
        if any(path.stat().st_size >= size for path in Path(folder).glob("step.json.part-*")):
            return True
        time.sleep(0.01)
    return False


def that_prepares():
    """As many micro-batches as half of the disk takes of the timeline, which else is refused."""
    half = shutil.disk_usage(tempfile.gettempdir()).free // 2
    return [*JOB, "--micro-batches", str(min(100_000, half // BYTES_PER_MICRO_BATCH))]


def begun(folder):
    """Waits for a timeline under its temporary name, without letting time pass."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if any(Path(folder).glob("step.json.part-*")):
            return True
    return False


def interrupted_while_it_prepares(program):
    """Some 10 ms lie between the file and its first span: one of several signals comes within them."""
    what = "Ctrl-C while it prepares"
    job = that_prepares()
    for attempt in range(1, 41):
        with tempfile.TemporaryDirectory() as folder:
            run = start(program, job, folder)
            expect(f"{what}: a timeline is begun", begun(folder))
            run.send_signal(signal.SIGINT)
            out, err = run.communicate(timeout=60)
            expect(f"{what}: exit code 1", run.returncode == 1, f"{run.returncode} {err}")
            expect(f"{what}: one file", files_in(folder) == ["step.json"], files_in(folder))
            expect(f"{what}: it says so", "nterrupted" in out + err, out + err)
            if failures or spans(folder) == 0:
                break
    else:
        expect(f"{what}: no spans", False, f"{attempt} runs had some")
    print(f"{what}: no spans in run {attempt}")


def interrupted(program, what, job, size, kind=signal.SIGINT):
    """`size` of the timeline when the signal comes."""
    with tempfile.TemporaryDirectory() as folder:
        run = start(program, job, folder)
        expect(f"{what}: a timeline is begun", growing(folder, size))
        run.send_signal(kind)
        since = time.monotonic()
        out, err = run.communicate(timeout=60)
        took = time.monotonic() - since
        expect(f"{what}: exit code 1", run.returncode == 1, f"{run.returncode} {err}")
        expect(f"{what}: it ends at once", took < 10, f"after {took:.1f} s")
        expect(f"{what}: one file", files_in(folder) == ["step.json"], files_in(folder))
        count = spans(folder)
        expect(f"{what}: spans", count > 0)
        expect(f"{what}: it says so", "nterrupted" in out + err, out + err)
        expect(f"{what}: it was announced", "simulating up to 9821199 events" in err, err)
        print(f"{what}: {count} spans, {took:.2f} s after the signal")


def hung_up_under_nohup(program):
    """A run that was told to outlive its terminal does; only SIGTERM ends it."""
    with tempfile.TemporaryDirectory() as folder:
        run = start(program, LONG, folder,
                    preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        growing(folder, 1_000_000)
        run.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        expect("nohup: it goes on", run.poll() is None, run.returncode)
        run.send_signal(signal.SIGTERM)
        _, err = run.communicate(timeout=60)
        expect("nohup: exit code 1", run.returncode == 1, f"{run.returncode} {err}")
        expect("nohup: one file", files_in(folder) == ["step.json"], files_in(folder))


def interrupted_before_the_last_strategy(program):
    with tempfile.TemporaryDirectory() as folder:
        run = start(program, [*LONG, "--compress", "topk:ratio=0.01"], folder)
        growing(folder, 0)
        time.sleep(0.3)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
        expect("several strategies: exit code 1", run.returncode == 1, f"{run.returncode} {err}")
        expect("several strategies: it says so", "nterrupted" in out + err, out + err)
        spans(folder)


def predict_announces(program):
    """What `simulate` says before the same run, and Ctrl-C ends it."""
    run = subprocess.Popen([program, "predict", "--engine", "sim", *LONG],
                           env={"PAYOFF_PROFILES": str(ROOT / "profiles"), "PATH": "/usr/bin:/bin"},
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    note = run.stderr.readline()
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    expect("predict announces", note.startswith("note: simulating up to 9821199 events, less than a minute, in ")
           and note.endswith(" of memory; Ctrl-C ends it\n"), note + err)
    expect("predict, interrupted: no result", run.returncode != 0 and out == "", f"{run.returncode} {out}")


def says_why_nothing_folds(program):
    """Before the run, not after it: 1,024 ranks that differ are 8 million events."""
    for command in (["simulate"], ["predict", "--engine", "sim"]):
        run = subprocess.Popen([program, *command, str(ROOT / "bench/gpt3-1024.yaml"), "--set", "cluster.jitter=2%"],
                               env={"PAYOFF_PROFILES": str(ROOT / "profiles"), "PATH": "/usr/bin:/bin"},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        note = run.stderr.readline()
        while note and not note.startswith("note: simulating"):
            note = run.stderr.readline()
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
        expect(f"{command[0]} says why nothing folds",
               "; ranks are not folded: jitter tells them apart; Ctrl-C ends it" in note, note)


def interrupted_thrice(program):
    with tempfile.TemporaryDirectory() as folder:
        run = start(program, LONG, folder)
        growing(folder, 0)
        for _ in range(3):
            run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
        expect("three signals: exit code 1", run.returncode == 1, run.returncode)
        expect("three signals: the timeline", files_in(folder) == ["step.json"], files_in(folder))
        spans(folder)


def interrupted_twice(program):
    """One request as two signals, 0 to 1 ms apart: of `timeout`, of a terminal that closes."""
    for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for apart in (0, 2e-5, 4e-5, 6e-5, 8e-5, 1e-4, 1.5e-4, 3e-4, 6e-4, 1e-3):
            what = f"{kind.name} twice, {apart * 1e6:.0f} us apart"
            with tempfile.TemporaryDirectory() as folder:
                run = start(program, LONG, folder)
                growing(folder, 1_000_000)
                run.send_signal(kind)
                since = time.perf_counter()
                while time.perf_counter() - since < apart:
                    pass
                run.send_signal(kind)
                out, err = run.communicate(timeout=60)
                expect(f"{what}: exit code 1", run.returncode == 1, f"{run.returncode} {err}")
                expect(f"{what}: what ran is printed", "nterrupted" in out, out + err)
                expect(f"{what}: the timeline", files_in(folder) == ["step.json"], files_in(folder))
                expect(f"{what}: spans", spans(folder) > 0)


def ended_by_timeout(program):
    """`timeout` signals its child, then its group."""
    for kind in ("INT", "TERM", "HUP"):
        for after in ("0.3", "0.4", "0.5"):
            what = f"timeout -s {kind} {after}"
            with tempfile.TemporaryDirectory() as folder:
                run = subprocess.Popen(["timeout", "-s", kind, after, program, "simulate", *LONG, "--trace", "step.json"],
                                       cwd=folder, env={"PAYOFF_PROFILES": str(ROOT / "profiles"), "PATH": "/usr/bin:/bin"},
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, start_new_session=True)
                out, err = run.communicate(timeout=60)
                expect(f"{what}: its exit code", run.returncode == 124, f"{run.returncode} {err}")
                expect(f"{what}: the timeline", files_in(folder) == ["step.json"], files_in(folder))
                if files_in(folder) == ["step.json"] and spans(folder) > 0:
                    expect(f"{what}: what ran is printed", "nterrupted" in out, out + err)


def asked_again(program):
    """Nobody reads the result: the run waits, and a second request ends it."""
    with tempfile.TemporaryDirectory() as folder:
        run = start(program, [*LONG, "--json"], folder)
        fcntl.fcntl(run.stdout, fcntl.F_SETPIPE_SZ, 4096)
        growing(folder, 1_000_000)
        run.send_signal(signal.SIGINT)
        time.sleep(1.5)
        expect("asked again: it waits for a reader", run.poll() is None, run.returncode)
        expect("asked again: the timeline was whole by then", files_in(folder) == ["step.json"], files_in(folder))
        run.send_signal(signal.SIGINT)
        expect("asked again: exit code 1", run.wait(timeout=60) == 1, run.returncode)
        expect("asked again: it says so", run.stderr.read().endswith("interrupted\n"))
        spans(folder)


def full_device(program):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "step.json").symlink_to("/dev/full")
        run = start(program, LONG, folder)
        out, err = run.communicate(timeout=60)
        expect("a full device: exit code 1", run.returncode == 1, f"{run.returncode} {err}")
        expect("a full device: the reason", "No space left on device" in err, err)
        expect("a full device: no result", out == "", out)


# 1 MB into a timeline of much more.
def full_disk(program):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))

    with tempfile.TemporaryDirectory() as folder:
        since = time.monotonic()
        run = start(program, [*LONG, "--json"], folder, preexec_fn=limit)
        out, err = run.communicate(timeout=60)
        took = time.monotonic() - since
        expect("a full disk: exit code 1", run.returncode == 1, f"{run.returncode} {err}")
        expect("a full disk: the file is named", "cannot write step.json: " in err, err)
        expect("a full disk: no file is left", files_in(folder) == [], files_in(folder))
        expect("a full disk: no result", out == "", out)
        print(f"a full disk: told after {took:.1f} s")


def main(program):
    program = str(Path(program).resolve())
    interrupted_while_it_prepares(program)
    interrupted(program, "Ctrl-C while it simulates", LONG, 1_000_000)
    interrupted(program, "a request to terminate", LONG, 1_000_000, signal.SIGTERM)
    interrupted(program, "a terminal that hangs up", LONG, 1_000_000, signal.SIGHUP)
    hung_up_under_nohup(program)
    interrupted_before_the_last_strategy(program)
    predict_announces(program)
    says_why_nothing_folds(program)
    interrupted_thrice(program)
    interrupted_twice(program)
    ended_by_timeout(program)
    asked_again(program)
    full_device(program)
    full_disk(program)
    print(f"{len(failures)} of the expectations do not hold")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
