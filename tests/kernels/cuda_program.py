#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds kernels/ as a project of its own with nvcc, and runs what needs no GPU.

  cuda_program.py BUILD_FOLDER [ARCHITECTURES]

The program has to list its kernels, plan a run, refuse wrong arguments, be linked with nothing of
CUDA, and, where there is no GPU, say so with exit status 77. With a GPU its outputs are compared
with the host reference (--check). Skipped without nvcc.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def find_nvcc():
    places = [os.environ.get("CUDACXX"), shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"]
    return next((place for place in places if place and Path(place).exists()), None)


def run(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def expect(condition, what, failures):
    if not condition:
        failures.append(what)


def problems_of(program):
    failures = []
    code, out, _ = run(program, "--list")
    expect(code == 0 and "topk_radix (fused)" in out and "gemm (library)" in out, "--list", failures)
    code, out, _ = run(program, "--dry-run")
    longest = re.search(r"(\d+) points, at most (\d+) s\n$", out)
    expect(code == 0 and longest and int(longest[2]) <= 120, "--dry-run of --quick", failures)
    code, out, _ = run(program, "--dry-run", "--full")
    longest = re.search(r"(\d+) points, at most (\d+) s\n$", out)
    expect(code == 0 and longest and int(longest[2]) <= 600, "--dry-run --full", failures)
    code, _, err = run(program, "--only", "nothing", "--list")
    expect(code == 2 and "no kernel or family `nothing`" in err, "--only nothing", failures)
    linked = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    expect(not re.search(r"libcu|libnv|libnccl", linked), f"linked with {linked}", failures)
    code, _, err = run(program, "--check")
    if code == 77:
        expect("no GPU" in err, f"exit 77 without a reason: {err}", failures)
    else:
        expect(code == 0, f"outputs differ from the host reference:\n{err}", failures)
    return failures


def main():
    nvcc = find_nvcc()
    if nvcc is None:
        print("SKIPPED: nvcc is not installed")
        return 0
    build = Path(sys.argv[1])
    arguments = ["cmake", "-S", str(ROOT / "kernels"), "-B", str(build), "-G", "Ninja",
                 f"-DCMAKE_CUDA_COMPILER={nvcc}"]
    if len(sys.argv) > 2:
        arguments.append(f"-DCMAKE_CUDA_ARCHITECTURES={sys.argv[2]}")
    for command in (arguments, ["cmake", "--build", str(build)]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0 or "warning" in done.stdout + done.stderr:
            print(done.stdout + done.stderr)
            return 1
    failures = problems_of(str(build / "payoff-kernels"))
    print("\n".join(failures) or "payoff-kernels builds, and does what needs no GPU")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
