#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds docs/kernels.md's table of predicted rates against the kernels: every name that
kernels/families measures has a row, those that methods name are measured, a row's rates follow from
its bytes a value, and those are what payoff-kernels counts (its path, or a samples file of it, is
the first argument; on the emulated grid). `--write` writes the table anew."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "kernels.md"
BANDWIDTH = 3.35  # TB/s: H100 SXM, data sheet
HEAD = "| kernel | bytes a value | tensor, TB/s | 85 % of it |\n|---|---:|---:|---:|\n"
STEP = 4 / 128  # of a group's scale, a value
K = 0.01  # kept of the sparse ones

# Names, what the row is for, bytes a value of 4 bytes.
ROWS = [
    ("copy hadamard layer_norm softmax", "", 8),
    ("bias_gelu", "with the bias of its columns", 8),
    ("swiglu bias_residual", "of a value that is written", 12),
    ("read write fill", "", 4),
    ("cast_bf16 cast_fp16 cast_mean_bf16 cast_mean_fp16 uncast_bf16", "", 6),
    ("fp8_tensor", "", 8 + 1),
    ("fp8_decode natural natural_decode", "", 5),
    ("fp8_blocks fp8_blocks_decode", "128", 5 + STEP),
    ("mxfp8 mxfp8_decode", "", 5 + 1 / 32),
    ("mxfp4 mxfp4_decode", "", 4.5 + 1 / 32),
    ("nvfp4", "", 8.5 + 1 / 16),
    ("nvfp4_decode", "", 4.5 + 1 / 16),
    ("sign_pack sign_unpack", "", 4 + 1 / 8),
    ("sign_ef", "", 20 + 1 / 8),
    ("majority", "W = 8", 9 / 8),
    ("quantize_group dequantize_group", "8 bits, 128", 5 + STEP),
    ("quantize_group dequantize_group", "4 bits, 128", 4.5 + STEP),
    ("quantize_group dequantize_group", "2 bits, 128", 4.25 + STEP),
    ("quantize_group_bf16", "8 bits, 128", 3 + STEP),
    ("quantize_group_bf16", "4 bits, 128", 2.5 + STEP),
    ("reduce_group", "8 bits, 128, W = 8", 9 * (1 + STEP)),
    ("reduce_group", "4 bits, 128, W = 8", 9 * (0.5 + STEP)),
    ("hadamard_quantize", "4 bits, 32", 4.5 + 4 / 32),
    ("topk_radix", "1 %, candidates 5 %", 8 + 8 * K + 16 * 0.05),
    ("topk_select", "1 %", 20 + 12 * K),
    ("topk_sort", "1 %; no more than reading, a sort moves many times that", 4 + 8 * K),
    ("topk_threshold", "1 %", 4 + 8 * K),
    ("topk_sample", "1 %", 4.12 + 8 * K),
    ("topk_bisect", "1 %, 20 steps", 4 * 23 + 8 * K),
    ("topk_gaussian", "1 %, 3 corrections", 4 * 6 + 8 * K),
    ("topk_chunk", "1 of 64", 4 + 8 / 64),
    ("random_k", "1 %, with its sectors", 36 * K),
    ("scatter_add", "1 %, W = 8, with its sectors", 4 + 8 * (8 + 64) * K),
    ("count_sketch", "3 rows, 1 %, without its additions", 4 + 4 * 3 * K),
    ("count_sketch_decode", "without what it looks up", 4),
    ("gram_schmidt", "of a factor, with the copy of its start", 16),
    ("cholesky_qr", "of a factor, with the copy of its start", 32),
    ("qr", "of a factor", 24),
    ("power_sgd", "4,096 x 4,096, rank 4", 40 + 20 * 2 * 4 / 4096),
    ("power_sgd_cholesky", "4,096 x 4,096, rank 4", 40 + (36 + 20) * 4 / 4096),
]
# Nothing to compare with a copy: arithmetic, the host, a link, a pace of its own.
WITHOUT = {"gemm", "launch", "message", "host_to_device", "device_to_host", "device_to_device"}
# Counted apart as accesses, or by shapes that the table does not have.
NOT_COUNTED_SO = {"random_k", "scatter_add", "topk_radix", "count_sketch", "power_sgd",
                  "power_sgd_cholesky", "majority", "reduce_group"}


def table():
    text = HEAD
    for names, what, value in ROWS:
        kernels = ", ".join(f"`{each}`" for each in names.split())
        rate = 4 / value * BANDWIDTH
        text += f"| {kernels}{f' ({what})' if what else ''} | {value:.2f} | {rate:.2f} | {0.85 * rate:.2f} |\n"
    return text


def measured_names(argument):
    """Of the sources, which write most of them out, and of the program's list."""
    names = set()
    for path in (ROOT / "kernels" / "families").glob("*.c*"):
        text = path.read_text()
        for pattern in (r'(?:point_of|chain)\(\s*"([a-z0-9_]+)"', r'point\.kernel = "([a-z0-9_]+)"'):
            names |= set(re.findall(pattern, text))
    if argument.endswith(".json"):
        names |= {point["kernel"] for point in points_of(argument)}
    else:
        listed = subprocess.run([argument, "--list"], check=True, capture_output=True, text=True).stdout
        names |= set(re.findall(r"^([a-z0-9_]+) \(", listed, re.MULTILINE))
    return {name for name in names if not name.startswith("nccl_")}


def named_by_methods():
    """What profiles/compression prices by a kernel of its own: a quantiser of every input among them."""
    for path in sorted((ROOT / "profiles" / "compression").glob("*.yaml")):
        if found := re.search(r"^kernels: \[(.*)\]", path.read_text(), re.MULTILINE):
            yield from ((each.strip(), path.stem) for each in found[1].split(","))


def points_of(argument):
    if argument.endswith(".json"):
        return json.loads(Path(argument).read_text())["points"]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "samples.json"
        subprocess.run([argument, "--only", "casts,signs,groups,blocks", "--out", str(out)], check=True,
                       capture_output=True)
        return json.loads(out.read_text())["points"]


def miscounted(points):
    """Points whose traffic is that of no row with their name; a group or a tile more is rounding."""
    for point in points:
        elements = point["parameters"].get("elements", 0)
        if point["implementation"] == "framework_ops" or point["kernel"] in NOT_COUNTED_SO | WITHOUT:
            continue
        value = (point["read_bytes"] + point["written_bytes"]) / max(elements, 1)
        own = [each for names, _, each in ROWS if point["kernel"] in names.split()]
        if own and all(abs(value / each - 1) > 0.005 for each in own):
            yield f"{point['kernel']}: {value:.3f} bytes a value, and the table has {own}"


def main():
    arguments = [each for each in sys.argv[1:] if each != "--write"]
    text = DOCUMENT.read_text()
    begin = text.index(HEAD)
    end = text.index("\n\n", begin) + 1
    if "--write" in sys.argv:
        DOCUMENT.write_text(text[:begin] + table() + text[end:])
        return 0
    failures = [] if text[begin:end] == table() else ["docs/kernels.md: not the table of rates_table.py --write"]
    listed = {name for names, _, _ in ROWS for name in names.split()} | WITHOUT
    known = measured_names(arguments[0])
    failures += [f"{name} is measured and has no row" for name in sorted(known - listed)]
    failures += [f"{name} has a row and is not measured" for name in sorted(listed - known)]
    named = dict(named_by_methods())
    failures += [f"{method} names {kernel}, which is not measured" for kernel, method in named.items()
                 if kernel not in known]
    failures += [f"no method names {kernel}" for kernel in ("quantize_group", "quantize_group_bf16")
                 if kernel not in named]
    failures += miscounted(points_of(arguments[0]))
    print("\n".join(dict.fromkeys(failures)) or "every kernel has its predicted rate")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
