#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes rank0.json, nccl.log, rank0.et, all_reduce_perf.txt and one_node_perf.txt: a made-up job in
the forms of PyTorch's profiler, of NCCL and of Chakra, and its links in that of nccl-tests.

GPT-2 on 16 GPUs of two nodes, data-parallel, gradients in three buckets that overlap backward. All
times are set here, so that what `payoff import` finds can be checked by hand: README.md does.
"""

import json
from pathlib import Path

HERE = Path(__file__).resolve().parent
BLOCKS = 12
STEPS = 3
GAP = 10  # us between the kernels of a layer
FORWARD = {"embedding": [100], "block": [300, 200], "head": [400]}
BACKWARD = {"embedding": [150], "block": [500, 300, 200], "head": [800]}
BUCKETS = {8: 41_500_000, 4: 41_500_000, 0: 41_439_808}  # ready after this block: elements
BUCKET_TIME = 5000  # us
ALONE = 170.0, 0.11, 28_000.0  # a message with nothing beside it: us, us a root byte, bytes a us
IN_NODE = 30.0, 0.02, 110_000.0  # the same among the GPUs of one node
OPTIMIZER = 2800
HOST = 4500  # between steps, when nothing runs
START = 1_760_000_000_000_000  # us since 1970
MAIN, AUTOGRAD, COMPUTE, COMMUNICATION = 4001, 4002, 7, 20


class Trace:
    """Events, with the host one microsecond ahead of the GPU."""

    def __init__(self):
        self.events = []
        self.correlation = 0
        self.now = START  # of the compute stream
        self.communication = START

    def event(self, category, name, thread, begin, duration, **args):
        on_gpu = category == "kernel"
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 0 if on_gpu else 4000,
                            "tid": thread, "ts": begin, "dur": duration, "args": args})

    def kernel(self, name, thread, begin, duration, stream=COMPUTE, **args):
        self.correlation += 1
        self.event("cuda_runtime", "cudaLaunchKernel", thread, begin - 1, 1,
                   correlation=self.correlation)
        self.event("kernel", name, stream, begin, duration, device=0, stream=stream,
                   correlation=self.correlation, **args)

    def run(self, kernels, thread, name):
        for i, duration in enumerate(kernels):
            self.now += GAP if i > 0 else 2
            self.kernel(f"{name}_{i}", thread, self.now, duration)
            self.now += duration

    def layer(self, layer, sequence, forward):
        kind = layer.split()[0]
        kernels = FORWARD[kind] if forward else BACKWARD[kind]
        begin = self.now
        thread = MAIN if forward else AUTOGRAD
        self.run(kernels, thread, f"{kind}_{'forward' if forward else 'backward'}")
        if forward:
            self.event("user_annotation", layer, MAIN, begin, self.now - begin)
        args = {"Sequence number": sequence, "Fwd thread id": 0 if forward else 1}
        self.event("cpu_op", f"{kind} {'' if forward else 'Backward0'}".strip(), thread, begin,
                   self.now - begin, **args)

    def all_reduce(self, elements):
        begin = max(self.now, self.communication) + 3
        self.communication = begin + BUCKET_TIME
        self.kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                    AUTOGRAD, begin, BUCKET_TIME, COMMUNICATION, **{
                        "Collective name": "allreduce", "In msg nelems": elements,
                        "Out msg nelems": elements, "Group size": 16, "dtype": "BFloat16",
                        "Process Group Name": "0", "Process Group Description": "default_pg",
                        "Process Group Ranks": "[0, 1, 2, 3, 4, 5, 6, 7, 8, ...]"})

    def step(self, number):
        begin = self.now
        self.now += HOST
        layers = ["embedding", *(f"block {i}" for i in range(BLOCKS)), "head"]
        first = 100 + 50 * number
        for i, layer in enumerate(layers):
            self.layer(layer, first + i, True)
        for i, layer in reversed(list(enumerate(layers))):
            self.layer(layer, first + i, False)
            if i - 1 in BUCKETS:
                self.all_reduce(BUCKETS[i - 1])
        self.now = max(self.now, self.communication)
        self.run([OPTIMIZER], MAIN, "multi_tensor_apply_kernel")
        self.event("user_annotation", f"ProfilerStep#{number}", MAIN, begin, self.now - begin)

    def text(self):
        head = {"schemaVersion": 1,
                "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB", "numSms": 108}],
                "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 16,
                                    "nccl_version": "2.21.5"}}
        lines = ",\n".join(json.dumps(event) for event in self.events)
        return json.dumps(head)[:-1] + ',\n"traceEvents": [\n' + lines + "\n]}\n"


def log():
    lines = ["node0:4000:4000 [0] NCCL INFO NCCL version 2.21.5+cuda12.4"]
    ranks = [(rank, f"node{rank // 8}", 4000 + rank % 8, rank % 8) for rank in range(16)]
    for rank, host, process, device in ranks:
        begin = f"{host}:{process}:{process + 100} [{device}] NCCL INFO "
        comm = f"comm 0x55d0{rank:04x}0"
        lines.append(f"{begin}{comm} rank {rank} nRanks 16 nNodes 2 localRanks 8 localRank "
                     f"{device} MNNVL 0")
        lines.append(f"{begin}ncclCommInitRank {comm} rank {rank} nranks 16 cudaDev {device} "
                     f"nvmlDev {device} busId {device + 7:x}000 commId 0x9ca74fa6e40df7f4 - Init "
                     f"COMPLETE")
        peer = (rank + 1) % 16
        via = "P2P/CUMEM" if peer // 8 == rank // 8 else "NET/IB/0/GDRDMA"
        lines.append(f"{begin}Channel 00/0 : {rank}[{device}] -> {peer}[{peer % 8}]"
                     f"{'' if via[0] == 'P' else ' [send]'} via {via}")
    for step in range(STEPS):
        for bucket, elements in enumerate(BUCKETS.values()):
            for rank, host, process, device in ranks:
                lines.append(
                    f"{host}:{process}:{process} [{device}] NCCL INFO AllReduce: opCount "
                    f"{step * len(BUCKETS) + bucket:x} sendbuff 0x7f0000000000 recvbuff "
                    f"0x7f0000000000 count {elements} datatype 9 op 0 root 0 comm "
                    f"0x55d0{rank:04x}0 [nranks=16] stream 0x55d100000000")
    return "\n".join(lines) + "\n"


def recorded(rank):
    """What PyTorch's Flight Recorder keeps of two steps of a rank, as JSON."""
    entries = []
    for number in range(2 * len(BUCKETS)):
        elements = list(BUCKETS.values())[number % len(BUCKETS)]
        began = 1_760_000_000_000_000_000 + 100_000 * rank + 11_000_000 * number
        entries.append({
            "record_id": number, "pg_id": 0, "process_group": ["0", "default_pg"],
            "collective_seq_id": number + 1, "p2p_seq_id": 0, "op_id": number + 1,
            "profiling_name": "nccl:all_reduce", "time_created_ns": began,
            "input_sizes": [[elements]], "input_dtypes": ["BFloat16"],
            "output_sizes": [[elements]], "output_dtypes": ["BFloat16"], "state": "completed",
            "time_discovered_started_ns": began + 1000,
            "time_discovered_completed_ns": began + 6_000_000, "retired": True,
            "timeout_ms": 600000, "is_p2p": False})
    group = {"name": "0", "desc": "default_pg", "ranks": str(list(range(16)))}
    return json.dumps({"version": "2.4", "pg_config": {"0": group}, "pg_status": {},
                       "entries": entries}, indent=1) + "\n"


def alone(ranks, law):
    """What all_reduce_perf prints, 1 % up and down by turns."""
    lines = ["# nccl-tests version 2.17.1 nccl-headers=22105 nccl-library=22105",
             "# Collective test starting: all_reduce_perf",
             "# nThread 1 nGpus 1 minBytes 1024 maxBytes 268435456 step: 4(factor) warmup iters: 1 "
             "iters: 20 agg iters: 1 validation: 1 graph: 0",
             "#", "# Using devices"]
    for rank in range(ranks):
        lines.append(f"#  Rank {rank:2d} Group  0 Pid {4000 + rank % 8:6d} on node{rank // 8} "
                     f"device {rank % 8:2d} [0000:{rank % 8 + 7:02x}:00] NVIDIA A100-SXM4-40GB")
    lines += ["#", f"#{'out-of-place':>71}{'in-place':>33}",
              "#       size         count      type   redop    root     time   algbw   busbw  #wrong"
              "     time   algbw   busbw  #wrong",
              "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)        "
              "     (us)  (GB/s)  (GB/s)"]
    for power in range(10):
        size = 1024 * 4 ** power
        line = f"{size:12d} {size // 4:13d} {'float':>9} {'sum':>7} {-1:7d}"
        for shift in (1, 0):
            scatter = 1 + 0.01 * (1 if (power + shift) % 2 else -1)
            latency, filling, rate = law
            time = f"{(latency + filling * size ** 0.5 + size / rate) * scatter:.2f}"
            rate = size / float(time) / 1e3
            line += f" {time:>8} {rate:7.2f} {rate * 2 * (ranks - 1) / ranks:7.2f} {0:7d}"
        lines.append(line)
    return "\n".join(lines + ["# Out of bounds values : 0 OK", "#"]) + "\n"


def varint(value):
    """Protobuf's whole numbers: seven bits a byte, the lowest first."""
    data = b""
    while value >= 128:
        data += bytes([value % 128 + 128])
        value //= 128
    return data + bytes([value])


def whole(field, value):
    return varint(field * 8) + varint(value)


def text(field, value):
    data = value if isinstance(value, bytes) else value.encode()
    return varint(field * 8 + 2) + varint(len(data)) + data


class ExecutionTrace:
    """One step as a graph, by the field numbers of Chakra's et_def.proto."""

    METADATA, COMPUTE, COLLECTIVE = 1, 4, 7
    ALL_REDUCE = 0

    def __init__(self):
        self.messages = [text(1, "1.0.0")]
        self.nodes = 0

    def node(self, name, kind, duration, waits=(), inputs="", **attributes):
        self.nodes += 1
        data = whole(1, self.nodes) + text(2, name) + whole(3, kind)
        data += text(5, b"".join(varint(each) for each in waits)) if waits else b""
        data += whole(7, duration) + (text(8, text(1, inputs)) if inputs else b"")
        for key, value in attributes.items():
            told = text(29, value) if isinstance(value, str) else whole(9, value)
            data += text(10, text(1, key) + (whole(27, 0) if key == "is_cpu_op" else told))
        self.messages.append(data)
        return self.nodes

    def layer(self, name, durations, last):
        for i, duration in enumerate(durations):
            last = self.node(f"{name}_{i}", self.COMPUTE, duration, last, is_cpu_op=0)
            last = [last]
        return last

    def step(self):
        groups = json.dumps([{"pg_name": "0", "pg_desc": "default_pg", "group_size": 16}])
        last = [self.node("## process_group:init ##", self.METADATA, 0, inputs=f"['{groups}']")]
        layers = ["embedding", *(f"block {i}" for i in range(BLOCKS)), "head"]
        for layer in layers:
            last = self.layer(f"{layer.split()[0]}_forward", FORWARD[layer.split()[0]], last)
        sums = []
        for i, layer in reversed(list(enumerate(layers))):
            last = self.layer(f"{layer.split()[0]}_backward", BACKWARD[layer.split()[0]], last)
            if i - 1 in BUCKETS:
                sums.append(self.node(
                    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", self.COLLECTIVE, BUCKET_TIME, last,
                    is_cpu_op=0, comm_type=self.ALL_REDUCE, comm_size=2 * BUCKETS[i - 1],
                    pg_name="0"))
        self.node("multi_tensor_apply_kernel", self.COMPUTE, OPTIMIZER, [*last, *sums], is_cpu_op=0)

    def data(self):
        return b"".join(varint(len(each)) + each for each in self.messages)


def main():
    trace = Trace()
    for number in range(STEPS):
        trace.step(number)
    (HERE / "rank0.json").write_text(trace.text(), encoding="utf-8")
    graph = ExecutionTrace()
    graph.step()
    (HERE / "rank0.et").write_bytes(graph.data())
    (HERE / "nccl.log").write_text(log(), encoding="utf-8")
    (HERE / "flight0.json").write_text(recorded(0), encoding="utf-8")
    (HERE / "all_reduce_perf.txt").write_text(alone(16, ALONE), encoding="utf-8")
    (HERE / "one_node_perf.txt").write_text(alone(8, IN_NODE), encoding="utf-8")


if __name__ == "__main__":
    main()
