#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the data of profiles/model against what others published (model_data_facts.yaml).

Builds the list of parameter tensors of every profile from its shapes, independently of the C++ reader,
and compares totals, order of gradients, PowerSGD payloads and multiply-adds with figures from elsewhere.

    model_data_check.py [--list]     one line a check; exit 1 when one fails
"""

import math
import pathlib
import subprocess
import sys

import yaml

from model_tensors import PROFILES, count, is_recommender, layer_tensors, load_table, tensors_of

HERE = pathlib.Path(__file__).resolve().parent

LAYER_KEYS = {
    "conv": ["name", "op", "in", "out", "kernel", "stride", "groups", "out_height", "out_width", "bias"],
    "norm": ["name", "op", "channels", "height", "width"],
    "elementwise": ["name", "op", "channels", "height", "width"],
    "add": ["name", "op", "channels", "height", "width"],
    "pool": ["name", "op", "channels", "kernel", "stride", "out_height", "out_width"],
    "linear": ["name", "op", "in", "out", "bias"],
}


def powersgd(tensors, rank):
    """Floats of P, of Q and of what goes uncompressed."""
    p = q = one_dimensional = 0
    for shape in tensors:
        if len(shape) == 1:
            one_dimensional += shape[0]
            continue
        n, m = shape[0], math.prod(shape[1:])
        p, q = p + n * min(n, m, rank), q + m * min(n, m, rank)
    return p, q, one_dimensional


# --- checks: each yields (what, expected, found); expected == found passes -----------------------

def check_table(name):
    """Keys, unique names, and shapes that fit together from one layer to the next."""
    table = load_table(name)
    yield "keys", ["model", "family", "description", "citations", "input", "parameters", "layers"], list(table)
    yield "model", name, table["model"]
    names = [layer["name"] for layer in table["layers"]]
    yield "unique names", len(names), len(set(names))
    wrong = [layer["name"] for layer in table["layers"] if list(layer) != LAYER_KEYS[layer["op"]]]
    yield "layer keys", [], wrong
    # A convolution of a shortcut starts from the block's input: its own shape is checked by what follows.
    # Excitation scales what was squeezed: as many channels, at the side before.
    side, channels = table["input"]["height"], table["input"]["channels"]
    # A concatenation adds what a dense layer made to what it read.
    squeezed = read = None
    for layer in table["layers"]:
        shortcut = ".downsample.0" in layer["name"] or ".shortcut.0" in layer["name"]
        if layer["op"] in ("conv", "pool") and not shortcut:
            yield f"{layer['name']} input", channels, layer.get("in", layer.get("channels"))
            # AlexNet pads its first convolution by two and no pooling; all others as much as keeps the side.
            pads = (0, 2) if name == "alexnet" else ()
            sides = [(side + 2 * pad - layer["kernel"]) // layer["stride"] + 1 for pad in pads]
            yield f"{layer['name']} side", True, layer["out_height"] in [math.ceil(side / layer["stride"]), *sides]
        elif layer["op"] == "linear":
            yield f"{layer['name']} input", channels * side * side, layer["in"]
        elif not shortcut:
            side = squeezed if layer["name"].endswith(".excite") else side
            read = channels if layer["name"].endswith(".norm1") else read
            channels += read if layer["name"].endswith(".cat") else 0
            yield f"{layer['name']} shape", (channels, side), (layer["channels"], layer["height"])
        squeezed = side if layer["name"].endswith(".squeeze") else squeezed
        side = 1 if layer["op"] == "linear" else layer.get("out_height", layer.get("height"))
        channels = layer.get("out", layer.get("channels"))
    yield "parameters", table["parameters"], count(tensors_of(name))


def check_recommender(name):
    table = load_table(name)
    yield "model", name, table["model"]
    yield "width of vectors", table["tables"]["dimension"], table["bottom"][-1]
    yield "parameters", table["parameters"], count(tensors_of(name))


def agrees(found, stated):
    """Exact when the source states every digit; a rounded figure allows its rounding, or 2 % (GPT-3 350M)."""
    unit = 10 ** (len(str(stated)) - len(str(stated).rstrip("0")))
    if unit * 10**6 < stated:
        return found == stated
    return abs(found - stated) <= max(unit / 2, 0.02 * stated)


def check_source(name, source):
    decoded = {"decoder_seq"} if name.startswith("t5-") else set()
    yield "keys", {"kind", "text", "date", "parameters", "seq"} | decoded, set(source)
    yield "kind", True, source["kind"] in ("published", "assumed")
    found = count(tensors_of(name))
    yield f"parameters ({found} counted, {source['parameters']} stated)", True, agrees(found, source["parameters"])


def check_powersgd(row, ranks):
    tensors = tensors_of(row["model"], row.get("with"))
    total = count(tensors)
    yield "parameters", row["parameters"], total
    yield "matrices", row["matrices"], sum(len(shape) > 1 for shape in tensors)
    for i, rank in enumerate(ranks):
        p, q, one_dimensional = powersgd(tensors, rank)
        yield f"rank {rank} P", row["p"][i], p
        yield f"rank {rank} Q", row["q"][i], q
        yield f"rank {rank} one-dimensional", row["one_dimensional"], one_dimensional
        yield f"rank {rank} sent", row["sent"][i], p + q + one_dimensional
        yield f"rank {rank} ratio", row["compression_ratio"][i], round(total / (p + q + one_dimensional), 1)


def check_facts(facts):
    for row in facts["powersgd"]["models"]:
        for what, expected, found in check_powersgd(row, facts["powersgd"]["ranks"]):
            yield f"powersgd {row['model']} {what}", expected, found
    training = facts["floats_sent_in_training"]
    for row in training["rows"]:
        iterations = row.get("iterations", training["iterations"])
        million = sum(powersgd(tensors_of(row["model"]), row["rank"])) * iterations / 1e6
        # The tables cut or round to 0.1 million.
        yield f"floats {row['model']} rank {row['rank']} ({million:.2f} M)", True, abs(
            million - row["million_floats"]) < 0.1
    bits = facts["bits_sent_in_training"]
    sent = sum(powersgd(tensors_of(bits["model"]), bits["rank"]))
    yield f"bits {bits['model']}", bits["bits"], sent * 32 * bits["iterations"]
    for name, elements in facts["backward_tensor_elements"].items():
        yield f"backward order {name}", elements, [math.prod(s) for s in reversed(tensors_of(name))]
    for name, row in facts["torchvision"].items():
        yield f"torchvision {name} parameters", row["parameters"], count(tensors_of(name))
        yield f"torchvision {name} G multiply-adds", row["giga_multiply_adds"], round(multiply_adds(name) / 1e9, 3)


def multiply_adds(name):
    total = 0
    for layer in load_table(name)["layers"]:
        weights = math.prod(layer_tensors(layer)[0]) if layer["op"] in ("conv", "linear") else 0
        total += weights * layer.get("out_height", 1) * layer.get("out_width", 1)
    return total


def all_checks():
    generator = subprocess.run([sys.executable, "-B", PROFILES / "generate_cnn.py", "--check"],
                               capture_output=True, text=True, check=False)
    yield "tables are what generate_cnn.py writes", (0, ""), (generator.returncode, generator.stderr)
    sources = yaml.safe_load((PROFILES / "sources.yaml").read_text())
    tables = sorted(p.stem for p in PROFILES.glob("*.yaml") if p.stem != "sources")
    profiles = sorted(tables + [p.stem for p in PROFILES.glob("*.json")])
    yield "every profile has a source, every source a profile", profiles, sorted(sources)
    for name in tables:
        check = check_recommender if is_recommender(name) else check_table
        for what, expected, found in check(name):
            yield f"table {name} {what}", expected, found
    for name in profiles:
        for what, expected, found in check_source(name, sources[name]):
            yield f"source {name} {what}", expected, found
    yield from check_facts(yaml.safe_load((HERE / "model_data_facts.yaml").read_text()))


def main():
    passed = failed = 0
    for what, expected, found in all_checks():
        if expected != found:
            failed += 1
            print(f"FAILED {what}: expected {expected}, found {found}")
        else:
            passed += 1
            if sys.argv[1:] == ["--list"]:
                print(f"passed {what}")
    print(f"model data: {passed} checks passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
