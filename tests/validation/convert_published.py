#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the cited figures of this folder from a collection of published measurements.

    convert_published.py FOLDER

FOLDER holds nccl/, training/ and systems/. Written are nccl/*.yaml, training/*.yaml and systems/*.csv beside this script: numbers,
normalised fields, identifiers and citations, in the schemas that `payoff validate` reads; no free text. Ran once; kept so that every
figure can be traced.
"""
import collections
import json
import pathlib
import re
import sys

import yaml

HERE = pathlib.Path(__file__).parent
LICENCE = "# SPDX-License-Identifier: Apache-2.0\n"
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./+-]*( [A-Za-z0-9_./+-]+)*$")
RESERVED = {"null", "true", "false", "yes", "no", "on", "off", "y", "n", "none_"}

TABLE_KEYS = ("id", "gpus", "nodes", "cluster", "cluster_inferred", "plugin", "collective", "nccl_version", "dtype", "settings",
              "source", "provenance")
COLUMNS = ("bytes", "time_us", "time_us_inplace")

ROW_KEYS = ("id", "trust", "cluster", "model", "layout", "precision", "software", "task", "release", "compression", "measured", "derived",
            "baseline_id", "conditions", "recalled", "missing", "inferred", "source_ref")
MEASURED_KEYS = {"step_s", "step_s_p10", "step_s_p90", "samples_per_s", "samples_per_s_std", "samples_per_s_per_gpu", "images_per_s",
                 "tokens_per_s", "tokens_per_s_per_gpu", "tflops_per_gpu", "tflops_per_gpu_std", "speedup_vs_baseline",
                 "speedup_printed", "time_s", "time_to_train_s", "forward_ms", "backward_ms", "combined_ms"}
DROPPED = {"model": {"input", "task", "dataset", "ffn_rule"}, "layout": {"recompute_detail", "mode", "partition"},
           "compression": {"params", "layout", "warmup"}, "cluster": {"fabric"}}


def load(path):
    with open(path, encoding="utf-8") as stream:
        return yaml.load(stream, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def scalar(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if PLAIN.fullmatch(value) and value.lower() not in RESERVED else json.dumps(value, ensure_ascii=False)
    return repr(value)


def flow(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return scalar(value)


def nccl_settings(table):
    """What the source pinned or did, which in the collection stands in free text or in the id only."""
    settings = []
    for variable, name in (("NCCL_ALGO", "algorithm"), ("NCCL_PROTO", "protocol")):
        found = re.search(variable + r"=(\w+)", table["system"])
        if found:
            settings.append(f"{name}={found[1].lower()}")
    if "_reg2_" in table["id"]:
        settings.append("symmetric-memory")
    if table.get("notes") == "shared box":
        settings.append("shared-host")
    if "smartio" in table["id"]:
        settings.append("ntb-fabric")
    if "not necessarily PCIe-local" in table.get("interconnect", ""):
        settings.append("nic-not-local")
    found = re.search(r"_(set\d)", table["id"])
    if found:
        settings.append(f"environment={found[1]}")
    return settings


def convert_nccl(folder):
    for path in sorted((folder / "nccl").glob("*.yaml")):
        tables = load(path).get("tables")
        if not tables:
            continue
        lines = [LICENCE + "tables:\n"]
        for table in tables:
            table["settings"] = nccl_settings(table)
            at = [table["columns"].index(name) for name in COLUMNS if name in table["columns"]]
            lead = "- "
            for key in TABLE_KEYS:
                if table.get(key) not in (None, [], "not stated"):
                    lines.append(f"{lead}{key}: {flow(table[key])}\n")
                    lead = "  "
            lines.append(f"  columns: {flow([table['columns'][i] for i in at])}\n  rows:\n")
            lines += [f"  - {flow([row[i] for i in at])}\n" for row in table["rows"] if row[0] > 0]
        write(HERE / "nccl" / path.name, lines)


def conditions(row):
    """Facts that change what a row measures and that the collection says in words only."""
    notes, found = row.get("notes", ""), []
    for words, name in (("packed input", "packed-input"), ("one transformer layer", "one-layer"),
                        ("embeddings model parallel", "embedding-model-parallel"), ("do not move together", "inconsistent-table"),
                        ("logged throughput inconsistent", "inconsistent-throughput"), ("best configuration of a sweep", "best-of-sweep")):
        if words in notes:
            found.append(name)
    date = re.search(r"date (\d{4}-\d\d-\d\d)", notes)
    return found + ([f"date={date[1]}"] if date else [])


def rows_with_anchors(rows):
    """One row a line; a long value that several rows share is written once, under a YAML anchor."""
    uses, names = collections.Counter(), {}
    texts = [{key: flow(value) for key, value in row.items()} for row in rows]
    for row in texts:
        uses.update((key, text) for key, text in row.items() if len(text) > 24 and key not in ("measured", "baseline_id"))
    for row in texts:
        for key, text in row.items():
            if uses[key, text] > 1:
                known = (key, text) in names
                name = names.setdefault((key, text), f"{key[0]}{len(names)}")
                row[key] = f"*{name}" if known else f"&{name} {text}"
        yield "  - {" + ", ".join(f"{key}: {text}" for key, text in row.items()) + "}\n"


def convert_training(folder):
    for path in sorted((folder / "training").glob("*.yaml")):
        if path.stem == "compression_headlines":
            continue
        content = load(path)
        references = {row["source_ref"] for row in content["rows"]}
        meta = {key: content["meta"][key] for key in ("title", "source", "url", "licence", "n_rows") if key in content["meta"]}
        if len(references) == 1:
            meta["source_ref"] = references.pop()
        lines = [LICENCE + "meta:\n"] + [f"  {key}: {flow(value)}\n" for key, value in meta.items()] + ["rows:\n"]
        for row in content["rows"]:
            row["conditions"] = conditions(row)
            for key, dropped in DROPPED.items():
                if isinstance(row.get(key), dict):
                    row[key] = {name: value for name, value in row[key].items() if name not in dropped}
            row["measured"] = {name: value for name, value in row["measured"].items() if name in MEASURED_KEYS}
            row["derived"] = [name for name in row.get("derived", []) if name in MEASURED_KEYS]
            if "source_ref" in meta:
                del row["source_ref"]
        lines += rows_with_anchors([{key: row[key] for key in ROW_KEYS if row.get(key) not in (None, [], {})} for row in content["rows"]])
        write(HERE / "training" / path.name, lines)


def write_csv(name, content, header, rows, remarks=()):
    lines = [LICENCE, f"# {content['source']}\n", f"# {content['url']}\n"] + [f"# {remark}\n" for remark in remarks]
    lines.append(",".join(header) + "\n")
    for row in rows:
        cells = ["" if cell is None else str(cell).replace(",", ";") for cell in row]
        lines.append(",".join(cells) + "\n")
    write(HERE / "systems" / f"{name}.csv", lines)


def columns_of(content, header, rename=None):
    return [[row.get((rename or {}).get(name, name)) for name in header] for row in content["rows"]]


def traffic_controlled(content):
    names = {"allreduce": "all_reduce", "DP-sync AllReduce": "dp_sync_all_reduce"}
    for row in content["rows"]:
        collective = names.get(row["collective"], row["collective"])
        if "Centralized" in collective:
            collective = "dp_sync_central_ps"
        elif "Sharded" in collective:
            collective = "dp_sync_sharded_ps"
        rate = re.search(r"bandwidth (\d+)Gbps", row["network"])
        delay = re.search(r"delay (\d+)ms", row["network"])
        for key, value in row.items():
            found = re.fullmatch(r"(gloo|nccl)_(\d+)MB_ms", key)
            if found:
                yield collective, row["nodes"], rate and rate[1], delay and delay[1], found[1], int(found[2]) << 20, value
            found = re.fullmatch(r"s_(\d+)MB_(\d)n", key)
            if found:
                yield collective, int(found[2]), rate and rate[1], delay and delay[1], "nccl", int(found[1]) << 20, round(value * 1e3, 3)


def convert_systems(folder):
    data = {path.stem: load(path) for path in (folder / "systems").glob("*.yaml")}
    content = data["tc_cluster_collectives_measured"]
    write_csv("tc_cluster", content, ("collective", "nodes", "cap_gbps", "delay_ms", "library", "bytes", "time_ms"),
              list(traffic_controlled(content)),
              ["measured; one GPU a node, tc netem; no cap_gbps: the instance's own network; dp_sync_*: from PyTorch, another code path"])
    content = data["netx_backward_ready_times_v100"]
    write_csv("netx_ready_times", content, ("model", "idx", "wait_us", "bytes"), columns_of(content, ("model", "idx", "wait_us", "bytes")),
              ["measured; gradients in backward order, wait since the one before; V100, batch 32, 224 x 224, fp32; vgg16 is vgg16_bn"])
    write_csv("netx_vector_add", content, ("bytes", "time_s"), [item.split(",") for item in content["gpu_vector_add_bytes_to_s"]],
              ["measured; V100"])
    write_csv("netx_batch_times", content, ("model", "batch_time_s"), content["single_device_batch_time_s"].items(), ["measured; one V100"])
    content = data["netx_whatif_sim_derived"]
    header = ("model", "n_gpu", "gbps", "compression", "buckets", "backward_ms", "comm_total_ms", "exposed_ms", "scaling_factor")
    write_csv("netx_what_if", content, header, columns_of(content, header),
              ["derived, not measured: the authors' rule on netx_ready_times: a bucket closes at >= 5 ms or >= 64 MiB; one serial all-reduce;",
               "t = 2 * 8 S (N-1)/N / bandwidth / compression + (N-1) * vector_add(S/N); scaling = batch / (batch + exposed)"])
    content = data["mgwfbp_alpha_beta_fits"]
    header = ("network", "workers", "alpha_s", "beta_s_per_byte")
    write_csv("mgwfbp_alpha_beta", content, header, columns_of(content, header), ["published fits: t = alpha + beta * bytes, whole collective"])
    content = data["payload_sizes_powersgd_derived"]
    header = ("model", "params", "rank", "matrices", "P_floats", "Q_floats", "uncompressed_1d_floats", "sent_floats")
    write_csv("powersgd_payloads", content, header, columns_of(content, header),
              ["derived from layer shapes: a tensor of more than one dimension, as (shape[0], rest) = n x m, sends (n + m) r fp32"])
    content = data["accordion_paper_tables_1-2"]
    rows = [(r["table"], r["dataset"], r["network"], r["setting"], r["data_sent"], r["time_s"]) for r in content["rows"]]
    write_csv("accordion_floats", dict(content, source=content["source"].split(" (")[0] + ", MLSys 2021, Tables 1 and 2"),
              ("table", "dataset", "network", "setting", "million_floats_sent", "time_s"), rows, ["published; 300 epochs of 98 iterations, 4 workers"])
    content = data["iisc_aws_p3_compression_breakdown"]
    header = []
    for row in content["rows"]:
        header += [key for key in row if key not in header]
    write_csv("iisc_breakdown", content, header, columns_of(content, header),
              ["measured; V100, batch 128 a GPU, no overlap; P3: GPUs of one machine, else one GPU on each of N machines"])
    content = data["ddl_benchmarks_throughput_2020-05-29"]
    rows = []
    for row in content["rows"]:
        for gpus in (1, 4, 8, 16):
            if row.get(f"samples_per_s_{gpus}gpu") is not None:
                rows.append((row["dnn"], row["batch_per_gpu"], row["network"], row["method"], gpus, row[f"samples_per_s_{gpus}gpu"], row.get(f"std_{gpus}")))
    write_csv("ddl_benchmarks", content, ("model", "batch_per_gpu", "network", "method", "gpus", "samples_per_s", "std"), rows,
              ["measured; 4 GPUs a node (type not stated), fp32; the same runs as training/hkbu_ddl.yaml"])


def write(path, lines):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8")


def main():
    folder = pathlib.Path(sys.argv[1])
    convert_nccl(folder)
    convert_training(folder)
    convert_systems(folder)


if __name__ == "__main__":
    main()
