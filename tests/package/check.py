#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py BUILD-FOLDER: makes the packages of a build and uses what is in them.

The .deb is unpacked into a scratch root, the .tar.gz into a folder; in both the program has to run
and to find its profiles, and manual, completions and schemas have to be where they are looked for.
Where the page of `payoff report` is built, the program has to find and fill it, with the licences of what
is in it. Made again, both are the same bytes, and no file tells where it was built; what the archive's
program loads is its own but for the C library; licences of all that is compiled in or brought are there.
The archive of the sources is the same bytes from a clone in another place.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
QUESTION = ["predict", "--model", "gpt2", "--cluster", "p3-8xlarge", "--nodes", "2",
            "--micro-batch", "4", "--compress", "powersgd:rank=4"]
FILES = ["share/man/man1/payoff.1", "share/bash-completion/completions/payoff",
         "share/zsh/vendor-completions/_payoff", "share/fish/vendor_completions.d/payoff.fish",
         "share/payoff/schema/experiment.schema.json", "share/payoff/profiles/gpu/t4.yaml",
         "share/payoff/validation/split.csv"]
PAGE = "share/payoff/page/report.html"
LICENCES = "share/doc/payoff/licences"
COMPILED_IN = {"libboost-dev", "libeigen3-dev", "libcli11-dev", "nlohmann-json3-dev"}
BROUGHT = {"libyaml-cpp0.7", "libfmt9", "libprotobuf-lite32", "libstdc++6", "libgcc-s1", "Apache-2.0", "GPL-3",
           "MPL-2.0"}
IN_THE_PAGE = ("uPlot", "Leon Sorokin", "The Emscripten Authors", "Rich Felker", "LLVM Exceptions", "Mozilla Public License")


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


def check_tree(root, scratch, plain, has_page, licences):
    """`root` has bin/ and share/."""
    program = root / "bin" / "payoff"
    there = {path.name.removesuffix(".gz") for path in (root / LICENCES).iterdir()}
    require(there == licences, f"licences of {', '.join(sorted(there ^ licences))} are missing, or of nothing here")
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
        text = report.read_text(encoding="utf-8")
        require("powersgd:rank=4" in text, f"{program} fills no page")
        for name in IN_THE_PAGE:
            require(name in text, f"the page does not name {name} among its licences")
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


def check_paths(root, build):
    """Nothing in a package tells where it was built: built elsewhere it is the same."""
    for path in root.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            for place in (ROOT, Path(build).resolve()):
                require(str(place).encode() not in content, f"{path.relative_to(root)} names {place}")


def check_source(scratch):
    """The archive of the sources is the same bytes from whichever copy of the repository."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        print("no repository: no archive of sources is made")
        return
    output_of("git", "clone", "--quiet", "--no-local", ROOT, scratch / "clone", cwd=scratch)
    archives = []
    for place in (ROOT, scratch / "clone"):
        archives.append(scratch / f"{len(archives)}.tar.gz")
        output_of(ROOT / "cmake" / "archive-source", archives[-1], "HEAD", cwd=place)
    require(archives[0].read_bytes() == archives[1].read_bytes(), "the archive of sources is another from a clone")
    names = output_of("tar", "-tzf", archives[0], cwd=scratch).splitlines()
    require(all(name.startswith("payoff-") for name in names) and any(name.endswith("/THIRD-PARTY.md") for name in names),
            f"the archive of sources has {names[:5]}")


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
        check_tree(scratch / "root" / "usr", scratch, plain, has_page, COMPILED_IN)
        check_paths(scratch / "root", build)
        needs = output_of("dpkg-deb", "-f", deb, "Depends", cwd=scratch)
        require("libyaml-cpp" in needs and "libc6" in needs, f"the package needs {needs}")
        (scratch / "unpacked").mkdir()
        output_of("tar", "-xzf", tarball, "-C", scratch / "unpacked", cwd=scratch)
        [root] = (scratch / "unpacked").iterdir()
        check_tree(root, scratch, plain, has_page, COMPILED_IN | BROUGHT)
        check_paths(root, build)
        check_loaded(root, scratch)
        check_source(scratch)
        print("with" if has_page else "without", "the page of `payoff report`")
        print(f"{deb.name}: {deb.stat().st_size // 1024} KiB, needs {needs}"
              f"{tarball.name}: {tarball.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main(sys.argv[1])
