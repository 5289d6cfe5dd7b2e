#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the data of profiles/model against what others published (model_data_facts.yaml).

Builds the list of parameter tensors of every profile from its shapes, independently of the C++ reader,
and compares totals, order of gradients, PowerSGD payloads and multiply-adds with figures from elsewhere.

    model_data_check.py [--list]     one line a check; exit 1 when one fails
"""

import json
import math
import pathlib
import subprocess
import sys

import yaml

HERE = pathlib.Path(__file__).resolve().parent
PROFILES = HERE.parent.parent / "profiles" / "model"

LAYER_KEYS = {
    "conv": ["name", "op", "in", "out", "kernel", "stride", "groups", "out_height", "out_width", "bias"],
    "norm": ["name", "op", "channels", "height", "width"],
    "elementwise": ["name", "op", "channels", "height", "width"],
    "add": ["name", "op", "channels", "height", "width"],
    "pool": ["name", "op", "channels", "kernel", "stride", "out_height", "out_width"],
    "linear": ["name", "op", "in", "out", "bias"],
}


def load_table(name):
    return yaml.safe_load((PROFILES / f"{name}.yaml").read_text())


def load_config(name):
    return json.loads((PROFILES / f"{name}.json").read_text())


# --- parameter tensors, in forward order --------------------------------------------------------

def layer_tensors(layer):
    """Shapes of a CNN layer's parameters: the weight, then the bias."""
    if layer["op"] == "conv":
        weight = (layer["out"], layer["in"] // layer["groups"], layer["kernel"], layer["kernel"])
        return [weight] + [(layer["out"],)] * layer["bias"]
    if layer["op"] == "linear":
        return [(layer["out"], layer["in"])] + [(layer["out"],)] * layer["bias"]
    return [(layer["channels"],)] * 2 if layer["op"] == "norm" else []


def linear(fan_in, fan_out, bias=True):
    return [(fan_out, fan_in)] + [(fan_out,)] * bias


def norm(width):
    return [(width,), (width,)]


def bert(c):
    h, f = c["hidden_size"], c["intermediate_size"]
    tensors = [(c["vocab_size"], h), (c["max_position_embeddings"], h), (c["type_vocab_size"], h)] + norm(h)
    tensors += (4 * linear(h, h) + norm(h) + linear(h, f) + linear(f, h) + norm(h)) * c["num_hidden_layers"]
    tensors += linear(h, h)  # pooler
    if c["architectures"] == ["BertForSequenceClassification"]:
        tensors += linear(h, c["num_labels"])
    return tensors


def gpt2(c):
    h = c["n_embd"]
    block = norm(h) + linear(h, 3 * h) + linear(h, h) + norm(h) + linear(h, 4 * h) + linear(4 * h, h)
    return [(c["vocab_size"], h), (c["n_positions"], h)] + block * c["n_layer"] + norm(h)


def llama(c):
    """Also Mixtral (several experts and a router) and Nemotron (two-matrix feed-forward, norms with bias)."""
    h, f = c["hidden_size"], c["intermediate_size"]
    key_value = h // c["num_attention_heads"] * c["num_key_value_heads"]
    nemotron = c["model_type"] == "nemotron"
    norms = norm(h) if nemotron else [(h,)]
    attention = linear(h, h, False) + 2 * linear(h, key_value, False) + linear(h, h, False)
    experts = c.get("num_local_experts", 1)
    feed_forward = ((1 if nemotron else 2) * linear(h, f, False) + linear(f, h, False)) * experts
    router = linear(h, experts, False) if experts > 1 else []
    block = attention + router + feed_forward + 2 * norms
    head = [] if c["tie_word_embeddings"] else linear(h, c["vocab_size"], False)
    return [(c["vocab_size"], h)] + block * c["num_hidden_layers"] + norms + head


def deepseek(c):
    """Multi-head latent attention; experts after the first dense blocks."""
    h, heads = c["hidden_size"], c["num_attention_heads"]
    rank, plain, rotated = c["kv_lora_rank"], c["qk_nope_head_dim"], c["qk_rope_head_dim"]
    query, queries = c["q_lora_rank"], heads * (plain + rotated)
    attention = linear(h, query, False) + [(query,)] + linear(query, queries, False) if query else linear(
        h, queries, False)
    attention += linear(h, rank + rotated, False) + [(rank,)]
    attention += linear(rank, heads * (plain + c["v_head_dim"]), False) + linear(heads * c["v_head_dim"], h, False)
    swiglu = lambda width: 2 * linear(h, width, False) + linear(width, h, False)
    experts, width = c["n_routed_experts"], c["moe_intermediate_size"]
    mixture = linear(h, experts, False) + swiglu(width) * experts + swiglu(c["n_shared_experts"] * width)
    dense = c["first_k_dense_replace"]
    tensors = [(c["vocab_size"], h)] + (attention + swiglu(c["intermediate_size"]) + 2 * [(h,)]) * dense
    tensors += (attention + mixture + 2 * [(h,)]) * (c["num_hidden_layers"] - dense)
    return tensors + [(h,)] + linear(h, c["vocab_size"], False)


def opt(c):
    h, f = c["hidden_size"], c["ffn_dim"]
    block = 4 * linear(h, h) + norm(h) + linear(h, f) + linear(f, h) + norm(h)
    positions = c["max_position_embeddings"] + 2  # two rows are kept for padding
    return [(c["vocab_size"], h), (positions, h)] + block * c["num_hidden_layers"] + norm(h)


def bloom(c):
    h = c["n_embed"]
    block = norm(h) + linear(h, 3 * h) + linear(h, h) + norm(h) + linear(h, 4 * h) + linear(4 * h, h)
    return [(c["vocab_size"], h)] + norm(h) + block * c["n_layer"] + norm(h)  # ALiBi: no position table


def vit(c):
    h, f, patch = c["hidden_size"], c["intermediate_size"], c["patch_size"]
    tokens = (c["image_size"] // patch) ** 2 + 1
    block = norm(h) + 4 * linear(h, h) + norm(h) + linear(h, f) + linear(f, h)
    embedding = [(1, 1, h), (1, tokens, h), (h, c["num_channels"], patch, patch), (h,)]
    return embedding + block * c["num_hidden_layers"] + norm(h) + linear(h, c["num_labels"])


def t5(c):
    """Encoder and decoder, each with its norm and its relative positions; one table of tokens."""
    h, f, heads = c["d_model"], c["d_ff"], c["num_heads"]
    inner = heads * c["d_kv"]
    attention = 3 * linear(h, inner, False) + linear(inner, h, False) + [(h,)]
    gated = c["feed_forward_proj"].startswith("gated-")
    feed_forward = (2 if gated else 1) * linear(h, f, False) + linear(f, h, False) + [(h,)]
    positions = [(c["relative_attention_num_buckets"], heads)]
    encoder = positions + (attention + feed_forward) * c["num_layers"] + [(h,)]
    decoder = positions + (2 * attention + feed_forward) * c["num_decoder_layers"] + [(h,)]
    head = [] if c["tie_word_embeddings"] else linear(h, c["vocab_size"], False)
    return [(c["vocab_size"], h)] + encoder + decoder + head


TRANSFORMERS = {"bert": bert, "gpt2": gpt2, "llama": llama, "mixtral": llama, "nemotron": llama,
                "deepseek_v2": deepseek, "deepseek_v3": deepseek, "opt": opt, "bloom": bloom, "vit": vit,
                "t5": t5}


def mlp(inputs, widths):
    return [shape for a, b in zip([inputs] + widths, widths) for shape in linear(a, b)]


def recommender(table):
    """Bottom, tables, top: behind the bottom's output all products of two different vectors."""
    tables, dimension = table["tables"], table["tables"]["dimension"]
    rows = tables["rows"] * tables.get("copies", 1)
    pairs = math.comb(len(rows) + 1, 2)
    return (mlp(table["dense"], table["bottom"]) + [(n, dimension) for n in rows]
            + mlp(dimension + pairs, table["top"]))


def is_recommender(name):
    return (PROFILES / f"{name}.yaml").is_file() and load_table(name)["family"] == "dlrm"


def tensors_of(name, changes=None):
    if is_recommender(name):
        return recommender(load_table(name))
    if (PROFILES / f"{name}.yaml").is_file():
        return [shape for layer in load_table(name)["layers"] for shape in layer_tensors(layer)]
    config = {**load_config(name), **(changes or {})}
    return TRANSFORMERS[config["model_type"]](config)


def count(tensors):
    return sum(math.prod(shape) for shape in tensors)


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
        million = sum(powersgd(tensors_of(row["model"]), row["rank"])) * training["iterations"] / 1e6
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
