#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints split.csv: which published measurements may be fitted and which judge.

    make_split.py FOLDER > split.csv

FOLDER holds nccl/, training/, kernels/ and systems/. The rule is in README.md. It looks at where and on what something was
measured, never at a measured value. It ran once, before the first fit; the file is never redrawn.
"""
import collections
import csv
import hashlib
import pathlib
import sys

import yaml

SEED = "payoff-split-v1:"
FIELDS = ("gpu", "gpus_per_node", "intra", "transport", "nics_per_node", "nic_gbps")

GENERATIONS = (  # first match wins
    ("pascal", ("p100", "gp100")), ("volta", ("v100",)), ("turing", ("t4", "rtx2080")),
    ("ampere", ("a100", "a6000", "rtx3090")), ("hopper", ("h100", "h200", "h20", "h800", "gh200")),
    ("blackwell", ("b200", "gb200", "b300", "rtx5090")), ("ada", ("l40s",)), ("cdna3", ("mi300",)), ("cpu", ("cpu",)),
)
TRANSPORT_CLASSES = {
    "ib": "rdma", "roce": "rdma", "omnipath": "rdma", "efa": "efa", "slingshot": "slingshot", "slingshot-ofi": "slingshot",
    "slingshot-tcp": "tcp", "tcp": "tcp", "ipoib": "tcp", "fastrak": "gpudirect-tcp", "gpudirect-tcpx": "gpudirect-tcp",
}
WORKLOAD_CLASSES = {"cnn": "vision", "vit": "vision", "gpt": "language", "llama": "language", "moe": "language", "bert": "language"}

# Measurements without normalised cluster fields: (kind, source, entry, gpu, class, cases). Cases with one name in SAME are one group.
ENTRIES = [
    ("collective", "stas_ml_engineering", "h200-node", "h200-sxm", "nvswitch", 33),
    ("collective", "stas_ml_engineering", "b200-p6", "b200-sxm", "efa", 45),
    ("collective", "stas_ml_engineering", "a100-node", "a100", "nvswitch", 1),
    ("collective", "tcp_facts", "gcp_32gbe_1g", "unknown", "tcp", 2),
    ("collective", "tcp_facts", "gcp_32gbe_8g", "unknown", "tcp", 2),
    ("collective", "tcp_facts", "tcp100g_4n_8v100", "v100", "tcp", 1),
    ("collective", "tcp_facts", "v100pcie_2n_socket_bcast_latency", "v100-pcie", "tcp", 1),
    ("collective", "tcp_facts", "ib100_8n_8v100_badly_configured", "v100", "rdma", 1),
    ("collective", "tcp_facts", "a100_nvlink_pairs", "a100-pcie", "nvlink", 1),
    ("collective", "tcp_facts", "rtx5090_8", "rtx5090", "pcie", 1),
    ("collective", "tcp_facts", "h100_ring_nvls", "h100-sxm", "nvswitch", 1),
    ("collective", "tcp_facts", "h800_nvls", "h800", "nvswitch", 1),
    ("collective", "tcp_facts", "h100_32n_allgather", "h100-sxm", "rdma", 1),
    ("kernel", "timings_published", "espresso_v100_gpu_constants", "v100", "", 1),
    ("kernel", "timings_published", "espresso_cpu_log", "cpu", "", 1),
    ("kernel", "espresso_cpu_compressor_microbench", "all", "cpu", "", 68),
    ("kernel", "timings_published", "sdp4bit_table5_a100_quant_throughput", "a100", "", 1),
    ("compression", "timings_published", "sdp4bit_table4", "a100", "", 1),
    ("compression", "timings_published", "sdp4bit_table2", "a100", "", 1),
    ("kernel", "timings_published", "torch_topk_vs_sort", "gp100", "", 1),
    ("kernel", "timings_published", "cudf_topk_a6000", "a6000", "", 1),
    ("kernel", "timings_published", "cub_topk_h100pcie", "h100-pcie", "", 1),
    ("kernel", "timings_published", "cub_radix_sort_f32", "unknown", "", 1),
    ("kernel", "timings_published", "cub_select_if_h100", "h100", "", 1),
    ("kernel", "timings_published", "cub_select_flagged_h100", "h100", "", 1),
    ("kernel", "timings_published", "cub_select_i128", "unknown", "", 1),
    ("kernel", "timings_published", "te_nvfp4", "b300", "", 1),
    ("kernel", "timings_published", "mxfp8_b200", "b200-sxm", "", 1),
    ("kernel", "timings_published", "fp4_flashinfer", "unknown", "", 1),
    ("kernel", "timings_published", "quickreduce_mi300_tp4", "mi300x", "", 1),
    ("kernel", "timings_published", "deepep_v1", "h800", "", 1),
    ("kernel", "timings_published", "deepep_v2", "h800", "", 1),
    ("compression", "timings_published", "global_qsgd_wrn101", "a100", "", 1),
    ("primitive", "tc_cluster_collectives_measured", "all", "v100", "tcp", 49),
    ("primitive", "mgwfbp_alpha_beta_fits", "all", "unknown", "tcp+rdma", 22),
    ("primitive", "netx_backward_ready_times_v100", "all", "v100", "compute", 533),
    ("compression", "iisc_aws_p3_compression_breakdown", "all", "v100", "", 43),
    ("step", "ddl_benchmarks_throughput_2020-05-29", "all", "unknown", "vision", 63),
]
SAME = [  # two prints of one measurement: one group
    ("entry:espresso_cpu_log", "espresso_cpu_compressor_microbench"),
    ("entry:sdp4bit_table4", "sdp4bit"), ("entry:sdp4bit_table2", "sdp4bit"),
    ("entry:global_qsgd_wrn101", "global_qsgd"),
    ("ddl_benchmarks_throughput_2020-05-29", "hkbu_ddl"),
]
ORACLES = [  # exact consequences of a stated rule: nothing to fit, equality expected
    ("primitive", "netx_whatif_sim_derived", 270), ("primitive", "payload_sizes_powersgd_derived", 30),
    ("compression", "accordion_paper_tables_1-2", 18),
]
CONTEXT = [  # words, claims without a configuration, figures computed from other rows, recalled figures: neither fitted nor scored
    ("collective", "derived_summary"), ("collective", "h100_dispersion"), ("collective", "nccl_tuning_constants"),
    ("collective", "simai_efficiency_ratios"), ("compression", "compression_headlines"),
    ("kernel", "timings_published:espresso_tensor_traces"), ("kernel", "timings_published:powersgd_epfl_pr14"),
    ("kernel", "timings_published:powersgd_megatron"), ("kernel", "timings_published:grace_e2e"),
    ("kernel", "timings_published:h200_ceilings"), ("kernel", "timings_published:abstract_speedups"),
    ("kernel", "timings_published:utility_table_recalled"),
    ("compression", "accordion_raw_final_accuracy"), ("compression", "agarwal2022_code_facts"),
    ("compression", "agarwal2022_secondary_quotes"), ("collective", "blink_mlsys2020_headlines"), ("compression", "dct_facts"),
    ("compression", "espresso_eurosys23_tables"), ("compression", "mcbench_code_facts"), ("compression", "misc_headlines_quoted"),
]


def sha(text):
    return hashlib.sha256((SEED + text).encode()).hexdigest()


def parity(text):
    return int(sha(text), 16) % 2


def generation(gpu):
    for name, prefixes in GENERATIONS:
        if gpu.startswith(prefixes):
            return name
    return "unknown"


def system_text(values):
    return "/".join("-" if v is None else f"{v:g}" if isinstance(v, float) else str(v) for v in values)


def stated(values, single_node):
    """The fields in which two systems can differ: not the network of one node, nothing that the source leaves open."""
    gpu, gpus_per_node, intra, transport, nics, gbps = values
    if transport in ("none", "unknown") or single_node:
        transport = None
    return (gpu, gpus_per_node, None if intra == "unknown" else intra, transport, nics or None, gbps or None)


def compatible(a, b):
    return a[0] == b[0] and all(x is None or y is None or x == y for x, y in zip(a[1:], b[1:]))


class Member:
    def __init__(self, kind, source, system):
        self.kind, self.source, self.system = kind, source, system
        self.gpu, self.cases, self.compressed = "unknown", 0, False
        self.classes, self.ids, self.baselines, self.stated = collections.Counter(), [], set(), None

    def name(self):
        return f"{self.source}:{self.system}"


def transport_class(cluster):
    transport = cluster["transport"]
    if transport != "none":
        for suffix in ("-nogdr", "-sharp"):
            transport = transport.removesuffix(suffix)
        return TRANSPORT_CLASSES[transport]
    intra = cluster["intra"]
    return "nvswitch" if intra.startswith(("nvswitch", "nvl72")) else intra.split("-")[0].rstrip("345")


def load(path):
    with open(path, encoding="utf-8") as stream:
        return yaml.load(stream, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def add(members, kind, source, cluster, nodes, has_transport):
    values = tuple(cluster.get(field) for field in FIELDS)
    key = (source, system_text(values))
    if key not in members:
        members[key] = Member(kind, source, key[1])
        members[key].gpu = str(values[0])
        members[key].stated = stated(values, nodes == 1 and not has_transport)
    return members[key]


def read(folder):
    members = {}
    for path in sorted((folder / "nccl").glob("*.yaml")):
        for table in load(path).get("tables", []):
            cluster = table["cluster"]
            member = add(members, "collective", path.stem, cluster, table["nodes"], True)
            rows = sum(1 for row in table["rows"] if row[0] > 0)
            member.cases += rows
            member.classes[transport_class(cluster)] += rows
    for path in sorted((folder / "training").glob("*.yaml")):
        if path.stem == "compression_headlines":
            continue
        for row in load(path)["rows"]:
            cluster = row.get("cluster", {})
            member = add(members, "step", path.stem, cluster, cluster.get("nodes"), cluster.get("transport") not in (None, "none"))
            member.cases += 1
            member.ids.append(row["id"])
            member.baselines.add(row.get("baseline_id"))
            member.compressed |= row.get("compression", {}).get("method", "none") != "none"
            member.classes[WORKLOAD_CLASSES.get(row.get("model", {}).get("family"), "other")] += 1
    for kind, source, entry, gpu, name, cases in ENTRIES:
        member = Member(kind, source, "all" if entry == "all" else f"entry:{entry}")
        member.gpu, member.cases = gpu, cases
        member.classes[name] += cases
        members[(source, member.system)] = member
    return [members[key] for key in sorted(members)]


def groups_of(members):
    parent = list(range(len(members)))

    def root(i):
        while parent[i] != i:
            i = parent[i]
        return i

    by_id = {row: i for i, member in enumerate(members) for row in member.ids}
    for i, a in enumerate(members):
        for j in range(i):
            b = members[j]
            if a.source == b.source and a.stated and b.stated and compatible(a.stated, b.stated):
                parent[root(i)] = root(j)
        for baseline in a.baselines:
            if baseline in by_id:
                parent[root(i)] = root(by_id[baseline])
    for x, y in SAME:
        same = [i for i, m in enumerate(members) if x in (m.source, m.system) or y in (m.source, m.system)]
        for i in same:
            parent[root(i)] = root(same[0])
    groups = collections.defaultdict(list)
    for i, member in enumerate(members):
        groups[root(i)].append(member)
    return list(groups.values())


def stratum_of(group):
    kinds = {member.kind for member in group}
    if "compression" in kinds or any(member.compressed for member in group):
        kind = "compression"
    else:
        kind = sorted(kinds)[0]
    gpus, classes = collections.Counter(), collections.Counter()
    for member in group:
        gpus[generation(member.gpu)] += member.cases
        network = {n: c for n, c in member.classes.items() if n not in ("nvswitch", "nvlink", "pcie", "xgmi")}
        if kind == "collective" and not network:
            network = {n: c * 1e-9 for n, c in member.classes.items()}  # a fabric names the class only where no network does
        classes.update(network)
    largest = lambda counter: min(counter, key=lambda name: (-counter[name], name))
    parts = [kind, largest(gpus)] + ([largest(classes)] if kind in ("collective", "step", "primitive") else [])
    return kind, "|".join(parts)


def assign(groups):
    strata = collections.defaultdict(list)
    for group in groups:
        name = "+".join(sorted(member.name() for member in group))
        kind, stratum = stratum_of(group)
        strata[stratum].append((sha(name), name, kind, group))
    for stratum in sorted(strata):
        ordered = sorted(strata[stratum], key=lambda item: item[0])
        start = parity(ordered[0][1]) if len(ordered) == 1 else parity(stratum)
        for i, (digest, _, kind, group) in enumerate(ordered):
            yield kind, stratum, digest, ("fit", "judge")[(start + i) % 2], group


def main():
    rows, summary = [], collections.defaultdict(lambda: [0, 0])
    for kind, stratum, digest, half, group in assign(groups_of(read(pathlib.Path(sys.argv[1])))):
        summary[kind, half][0] += 1
        for member in group:
            summary[kind, half][1] += member.cases
            rows.append((kind, member.source, member.system, stratum, member.cases, half, digest))
    for kind, source, cases in ORACLES:
        rows.append((kind, source, "all", "", cases, "oracle", ""))
    for kind, source in CONTEXT:
        source, _, entry = source.partition(":")
        rows.append((kind, source, f"entry:{entry}" if entry else "all", "", 0, "context", ""))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(("kind", "source", "system", "stratum", "cases", "half", "sha"))
    out.writerows(sorted(rows))
    for (kind, half), (count, cases) in sorted(summary.items()):
        print(f"{kind:12} {half:6} {count:3} groups {cases:5} cases", file=sys.stderr)


if __name__ == "__main__":
    main()
