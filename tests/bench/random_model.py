#!/usr/bin/env python3
"""Writes a model folder with random weights, for measuring: random_model.py FOLDER [--family gpt2|llama]
[--gguf] [--dtype F32|F16|BF16|Q4_K|…] [--layers N --width D --heads H --kv-heads G --inner F --vocabulary V --positions P --seed S].

The default shapes are GPT-2's. The model's output is noise. Needs NumPy."""

import argparse
import json
import os
import struct
import sys

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
              "vocab_size": o.vocabulary, "max_position_embeddings": o.positions, "rms_norm_eps": 1e-5,
              "tie_word_embeddings": True}
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
    # Large tensors repeat, because drawing a billion numbers would take longer than the measurement.
    count = int(np.prod(shape))
    drawn = rng.standard_normal(min(count, 1 << 22), np.float32) * np.float32(0.02)
    return np.resize(drawn, shape)


def stored(array, dtype):
    if dtype == "BF16":
        bits = array.view(np.uint32)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16).tobytes()
    return array.astype({"F32": "<f4", "F16": "<f2"}[dtype]).tobytes()


def write_safetensors(o, config, shapes):
    size = 4 if o.dtype == "F32" else 2
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


def write_gguf(o, config, shapes):
    """Block types get random bits, with scales that give the numbers the same deviation as floats get."""
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "attention", "models", "gguf"))
    import gguf_blocks
    import write_gguf as writer

    rng = np.random.default_rng(o.seed)
    tensors = {}
    for name, shape in shapes.items():
        target = writer.gguf_name(name, o.family)
        if o.family == "gpt2" and len(shape) == 2 and target.startswith("blk."):
            shape = shape[::-1]
        kind = o.dtype if len(shape) > 1 else "F32"
        if kind in gguf_blocks.TYPES:
            count = int(np.prod(shape)) // gguf_blocks.TYPES[kind][1]
            some = gguf_blocks.random_blocks(kind, min(count, 1 << 15), rng, spread=0.02)
            data = np.resize(some, (count, some.shape[1])).tobytes()
        else:
            data = stored(values(name, shape, rng), kind)
        tensors[target] = (shape, writer.type_number(kind), data)
    tokens = [("tokenizer.ggml.model", "text", "gpt2"), ("tokenizer.ggml.pre", "text", "gpt-2"),
              ("tokenizer.ggml.merges", "text[]", []),
              ("tokenizer.ggml.tokens", "text[]", [f"t{i}" for i in range(o.vocabulary)])]
    writer.write_gguf(os.path.join(o.folder, "model.gguf"), writer.sizes(config, o.family, o.family) + tokens, tensors)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--family", choices=("gpt2", "llama"), default="gpt2")
    parser.add_argument("--gguf", action="store_true", help="one GGUF file, model.gguf")
    parser.add_argument("--dtype", default="F32", help="F32, F16 or BF16; with --gguf also a type of blocks, as Q4_K")
    for name, standard in (("layers", 12), ("width", 768), ("heads", 12), ("kv-heads", 12), ("inner", 3072),
                           ("vocabulary", 50257), ("positions", 1024), ("seed", 1)):
        parser.add_argument("--" + name, type=int, default=standard)
    o = parser.parse_args()
    config, shapes = {"gpt2": gpt2, "llama": llama}[o.family](o)
    os.makedirs(o.folder, exist_ok=True)
    (write_gguf if o.gguf else write_safetensors)(o, config, shapes)


if __name__ == "__main__":
    main()
