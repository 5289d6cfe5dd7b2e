#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what `payoff survey --csv` found: for each value of some columns a bar of shares of findings.

  survey.py SETUPS.csv PICTURE.svg COLUMN...
"""

import csv
import sys
from xml.sax.saxutils import escape

LEFT, BAR, RIGHT, ROW, GAP, TOP = 190, 560, 90, 20, 26, 62
COLORS = {
    "pays": "#2f8f4e", "too close to call": "#b9d98c", "a remedy is enough": "#f2cf5b",
    "nothing exposed": "#9ecae9", "encode and decode": "#e4793f", "cannot be summed": "#b0413e",
    "latency": "#8a63b3", "too little saved": "#79706e", "does not fit": "#d9d5d0",
}


def label(column, value):
    if not column.endswith("_bytes_per_second"):
        return value
    return f"{float(value) * 8 / 1e9:g} Gb/s"


def title(column):
    return column.removesuffix("_bytes_per_second").replace("cluster.", "")


def text(x, y, words, anchor="start", weight="normal", size=12):
    return (f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-weight="{weight}" '
            f'font-size="{size}">{escape(words)}</text>')


def legend(findings):
    parts, x, y = [], LEFT, 16
    for finding in findings:
        width = 20 + 7 * len(finding) + 14
        if x + width > LEFT + BAR + RIGHT:
            x, y = LEFT, y + 18
        parts.append(f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{COLORS[finding]}"/>')
        parts.append(text(x + 17, y, finding))
        x += width
    return parts


def bar(rows, y):
    parts, x = [], float(LEFT)
    for finding, color in COLORS.items():
        count = sum(row["finding"] == finding for row in rows)
        width = BAR * count / len(rows)
        if count:
            parts.append(f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{ROW - 4}" '
                         f'fill="{color}"><title>{escape(finding)}: {count}</title></rect>')
        if width > 26:
            parts.append(text(f"{x + width / 2:.2f}", y + 12, str(count), "middle", size=10))
        x += width
    pays = sum(row["finding"] == "pays" for row in rows)
    parts.append(text(LEFT + BAR + 8, y + 12, f"{pays} of {len(rows)}"))
    return parts


def draw(rows, columns):
    found = {row["finding"] for row in rows}
    parts, y = legend([finding for finding in COLORS if finding in found]), TOP
    for column in columns:
        parts.append(text(8, y + 12, title(column), weight="bold"))
        for value in dict.fromkeys(row[column] for row in rows):
            parts.append(text(LEFT - 8, y + 12, label(column, value), "end"))
            parts += bar([row for row in rows if row[column] == value], y)
            y += ROW
        y += GAP
    width = LEFT + BAR + RIGHT
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y}" '
            f'viewBox="0 0 {width} {y}" font-family="sans-serif">\n'
            f'<rect width="{width}" height="{y}" fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n")


def main():
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["finding"] != "impossible"]
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(draw(rows, sys.argv[3:]))


if __name__ == "__main__":
    main()
