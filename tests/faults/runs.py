# SPDX-License-Identifier: Apache-2.0
"""Runs of `payoff` for the other files here, and what is expected of them."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {"PAYOFF_PROFILES": str(ROOT / "profiles"), "PATH": os.environ.get("PATH", "/usr/bin:/bin")}
SWEPT = ["--model", "resnet-50", "--cluster", "p3-8xlarge", "--micro-batch", "8", "--precision", "fp32",
         "--compress", "powersgd:rank=4"]
JOB = [*SWEPT, "--nodes", "2"]
PLAIN = [*SWEPT[:-2], "--nodes", "2"]
TRACED = ["--model", "gpt2", "--cluster", "dgx-a100", "--nodes", "2", "--tp", "2", "--pp", "2",
          "--micro-batch", "1", "--micro-batches", "64"]
failures = []
expectations = 0


def expect(what, holds, detail=""):
    global expectations
    expectations += 1
    if not holds:
        failures.append(what)
        print(f"{what}: {detail}", flush=True)


def start(program, words, folder, environment=None, **more):
    settings = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                "text": True, **more}
    return subprocess.Popen([program, *words], cwd=folder, env={**ENVIRONMENT, **(environment or {})},
                            **settings)


def finished(program, words, folder, environment=None, **more):
    run = start(program, words, folder, environment, **more)
    try:
        out, err = run.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        run.kill()
        out, err = run.communicate()
        err = (err or "") + "killed after a minute"
    return run.returncode, out or "", err or ""


def names_in(folder):
    return sorted(path.name for path in Path(folder).iterdir())
