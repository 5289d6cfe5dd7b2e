#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds docs/schema/samples.schema.json against synthetic samples: good files pass, each kind of
damage that a schema can see is refused, and equal seeds give equal bytes."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GENERATOR = [sys.executable, "-B", str(ROOT / "tests" / "kernels" / "synthetic_samples.py")]
# NaN is no JSON, and neither are two files in one; a duplicate is for the reader to find.
REFUSED = ("negative", "version", "mixed", "nan")


def drawn(*arguments):
    return subprocess.run([*GENERATOR, *arguments], check=True, capture_output=True, text=True).stdout


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
