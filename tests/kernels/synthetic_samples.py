#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws a samples file whose truth is known, for tests of what reads samples.

  synthetic_samples.py [--seed N] [--noise RATIO] [--throttled RATIO] [--outliers RATIO]
                       [--samples N] [--damage KIND] > FILE

Times follow the laws under "truth" of the file. Each sample is off by a normal factor (--noise);
a share of them is slow because the clock was throttled and nobody noticed (--throttled: 1.6 times
as long) or for no reason (--outliers: up to five times). --damage makes one of the mistakes that a
reader has to find: truncated, nan, negative, duplicate, mixed, no_samples, version.
Equal arguments give equal bytes.
"""

import argparse
import json
import random
import sys

L2_BYTES = 50e6
# t0 in us, bandwidths in bytes/us, knee in bytes, rates in operations/us. Invented, not measured.
TRUTH = {
    "copy": {"form": "two_bandwidths",
             "constants": {"t0_us": 3.0, "b1": 6.0e6, "b2": 3.0e6, "knee": L2_BYTES}},
    "cast_bf16": {"form": "two_bandwidths",
                  "constants": {"t0_us": 2.5, "b1": 5.0e6, "b2": 2.8e6, "knee": L2_BYTES}},
    "sign_pack": {"form": "two_bandwidths",
                  "constants": {"t0_us": 2.8, "b1": 2.6e6, "b2": 2.6e6, "knee": None}},
    "topk_radix": {"form": "select",
                   "constants": {"t0_us": 25.0, "b": 2.2e6, "us_per_kept": 4.0e-6}},
    "gemm": {"form": "gemm", "constants": {"t0_us": 4.0, "rate": 6.0e8, "b": 2.9e6}},
    "gram_schmidt": {"form": "gram_schmidt",
                     "constants": {"us_per_column": 6.0, "b": 1.5e5}},
    "launch": {"form": "constant", "constants": {"t0_us": 2.1}},
}
SIZES = [4096 * 2**i for i in range(17)]  # elements


def two_bandwidths(law, moved):
    knee = law["knee"] if law["knee"] is not None else float("inf")
    return law["t0_us"] + min(moved, knee) / law["b1"] + max(0.0, moved - knee) / law["b2"]


def point(kernel, family, parameters, read, written, time_us, flops=0.0, launches=1):
    return {"kernel": kernel, "family": family, "implementation": "fused", "input": "gaussian",
            "state": "cold", "mode": "stream", "parameters": parameters, "read_bytes": read,
            "written_bytes": written, "flops": flops, "random_accesses": 0, "launches": launches,
            "host_syncs": 0, "time_us": time_us}


def points():
    for kernel, family, per_read, per_written in (
            ("copy", "memory", 4, 4), ("cast_bf16", "casts", 4, 2), ("sign_pack", "signs", 4, 0.125)):
        law = TRUTH[kernel]["constants"]
        for n in SIZES:
            moved = n * (per_read + per_written)
            yield point(kernel, family, {"elements": n}, n * per_read, n * per_written,
                        two_bandwidths(law, moved))
    law = TRUTH["topk_radix"]["constants"]
    for n in SIZES[4:]:
        for ratio in (0.001, 0.01, 0.1):
            k = int(n * ratio)
            yield point("topk_radix", "selection", {"elements": n, "ratio": ratio}, 8 * n, 8 * k,
                        law["t0_us"] + 8 * n / law["b"] + law["us_per_kept"] * k, launches=8)
    law = TRUTH["gemm"]["constants"]
    for m, n, k in ((1024, 1024, 1024), (4096, 4096, 4096), (8192, 8192, 8192), (4096, 4096, 4),
                    (12288, 4096, 32), (16384, 8192, 16), (2048, 12288, 4096)):
        moved, flops = 2.0 * (m * k + k * n + m * n), 2.0 * m * n * k
        yield point("gemm", "layers", {"m": m, "n": n, "k": k}, 2.0 * (m * k + k * n), 2.0 * m * n,
                    law["t0_us"] + max(flops / law["rate"], moved / law["b"]), flops)
    law = TRUTH["gram_schmidt"]["constants"]
    for rows in (1024, 4096, 16384):
        for rank in (1, 2, 4, 8, 16, 32):
            moved = 4.0 * rows * rank
            yield point("gram_schmidt", "low_rank", {"rows": rows, "rank": rank}, moved, moved,
                        rank * (law["us_per_column"] + moved / law["b"]), 2.0 * rows * rank * rank)
    yield point("launch", "launch", {}, 0, 0, TRUTH["launch"]["constants"]["t0_us"])


def member(kernel, role, parameters, alone_us, slow_down, **more):
    return {"kernel": kernel, "role": role, "parameters": parameters, "alone_us": alone_us,
            "together_us": float(f"{alone_us * slow_down:.6g}"), **more}


def together(rng, noise):
    """Kernels beside each other: four fifths of the slow-down that the units give, more or less."""
    for size in (1, 2, 3, 4):
        share = 0.8 * (1.0 + noise * rng.gauss(0.0, 1.0))
        beside = 1.0 + share * (1.0 / (1.0 - 0.04 * size) - 1.0)
        product = ("gemm", "compute", {"m": 1024 * size})
        codec = ("sign_pack", "codec", {"elements": 2**20 * size})
        message = member("message", "message", {"channels": 4 * size}, 4000.0, 1.0, units_held=4 * size)
        for members in ([member(*product, 300.0, 1.0 + share), member(*codec, 90.0, 1.0 + share)],
                        [member(*product, 300.0, beside), message],
                        [member(*codec, 90.0, beside), message]):
            yield {"window_ms": 60.0, "members": members}


def draw(rng, time_us, options):
    factor = max(0.2, 1.0 + options.noise * rng.gauss(0.0, 1.0))
    chance = rng.random()
    if chance < options.throttled:
        factor *= 1.6
    elif chance < options.throttled + options.outliers:
        factor *= 1.0 + 4.0 * rng.random()
    return float(f"{time_us * factor:.6g}")


def samples_file(options):
    rng = random.Random(options.seed)
    drawn = []
    for one in points():
        time_us = one.pop("time_us")
        one["samples_us"] = [draw(rng, time_us, options) for _ in range(options.samples)]
        one.update(discarded=0, stop="count", clock_ratio=1.0)
        drawn.append(one)
    return {
        "format": "payoff-samples", "version": 1, "provenance": "synthetic",
        "date": "2000-01-01T00:00:00Z", "seed": options.seed,
        "program": {"name": "synthetic_samples.py", "version": "1"},
        "device": {"name": "synthetic", "multiprocessors": 132, "l2_bytes": int(L2_BYTES),
                   "memory_bytes": 80_000_000_000},
        "points": drawn, "interference": list(together(rng, options.noise)), "truth": TRUTH,
    }


def damaged(samples, kind):
    """The text of a file with one mistake, at the fourth point where there is a choice."""
    one = samples["points"][3]
    if kind == "nan":
        one["samples_us"][1] = float("nan")
    elif kind == "negative":
        one["samples_us"][1] *= -1.0
    elif kind == "duplicate":
        samples["points"].insert(4, one)
    elif kind == "no_samples":
        one["samples_us"] = []
    elif kind == "version":
        samples["version"] = 2
    elif kind == "mixed":
        # Two files joined by hand: the second one's device differs.
        text = json.dumps(samples)
        samples["device"]["name"] = "another"
        return f"[{text}, {json.dumps(samples)}]\n"
    text = json.dumps(samples, indent=1) + "\n"
    return text[: len(text) // 2] if kind == "truncated" else text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--noise", type=float, default=0.01)
    parser.add_argument("--throttled", type=float, default=0.0)
    parser.add_argument("--outliers", type=float, default=0.0)
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--damage", default="none", choices=[
        "none", "truncated", "nan", "negative", "duplicate", "mixed", "no_samples", "version"])
    options = parser.parse_args()
    sys.stdout.write(damaged(samples_file(options), options.damage))
    return 0


if __name__ == "__main__":
    sys.exit(main())
