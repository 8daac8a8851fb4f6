"""Writes a model folder that Hugging Face's library and Headscope can open."""

import json
import pathlib
import struct


def config(sizes):
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": sizes.vocabulary,
        "hidden_size": sizes.width,
        "intermediate_size": sizes.inner,
        "num_hidden_layers": sizes.layers,
        "num_attention_heads": sizes.heads,
        "num_key_value_heads": sizes.kv_heads,
        "head_dim": sizes.head_dim,
        "hidden_act": "silu",
        "max_position_embeddings": sizes.positions,
        "rms_norm_eps": sizes.epsilon,
        "rope_theta": sizes.theta,
        "rope_scaling": None,
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": True,
        "bos_token_id": None,
        "eos_token_id": None,
        "torch_dtype": "float32",
    }


def safetensors(model):
    """The bytes of a safetensors file with the parameters as F32, sorted by name."""
    header, data = {"__metadata__": {"format": "pt"}}, bytearray()
    for name, parameter in sorted(model.named_parameters()):
        values = parameter.detach().contiguous().numpy().astype("<f4").tobytes()
        header["model." + name] = {"dtype": "F32", "shape": list(parameter.shape),
                                   "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + bytes(data)


def write_json(path, value, indent=2):
    path.write_text(json.dumps(value, ensure_ascii=False, indent=indent) + "\n", encoding="utf-8")


def write(folder, model, tokenizer, sentences, scores):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "config.json", config(model.sizes))
    write_json(folder / "tokenizer.json", tokenizer.json())
    write_json(folder / "scores.json", scores)
    rows = {skill: [[one["text"], one["next"], one["query"], one["key"]] for one in asked]
            for skill, asked in sentences.items()}
    lines = ["{", '"format": "headscope held-out sentences", "version": 1,', '"fields": ["text", "next", "query", "key"],',
             '"skills": {']
    for at, (skill, asked) in enumerate(rows.items()):
        lines.append(json.dumps(skill) + ": [")
        lines.append(",\n".join(json.dumps(one, ensure_ascii=False) for one in asked))
        lines.append("]" + ("," if at + 1 < len(rows) else ""))
    lines.append("}}")
    (folder / "held_out.json").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "model.safetensors").write_bytes(safetensors(model))
