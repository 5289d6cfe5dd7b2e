#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Completes real command lines in real shells, and checks what holds for every command.

  check.py PROGRAM

bash and zsh run on a terminal of their own (pty): a line is typed, the tabulator pressed, and the
line that stands there then is echoed. fish is asked by its own `complete -C`. A shell that is not
installed is skipped, and so is man.
"""

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 60
COLOUR = re.compile("\x1b\\[[0-9;]*m")

# (typed, what stands there after the tabulator); each has one answer.
LINES = [
    ("payoff pred", "payoff predict"),
    ("payoff predict --clus", "payoff predict --cluster"),
    ("payoff predict --cluster p3-8x", "payoff predict --cluster p3-8xlarge"),
    ("payoff predict --cluster=p3-8x", "payoff predict --cluster=p3-8xlarge"),
    ("payoff predict --model bert-l", "payoff predict --model bert-large"),
    ("payoff predict --compress powersgd_g", "payoff predict --compress powersgd_gram_schmidt"),
    ("payoff predict --compress powersgd:ra", "payoff predict --compress powersgd:rank="),
    ("payoff predict --compress powersgd:rank=4,placem",
     "payoff predict --compress powersgd:rank=4,placement="),
    ("payoff sweep --over compress=none,topk:rati",
     "payoff sweep --over compress=none,topk:ratio="),
    ("payoff predict --recompute sel", "payoff predict --recompute selective"),
    ("payoff predict --set layout.sched", "payoff predict --set layout.schedule="),
    ("payoff predict --set layout.schedule=dualpipe-",
     "payoff predict --set layout.schedule=dualpipe-v"),
    ("payoff search --keep sched", "payoff search --keep schedule"),
    ("payoff predict --set training.overlap=f", "payoff predict --set training.overlap=false"),
    ("payoff predict --software megatron-2022 --clus",
     "payoff predict --software megatron-2022 --cluster"),
    ("payoff collective all_ga", "payoff collective all_gather"),
    ("payoff collective all_reduce --cluster dgx-h1", "payoff collective all_reduce --cluster dgx-h100"),
    ("payoff schema exp", "payoff schema experiment"),
    ("payoff schema fitt", "payoff schema fitted"),
    ("payoff sweep --cs", "payoff sweep --csv"),
    ("payoff completion f", "payoff completion fish"),
    ("payoff import chak", "payoff import chakra"),
    ("payoff sweep --over nod", "payoff sweep --over nodes="),
    ("payoff sweep --over compress=none,powersgd_g",
     "payoff sweep --over compress=none,powersgd_gram_schmidt"),
    ("payoff check examples/own-compressor/eighths.y",
     "payoff check examples/own-compressor/eighths.yaml"),
]


class Terminal:
    """A shell on a pty."""

    def __init__(self, words, environment):
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.chdir(ROOT)
            os.execvpe(words[0], words, environment)
        self.seen = ""

    def type(self, text):
        os.write(self.end, text.encode())

    def wait_for(self, pattern):
        limit = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < limit:
            found = re.search(pattern, self.seen)
            if found:
                self.seen = self.seen[found.end():]
                return found
            if select.select([self.end], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.end, 65536).decode(errors="replace")
                except OSError:
                    break
        return None

    def close(self):
        os.close(self.end)
        os.waitpid(self.pid, 0)


def shell_words(shell, bin_folder):
    setup = {
        "bash": "PS1='READY> '; bind 'set enable-bracketed-paste off'; "
                "source <(payoff completion bash)\n",
        "zsh": "unsetopt prompt_sp prompt_cr zle_bracketed_paste; unset zle_bracketed_paste; "
               "PS1='READY> '; autoload -U compinit; compinit -D -u; "
               "source <(payoff completion zsh)\n",
    }[shell]
    words = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}[shell]
    environment = dict(os.environ, PATH=f"{bin_folder}:{os.environ['PATH']}", TERM="dumb",
                       HOME=str(bin_folder), LC_ALL="C.UTF-8")
    return words, environment, setup


def completed_on_terminal(shell, bin_folder):
    words, environment, setup = shell_words(shell, bin_folder)
    terminal = Terminal(words, environment)
    terminal.type(setup)
    terminal.wait_for(r"READY> $")
    for typed, expected in LINES:
        # The tabulator, to the beginning of the line, and echo in front of it. The line is in quotes
        # by then, so that the shell takes nothing of it for a pattern.
        terminal.type(typed + "\t" + "'\x01echo ANSWER: '\n")
        found = terminal.wait_for(r"\nANSWER: ([^\r\n]*)\r?\n")
        yield typed, expected, found.group(1).rstrip() if found else "nothing"
    terminal.type("exit\n")
    terminal.close()


def completed_by_fish(bin_folder):
    environment = dict(os.environ, PATH=f"{bin_folder}:{os.environ['PATH']}", HOME=str(bin_folder))
    for typed, expected in LINES:
        script = f"payoff completion fish | source; complete -C '{typed}'"
        done = subprocess.run(["fish", "--no-config", "-c", script], env=environment, cwd=ROOT,
                              capture_output=True, text=True, check=False)
        answers = [line.split("\t")[0] for line in done.stdout.splitlines()]
        last = typed.rsplit(" ", 1)[0]
        found = f"{last} {answers[0]}" if len(answers) == 1 else f"{answers} {done.stderr}"
        yield typed, expected, found


def check_shells(bin_folder, problems):
    for shell in ("bash", "zsh", "fish"):
        if shutil.which(shell) is None:
            print(f"{shell} is not installed: skipped")
            continue
        answers = (completed_by_fish(bin_folder) if shell == "fish"
                   else completed_on_terminal(shell, bin_folder))
        count = 0
        for typed, expected, found in answers:
            count += 1
            if found != expected:
                problems.append(f"{shell}: `{typed}` becomes `{found}`, not `{expected}`")
        print(f"{shell}: {count} lines completed")


def run(program, *words, **more):
    return subprocess.run([program, *words], capture_output=True, text=True, check=False, cwd=ROOT,
                          **more)


def check_manual(program, problems):
    page = run(program, "man").stdout
    listed = run(program, "--help").stdout.split("Commands:\n", 1)[1].split("\n\n", 1)[0]
    for name in (line.split()[0] for line in listed.splitlines()):
        if f".SS payoff {name}" not in page:
            problems.append(f"the manual page has no `payoff {name}`")
    if shutil.which("man") is None:
        print("man is not installed: skipped")
        return
    done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-"], input=page, text=True,
                          capture_output=True, check=False,
                          env=dict(os.environ, LC_ALL="C.UTF-8", MANWIDTH="100"))
    if done.returncode != 0 or done.stderr or "EXIT STATUS" not in done.stdout:
        problems.append(f"man: {done.returncode} {done.stderr[:1000]}")


def all_of(terminal):
    """What is written to the other end of a terminal until nobody has it open."""
    seen = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            return seen
        if not piece:
            return seen
        seen += piece


def on_terminal(program, words, environment):
    """What a run writes to a terminal that is its stderr."""
    first, second = pty.openpty()
    with subprocess.Popen([program, *words], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=second,
                          env=environment) as process:
        os.close(second)
        seen = all_of(first)
        process.wait()
    os.close(first)
    return seen.decode()


def drawn_on_terminal(program, words, columns, environment):
    """What a run writes to a terminal of so many columns that is its stdout, and how it ended."""
    first, second = pty.openpty()
    fcntl.ioctl(second, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen([program, *words], cwd=ROOT, stdout=second, stderr=subprocess.DEVNULL,
                          env=environment) as process:
        os.close(second)
        seen = all_of(first)
        code = process.wait()
    os.close(first)
    return code, seen.decode().replace("\r\n", "\n")


def check_pictures(program, problems):
    """Pictures of characters are as wide as the terminal, and 100 columns in a pipe."""
    if shutil.which("gnuplot") is None:
        print("gnuplot is not installed: skipped")
        return
    example = "examples/01-resnet50-v100/experiment.yaml"
    plain = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    with tempfile.TemporaryDirectory() as folder:
        runs = f"{folder}/runs.jsonl"
        done = run(program, "sweep", example, "--over", "nodes=1..60", "--over",
                   "bandwidth=1 Gb/s..200 Gb/s:+1 Gb/s", "--over", "compress=none,fp16", "-o", runs)
        if done.returncode != 0:
            problems.append(done.stderr)
            return
        pictures = [["plot", example, "--from", "8", "--to", "64"], ["plot", example, "--roofline"],
                    ["plot", example, "--tornado"], ["plot", example, "--waterfall"],
                    ["plot", example, "--x", "bandwidth", "--y", "gpus"],
                    ["plot", runs, "--x", "bandwidth", "--y", "nodes"]]
        for words in pictures:
            words = [*words, "--terminal"]
            what = " ".join(words[1:]).replace(folder + "/", "")
            widest = {}
            for columns, environment in ((40, plain), (80, plain), (132, plain),
                                         (132, dict(plain, COLUMNS="60")), (20, plain)):
                code, drawn = drawn_on_terminal(program, words, columns, environment)
                text = COLOUR.sub("", drawn)
                allowed = max(40, int(environment.get("COLUMNS", columns)))
                widest[allowed] = max(map(len, text.splitlines()), default=0)
                if code != 0 or not text or "\f" in text:
                    problems.append(f"`{what}` exits with {code} on a terminal: {text[:200]!r}")
                if widest[allowed] > allowed:
                    problems.append(f"`{what}` is {widest[allowed]} wide where {allowed} fit")
            if widest[132] <= 80 and "--y gpus" not in what:  # a map of 36 columns has no more
                problems.append(f"`{what}` leaves a wide terminal empty: {widest}")
            piped = run(program, *words, env=dict(plain, COLUMNS="60")).stdout
            if not 60 < max(map(len, piped.splitlines())) <= 100 and "--y gpus" not in what:
                problems.append(f"`{what}` has not 100 columns in a pipe")
        check_letters(program, [*pictures[0], "--terminal"], plain, problems)
        print(f"{len(pictures)} pictures on terminals")


def check_letters(program, words, plain, problems):
    """Of Unicode where the locale has it, in colour on a terminal; else, and where it is said,
    ASCII."""
    free = {key: value for key, value in plain.items()
            if key not in ("NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG")}
    unicode = dict(free, LANG="en_US.utf8")
    grey = drawn_on_terminal(program, words, 80, dict(unicode, NO_COLOR="1"))[1]
    coloured = drawn_on_terminal(program, words, 80, unicode)[1]
    if "\x1b" in grey or not COLOUR.search(coloured) or COLOUR.sub("", coloured) != grey:
        problems.append("colours of a picture of characters are not all that NO_COLOR takes away")
    for environment in (unicode, dict(free, LANG="C", LC_CTYPE="C.UTF-8")):
        piped = run(program, *words, env=environment).stdout
        if "\x1b" in piped or not re.search("[\u2801-\u28ff]", piped):
            problems.append("a picture in a pipe is not of dots alone")
    letters = run(program, *words, "--characters", "ascii", env=unicode).stdout
    for environment in (free, dict(unicode, LC_ALL="C"), dict(free, LANG="de_DE.ISO-8859-1")):
        text = run(program, *words, env=environment).stdout
        if not text.isascii() or text != letters:
            problems.append("a picture in another locale is not of ASCII, or not the same letters")


def check_conventions(program, problems):
    example = "examples/01-resnet50-v100/experiment.yaml"
    wrong = ["predict", example, "--set", "layout.tpp=1"]
    expected = [
        (0, ["predict", example]),
        (1, ["check", "no-such-file.yaml"]),
        (2, wrong),
        (3, ["predict", "--model", "gpt2", "--cluster", "dgx-h100", "--micro-batch", "8",
             "--compress", "signsgd", "--fail-if-no-payoff"]),
    ]
    for code, words in expected:
        done = run(program, *words)
        if done.returncode != code:
            problems.append(f"`{' '.join(words)}` exits with {done.returncode}, not {code}")
        if code in (1, 2) and (done.stdout or not done.stderr):
            problems.append(f"`{' '.join(words)}` does not tell its mistakes on stderr alone")
        if f"{code} " not in run(program, "--help").stdout.split("Exit status:", 1)[1]:
            problems.append(f"the help does not say what {code} means")
    plain = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    if "\x1b[" not in on_terminal(program, wrong, plain):
        problems.append("mistakes have no colour on a terminal")
    if "\x1b[" in on_terminal(program, wrong, dict(plain, NO_COLOR="1")):
        problems.append("NO_COLOR leaves colours")
    if "\x1b" in run(program, *wrong).stderr:
        problems.append("mistakes have colours in a pipe")


def main():
    program = str(Path(sys.argv[1]).resolve())
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "payoff").symlink_to(program)
        check_shells(folder, problems)
    check_manual(program, problems)
    check_conventions(program, problems)
    check_pictures(program, problems)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
