"""Writes GGUF files for the tests, from the format's description (docs/gguf.md of github.com/ggml-org/ggml).

  write_gguf.py blocks OUT.safetensors            random blocks of every type, and the numbers they decode to
  write_gguf.py model FOLDER OUT TYPE [PARTS]     a checkpoint as OUT/model.gguf or in parts, and as OUT/plain, a
                                                  Hugging Face folder with the values that the program must find
  write_gguf.py apart FOLDER OUT TYPE             like model, with one tensor per expert
  write_gguf.py joined FOLDER OUT TYPE            like model, with queries, keys and values in one tensor, as are the
                                                  gates and ups of experts
  write_gguf.py biased FOLDER OUT TYPE            like model, for a Llama with random biases in all its maps
  write_gguf.py split FOLDER OUT TYPE             like model, for a DeepSeek with separate maps from latents to keys
                                                  and to values
  write_gguf.py wide FOLDER OUT TYPE              like model, for a wider random Llama with FOLDER's tokenizer
  write_gguf.py latents FOLDER OUT TYPE           like split, for a wider random DeepSeek V2 with FOLDER's tokenizer

Several TYPEs with commas write OUT/TYPE for each. After these, KEY:KIND=VALUE sets metadata (KIND "drop" removes them; general.architecture also changes the beginning of
other keys), +NAME adds a tensor of one number, and ~NAME makes the first number of an F32 tensor NaN.
"""
import json
import os
import re
import shutil
import struct
import sys

import numpy as np

import gguf_blocks

PLAIN = {"F32": (0, "<f4"), "F16": (1, "<f2"), "F64": (28, "<f8")}


# safetensors

def read_safetensors(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        part = data[begin:end]
        if entry["dtype"] == "BF16":
            values = (np.frombuffer(part, "<u2").astype("<u4") << 16).view("<f4")
        else:
            kinds = {"F32": "<f4", "F16": "<f2", "I64": "<i8", "U8": "u1", "BOOL": "u1"}
            values = np.frombuffer(part, kinds[entry["dtype"]])
        tensors[name] = values.reshape(entry["shape"])
    return tensors


def write_safetensors(path, tensors):
    header, at = {}, 0
    for name, values in tensors.items():
        kind = "U8" if values.dtype == np.uint8 else "F32"
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": [at, at + values.nbytes]}
        at += values.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for values in tensors.values():
            file.write(np.ascontiguousarray(values).tobytes())


def read_checkpoint(folder):
    tensors = {}
    for name in sorted(os.listdir(folder)):
        if name.startswith("model") and name.endswith(".safetensors"):
            tensors.update(read_safetensors(os.path.join(folder, name)))
    return tensors


# GGUF

def text(value):
    data = value.encode("utf-8", "surrogateescape")
    return struct.pack("<Q", len(data)) + data


KINDS = {"u8": (0, "<B"), "u16": (2, "<H"), "u32": (4, "<I"), "i32": (5, "<i"), "f32": (6, "<f"), "bool": (7, "<?")}


def entry(key, kind, value):
    """One metadata entry; a kind that ends in [] is a list."""
    if kind == "text":
        return text(key) + struct.pack("<I", 8) + text(value)
    if kind == "text[]":
        return text(key) + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
    if kind.endswith("[]"):
        number, letter = KINDS[kind[:-2]]
        return text(key) + struct.pack("<IIQ", 9, number, len(value)) + b"".join(struct.pack(letter, v) for v in value)
    number, letter = KINDS[kind]
    return text(key) + struct.pack("<I", number) + struct.pack(letter, value)


def write_gguf(path, metadata, tensors, alignment=32, version=3):
    """`tensors`: name → (shape, outermost dimension first; type number; bytes)."""
    front = struct.pack("<IIQQ", 0x46554747, version, len(tensors), len(metadata)) + b"".join(
        entry(*one) for one in metadata)
    at = 0
    for name, (shape, kind, values) in tensors.items():
        front += text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", n) for n in reversed(shape))
        front += struct.pack("<IQ", kind, at)
        at += len(values) + -len(values) % alignment
    with open(path, "wb") as file:
        file.write(front + b"\0" * (-len(front) % alignment))
        for _, _, values in tensors.values():
            file.write(b"\0" * (-file.tell() % alignment))
            file.write(values)


# From checkpoints to GGUF

def per_head_pairs(weight, heads):
    """Reorders each head's rows from Hugging Face's halves to GGUF's adjacent pairs, as rotations use them."""
    size = weight.shape[0] // heads
    return weight.reshape(heads, 2, size // 2, -1).transpose(0, 2, 1, 3).reshape(weight.shape)


LLAMA = {
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.qkv_proj": "attn_qkv", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down", "mlp.gate_up_proj": "ffn_up", "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    # Mixtures of experts: one tensor for all of a layer's experts.
    "mlp.gate": "ffn_gate_inp", "mlp.experts.gate_proj": "ffn_gate_exps", "mlp.experts.up_proj": "ffn_up_exps",
    "mlp.experts.down_proj": "ffn_down_exps", "mlp.shared_expert.gate_proj": "ffn_gate_shexp",
    "mlp.shared_expert.up_proj": "ffn_up_shexp", "mlp.shared_expert.down_proj": "ffn_down_shexp",
    "mlp.shared_expert_gate": "ffn_gate_inp_shexp", "block_sparse_moe.gate": "ffn_gate_inp",
    "block_sparse_moe.experts.w1": "ffn_gate_exps", "block_sparse_moe.experts.w2": "ffn_down_exps",
    "block_sparse_moe.experts.w3": "ffn_up_exps",
}
GEMMA2 = dict(LLAMA, **{"post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
                        "post_feedforward_layernorm": "post_ffw_norm"})
BLOOM = {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
         "self_attention.query_key_value": "attn_qkv", "self_attention.dense": "attn_output",
         "mlp.dense_h_to_4h": "ffn_up", "mlp.dense_4h_to_h": "ffn_down"}
NAMES = {
    "gpt2": {"ln_1": "attn_norm", "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output", "ln_2": "ffn_norm",
             "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down"},
    "gpt_neox": {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
                 "attention.query_key_value": "attn_qkv", "attention.dense": "attn_output",
                 "mlp.dense_h_to_4h": "ffn_up", "mlp.dense_4h_to_h": "ffn_down"},
    "bert": {"attention.self.query": "attn_q", "attention.self.key": "attn_k", "attention.self.value": "attn_v",
             "attention.output.dense": "attn_output", "attention.output.LayerNorm": "attn_output_norm",
             "intermediate.dense": "ffn_up", "output.dense": "ffn_down", "output.LayerNorm": "layer_output_norm"},
    "gemma2": GEMMA2,
    "olmo2": dict(LLAMA, **{"post_attention_layernorm": "post_attention_norm",
                            "post_feedforward_layernorm": "post_ffw_norm"}),
    "olmo3": dict(LLAMA, **{"post_attention_layernorm": "post_attention_norm",
                            "post_feedforward_layernorm": "post_ffw_norm"}),
    "glm4": dict(LLAMA, **{"post_self_attn_layernorm": "post_attention_norm", "post_mlp_layernorm": "post_ffw_norm"}),
    "starcoder2": dict(LLAMA, **{"mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down"}),
    "phi": dict(LLAMA, **{"self_attn.dense": "attn_output", "mlp.fc1": "ffn_up", "mlp.fc2": "ffn_down"}),
    "gpt_oss": dict(LLAMA, **{"post_attention_layernorm": "post_attention_norm", "mlp.router": "ffn_gate_inp",
                              "self_attn": "attn_sinks"}),
    "falcon": dict(BLOOM, ln_attn="attn_norm_2", ln_mlp="attn_norm"),
    "bloom": BLOOM,
    "mpt": {"norm_1": "attn_norm", "attn.Wqkv": "attn_qkv", "attn.out_proj": "attn_output", "norm_2": "ffn_norm",
            "ffn.up_proj": "ffn_up", "ffn.down_proj": "ffn_down"},
}
DEEPSEEK = dict(LLAMA, **{
    "self_attn.q_a_proj": "attn_q_a", "self_attn.q_a_layernorm": "attn_q_a_norm", "self_attn.q_b_proj": "attn_q_b",
    "self_attn.kv_a_proj_with_mqa": "attn_kv_a_mqa", "self_attn.kv_a_layernorm": "attn_kv_a_norm",
    "self_attn.kv_b_proj": "attn_kv_b", "self_attn.k_b_proj": "attn_k_b", "self_attn.v_b_proj": "attn_v_b",
    "mlp.shared_experts.gate_proj": "ffn_gate_shexp", "mlp.shared_experts.up_proj": "ffn_up_shexp",
    "mlp.shared_experts.down_proj": "ffn_down_shexp"})
NAMES["deepseek_v2"] = NAMES["deepseek_v3"] = DEEPSEEK
OUTSIDE = {
    "embed_tokens": "token_embd", "norm": "output_norm", "lm_head": "output", "wte": "token_embd",
    "wpe": "position_embd", "ln_f": "output_norm", "embed_in": "token_embd", "final_layer_norm": "output_norm",
    "embed_out": "output", "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd", "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm", "word_embeddings": "token_embd",
    "word_embeddings_layernorm": "token_embd_norm", "norm_f": "output_norm", "final_layernorm": "output_norm",
}
ARCHITECTURES = {"mistral": "mistral3", "glm": "chatglm", "gpt_neox": "gptneox", "mixtral": "llama", "qwen2_moe": "qwen2moe",
                 "qwen3_moe": "qwen3moe", "gpt_oss": "gpt-oss", "phi": "phi2", "cohere": "command-r", "deepseek_v2": "deepseek2",
                 "deepseek_v3": "deepseek2", "olmo3": "olmo2"}
PAIRED = ("llama", "mistral", "mixtral", "granite", "smollm3")
HEAD_BY_HEAD = ("gpt_neox", "bloom")
# The defaults of the families' configuration classes for fields that a config.json lacks.
STANDARD = {
    "gpt_oss": {"rms_norm_eps": 1e-5}, "mixtral": {"rms_norm_eps": 1e-5, "rope_theta": 1e6}, "qwen2_moe": {"rms_norm_eps": 1e-6},
    "qwen3_moe": {"rms_norm_eps": 1e-6}, "olmoe": {"rms_norm_eps": 1e-5}, "olmo2": {"rms_norm_eps": 1e-5},
    "olmo3": {"rms_norm_eps": 1e-5},
    "granite": {"rms_norm_eps": 1e-6}, "smollm3": {"rms_norm_eps": 1e-6, "rope_theta": 2e6},
    "glm4": {"rms_norm_eps": 1.5625e-7}, "glm": {"rms_norm_eps": 1.5625e-7}, "phi": {"layer_norm_eps": 1e-5}, "stablelm": {"layer_norm_eps": 1e-5},
    "starcoder2": {"norm_epsilon": 1e-5}, "cohere": {"layer_norm_eps": 1e-5},
    "cohere2": {"layer_norm_eps": 1e-5, "logit_scale": 0.0625},
    "falcon": {"layer_norm_epsilon": 1e-5}, "bloom": {"layer_norm_epsilon": 1e-5},
    "mpt": {"layer_norm_epsilon": 1e-5}, "deepseek_v2": {"rope_theta": 1e4}, "deepseek_v3": {"rope_theta": 1e4},
}
PREFIXES = ("model.", "transformer.", "gpt_neox.", "bert.")


def gguf_name(name, family):
    """The tensor's name in GGUF; None if the file doesn't contain it."""
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    stem, _, ending = name.rpartition(".")
    apart = re.fullmatch(r"layers\.(\d+)\.block_sparse_moe\.experts\.(\d+)\.(w[123])", stem)
    if apart:
        return f"blk.{apart[1]}.ffn_{dict(w1='gate', w2='down', w3='up')[apart[3]]}.{apart[2]}.weight"
    if ending == "sinks":
        ending = "weight"
    if ending == "e_score_correction_bias":
        return f"blk.{stem.split('.')[1]}.exp_probs_b.bias"
    parts = stem.split(".")
    if stem in OUTSIDE:
        return OUTSIDE[stem] + "." + ending
    number = next((i for i, part in enumerate(parts) if part.isdigit()), None)
    if number is None:
        return None
    inner = NAMES.get(family, LLAMA).get(".".join(parts[number + 1:]))
    return inner and f"blk.{parts[number]}.{inner}.{ending}"


def grouped_rows(values, heads, groups):
    """The rows of queries, then keys, then values in Falcon's weight, which has them group by group."""
    rows = np.arange(len(values)).reshape(groups, heads // groups + 2, -1)
    return np.concatenate([rows[:, :-2].ravel(), rows[:, -2].ravel(), rows[:, -1].ravel()])


def changed(name, values, family, config):
    """Converts a tensor to GGUF's conventions."""
    heads = config.get("num_attention_heads") or config.get("n_head")
    values = values.astype(np.float32)
    if family in PAIRED and ".attn_q." in name:
        return per_head_pairs(values, heads)
    if family in PAIRED and ".attn_k." in name:
        return per_head_pairs(values, config.get("num_key_value_heads", heads))
    if family == "gpt2" and values.ndim == 2 and name.startswith("blk."):
        return values.T
    if family == "gemma2" and "norm" in name:
        return values + np.float32(1)
    if family in HEAD_BY_HEAD and "attn_qkv" in name:
        size = values.shape[0] // heads // 3
        return values.reshape(heads, 3, size, -1).transpose(1, 0, 2, 3).reshape(values.shape)
    if config.get("new_decoder_architecture") and "attn_qkv" in name:
        return values[grouped_rows(values, heads, config["num_kv_heads"])]
    return values


def llama3_factors(config):
    scaling = config["rope_scaling"]
    size, theta = config["hidden_size"] // config["num_attention_heads"], config["rope_theta"]
    waves = 2 * np.pi * theta ** (np.arange(0, size, 2) / size)
    before = scaling["original_max_position_embeddings"]
    share = (before / waves - scaling["low_freq_factor"]) / (scaling["high_freq_factor"] - scaling["low_freq_factor"])
    share = np.clip(share, 0, 1)
    return (1 / ((1 - share) / scaling["factor"] + share)).astype(np.float32)


def quantised(values, kind):
    """Returns a tensor's bytes and the numbers they decode to. Block types other than Q8_0 get random blocks with the
    same deviation, because only reading is tested."""
    if kind in PLAIN:
        stored = values.astype(PLAIN[kind][1])
        return stored.tobytes(), stored.astype(np.float32)
    if kind == "BF16":
        bits = (values.astype("<f4").view("<u4") + 0x8000) >> 16
        return bits.astype("<u2").tobytes(), (bits << 16).astype("<u4").view("<f4").reshape(values.shape)
    if kind == "Q8_0":
        blocks = values.reshape(-1, 32)
        scale = (np.abs(blocks).max(1) / 127).astype("<f2")
        whole = np.rint(blocks / np.maximum(scale.astype(np.float32), 1e-7)[:, None]).clip(-127, 127).astype("i1")
        packed = np.concatenate([scale.view("u1").reshape(-1, 2), whole.view("u1")], 1)
        return packed.tobytes(), (scale.astype(np.float32)[:, None] * whole).astype(np.float32).reshape(values.shape)
    random = np.random.default_rng(values.size)
    numbers = gguf_blocks.TYPES[kind][1]
    blocks = gguf_blocks.random_blocks(kind, values.size // numbers, random, spread=values.std())
    return blocks.tobytes(), gguf_blocks.values(kind, blocks).astype(np.float32).reshape(values.shape)


def type_number(kind):
    return 30 if kind == "BF16" else PLAIN[kind][0] if kind in PLAIN else gguf_blocks.TYPES[kind][0]


def unchanged(name, values, family, config):
    """Undoes `changed`."""
    heads = config.get("num_attention_heads") or config.get("n_head")
    if family in PAIRED and (".attn_q." in name or ".attn_k." in name):
        count = heads if ".attn_q." in name else config.get("num_key_value_heads", heads)
        size = values.shape[0] // count
        return values.reshape(count, size // 2, 2, -1).transpose(0, 2, 1, 3).reshape(values.shape)
    if family == "gpt2" and values.ndim == 2 and name.startswith("blk."):
        return values.T
    if family == "gemma2" and "norm" in name:
        return values - np.float32(1)
    if family in HEAD_BY_HEAD and "attn_qkv" in name:
        size = values.shape[0] // heads // 3
        return values.reshape(3, heads, size, -1).transpose(1, 0, 2, 3).reshape(values.shape)
    if config.get("new_decoder_architecture") and "attn_qkv" in name:
        return values[np.argsort(grouped_rows(values, heads, config["num_kv_heads"]))]
    return values


def latent_sizes(config, split):
    """DeepSeek's size metadata: of the heads' keys and values for files with attn_kv_b, of what a cache keeps if `split`."""
    key, value = config["qk_nope_head_dim"] + config["qk_rope_head_dim"], config["v_head_dim"]
    rank, turned = config["kv_lora_rank"], config["qk_rope_head_dim"]
    third = config["model_type"] == "deepseek_v3"
    keys = [("attention.kv_lora_rank", "u32", rank), ("rope.dimension_count", "u32", turned),
            ("leading_dense_block_count", "u32", config["first_k_dense_replace"]),
            ("expert_shared_count", "u32", config["n_shared_experts"]),
            ("expert_weights_scale", "f32", config.get("routed_scaling_factor", 2.5 if third else 1)),
            ("expert_weights_norm", "bool", third), ("expert_gating_func", "u32", 2 if third else 1)]
    if split:
        keys += [("attention.head_count_kv", "u32", 1), ("attention.key_length", "u32", rank + turned),
                 ("attention.value_length", "u32", rank), ("attention.key_length_mla", "u32", key),
                 ("attention.value_length_mla", "u32", value)]
    else:
        keys += [("attention.head_count_kv", "u32", config["num_attention_heads"]),
                 ("attention.key_length", "u32", key), ("attention.value_length", "u32", value)]
    if config.get("q_lora_rank"):
        keys.append(("attention.q_lora_rank", "u32", config["q_lora_rank"]))
    if config.get("n_group"):
        keys += [("expert_group_count", "u32", config["n_group"]),
                 ("expert_group_used_count", "u32", config["topk_group"])]
    scaling = config.get("rope_scaling")
    if scaling:
        keys += [("rope.scaling.type", "text", "yarn"), ("rope.scaling.factor", "f32", scaling["factor"]),
                 ("rope.scaling.original_context_length", "u32", scaling["original_max_position_embeddings"]),
                 ("rope.scaling.yarn_log_multiplier", "f32", 0.1 * scaling["mscale_all_dim"])]
    return [("deepseek2." + key, kind, value) for key, kind, value in keys]


def sizes(config, family, architecture, split=False):
    """The metadata equivalent to config.json."""
    config = dict(STANDARD.get(family, {}), **config)
    if family in STANDARD:
        config.setdefault("max_position_embeddings", 2048)
    if family == "mpt":
        config["ffn_hidden_size"] = config["expansion_ratio"] * config["d_model"]
    keys = [("general.architecture", "text", architecture), ("general.alignment", "u32", 32)]
    if family in ("deepseek_v2", "deepseek_v3"):
        keys += latent_sizes(config, split)
        config.pop("num_key_value_heads", None)
    for names, key in (
            (("hidden_size", "n_embd", "d_model"), "embedding_length"),
            (("num_hidden_layers", "n_layer", "n_layers"), "block_count"),
            (("num_attention_heads", "n_head", "n_heads"), "attention.head_count"),
            (("num_key_value_heads",), "attention.head_count_kv"), (("head_dim",), "attention.key_length"),
            (("head_dim",), "attention.value_length"),
            (("intermediate_size", "n_inner", "ffn_hidden_size"), "feed_forward_length"),
            (("num_experts", "num_local_experts", "n_routed_experts"), "expert_count"), (("num_experts_per_tok",), "expert_used_count"),
            (("moe_intermediate_size",), "expert_feed_forward_length"),
            (("shared_expert_intermediate_size",), "expert_shared_feed_forward_length"),
            (("max_position_embeddings", "n_positions"), "context_length")):
        found = [config[name] for name in names if config.get(name) is not None]
        if not found and key == "feed_forward_length":
            found = [4 * config["n_embd"]]
        if found:
            keys.append((f"{architecture}.{key}", "u32", found[0]))
    for name, key in (("rms_norm_eps", "attention.layer_norm_rms_epsilon"), ("rope_theta", "rope.freq_base"),
                      ("layer_norm_epsilon", "attention.layer_norm_epsilon"),
                      ("layer_norm_eps", "attention.layer_norm_epsilon"),
                      ("norm_epsilon", "attention.layer_norm_epsilon"), ("logit_scale", "logit_scale"),
                      ("logits_scaling", "logit_scale"), ("embedding_multiplier", "embedding_scale"),
                      ("residual_multiplier", "residual_scale"), ("attention_multiplier", "attention.scale"),
                      ("rotary_emb_base", "rope.freq_base"),
                      ("attn_logit_softcapping", "attn_logit_softcapping"),
                      ("final_logit_softcapping", "final_logit_softcapping")):
        value = config.get(name, config.get("rope_parameters", {}).get(name))
        if value is not None:
            keys.append((f"{architecture}.{key}", "f32", value))
    if family == "gpt_oss":
        scaling = config["rope_scaling"]
        keys += [("gpt-oss.rope.scaling.type", "text", "yarn"), ("gpt-oss.rope.scaling.factor", "f32", scaling["factor"]),
                 ("gpt-oss.rope.scaling.original_context_length", "u32", scaling["original_max_position_embeddings"])]
    if family in ("gemma2", "phi3", "cohere2", "gpt_oss", "olmo3") and config.get("sliding_window"):
        keys.append((f"{architecture}.attention.sliding_window", "u32", config["sliding_window"]))
    if family == "olmo3":
        keys += [("olmo2.rope.scaling.type", "text", "linear"),
                 ("olmo2.rope.scaling.factor", "f32", config["rope_scaling"]["factor"])]
    if family == "gpt_neox":
        size = config["hidden_size"] // config["num_attention_heads"]
        turned = int(size * config.get("rotary_pct", 0.25))
        keys += [("gptneox.rope.dimension_count", "u32", turned),
                 ("gptneox.use_parallel_residual", "bool", config.get("use_parallel_residual", True))]
    if family == "falcon":
        keys.append(("falcon.attention.head_count_kv", "u32",
                     config["num_kv_heads"] if config.get("new_decoder_architecture") else 1))
    if family == "mpt":
        attention = config.get("attn_config", {})
        keys += [("mpt.attention.max_alibi_bias", "f32", attention.get("alibi_bias_max", 8.0)),
                 ("mpt.attention.clamp_kqv", "f32", attention.get("clip_qkv") or 0.0)]
    if family in ("phi3", "phi", "stablelm", "glm4", "glm"):
        part = config.get("partial_rotary_factor", config.get("rope_parameters", {}).get("partial_rotary_factor", 1))
        size = config["hidden_size"] // config["num_attention_heads"]
        keys.append((f"{architecture}.rope.dimension_count", "u32", int(size * part)))
    return keys


PRE = {"gpt2": "gpt-2", "llama": "llama-bpe", "qwen2": "qwen2", "qwen3": "qwen2", "gpt_neox": "olmo"}


def tokenizer(path, family):
    """The metadata equivalent to tokenizer.json."""
    with open(path) as file:
        parsed = json.load(file)
    model, added = parsed["model"], {one["content"]: one for one in parsed["added_tokens"]}
    ids = dict(model["vocab"], **{content: one["id"] for content, one in added.items()})
    tokens = [f"[PAD{i}]" for i in range(max(ids.values()) + 1)]
    kinds = [5] * len(tokens)
    for content, i in ids.items():
        tokens[i] = content
        kinds[i] = 1 if content not in added else 3 if added[content]["special"] else 4
    keys = []
    if model["type"] == "WordPiece":
        for content, i in model["vocab"].items():
            if not (content.startswith("[") and content.endswith("]")):
                tokens[i] = content[2:] if content.startswith("##") else "▁" + content
        keys += [("tokenizer.ggml.model", "text", "bert"), ("tokenizer.ggml.unknown_token_id", "u32", ids["[UNK]"]),
                 ("tokenizer.ggml.cls_token_id", "u32", ids["[CLS]"]),
                 ("tokenizer.ggml.seperator_token_id", "u32", ids["[SEP]"])]
    elif model.get("byte_fallback"):
        scores = [-1e9] * len(tokens)
        for rank, merge in enumerate(model["merges"]):
            joined = "".join(merge) if isinstance(merge, list) else merge.replace(" ", "")
            scores[ids[joined]] = max(scores[ids[joined]], -float(rank))
        for i, content in enumerate(tokens):
            if content.startswith("<0x"):
                kinds[i] = 6
            if content == "<unk>":
                kinds[i] = 2
        begin = ids.get("<s>", ids.get("<bos>"))
        keys += [("tokenizer.ggml.model", "text", "llama"), ("tokenizer.ggml.scores", "f32[]", scores),
                 ("tokenizer.ggml.bos_token_id", "u32", begin),
                 ("tokenizer.ggml.unknown_token_id", "u32", ids["<unk>"]),
                 ("tokenizer.ggml.add_space_prefix", "bool", family != "gemma2")]
    else:
        merges = [" ".join(merge) if isinstance(merge, list) else merge for merge in model["merges"]]
        keys += [("tokenizer.ggml.model", "text", "gpt2"), ("tokenizer.ggml.pre", "text", PRE.get(family, "llama-bpe")),
                 ("tokenizer.ggml.merges", "text[]", merges)]
        if "<|begin_of_text|>" in ids:
            keys.append(("tokenizer.ggml.bos_token_id", "u32", ids["<|begin_of_text|>"]))
    return keys + [("tokenizer.ggml.tokens", "text[]", tokens), ("tokenizer.ggml.token_type", "i32[]", kinds)]


def stacked(checkpoint):
    """Returns the other tensors, and each layer's experts stacked to [experts, …] under their name without the number."""
    stacks, rest = {}, {}
    for name, values in checkpoint.items():
        parts = re.fullmatch(r"(.*\.experts\.)(\d+)\.(.*)", name)
        if parts:
            stacks.setdefault(parts[1] + parts[3], {})[int(parts[2])] = values
        else:
            rest[name] = values
    return rest, {name: np.stack([stack[i] for i in range(len(stack))]) for name, stack in stacks.items()}


def gpt_oss_experts(checkpoint):
    """Like stacked(), from Hugging Face's order: [in, out], with gate and up interleaved in one tensor."""
    rest, experts = {}, {}
    for name, values in checkpoint.items():
        stem, _, last = name.rpartition(".experts.")
        if not stem:
            rest[name] = values
        elif last == "gate_up_proj":
            experts[stem + ".experts.gate_proj.weight"] = values[:, :, 0::2].transpose(0, 2, 1)
            experts[stem + ".experts.up_proj.weight"] = values[:, :, 1::2].transpose(0, 2, 1)
        elif last == "gate_up_proj_bias":
            experts[stem + ".experts.gate_proj.bias"] = values[:, 0::2]
            experts[stem + ".experts.up_proj.bias"] = values[:, 1::2]
        elif last == "down_proj":
            experts[stem + ".experts.down_proj.weight"] = values.transpose(0, 2, 1)
        else:
            experts[stem + ".experts.down_proj.bias"] = values
    return rest, {name: np.ascontiguousarray(values) for name, values in experts.items()}


KV_B, K_B, V_B = (".self_attn." + name + ".weight" for name in ("kv_b_proj", "k_b_proj", "v_b_proj"))


def split_latents(checkpoint, config):
    """Splits each map from latents to keys and values into [heads, rank, keys] and [heads, values, rank]."""
    split = {}
    for name, values in checkpoint.items():
        if not name.endswith(KV_B):
            split[name] = values
            continue
        heads = values.reshape(config["num_attention_heads"], -1, values.shape[1])
        keys = config["qk_nope_head_dim"]
        split[name.replace(KV_B, K_B)] = np.ascontiguousarray(heads[:, :keys].transpose(0, 2, 1))
        split[name.replace(KV_B, V_B)] = np.ascontiguousarray(heads[:, keys:])
    return split


def joined_latents(plain):
    joined = {name: values for name, values in plain.items() if not name.endswith((K_B, V_B))}
    for name, keys in plain.items():
        if name.endswith(K_B):
            both = np.concatenate([keys.transpose(0, 2, 1), plain[name.replace(K_B, V_B)]], 1)
            joined[name.replace(K_B, KV_B)] = np.ascontiguousarray(both.reshape(-1, both.shape[2]))
    return joined


def in_parts(tensors, parts):
    names = list(tensors)
    return [{name: tensors[name] for name in names[i::parts]} for i in range(parts)]


def joined(kept):
    """Joins F32 tensors along their rows; those of experts expert by expert."""
    joined = {}
    for name, (shape, kind, stored) in kept.items():
        target, parts = name, [name]
        for together, apart in ((".attn_qkv.", (".attn_q.", ".attn_k.", ".attn_v.")),
                                (".ffn_gate_up_exps.", (".ffn_gate_exps.", ".ffn_up_exps."))):
            for part in apart:
                if part in name and name.replace(part, apart[-1]) in kept:
                    target, parts = name.replace(part, together), [name.replace(part, each) for each in apart]
        numbers = [np.frombuffer(kept[part][2], "<f4").reshape(kept[part][0]) for part in parts]
        whole = np.concatenate(numbers, -2 if len(shape) > 1 else 0)
        joined[target] = (whole.shape, kind, whole.tobytes()) if len(parts) > 1 else (shape, kind, stored)
    return joined


def edited(metadata, tensors, edits):
    """Applies the edits of the command line."""
    entries = {key: (kind, value) for key, kind, value in metadata}
    for edit in edits:
        if edit.startswith("+"):
            tensors[edit[1:]] = ((1,), 0, np.ones(1, "<f4").tobytes())
            continue
        if edit.startswith("~"):
            shape, kind, stored = tensors[edit[1:]]
            tensors[edit[1:]] = (shape, kind, np.float32("nan").tobytes() + stored[4:])
            continue
        key, rest = edit.split(":", 1)
        kind, value = rest.split("=", 1)
        number = float if "f" in kind else int
        if key == "general.architecture":
            before = entries[key][1] + "."
            entries = {value + "." + old.removeprefix(before) if old.startswith(before) else old: entry
                       for old, entry in entries.items()}
        if kind == "drop":
            del entries[key]
        elif kind == "text":
            entries[key] = (kind, value)
        else:
            entries[key] = (kind, [number(v) for v in value.split(",")] if kind.endswith("[]") else number(value))
    return [(key, *entry) for key, entry in entries.items()]


def write_model(checkpoint, config, tokenizer_path, out, kind, parts=1, apart=False, split=False, together=False, edits=()):
    family = config["model_type"]
    if split:
        checkpoint = split_latents(checkpoint, config)
    architecture = ARCHITECTURES.get(family, family)
    kept, plain = {}, {}
    if family == "gpt_oss":  # its tests use only F32
        plain.update(checkpoint)
        checkpoint, experts = gpt_oss_experts(checkpoint)
    else:
        checkpoint, experts = (checkpoint, {}) if apart else stacked(checkpoint)
    for name, values in dict(checkpoint, **experts).items():
        target = gguf_name(name, family)
        if target is None or values.dtype == np.uint8:
            plain.update({name: values.astype(np.float32)} if family == "bert" and name.startswith("cls.") else {})
            continue
        numbers = changed(target, values, family, config)
        block = gguf_blocks.TYPES[kind][1] if kind in gguf_blocks.TYPES else 1
        own = kind if values.ndim > 1 and numbers.shape[-1] % block == 0 else "F32"
        stored, found = quantised(numbers, own)
        kept[target] = (numbers.shape, type_number(own), stored)
        if family == "gpt_oss":
            continue
        if name in experts:
            for i, one in enumerate(found):
                plain[name.replace(".experts.", f".experts.{i}.")] = np.ascontiguousarray(one)
            continue
        plain[name] = np.ascontiguousarray(unchanged(target, found, family, config))
    if family == "llama" and config.get("rope_scaling"):
        factors = llama3_factors(config)
        kept["rope_freqs.weight"] = (factors.shape, 0, factors.tobytes())
    plain = joined_latents(plain)
    if together:
        kept = joined(kept)
    metadata = sizes(config, family, architecture, split) + tokenizer(tokenizer_path, family)
    metadata = edited(metadata, kept, edits)
    os.makedirs(os.path.join(out, "plain"), exist_ok=True)
    if parts == 1:
        write_gguf(os.path.join(out, "model.gguf"), metadata, kept)
    for i, part in enumerate(in_parts(kept, parts) if parts > 1 else []):
        split = [("split.no", "u16", i), ("split.count", "u16", parts), ("split.tensors.count", "i32", len(kept))]
        write_gguf(os.path.join(out, f"model-{i + 1:05}-of-{parts:05}.gguf"), (metadata if i == 0 else []) + split, part)
    write_safetensors(os.path.join(out, "plain", "model.safetensors"), plain)
    shutil.copy(tokenizer_path, os.path.join(out, "plain", "tokenizer.json"))
    with open(os.path.join(out, "plain", "config.json"), "w") as file:
        json.dump(config, file)


def read_config(folder):
    with open(os.path.join(folder, "config.json")) as file:
        config = json.load(file)
    family = config["model_type"]
    # Fields without a GGUF key are set as in the published models.
    if family == "mistral":
        config["sliding_window"] = None
    if family == "starcoder2":
        config.pop("sliding_window", None)
    if family == "cohere2":
        config.pop("sliding_window_pattern", None)
    if family == "olmo3":
        config.pop("layer_types", None)
    config.pop("rope_interleave", None)
    if family == "smollm3":
        config.pop("no_rope_layer_interval", None)
    if family == "gemma2":
        config["query_pre_attn_scalar"] = config["head_dim"]
    return config


def with_biases(config, checkpoint):
    """A Llama's config and tensors with a random bias in each of its maps."""
    random = np.random.default_rng(4)
    biases = {name.replace("weight", "bias"): random.normal(0, 0.3, values.shape[0]).astype(np.float32)
              for name, values in checkpoint.items() if name.endswith("_proj.weight")}
    return dict(config, attention_bias=True, mlp_bias=True), dict(checkpoint, **biases)


def made_up(config, width=256):
    """A random Llama whose rows are whole blocks of 256."""
    config = dict(config, hidden_size=width, intermediate_size=width, num_hidden_layers=2, num_attention_heads=4,
                  num_key_value_heads=2, head_dim=width // 4, rope_scaling=None)
    config.pop("rope_parameters", None)
    random = np.random.default_rng(5)
    tensors = {"model.embed_tokens.weight": (config["vocab_size"], width), "model.norm.weight": (width,),
               "lm_head.weight": (config["vocab_size"], width)}
    for i in range(2):
        layer = f"model.layers.{i}."
        for name, rows in (("self_attn.q_proj", width), ("self_attn.k_proj", width // 2),
                           ("self_attn.v_proj", width // 2), ("self_attn.o_proj", width), ("mlp.gate_proj", width),
                           ("mlp.up_proj", width), ("mlp.down_proj", width)):
            tensors[layer + name + ".weight"] = (rows, width)
        tensors[layer + "input_layernorm.weight"] = tensors[layer + "post_attention_layernorm.weight"] = (width,)
    return config, {name: (random.normal(0, 1 / 16, shape) if len(shape) == 2 else random.normal(1, 0.1, shape))
                    .astype(np.float32) for name, shape in tensors.items()}


def made_up_latents(config):
    """A random DeepSeek V2 whose rows are whole blocks of 32."""
    config = {"model_type": "deepseek_v2", "vocab_size": config["vocab_size"], "hidden_size": 64, "intermediate_size": 96,
              "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2, "kv_lora_rank": 64,
              "q_lora_rank": None, "qk_nope_head_dim": 32, "qk_rope_head_dim": 16, "v_head_dim": 32,
              "n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
              "first_k_dense_replace": 1, "rms_norm_eps": 1e-6, "topk_method": "greedy", "routed_scaling_factor": 1.0}
    shapes = {"model.embed_tokens": (config["vocab_size"], 64), "model.norm": (64,), "lm_head": (config["vocab_size"], 64)}
    for i in range(2):
        parts = {"input_layernorm": (64,), "post_attention_layernorm": (64,), "self_attn.q_proj": (96, 64),
                 "self_attn.kv_a_proj_with_mqa": (80, 64), "self_attn.kv_a_layernorm": (64,),
                 "self_attn.kv_b_proj": (128, 64), "self_attn.o_proj": (64, 64)}
        inners = {"mlp.": 96} if i == 0 else dict({f"mlp.experts.{e}.": 32 for e in range(4)}, **{"mlp.shared_experts.": 32})
        for stem, inner in inners.items():
            parts.update({stem + "gate_proj": (inner, 64), stem + "up_proj": (inner, 64), stem + "down_proj": (64, inner)})
        if i == 1:
            parts["mlp.gate"] = (4, 64)
        shapes.update({f"model.layers.{i}.{name}": shape for name, shape in parts.items()})
    random = np.random.default_rng(9)
    return config, {name + ".weight": (random.normal(0, 1 / 8, shape) if len(shape) == 2 else random.normal(1, 0.1, shape))
                    .astype(np.float32) for name, shape in shapes.items()}


def write_blocks(path):
    random = np.random.default_rng(3)
    tensors = {}
    for name in gguf_blocks.TYPES:
        blocks = gguf_blocks.random_blocks(name, 24, random)
        if name == "MXFP4":
            blocks[:4, 0] = (0, 1, 254, 255)
        else:
            # Scales in half precision: 0, the smallest, the largest, and the negative normal number closest to 0.
            at = gguf_blocks.TYPES[name][3][0]
            for i, bits in enumerate((0, 1, 0x7bff, 0x8400)):
                blocks[i, at:at + 2] = np.frombuffer(struct.pack("<H", bits), np.uint8)
        tensors[name + ".blocks"] = blocks
        with np.errstate(over="ignore", invalid="ignore"):
            tensors[name + ".values"] = gguf_blocks.values(name, blocks).astype(np.float32)
    write_safetensors(path, tensors)


def main(what, source, *rest):
    if what == "blocks":
        return write_blocks(source)
    out, kinds, *more = rest
    parts = [word for word in more if word.isdigit()]
    config = read_config(source)
    checkpoint = read_checkpoint(source)
    if what == "wide":
        config, checkpoint = made_up(config)
    if what == "latents":
        config, checkpoint = made_up_latents(config)
    if what == "biased":
        config, checkpoint = with_biases(config, checkpoint)
    for kind in kinds.split(","):
        write_model(checkpoint, config, os.path.join(source, "tokenizer.json"),
                    os.path.join(out, kind) if "," in kinds else out, kind, int(parts[0]) if parts else 1,
                    apart=what == "apart", split=what in ("split", "latents"), together=what == "joined",
                    edits=[word for word in more if not word.isdigit()])


if __name__ == "__main__":
    main(*sys.argv[1:])
