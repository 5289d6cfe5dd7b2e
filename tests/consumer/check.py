#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py BUILD-FOLDER: installs a build into a temporary prefix and uses it from outside.

The installed program has to start and to find its profiles and measurements there; the consumer
project has to find the package, build against its headers and libraries, and run.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def output_of(*command, cwd=None):
    print("+", *command, flush=True)
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(done.stdout, flush=True)
    if done.returncode != 0:
        sys.exit(f"error: exited with {done.returncode}")
    return done.stdout


def require(condition, what):
    if not condition:
        sys.exit(f"error: {what}")


def main(build):
    with tempfile.TemporaryDirectory() as scratch:
        prefix, project = Path(scratch) / "prefix", Path(scratch) / "build"
        output_of("cmake", "--install", build, "--prefix", str(prefix))

        # From another folder, with nothing of the source tree in reach by a relative path.
        program = str(prefix / "bin" / "payoff")
        version = output_of(program, "--version", cwd=scratch)
        require(version.startswith("payoff "), "the installed program does not print its version")
        validated = output_of(program, "validate", "--set", "step", "--worst", "0", cwd=scratch)
        require("Judge half" in validated, "the installed program does not find its measurements")
        data = prefix / "share" / "payoff" / "profiles"
        require(not list(data.rglob("*.[ch]pp")) and not list(data.rglob("CMakeLists.txt")),
                "sources were installed among the profiles")

        output_of("cmake", "-S", str(HERE), "-B", str(project), "-G", "Ninja",
                  f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release")
        output_of("cmake", "--build", str(project))
        require(output_of(str(project / "consumer")) == "80 us\n", "the consumer's result is wrong")


if __name__ == "__main__":
    main(sys.argv[1])
