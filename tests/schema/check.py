#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what the program prints as JSON against docs/schema/result.schema.json.

  check.py PROGRAM

A key that the schema does not know is an error too: the schema is the documentation.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import jsonschema
except ImportError:
    print("SKIPPED: python3-jsonschema is not installed")
    sys.exit(0)

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "docs" / "schema" / "result.schema.json"
ONE_NODE = ["--model", "resnet-50", "--cluster", "p3-8xlarge", "--micro-batch", "64",
            "--precision", "fp32"]
JOB = [*ONE_NODE, "--nodes", "2"]
ACTIVATIONS = str(ROOT / "examples/09-bert-large-activations/experiment.yaml")
PLANS = ["--compress", "powersgd:rank=4", "--compress", "topk:ratio=0.01"]

# (kind of result, command line); errors are on stderr.
COMMANDS = [
    ("predict", ["predict", *JOB, *PLANS, "--json"]),
    ("predict", ["predict", *JOB, *PLANS, "--engine", "agarwal2022", "--engine", "mgwfbp",
                 "--observed", "step=300ms,exposed=60ms", "--json"]),
    ("predict", ["predict", *ONE_NODE, "--json"]),
    ("predict", ["predict", *JOB, *PLANS, "--tokens", "1e9", "--network-price", "12", "--json"]),
    ("predict", ["predict", str(ROOT / "examples/04-llama2-7b-a100/experiment.yaml"), "--json"]),
    ("predict", ["predict", ACTIVATIONS, "--json"]),
    ("explain", ["explain", ACTIVATIONS, "--json"]),
    ("collective", ["collective", "all_to_all", "--cluster", "dgx-a100", "--nodes", "2",
                    "--sizes", "8B..1GiB:x8", "--json"]),
    ("explain", ["explain", *JOB, *PLANS, "--json"]),
    ("diff", ["diff", str(ROOT / "examples/01-resnet50-v100/experiment.yaml"),
              str(ROOT / "examples/diff/colleague.yaml"), "--json"]),
    ("diff", ["diff", ACTIVATIONS, "--observed", "step=300ms", "--json"]),
    ("run", ["run", str(ROOT / "examples/10-accordion-resnet18/experiment.yaml"), "--json"]),
    ("run", ["run", *JOB, "--set", "run.phases=[{plan: powersgd, iterations: 100, local_steps: 4, "
             "refresh: {plan: 'topk:ratio=0.01', every: 50}}]", "--json"]),
    ("switch", ["switch", str(ROOT / "examples/switch/sharded.yaml"), "--with", "layout.zero=2",
                "--storage", "20 GB/s", "--json"]),
    ("switch", ["switch", ACTIVATIONS, "--storage", "20 GB/s", "--json"]),
    ("survey", ["survey", *JOB, *PLANS, "--over", "bandwidth=10 Gb/s,100 Gb/s", "--over",
                "zero=0,3", "--json"]),
    ("needs", ["calibrate", "needs", ACTIVATIONS, "--json"]),
    ("gpu_difference", ["calibrate", "diff", "a100-sxm-40", "a100-sxm-80", "--json"]),
    ("simulate", ["simulate", *JOB, *PLANS, "--json"]),
    ("simulate", ["simulate", *JOB, "--level", "steps", "--json"]),
    ("simulate", ["simulate", "--model", "gpt2", "--cluster", "dgx-a100", "--tp", "2", "--pp", "2",
                  "--micro-batches", "4", "--json"]),
    ("advise", ["advise", *JOB, *PLANS, "--json"]),
    ("advise", ["advise", ACTIVATIONS, "--least-bits", "2", "--json"]),
    ("search", ["search", *JOB, *PLANS, "--json"]),
    ("search", ["search", *ONE_NODE, "--set", "compress=[]", "--json"]),
    ("validation", ["validate", "--set", "step", "--half", "judge", "--json"]),
    ("validation", ["validate", "--set", "compression", "--json"]),
    ("import", ["import", "kineto", str(ROOT / "examples/12-own-trace/rank0.json"), "--json"]),
    ("import", ["import", "nccl-log", str(ROOT / "examples/12-own-trace/nccl.log"), "--json"]),
    ("import", ["import", "flight-recorder",
                str(ROOT / "examples/12-own-trace/flight0.json"), "--json"]),
    ("import", ["import", "chakra", str(ROOT / "examples/12-own-trace/rank0.et"), "--cluster",
                "p4d-24xlarge", "--nodes", "1,4", "--json"]),
    ("import", ["import", "chakra", str(ROOT / "examples/12-own-trace/rank0.et"), "--cluster",
                "p4d-24xlarge", "--nodes", "1,4", "--compress", "fp16", "--json"]),
    ("profiles", ["profiles", "list", "--json"]),
    ("profiles", ["profiles", "show", "dgx-h100", "--json"]),
    ("methods", ["methods", "list", "--json"]),
    ("check", ["check", ACTIVATIONS, str(ROOT / "tests/transcripts/inputs/keys.yaml"),
               str(ROOT / "examples/topologies/dragonfly.yaml"), "no-such-file.yaml", "--json"]),
    ("methods", ["methods", "show", "powersgd", "topk_sort", "--json"]),
    ("diagnostics", ["predict", *JOB, "--set", "layout.tpp=2", "--error-format", "json"]),
    ("diagnostics", ["check", str(ROOT / "tests/transcripts/inputs/keys.yaml"), "--error-format",
                     "json"]),
    ("diagnostics", ["check", "no-such-file.yaml", "--error-format", "json"]),
    ("diagnostics", ["predit", "--error-format", "json"]),
    ("diagnostics", ["--error-format", "json", "predit"]),
]


def check(program, kind, words, schema):
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    text = done.stderr if kind == "diagnostics" else done.stdout
    try:
        result = json.loads(text)
    except json.JSONDecodeError as error:
        return [f"not JSON: {error}; stderr: {done.stderr[:500]}"]
    validator = jsonschema.Draft7Validator(
        {"$ref": f"#/definitions/{kind}", "definitions": schema["definitions"]})
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}"
            for error in validator.iter_errors(result)]


def check_rerun(program, schema):
    """Of a result that was changed by hand, so that something differs."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "result.json"
        subprocess.run([program, "predict", *JOB, *PLANS, "--json", str(file)], check=True,
                       capture_output=True)
        result = json.loads(file.read_text(encoding="utf-8"))
        result["plans"][0]["step_seconds"] *= 2
        del result["profiles"][0]
        file.write_text(json.dumps(result), encoding="utf-8")
        return check(program, "rerun", ["rerun", str(file), "--json"], schema)


def main():
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    failures = 0
    for kind, words in COMMANDS:
        for error in check(sys.argv[1], kind, words, schema):
            print(f"payoff {' '.join(words)}\n  {error}")
            failures += 1
    for error in check_rerun(sys.argv[1], schema):
        print(f"payoff rerun\n  {error}")
        failures += 1
    print(f"{len(COMMANDS) + 1} results, {failures} differences from {SCHEMA.relative_to(ROOT)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
