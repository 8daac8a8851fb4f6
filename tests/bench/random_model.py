#!/usr/bin/env python3
"""Writes a model's folder with random weights, for measuring: random_model.py FOLDER [--family gpt2|llama]
[--dtype F32|BF16] [--layers N --width D --heads H --kv-heads G --inner F --vocabulary V --positions P --seed S].

The shapes are GPT-2's unless options say otherwise; what comes out of such a model is noise. Needs NumPy."""

import argparse
import json
import os
import struct

import numpy as np


def gpt2(o):
    config = {"model_type": "gpt2", "n_embd": o.width, "n_head": o.heads, "n_layer": o.layers,
              "n_positions": o.positions, "n_inner": o.inner, "vocab_size": o.vocabulary,
              "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5}
    d, f = o.width, o.inner
    shapes = {"wte.weight": (o.vocabulary, d), "wpe.weight": (o.positions, d)}
    for i in range(o.layers):
        at = f"h.{i}."
        for norm in ("ln_1", "ln_2"):
            shapes[at + norm + ".weight"] = shapes[at + norm + ".bias"] = (d,)
        for name, rows, cols in (("attn.c_attn", d, 3 * d), ("attn.c_proj", d, d), ("mlp.c_fc", d, f),
                                 ("mlp.c_proj", f, d)):
            shapes[at + name + ".weight"] = (rows, cols)
            shapes[at + name + ".bias"] = (cols,)
    shapes["ln_f.weight"] = shapes["ln_f.bias"] = (d,)
    return config, shapes


def llama(o):
    config = {"model_type": "llama", "hidden_size": o.width, "intermediate_size": o.inner,
              "num_hidden_layers": o.layers, "num_attention_heads": o.heads, "num_key_value_heads": o.kv_heads,
              "vocab_size": o.vocabulary, "max_position_embeddings": o.positions, "rms_norm_eps": 1e-5}
    d, f, keys = o.width, o.inner, o.width // o.heads * o.kv_heads
    shapes = {"model.embed_tokens.weight": (o.vocabulary, d), "model.norm.weight": (d,)}
    for i in range(o.layers):
        at = f"model.layers.{i}."
        shapes[at + "input_layernorm.weight"] = shapes[at + "post_attention_layernorm.weight"] = (d,)
        for name, rows, cols in (("self_attn.q_proj", d, d), ("self_attn.k_proj", keys, d),
                                 ("self_attn.v_proj", keys, d), ("self_attn.o_proj", d, d),
                                 ("mlp.gate_proj", f, d), ("mlp.up_proj", f, d), ("mlp.down_proj", d, f)):
            shapes[at + name + ".weight"] = (rows, cols)
    return config, shapes


def values(name, shape, rng):
    if len(shape) == 1:
        return np.full(shape, 0.0 if name.endswith(".bias") else 1.0, np.float32)
    return rng.standard_normal(shape, np.float32) * np.float32(0.02)


def stored(array, dtype):
    if dtype == "F32":
        return array.tobytes()
    bits = array.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16).tobytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--family", choices=("gpt2", "llama"), default="gpt2")
    parser.add_argument("--dtype", choices=("F32", "BF16"), default="F32")
    for name, standard in (("layers", 12), ("width", 768), ("heads", 12), ("kv-heads", 12), ("inner", 3072),
                           ("vocabulary", 50257), ("positions", 1024), ("seed", 1)):
        parser.add_argument("--" + name, type=int, default=standard)
    o = parser.parse_args()
    config, shapes = {"gpt2": gpt2, "llama": llama}[o.family](o)
    os.makedirs(o.folder, exist_ok=True)
    size = {"F32": 4, "BF16": 2}[o.dtype]
    header, end = {}, 0
    for name, shape in shapes.items():
        begin, end = end, end + size * int(np.prod(shape))
        header[name] = {"dtype": o.dtype, "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    rng = np.random.default_rng(o.seed)
    with open(os.path.join(o.folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, shape in shapes.items():
            file.write(stored(values(name, shape, rng), o.dtype))
    with open(os.path.join(o.folder, "config.json"), "w") as file:
        json.dump(config, file, indent=1)


if __name__ == "__main__":
    main()
