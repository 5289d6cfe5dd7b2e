#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds kernels/ as a project of its own with nvcc, and runs what needs no GPU.

  cuda_program.py BUILD_FOLDER

No kernel may keep an array in local memory (ptxas -v: no stack frame). The program has to list its
kernels, plan a run, refuse wrong arguments, be linked with nothing of CUDA, ask for eager loading
of modules before its first call of the driver, and, where there is no GPU, say so with exit status
77. With a GPU its outputs are compared with the host reference (--check). Skipped without nvcc.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
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


def module_loading_at_first_call(program, scratch):
    """What CUDA_MODULE_LOADING is when the runtime first opens the driver, which reads it then: a
    library of the driver's name that writes it down and has nothing else."""
    (scratch / "seen.c").write_text("""
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void seen(void) {
  const char *loading = getenv("CUDA_MODULE_LOADING");
  fprintf(stderr, "module loading: %s\\n", loading ? loading : "not set");
}
""")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", scratch / "libcuda.so.1", scratch / "seen.c"], check=True)
    without = {name: value for name, value in os.environ.items() if name != "CUDA_MODULE_LOADING"}
    path = f"{scratch}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    done = subprocess.run([program, "--list"], capture_output=True, text=True, timeout=300,
                          env={**without, "LD_LIBRARY_PATH": path})
    found = re.search(r"module loading: (.*)", done.stderr)
    return found[1] if found else f"the driver was not opened: {done.stderr}"


def stack_frames(log):
    """Of every kernel, by what ptxas says of it; of one compiled again, the last time."""
    frames = {}
    kernel = None
    for line in log.splitlines():
        begun = re.search(r"Compiling entry function '(\w+)' for '(\w+)'", line)
        told = re.search(r"(\d+) bytes stack frame", line)
        if begun:
            kernel = begun.groups()
        elif told and kernel:
            frames[kernel] = int(told[1])
            kernel = None
    return frames


def problems_of_frames(frames):
    """Kernels with a stack frame keep arrays in local memory: they move bytes that nobody counted."""
    fused = ("decode_blocks", "dequantize_group_values", "fp8_blocks", "mx_blocks", "nvfp4_blocks",
             "quantize_group_values", "reduce_group_values")
    failures = [f"ptxas told nothing of {name}" for name in fused
                if not any(name in kernel for kernel, _ in frames)]
    failures += [f"{kernel} ({architecture}): {size} bytes of stack frame"
                 for (kernel, architecture), size in sorted(frames.items()) if size > 0]
    return failures


def told_runs_beside_each_other():
    """Of --quick and --full, as docs/kernels.md tells them."""
    text = (ROOT / "docs" / "kernels.md").read_text()
    found = re.search(r"(\d+) runs with `--quick`, (\d+) with `--full`", text)
    return list(found.groups()) if found else []


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
    planned = [re.search(r"(\d+) runs beside each other", run(program, "--dry-run", mode)[1])
               for mode in ("--quick", "--full")]
    told = told_runs_beside_each_other()
    expect([found and found[1] for found in planned] == told, f"docs/kernels.md tells {told} runs", failures)
    code, _, err = run(program, "--only", "nothing", "--list")
    expect(code == 2 and "no kernel or family `nothing`" in err, "--only nothing", failures)
    linked = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    expect(not re.search(r"libcu|libnv|libnccl", linked), f"linked with {linked}", failures)
    with tempfile.TemporaryDirectory() as scratch:
        loading = module_loading_at_first_call(program, Path(scratch))
        expect(loading == "EAGER", f"modules load late: {loading}", failures)
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
                 f"-DCMAKE_CUDA_COMPILER={nvcc}", "-DCMAKE_CUDA_FLAGS=-Xptxas=-v"]
    # What ptxas said of sources that are not compiled again is in the log of an earlier build.
    log = build / "ptxas.log"
    compile_all = [] if log.exists() else ["--clean-first"]
    for command in (arguments, ["cmake", "--build", str(build), *compile_all]):
        done = subprocess.run(command, capture_output=True, text=True)
        if build.is_dir():
            with log.open("a") as file:
                file.write(done.stdout)
        if done.returncode != 0 or "warning" in done.stdout + done.stderr:
            print(done.stdout + done.stderr)
            return 1
    failures = problems_of(str(build / "payoff-kernels"))
    failures += problems_of_frames(stack_frames(log.read_text()))
    print("\n".join(failures) or "payoff-kernels builds, and does what needs no GPU")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
