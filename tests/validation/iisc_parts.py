#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sets what Payoff says of the parts of compressed steps beside what was logged of them.

  iisc_parts.py [PROGRAM]

The logs are systems/iisc_breakdown.csv: one V100 in each of two or four machines of 10 Gb/s, or four in
one machine; nothing overlaps, and the GPU was waited for around every part. Runs of one kind are averaged.
Milliseconds, predicted / logged. What timers of messages hold with one worker is no message: copies of the fp32
all-reduce, the norm. What the encoder's timer of the two-scale methods holds beyond that with one worker is a message,
that of their mask. `speedup` is over fp32 with all of a step as predicted; `their step` has the rest of the fp32 step
as it was logged.
"""

import csv
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

MODELS = {"ResNet50": "resnet-50-cifar10", "VGG16": "vgg-16-bn-cifar10"}
PLANS = {"NoneAllReducer": None, "GlobalRandKMaxNormReducer": "randk_maxnorm:k=10000",
         "GlobalRandKMaxNormTwoScaleReducer": "randk_maxnorm_two_scale:k=10000",
         "QSGDMaxNormReducer": "qsgd_maxnorm", "QSGDMaxNormTwoScaleReducer": "qsgd_maxnorm_two_scale",
         "RankKReducer": "powersgd_reducer:rank={rank}"}
LAYOUTS = {2: ["--cluster", "p3-2xlarge", "--nodes", "2"], 4: ["--cluster", "p3-2xlarge", "--nodes", "4"],
           "4 of one machine": ["--cluster", "p3-8xlarge", "--nodes", "1"]}


def logged():
    """(model, reducer, rank, layout) -> means of the parts over the runs of that kind."""
    lines = [line for line in (HERE / "systems" / "iisc_breakdown.csv").read_text().splitlines()
             if not line.startswith("#")]
    runs = {}
    for row in csv.DictReader(lines):
        inside = row["run"].startswith("AWS/2021_01_04/P3/")
        workers = int(row["workers"])
        if (inside and workers != 4) or row["duplicate_of"]:
            continue
        key = (row["arch"], row["reducer"], row["rank"], "4 of one machine" if inside else workers)
        runs.setdefault(key, []).append({name: float(value) for name, value in row.items()
                                         if name.endswith("_ms") and value})
    return {key: {name: sum(run[name] for run in kind) / len(kind) for name in kind[0]}
            for key, kind in runs.items()}


def parts_logged(reducer, run, alone):
    """Encoder, messages and decoder; `alone` is the same with one worker."""
    if reducer == "NoneAllReducer":
        return 0.0, run["allreduce_ms"] - alone["allreduce_ms"], 0.0
    if reducer == "RankKReducer":
        return (run["psgd_compute_p_ms"] + run["psgd_orthogonalize_p_ms"] + run["psgd_compute_q_ms"],
                run["psgd_allreduce_p_ms"] + run["psgd_allreduce_q_ms"] + run["psgd_1d_allreduce_ms"],
                run["psgd_outerprod_ms"])
    norm, mask = alone["norm_allreduce_ms"], 0.0
    if "TwoScale" in reducer:
        mask = run["compress_ms"] - alone["compress_ms"]
    return (run["compress_ms"] - mask + norm, run["norm_allreduce_ms"] - norm + run["vector_allreduce_ms"] + mask,
            run["decompress_ms"])


def predicted(program, model, plan, layout):
    """The uncompressed plan and the compressed one, with all gradients in one bucket, as there."""
    words = [program, "predict", "--model", MODELS[model], *LAYOUTS[layout], "--micro-batch", "128",
             "--precision", "fp32", "--no-overlap", "--bucket", "1 GiB", "--first-bucket", "1 GiB", "--json"]
    if plan:
        words += ["--compress", plan]
    plans = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)["plans"]
    return plans[0], plans[-1]


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "payoff"
    print("| model, method | GPUs | encode | messages | decode | step | speedup | their step |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    runs = logged()
    for (model, reducer, rank, layout), run in sorted(
            runs.items(), key=lambda kind: (kind[0][0], list(PLANS).index(kind[0][1]), str(kind[0][3]))):
        if layout == 1:
            continue
        plan = PLANS[reducer].format(rank=rank) if PLANS[reducer] else None
        dense, found = predicted(program, model, plan, layout)
        parts = found["waterfall"]
        ours = (1e3 * parts["encode_seconds"], 1e3 * found["dp_communication_seconds"], 1e3 * parts["decode_seconds"])
        theirs = parts_logged(reducer, run, runs.get((model, reducer, rank, 1)))
        cells = [f"{a:.1f} / {b:.1f}" if a or b else "" for a, b in zip(ours, theirs)]
        cells += [f"{1e3 * found['step_seconds']:.0f} / {run['iter_ms']:.0f}", "", ""]
        base = runs.get((model, "NoneAllReducer", "", layout))
        if plan and base:
            message = 1e3 * dense["dp_communication_seconds"]
            rest = base["iter_ms"] - base["allreduce_ms"] + runs[model, "NoneAllReducer", "", 1]["allreduce_ms"]
            speedup = base["iter_ms"] / run["iter_ms"]
            cells[-2] = f"{dense['step_seconds'] / found['step_seconds']:.2f} / {speedup:.2f}"
            cells[-1] = f"{(rest + message) / (rest + sum(ours)):.2f}"
        print(f"| {model}, {plan or 'fp32'} | {layout} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
