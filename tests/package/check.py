#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py BUILD-FOLDER: makes the packages of a build and uses what is in them.

The .deb is unpacked into a scratch root, the .tar.gz into a folder; in both the program has to run
and to find its profiles, and manual, completions and schemas have to be where they are looked for.
Where the page of `payoff report` is built, the program has to find and fill it. Made again, both are
the same bytes; what the archive's program loads is its own but for the C library.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

QUESTION = ["predict", "--model", "gpt2", "--cluster", "p3-8xlarge", "--nodes", "2",
            "--micro-batch", "4", "--compress", "powersgd:rank=4"]
FILES = ["share/man/man1/payoff.1", "share/bash-completion/completions/payoff",
         "share/zsh/vendor-completions/_payoff", "share/fish/vendor_completions.d/payoff.fish",
         "share/payoff/schema/experiment.schema.json", "share/payoff/profiles/gpu/t4.yaml",
         "share/payoff/validation/split.csv"]
PAGE = "share/payoff/page/report.html"


def output_of(*command, cwd, **more):
    done = subprocess.run(command, cwd=cwd, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"error: `{' '.join(map(str, command))}` exits with {done.returncode}\n"
                 f"{done.stdout}")
    return done.stdout


def require(condition, what):
    if not condition:
        sys.exit(f"error: {what}")


def check_tree(root, scratch, plain, has_page):
    """`root` has bin/ and share/."""
    program = root / "bin" / "payoff"
    answer = output_of(program, *QUESTION, cwd=scratch, env=plain)
    require("powersgd:rank=4" in answer, f"{program} predicts nothing")
    for name in FILES:
        file = root / name
        compressed = file.with_name(file.name + ".gz")
        require(file.exists() or compressed.exists(), f"{file} is missing")
    require((root / PAGE).exists() or not has_page, f"{root / PAGE} is missing")
    if has_page:
        report = scratch / "report.html"
        output_of(program, "report", *QUESTION[1:], "-o", report, cwd=scratch, env=plain)
        require("powersgd:rank=4" in report.read_text(encoding="utf-8"), f"{program} fills no page")
        report.unlink()
    package = root / "lib" / "python3" / "dist-packages"
    if (package / "payoff").is_dir():
        output_of("/usr/bin/python3", "-B", "-c",
                  "import payoff; assert payoff.profile('t4')['name'] == 't4'", cwd=scratch,
                  env=dict(plain, PYTHONPATH=str(package)))


def package(build, folder, scratch):
    """The .deb and the .tar.gz of a build, with the same date in both whenever they are made."""
    output_of("cpack", "--config", Path(build) / "CPackConfig.cmake", "-B", folder, cwd=scratch,
              env=dict(os.environ, SOURCE_DATE_EPOCH="1700000000"))
    [deb] = folder.glob("*.deb")
    [tarball] = folder.glob("*.tar.gz")
    return deb, tarball


def check_loaded(root, scratch):
    """Every library that the archive's program loads is in the archive, or the C library's."""
    for line in output_of("ldd", root / "bin" / "payoff", cwd=scratch).splitlines():
        name, _, place = line.strip().partition(" => ")
        of_c = name.split()[0].rpartition("/")[2].startswith(
            ("linux-vdso", "ld-linux", "libc.so", "libm.so", "libpthread", "libdl", "librt"))
        require(of_c or place.startswith(str(root.resolve())), f"the archive lacks {line.strip()}")


def main(build):
    if shutil.which("dpkg-deb") is None or shutil.which("dpkg-shlibdeps") is None:
        print("SKIPPED: dpkg-dev is not installed")
        return
    plain = {key: value for key, value in os.environ.items()
             if key not in ("PAYOFF_PROFILES", "PAYOFF_PAGE")}
    has_page = (Path(build) / "page" / "report.html").exists()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        deb, tarball = package(build, scratch / "packages", scratch)
        for one, other in zip((deb, tarball), package(build, scratch / "again", scratch)):
            require(one.read_bytes() == other.read_bytes(), f"{one.name} is another when made again")
        output_of("dpkg-deb", "-x", deb, scratch / "root", cwd=scratch)
        check_tree(scratch / "root" / "usr", scratch, plain, has_page)
        needs = output_of("dpkg-deb", "-f", deb, "Depends", cwd=scratch)
        require("libyaml-cpp" in needs and "libc6" in needs, f"the package needs {needs}")
        (scratch / "unpacked").mkdir()
        output_of("tar", "-xzf", tarball, "-C", scratch / "unpacked", cwd=scratch)
        [root] = (scratch / "unpacked").iterdir()
        check_tree(root, scratch, plain, has_page)
        check_loaded(root, scratch)
        print("with" if has_page else "without", "the page of `payoff report`")
        print(f"{deb.name}: {deb.stat().st_size // 1024} KiB, needs {needs}"
              f"{tarball.name}: {tarball.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main(sys.argv[1])
