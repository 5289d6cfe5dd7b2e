#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds docs/what-if.html, the what-if page that readers can try, to what the program says today.

  live_demo.py PROGRAM

What the page carries (the prediction, what its sliders offer, and the experiment that they start
from) has to be what `payoff report` writes now, digests of inputs included; its markup, style and
scripts have to be those of web/page, by a digest that web/page/bundle.mjs puts into it. The model
in the page is not built for this: tests/web/browser.mjs holds what its sliders compute to the
program.
"""

import copy
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "what-if.html"
WORDS = ["report", "examples/01-resnet50-v100/experiment.yaml", "-o", "docs/what-if.html"]
DIFFERENCES_SHOWN = 10
TOLERANCE = 1e-9  # that of the page's own check


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page,
                                re.DOTALL)[1])


def data_today(program):
    """What the program would put into a page; the page around it is of no matter here."""
    with tempfile.TemporaryDirectory(prefix="payoff-") as folder:
        empty, output = Path(folder, "page.html"), Path(folder, "report.html")
        empty.write_text('<script type="application/json" id="data">@PAYOFF_DATA@</script>',
                         encoding="utf-8")
        subprocess.run([program, *WORDS[:-1], output], cwd=ROOT, check=True, text=True,
                       stdout=subprocess.DEVNULL, env=dict(os.environ, PAYOFF_PAGE=str(empty)))
        data = data_of(output.read_text(encoding="utf-8"))
    data["result"]["command_line"] = " ".join(["payoff", *WORDS])
    return data


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def differences(written, today, place=""):
    """Where two values of JSON differ, as lines."""
    if isinstance(written, dict) and isinstance(today, dict):
        for key in written | today:
            if key in written and key in today:
                yield from differences(written[key], today[key], f"{place}.{key}".lstrip("."))
            else:
                yield f"{place}.{key} is {'gone' if key in written else 'new'}".lstrip(".")
    elif isinstance(written, list) and isinstance(today, list) and len(written) == len(today):
        for i, pair in enumerate(zip(written, today)):
            yield from differences(*pair, f"{place}[{i}]")
    elif is_number(written) and is_number(today):
        if not math.isclose(written, today, rel_tol=TOLERANCE, abs_tol=1e-15):
            yield f"{place} was {written} and is {today}"
    elif written != today:
        texts = [repr(value) if len(repr(value)) < 80 else "a long value"
                 for value in (written, today)]
        yield "{} was {} and is {}".format(place, *texts)


def digest_of_sources():
    """As bundle.mjs: every file of the page with its name, in the order of the names' bytes."""
    digest = hashlib.sha256()
    for file in sorted((ROOT / "web/page").iterdir(), key=lambda file: file.name):
        if file.is_file() and file.suffix in (".css", ".html", ".js", ".json", ".mjs"):
            digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def stale_parts(page, today, sources):
    parts = list(differences(data_of(page), today))
    built_of = re.search(r'<meta name="payoff-page-sources" content="(\w+)">', page)
    if built_of is None or built_of[1] != sources:
        parts.append("its markup, style or scripts are not those of web/page")
    return parts


def what_it_misses(page, today, sources):
    """A step that is 1e-8 longer, another digest of an input, another experiment for the sliders,
    and other scripts: the check has to see each of them, or it says nothing."""
    changes = {
        "a longer step": lambda data: data["result"]["plans"][1].update(
            step_seconds=data["result"]["plans"][1]["step_seconds"] * (1 + 1e-8)),
        "another input": lambda data: data["result"]["experiment"].update(sha256="0"),
        "another key": lambda data: data["result"]["plans"][0].update(new_seconds=0),
        "another experiment": lambda data: data.update(stored=data["stored"] + "0 "),
    }
    for name, change in changes.items():
        changed = copy.deepcopy(today)
        change(changed)
        if len(list(differences(today, changed))) != 1:
            yield name
    if not stale_parts(page, today, sources[::-1]):
        yield "other scripts"


def main():
    page = PAGE.read_text(encoding="utf-8")
    today, sources = data_today(sys.argv[1]), digest_of_sources()
    missed = list(what_it_misses(page, today, sources))
    for name in missed:
        print(f"this check would not notice {name}")
    parts = stale_parts(page, today, sources)
    for part in parts[:DIFFERENCES_SHOWN]:
        print(part)
    if len(parts) > DIFFERENCES_SHOWN:
        print(f"and {len(parts) - DIFFERENCES_SHOWN} more")
    if parts:
        print("docs/what-if.html is stale; this builds it again: "
              f"make build page && build/payoff {' '.join(WORDS)}")
    return 1 if parts or missed else 0


if __name__ == "__main__":
    sys.exit(main())
