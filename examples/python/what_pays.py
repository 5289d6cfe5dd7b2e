# SPDX-License-Identifier: Apache-2.0
"""Where does compression pay for BERT-large on nodes of four V100s?

Cell by cell, as in a notebook (`# %%`). Run it with the package in reach:
  PYTHONPATH=build/python python3 examples/python/what_pays.py
"""

# %% An experiment is a dictionary, a YAML text or a file.
import payoff

job = payoff.Experiment({
    "experiment": "bert-large",
    "cluster": {"profile": "p3-8xlarge", "nodes": 8},
    "model": {"profile": "bert-large", "sequence": 128},
    "layout": {"micro_batch": 16},
    "training": {"precision": "fp16"},
    "compress": ["powersgd:rank=4", "topk:ratio=0.01", "qsgd:bits=4"],
})

# %% One prediction: what `payoff predict --json` says.
for strategy in job.predict()["plans"]:
    print(f"{strategy['label']:18} {1e3 * strategy['step_seconds']:6.0f} ms")

# %% A sweep, as columns: which strategy is the fastest at which bandwidth?
sweep = job.sweep({"bandwidth": ["10 Gb/s", "25 Gb/s", "100 Gb/s", "400 Gb/s"]})
fastest = {}
for row in sweep.rows():
    bandwidth = row["bandwidth_bytes_per_second"]
    best = fastest.get(bandwidth)
    if best is None or row["step_seconds"] < best["step_seconds"]:
        fastest[bandwidth] = row
for bandwidth, row in fastest.items():
    print(f"{8e-9 * bandwidth:.0f} Gb/s: {row['strategy']}, {row['speedup']:.2f} times as fast")

# %% With pandas, where it is installed, the same is one line.
try:
    frame = sweep.to_pandas()
    print(frame.pivot(index="bandwidth_bytes_per_second", columns="strategy", values="speedup").round(2))
except ImportError:
    pass

# %% A mistake is an exception that says where it is and what was meant.
try:
    job.predict({"layout.tpp": 2})
except payoff.InputError as error:
    for mistake in error.diagnostics:
        print(mistake.message, "-", mistake.label)
