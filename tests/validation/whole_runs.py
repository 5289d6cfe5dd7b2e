#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the published measurements with GRACE's speeds taken over whole runs.

  whole_runs.py FOLDER

GRACE's records hold two speeds. `throughput`, which training/grace.yaml has, is the mean of what the
last lines of a log print, each of them a mean over the steps before it; `total_images_per_sec` is the
images of the run over its time (grace_whole_runs.csv). FOLDER becomes a copy of this one with the
second: `payoff validate --set compression --data FOLDER` compares with it.
"""

import csv
import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def whole_runs():
    lines = (HERE / "grace_whole_runs.csv").read_text().splitlines()
    return {row["record"]: float(row["images_per_s"]) for row in csv.DictReader(lines[1:])}


def changed(text, speeds):
    speed_of = {}
    for line in text.splitlines():
        if record := re.search(r"source_ref: sands-lab/grace-data record (\w+)", line):
            speed_of[re.search(r"id: ([^,]+),", line)[1]] = speeds[record[1]]

    def with_speed(line):
        row = re.search(r"- \{id: ([^,]+),", line)
        if not row:
            return line
        speed = speed_of[row[1]]
        line = re.sub(r"samples_per_s: [\d.]+", f"samples_per_s: {speed:.3f}", line)
        baseline = re.search(r"baseline_id: ([^,]+),", line)
        if baseline:
            ratio = speed / speed_of[baseline[1]]
            line = re.sub(r"speedup_vs_baseline: [\d.]+", f"speedup_vs_baseline: {ratio:.4g}", line)
        return line

    return "\n".join(with_speed(line) for line in text.split("\n"))


def main(folder):
    shutil.copytree(HERE, folder, dirs_exist_ok=True)
    rows = Path(folder) / "training" / "grace.yaml"
    rows.write_text(changed(rows.read_text(), whole_runs()))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
