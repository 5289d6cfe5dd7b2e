#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Payoff's columns of docs/comparison.md: the configurations for which other predictors' results are known.

usage: ours.py PAYOFF vtrain | simumax | gpt3

PAYOFF is the program. The documentation's check runs this (tests/readme/check.py), so a law that
changes changes the document. Figures of others stand here with where they come from.
"""

import json
import statistics
import subprocess
import sys

# SimuMax's own predictions, seconds: MooreThreads/SimuMax@4dcaae5, docs/b200/b200_release_v1.2_summary.md.
SIMUMAX = {
    "simumax-llama3_70b_l12_tp1_pp2_dp4_mbc4_cef": 0.82876,
    "simumax-llama3_70b_tp2_pp1_dp4_l12_mbc4_cef": 0.69881,
    "simumax-llama3_70b_l12_tp4_pp1_dp2_mbc4_cef": 0.39523,
    "simumax-llama3_70b_l12_tp8_pp1_dp1_mbc4_cef": 0.25571,
    "simumax-llama3_70b_l12_tp1_pp2_dp4_mbc8_cef": 1.4412,
    "simumax-llama3_70b_tp2_pp1_dp4_l12_mbc8_cef": 1.3098,
    "simumax-llama3_70b_l12_tp4_pp1_dp2_mbc8_cef": 0.74766,
    "simumax-llama3_70b_l12_tp8_pp1_dp1_mbc8_cef": 0.49339,
    "simumax-llama3_70b_l12_tp1_pp2_dp4_mbc32_cef": 5.1157,
    "simumax-llama3_70b_tp2_pp1_dp4_l12_mbc32_cef": 4.9759,
    "simumax-llama3_70b_l12_tp4_pp1_dp2_mbc32_cef": 2.8622,
    "simumax-llama3_70b_l12_tp8_pp1_dp1_mbc32_cef": 1.9194,
}


def payoff(program, *words):
    done = subprocess.run([program, *words, "--json"], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def scored(program, source):
    result = payoff(program, "validate", f"tests/validation/training/{source}.yaml")
    return [case for case in result["cases"] if case["error"] is not None]


def percent(value):
    return f"{100 * value:+.1f} %"


def errors_line(name, errors):
    sizes = [abs(error) for error in errors]
    worst = max(errors, key=abs)
    return (f"{name:<14}{len(errors):>5}{100 * statistics.mean(sizes):>9.1f} %"
            f"{100 * statistics.median(sizes):>9.1f} %{percent(worst):>12}"
            f"{percent(statistics.mean(errors)):>12}")


def tensor_parallel(case):
    return int(case["id"].split("_t")[1].split("_")[0])


def vtrain(program):
    cases = scored(program, "vtrain_multi")
    print(f"{'rows':<14}{'n':>5}{'mean':>11}{'median':>11}{'worst':>12}{'bias':>12}")
    for name, chosen in (("all", cases),
                         ("tp to 8", [c for c in cases if tensor_parallel(c) <= 8]),
                         ("tp 16", [c for c in cases if tensor_parallel(c) > 8])):
        print(errors_line(name, [c["error"] for c in chosen]))


def simumax(program):
    cases = [c for c in scored(program, "simumax_b200") if c["id"] in SIMUMAX]
    theirs = [SIMUMAX[c["id"]] / c["measured"] - 1 for c in cases]
    print(f"{'predictor':<14}{'n':>5}{'mean':>11}{'median':>11}{'worst':>12}{'bias':>12}")
    print(errors_line("Payoff", [c["error"] for c in cases]))
    print(errors_line("SimuMax", theirs))


def gpt3(program):
    result = payoff(program, "predict", "bench/gpt3-1024.yaml", "--set", "layout.recompute=full",
                    "--set", "training.precision=fp16", "--set", "training.overlap=false")
    plan = result["plans"][0]
    print(f"tp 8, pp 8, dp 16:  {plan['step_seconds']:.1f} s predicted, 90 %: "
          f"{plan['step_low_seconds']:.1f} s to {plan['step_high_seconds']:.1f} s")
    nearest = next(c for c in scored(program, "megatron_sc21") if c["id"] == "mlm_readme_gpt3_1024")
    print(f"tp 8, pp 16, dp 8:  {nearest['predicted']:.1f} s predicted, "
          f"{nearest['measured']:.1f} s measured ({percent(nearest['error'])})")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in ("vtrain", "simumax", "gpt3"):
        sys.exit(__doc__)
    {"vtrain": vtrain, "simumax": simumax, "gpt3": gpt3}[sys.argv[2]](sys.argv[1])
