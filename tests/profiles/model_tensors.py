# SPDX-License-Identifier: Apache-2.0
"""The parameter tensors of every profile of a model, in forward order, from its shapes alone."""

import json
import math
import pathlib

import yaml

PROFILES = pathlib.Path(__file__).resolve().parent.parent.parent / "profiles" / "model"


def load_table(name):
    return yaml.safe_load((PROFILES / f"{name}.yaml").read_text())


def load_config(name):
    return json.loads((PROFILES / f"{name}.json").read_text())


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
