#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the world can do to `payoff`, run as its users run it.

  check.py PROGRAM [SIGNALS]

A disk that is full, a folder that may not be written, a pipe that nobody reads, a device without end,
a disk that fails while it is read, tools and folders that are not there, another locale, no terminal and a narrow one; then SIGNALS times (default 50)
SIGINT, SIGTERM or SIGKILL at a random moment of sweep, calibrate fit, report and simulate --trace.
Every failure has to say what it is about and exit with 1; no result is ever a part of one; and a
sweep that was stopped goes on to the very bytes of one that was not. The moments are drawn from a
fixed seed; where in the program they fall depends on the machine.
"""

import json
import os
import pty
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import fcntl
from pathlib import Path

import runs
from runs import ENVIRONMENT, JOB, ROOT, SWEPT, TRACED, expect, finished, names_in, start
from strikes import ended_by, signals

PAGE = "<html><body>@PAYOFF_DATA@</body></html>\n"  # what `make page` builds, without its scripts

# Every command that writes, with the name of what it writes in place of FILE.
WRITES = {
    "predict --json": (["predict", *JOB, "--json", "FILE"], "out.json"),
    "predict --csv": (["predict", *JOB, "--csv", "FILE"], "out.csv"),
    "predict --save": (["predict", *JOB, "--save", "FILE"], "out.yaml"),
    "simulate --json": (["simulate", *JOB, "--json", "FILE"], "out.json"),
    "simulate --trace": (["simulate", *TRACED, "--trace", "FILE"], "out.json"),
    "collective --csv": (["collective", "all_reduce", "--cluster", "dgx-h100", "--sizes", "8B..8GiB:x2",
                          "--csv", "FILE"], "out.csv"),
    "sweep -o": (["sweep", *SWEPT, "--over", "nodes=1..8", "-o", "FILE"], "out.jsonl"),
    "plot -o": (["plot", *JOB, "--x", "gpus", "--from", "8", "--to", "16", "-o", "FILE"], "out.gp"),
    "report -o": (["report", *JOB, "-o", "FILE"], "out.html"),
}


def with_file(words, name):
    return [name if word == "FILE" else word for word in words]


def failed_cleanly(what, code, out, err, *said, codes=(1,)):
    expect(f"{what}: exit code {codes[0]}", code in codes, f"{code} {err}")
    expect(f"{what}: it says why", all(text in err for text in said), err)
    expect(f"{what}: one message", err.count("error: ") == 1, err)


def full_devices(program):
    for what, (words, name) in WRITES.items():
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / name).symlink_to("/dev/full")
            code, out, err = finished(program, with_file(words, name), folder)
            failed_cleanly(f"{what} on a full device", code, out, err, name, "No space left on device")
            expect(f"{what} on a full device: nothing else is left", names_in(folder) == [name],
                   names_in(folder))


def full_disks(program):
    def limit(size):
        def set_limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return set_limit

    for what, (words, name) in WRITES.items():
        with tempfile.TemporaryDirectory() as folder:
            code, out, err = finished(program, with_file(words, name), folder, preexec_fn=limit(100))
            failed_cleanly(f"{what} on a full disk", code, out, err, name, "File too large")
            if what != "sweep -o":
                expect(f"{what} on a full disk: no file", names_in(folder) == [], names_in(folder))


def full_temporary_disks(program):
    """What gnuplot draws is made in $TMPDIR first; it says nothing where its disk is full."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))
    for kind in ("png", "svg", "pdf"):
        with tempfile.TemporaryDirectory() as folder:
            words = ["plot", *JOB, "--x", "gpus", "--from", "8", "--to", "16", "-o", f"out.{kind}"]
            code, out, err = finished(program, words, folder, preexec_fn=limit)
            failed_cleanly(f"plot -o {kind} on a full $TMPDIR", code, out, err, "picture in", "is the disk of $TMPDIR full?")
            expect(f"plot -o {kind} on a full $TMPDIR: no file", names_in(folder) == [], names_in(folder))


def full_standard_output(program):
    with tempfile.TemporaryDirectory() as folder, open("/dev/full", "w") as full:
        for words in (["predict", *JOB], ["profiles", "list"], ["sweep", *SWEPT, "--over", "nodes=1..4"]):
            code, _, err = finished(program, words, folder, stdout=full)
            expect(f"{words[0]} to a full disk: exit code 1", code == 1, f"{code} {err}")
            expect(f"{words[0]} to a full disk: it says so", "cannot write to standard output" in err, err)


# What even root may not write: a folder of the kernel's.
def folders_without_permission(program):
    for what, (words, name) in WRITES.items():
        with tempfile.TemporaryDirectory() as folder:
            place = f"/proc/{name}"
            code, out, err = finished(program, with_file(words, place), folder)
            failed_cleanly(f"{what} where nothing may be written", code, out, err, place)
        with tempfile.TemporaryDirectory() as folder:
            code, out, err = finished(program, with_file(words, f"missing/{name}"), folder)
            failed_cleanly(f"{what} in a folder that is not there", code, out, err, "missing", codes=(1, 2))
            expect(f"{what}: no folder is made", names_in(folder) == [], names_in(folder))
        if os.geteuid() != 0:
            with tempfile.TemporaryDirectory() as folder:
                Path(folder).chmod(0o500)
                code, out, err = finished(program, with_file(words, name), folder)
                failed_cleanly(f"{what} in a folder of others", code, out, err, name)
                Path(folder).chmod(0o700)


# As in `payoff sweep ... | head -1`: whoever closes the pipe has what he wanted.
def closed_pipes(program):
    for words in (["predict", *JOB], ["sweep", *SWEPT, "--over", "nodes=1..64"], ["profiles", "list"]):
        with tempfile.TemporaryDirectory() as folder:
            run = start(program, words, folder, restore_signals=True)
            run.stdout.close()
            err = run.stderr.read()
            run.stderr.close()
            code = run.wait(timeout=60)
            expect(f"{words[0]} into a closed pipe: it ends", code in (0, 1, -signal.SIGPIPE), f"{code} {err}")
            expect(f"{words[0]} into a closed pipe: no noise", "terminate" not in err, err)
    with tempfile.TemporaryDirectory() as folder:
        words = with_file(*WRITES["predict --json"])
        run = start(program, words, folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    preexec_fn=lambda: (os.close(1), os.close(2)))
        code = run.wait(timeout=60)
        expect("without any stream: the file is whole or not there",
               code in (0, 1) and all(json.loads((Path(folder) / name).read_text()) for name in names_in(folder)),
               f"{code} {names_in(folder)}")


def with_little_memory():
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))


# A device without end is refused, and what fails while it is read is told, by name and before memory
# ends: every command that takes a file of results, measurements, traces or logs.
def devices_read(program):
    reads = {
        "merge": ["merge", "FILE", "-o", "out.jsonl"],
        "rerun": ["rerun", "FILE"],
        "import nccl-log": ["import", "nccl-log", "FILE"],
        "import flight-recorder": ["import", "flight-recorder", "FILE"],
        "import kineto": ["import", "kineto", "FILE"],
        "import chakra": ["import", "chakra", "FILE"],
        "calibrate show": ["calibrate", "show", "FILE"],
        "validate": ["validate", "FILE"],
        "predict": ["predict", "FILE"],
        "predict --observed": ["predict", *JOB, "--observed", "FILE"],
        "report": ["report", "FILE", "-o", "out.html"],
        "plot": ["plot", "FILE", "-o", "out.svg"],
    }
    the_same_reader = ("import chakra", "calibrate show", "validate")  # 256 MiB of zeros take seconds
    for what, words in reads.items():
        with tempfile.TemporaryDirectory() as folder:
            if what not in the_same_reader:
                code, out, err = finished(program, with_file(words, "/dev/zero"), folder,
                                          preexec_fn=with_little_memory)
                expect(f"{what} of a device without end: refused", code in (1, 2), f"{code} {err[:500]}")
                expect(f"{what} of a device without end: named", "/dev/zero" in err and "bad_alloc" not in err,
                       err[:500])
            code, out, err = finished(program, with_file(words, "/proc/self/mem"), folder,
                                      preexec_fn=with_little_memory)
            expect(f"{what} of what fails while it is read: it says why",
                   code in (1, 2) and "/proc/self/mem" in err and "Input/output error" in err, f"{code} {err}")
            expect(f"{what}: nothing is left", names_in(folder) == [], names_in(folder))


def missing_tools(program):
    with tempfile.TemporaryDirectory() as folder:
        words = with_file(WRITES["plot -o"][0], "out.svg")
        code, out, err = finished(program, words, folder, {"PATH": "/nonexistent"})
        failed_cleanly("without gnuplot", code, out, err, "gnuplot is not installed")
        expect("without gnuplot: no file", names_in(folder) == [], names_in(folder))
        code, out, err = finished(program, words, folder, {"TMPDIR": "/nonexistent"})
        expect("without a temporary folder: a picture, or why not",
               code == 0 or (code == 1 and "temporary" in err), f"{code} {err}")
    with tempfile.TemporaryDirectory() as folder:
        words = with_file(*WRITES["report -o"])
        code, out, err = finished(program, words, folder, {"PAYOFF_PAGE": "/nonexistent/report.html"})
        failed_cleanly("without the page of reports", code, out, err, "make page")
        expect("without the page of reports: no file", names_in(folder) == [], names_in(folder))
    with tempfile.TemporaryDirectory() as folder:
        code, out, err = finished(program, ["predict", *JOB], folder, {"PAYOFF_PROFILES": "/nonexistent"})
        failed_cleanly("without profiles", code, out, err, "/nonexistent")
    if _has("make"):
        before = (ROOT / "build-kernels").exists()
        code, out, err = finished("make", ["-C", str(ROOT), "kernels", "CUDACXX=/nonexistent/nvcc"], "/")
        expect("`make kernels` without nvcc: it says so, and how to name another",
               code == 2 and "/nonexistent/nvcc is not there" in err and "CUDACXX" in err, f"{code} {out} {err}")
        expect("`make kernels` without nvcc: nothing is left", (ROOT / "build-kernels").exists() == before)


# What prints is the same whatever the locale says of commas, HOME says of folders and TERM of screens.
def surroundings(program):
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as locales:
        words = ["predict", *JOB, "--json"]
        expected = finished(program, words, folder)
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", f"{locales}/de_DE.UTF-8"],
                              capture_output=True).returncode == 0 if _has("localedef") else False
        german = {"LC_ALL": "de_DE.UTF-8", "LC_NUMERIC": "de_DE.UTF-8", "LANG": "de_DE.UTF-8",
                  "LOCPATH": locales}
        if not made:
            print("no German locale can be made here: asked for by name only")
        expect("a locale with decimal commas", finished(program, words, folder, german) == expected)
        drawn = ["plot", *JOB, "--x", "gpus", "--from", "8", "--to", "16", "-o"]
        if _has("gnuplot"):
            finished(program, [*drawn, "plain.svg"], folder)
            code, _, err = finished(program, [*drawn, "german.svg"], folder, german)
            expect("a picture in a locale with decimal commas",
                   code == 0 and (Path(folder) / "plain.svg").read_bytes()
                   == (Path(folder) / "german.svg").read_bytes(), err)
        expect("an unknown locale", finished(program, words, folder, {"LC_ALL": "xx_YY"}) == expected)
        expect("another HOME", finished(program, words, folder, {"HOME": "/nonexistent"}) == expected)
        expect("no terminal", finished(program, words, folder, {"TERM": "dumb", "COLUMNS": "1"}) == expected)
        expect("no words of a terminal in a file", "\x1b" not in expected[1] + expected[2])


def _has(tool):
    return any((Path(folder) / tool).exists() for folder in ENVIRONMENT["PATH"].split(":"))


def on_terminal(program, words, folder, columns, stream):
    """The exit status, and what the stream says where it is a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    run = start(program, words, folder, environment={"NO_COLOR": "1"},
                **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: theirs})
    os.close(theirs)
    text = b""
    try:
        while piece := os.read(ours, 65536):
            text += piece
    except OSError:
        pass  # the other end is closed
    os.close(ours)
    return run.wait(timeout=60), text.decode().replace("\r", "")


def narrow_terminal(program):
    with tempfile.TemporaryDirectory() as folder:
        words = ["predict", *JOB, "--set", "layout.tpp=" + 200 * "2", "--set", "training.buckett=25 MiB"]
        code, text = on_terminal(program, words, folder, 40, "stderr")
        expect("40 columns: exit code 2", code == 2, code)
        expect("40 columns: both mistakes", text.count("error: ") == 2, text)
        # The excerpt is never cut to less than 40 columns, whatever stands before it.
        shown = [line.split(": ", 1)[1] for line in text.splitlines() if re.match(r" *--> argument", line)]
        expect("40 columns: what is shown of the input is cut", shown and max(map(len, shown)) <= 40, text)
        # A picture is drawn for the terminal, with all that it has in a wider one.
        words = ["plot", *JOB, "--x", "gpus", "--from", "8", "--to", "64", "--terminal"]
        for columns in (40, 100):
            code, text = on_terminal(program, words, folder, columns, "stdout")
            expect(f"a picture in {columns} columns fits them",
                   code == 0 and max(map(len, text.splitlines())) <= columns, f"{code} {text}")
            expect(f"a picture in {columns} columns has its axes and its curves named",
                   all(name in text for name in ("GPUs", "speedup", "uncompressed", "powersgd:rank=4")), text)
        # A table is not cut: its rows are Markdown, whole, for whoever copies them.
        for words in (["predict", *JOB], ["profiles", "list"]):
            expect(f"{words[0]} in 40 columns: the table that a file has",
                   on_terminal(program, words, folder, 40, "stdout") == finished(program, words, folder)[:2])


def main(program, count="50"):
    program = str(Path(program).resolve())
    with tempfile.TemporaryDirectory() as folder:  # the page of reports is not built everywhere
        page = Path(folder) / "report.html"
        page.write_text(PAGE)
        ENVIRONMENT["PAYOFF_PAGE"] = str(page)
        for check in (full_devices, full_disks, full_temporary_disks, full_standard_output, folders_without_permission,
                      closed_pipes, devices_read, missing_tools, surroundings, narrow_terminal, ended_by):
            check(program)
        signals(program, int(count))
    print(f"{runs.expectations} expectations, {len(runs.failures)} do not hold")
    return 1 if runs.failures else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
