#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds docs/schema/samples.schema.json against samples: synthetic ones and those that
payoff-kernels writes (its path is the first argument; here it runs on the emulated grid) and
`payoff calibrate import` (the second: payoff) makes of examples/calibrate pass, each kind
of damage that a schema can see is refused, and equal seeds give equal bytes."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GENERATOR = [sys.executable, "-B", str(ROOT / "tests" / "kernels" / "synthetic_samples.py")]
# NaN is no JSON, and neither are two files in one; a duplicate is for the reader to find.
REFUSED = ("negative", "version", "mixed", "nan")


def drawn(*arguments):
    return subprocess.run([*GENERATOR, *arguments], check=True, capture_output=True, text=True).stdout


def measured(program):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "samples.json"
        arguments = [program, "--only", "casts,signs,launch,gemm,interference", "--out", str(out)]
        subprocess.run(arguments, check=True, capture_output=True)
        if [each.name for each in Path(folder).iterdir()] != ["samples.json"]:
            raise SystemExit("payoff-kernels leaves more than its file")
        return out.read_text()


def left_by_a_kill(program):
    """What is in an earlier file of the name when a run is ended in its middle."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "samples.json"
        out.write_text("earlier")
        run = subprocess.Popen([program, "--only", "casts", "--out", str(out)], stderr=subprocess.PIPE)
        run.stderr.readline()  # it has begun its first point
        run.kill()
        run.communicate()
        return out.read_text() if run.returncode < 0 else "ended too soon to tell"


def lost_by_other_targets(program):
    """What is wrong where samples go to a link, a pipe and a folder."""
    measure = [program, "--only", "casts", "--out"]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "there.json").write_text("earlier")
        (folder / "link.json").symlink_to("there.json")
        subprocess.run([*measure, str(folder / "link.json")], check=True, capture_output=True)
        if not (folder / "link.json").is_symlink() or "points" not in (folder / "there.json").read_text():
            return "a link is replaced, not what it points to"
        os.mkfifo(folder / "pipe")
        with subprocess.Popen(["cat", str(folder / "pipe")], stdout=subprocess.PIPE, text=True) as reader:
            subprocess.run([*measure, str(folder / "pipe")], check=True, capture_output=True)
            if "points" not in reader.stdout.read() or not (folder / "pipe").is_fifo():
                return "a pipe is replaced by a file"
        (folder / "folder").mkdir()
        run = subprocess.run([*measure, str(folder / "folder")], capture_output=True, text=True)
        if run.returncode == 0 or "1/" in run.stderr or (folder / "folder.part").exists():
            return "a folder is measured for"
    return None


def imported(program):
    folder = ROOT / "examples" / "calibrate"
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "samples.json"
        files = sorted(str(path) for path in folder.iterdir() if path.suffix in (".json", ".log", ".csv"))
        subprocess.run([program, "calibrate", "import", *files, "-o", str(out)], check=True, capture_output=True)
        return out.read_text()


def refused(program, text):
    """What payoff says of samples that the schema allows; nothing where it reads them."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "samples.json"
        path.write_text(text)
        run = subprocess.run([program, "calibrate", "show", str(path)], capture_output=True, text=True)
        return "" if run.returncode == 0 else run.stderr[:400]


def refused_in_quiet(payoff, program, text):
    """Likewise of a run on the emulated grid, which takes the time of a machine that others may use:
    as the program asks of such a run, it is measured again."""
    wrong = refused(payoff, text)
    for _ in range(3):
        if "of one run differ by" not in wrong:
            break
        wrong = refused(payoff, measured(program))
    return wrong


def no_constant(name):
    raise ValueError(f"{name} is no JSON")


def main():
    try:
        import jsonschema
    except ImportError:
        print("SKIPPED: python3-jsonschema is not installed")
        return 0
    schema = json.loads((ROOT / "docs" / "schema" / "samples.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    failures = []
    for arguments in ([], ["--noise", "0.05", "--throttled", "0.1", "--outliers", "0.02"]):
        for error in validator.iter_errors(json.loads(drawn(*arguments))):
            failures.append(f"{arguments}: {list(error.path)}: {error.message[:200]}")
    if len(sys.argv) > 1:
        if left_by_a_kill(sys.argv[1]) != "earlier":
            failures.append("payoff-kernels: an earlier file is lost to a run that was ended")
        if wrong := lost_by_other_targets(sys.argv[1]):
            failures.append(f"payoff-kernels: {wrong}")
        text = measured(sys.argv[1])
        samples = json.loads(text, parse_constant=no_constant)
        for error in validator.iter_errors(samples):
            failures.append(f"payoff-kernels: {list(error.path)}: {error.message[:200]}")
        if samples["provenance"] != "emulated" or len(samples["points"]) < 20 or \
                not samples["interference"]:
            failures.append("payoff-kernels: not what was asked for")
    if len(sys.argv) > 2:
        for what, wrong in (("payoff-kernels", refused_in_quiet(sys.argv[2], sys.argv[1], text)),
                            ("synthetic", refused(sys.argv[2], drawn()))):
            if wrong:
                failures.append(f"payoff calibrate show: {what}: {wrong}")
        samples = json.loads(imported(sys.argv[2]), parse_constant=no_constant)
        for error in validator.iter_errors(samples):
            failures.append(f"payoff calibrate import: {list(error.path)}: {error.message[:200]}")
        if len({each["format"] for each in samples["imported_from"]}) != 4:
            failures.append("payoff calibrate import: not every format")
    for damage in REFUSED:
        try:
            text = json.loads(drawn("--damage", damage), parse_constant=no_constant)
            if validator.is_valid(text):
                failures.append(f"damage {damage} passes")
        except ValueError:
            pass
    if drawn("--seed", "5") != drawn("--seed", "5") or drawn("--seed", "5") == drawn("--seed", "6"):
        failures.append("a seed does not decide the bytes")
    print("\n".join(failures) or "samples and schema agree")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
