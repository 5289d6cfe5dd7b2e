#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws a timeline of `payoff simulate --trace` as a picture: a row for each track of each stage.

  timeline.py TRACE.json PICTURE.svg [TITLE]
"""

import json
import sys
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, ROW, GAP = 1140, 230, 20, 22, 14
COLORS = {
    "forward": "#4c78a8", "backward": "#72b7b2", "recompute": "#9ecae9", "tp_message": "#e45756",
    "cp_message": "#ff9da6", "ep_message": "#9d755d",
    "pp_message": "#f58518", "dp_message": "#b279a2", "encode": "#eeca3b",
    "decode": "#d6a800", "bucket_copy": "#bab0ac", "optimizer": "#54a24b", "host": "#79706e",
}


def read(path):
    stages, spans = {}, []
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    for event in events:
        if event["ph"] == "M" and event["name"] == "thread_name":
            stages.setdefault(event["pid"], {})[event["tid"]] = event["args"]["name"]
        elif event["ph"] == "X":
            spans.append(event)
    return stages, spans


def scale(end):
    """Some five marks of 1, 2 or 5 times a power of ten, in microseconds."""
    step = 1.0
    while end / step > 8:
        step *= 2.5 if str(step).lstrip("0.").startswith("2") else 2
    return step


def draw(stages, spans, title):
    end = max(span["ts"] + span["dur"] for span in spans)
    to_x = (WIDTH - LEFT - RIGHT) / end
    place, labels, y = {}, [], 46
    for stage in sorted(stages):
        for track in sorted(stages[stage]):
            place[stage, track] = y
            labels.append((y, f"stage {stage}: {stages[stage][track]}"))
            y += ROW
        y += GAP
    body = [f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>']
    for at, label in labels:
        body.append(f'<text x="{LEFT - 8}" y="{at + 15}" text-anchor="end">{escape(label)}</text>')
        body.append(f'<rect x="{LEFT}" y="{at}" width="{WIDTH - LEFT - RIGHT}" height="{ROW - 3}" '
                    'fill="#f4f4f4"/>')
    used = []
    for span in spans:
        name = span["name"]
        if name not in used:
            used.append(name)
        body.append(
            f'<rect x="{LEFT + span["ts"] * to_x:.2f}" y="{place[span["pid"], span["tid"]]}" '
            f'width="{max(0.3, span["dur"] * to_x):.2f}" height="{ROW - 3}" '
            f'fill="{COLORS.get(name, "#000000")}" stroke="#ffffff" stroke-width="0.25"/>')
    step = scale(end)
    mark = 0.0
    while mark <= end:
        x = LEFT + mark * to_x
        body.append(f'<line x1="{x:.1f}" y1="40" x2="{x:.1f}" y2="{y - GAP}" stroke="#888888" '
                    'stroke-width="0.5" stroke-dasharray="2,3"/>')
        body.append(f'<text x="{x:.1f}" y="37" text-anchor="middle">{mark / 1000:g} ms</text>')
        mark += step
    x = LEFT
    for name in sorted(used, key=list(COLORS).index):
        body.append(f'<rect x="{x}" y="{y}" width="12" height="12" fill="{COLORS[name]}"/>')
        body.append(f'<text x="{x + 16}" y="{y + 10}">{name}</text>')
        x += 26 + 7 * len(name)
    height = y + 24
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11">\n'
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n' + "\n".join(body)
            + "\n</svg>\n")


def main(trace, picture, title=""):
    stages, spans = read(trace)
    with open(picture, "w", encoding="utf-8") as file:
        file.write(draw(stages, spans, title))


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
