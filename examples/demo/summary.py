#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""summary.py FOLDER: one table of what `payoff predict --json` answered in FOLDER/JOB-GPUS.json.

A row for every method, a column for every job; in it the numbers of GPUs where the method beats the
best uncompressed remedy, with a question mark where that is too close to call.
"""

import json
import re
import sys
from pathlib import Path

MARKS = {"pays": "", "too close to call": "?"}


def read(folder):
    """{job: {GPUs: {method: verdict}}}, jobs and methods in the order of their names and files."""
    jobs = {}
    for path in sorted(Path(folder).glob("*.json")):
        job, gpus = re.fullmatch(r"\d+-(.+)-(\d+)", path.stem).groups()
        plans = json.loads(path.read_text(encoding="utf-8"))["plans"]
        verdicts = {plan["label"]: plan["verdict"] for plan in plans if plan["verdict"]}
        jobs.setdefault(job, {})[int(gpus)] = verdicts
    return jobs


def cell(sizes, method):
    asked = {gpus: verdicts[method] for gpus, verdicts in sorted(sizes.items())
             if method in verdicts}
    if not asked:
        return ""
    kept = [f"{gpus}{MARKS[verdict]}" for gpus, verdict in asked.items() if verdict in MARKS]
    return " ".join(kept) or "-"


def main():
    jobs = read(sys.argv[1])
    methods = list(dict.fromkeys(method for sizes in jobs.values() for verdicts in sizes.values()
                                 for method in verdicts))
    asked = ["GPUs asked about"] + [" ".join(map(str, sorted(sizes))) for sizes in jobs.values()]
    rows = [["pays on ... GPUs", *jobs], asked]
    rows += [[method] + [cell(sizes, method) for sizes in jobs.values()] for method in methods]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        print("| " + " | ".join(text.ljust(width) for text, width in zip(row, widths)) + " |")
        if number == 0:
            print("|-" + "-|-".join("-" * width for width in widths) + "-|")
    print("\nAgainst the best uncompressed remedy; ? is too close to call, - does not pay at any of "
          "them,\nan empty cell was not asked.")


if __name__ == "__main__":
    main()
