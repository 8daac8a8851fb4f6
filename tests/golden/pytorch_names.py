#!/usr/bin/python3
"""Writes the cases names_*.safetensors: layers with the tensor names of PyTorch and Hugging Face, computed in float64.

/usr/bin/python3 tests/golden/pytorch_names.py   (Debian: apt-get install python3-torch)"""

import json
import pathlib
import struct

import torch
from torch import nn

FOLDER = pathlib.Path(__file__).resolve().parent


def write(name, tensors, metadata):
    header, data = {"__metadata__": metadata}, bytearray()
    for key, tensor in sorted(tensors.items()):
        values = tensor.detach().to(torch.float32).contiguous().numpy().tobytes()
        header[key] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    (FOLDER / f"{name}.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(data))


def exact(tensor):
    """Rounds to float32, so that the file holds exactly the numbers that are computed with."""
    return tensor.to(torch.float32).to(torch.float64)


def random_layer(heads, kv_heads, head_dim, width, bias):
    """q, k, v, o as in torch.nn.Linear: (weight [out, in], bias or None)."""
    def linear(out, inputs):
        weight = exact(torch.randn(out, inputs) * inputs ** -0.5 * 1.5)
        return weight, exact(torch.randn(out) * 0.3) if bias else None
    kv = kv_heads * head_dim
    return {"q": linear(heads * head_dim, width), "k": linear(kv, width), "v": linear(kv, width),
            "o": linear(width, heads * head_dim)}


def attend(layer, x, heads, kv_heads, causal):
    """The expected results, by name: expect.q, k, v, scores, weights, lse, head_output and output."""
    n = x.shape[0]

    def project(map_, count):
        weight, bias = layer[map_]
        y = x @ weight.T + (bias if bias is not None else 0)
        return y.view(n, count, -1).transpose(0, 1)
    q, k, v = project("q", heads), project("k", kv_heads), project("v", kv_heads)
    group = heads // kv_heads
    scores = q @ k.repeat_interleave(group, 0).transpose(1, 2) * q.shape[-1] ** -0.5
    if causal:
        scores = scores.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), float("-inf"))
    weights = scores.softmax(-1)
    head_output = weights @ v.repeat_interleave(group, 0)
    weight, bias = layer["o"]
    output = head_output.transpose(0, 1).reshape(n, -1) @ weight.T + (bias if bias is not None else 0)
    found = {"q": q, "k": k, "v": v, "scores": scores, "weights": weights, "lse": scores.logsumexp(-1),
             "head_output": head_output, "output": output}
    return {f"expect.{name}": tensor for name, tensor in found.items()}


def named(prefix, names, layer, join="."):
    """The layer's tensors under a model's names; `names` maps q, k, v, o (or qkv, o) to them."""
    tensors = {}
    for map_, (weight, bias) in layer.items():
        if map_ not in names:
            continue
        ending = "." if map_ == "o" else join
        tensors[f"{prefix}{names[map_]}{ending}weight"] = weight
        if bias is not None:
            tensors[f"{prefix}{names[map_]}{ending}bias"] = bias
    return tensors


def fused(layer, order):
    """Joins q, k and v into one map. `order` permutes the rows of their concatenation."""
    weights = torch.cat([layer[m][0] for m in "qkv"])
    biases = torch.cat([layer[m][1] for m in "qkv"]) if layer["q"][1] is not None else None
    return {"qkv": (weights[order], biases[order] if biases is not None else None), "o": layer["o"]}


def multihead():
    """A layer whose results torch.nn.MultiheadAttention itself confirms."""
    heads, width, n = 4, 24, 7
    module = nn.MultiheadAttention(width, heads, bias=True, batch_first=True).double()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(exact(torch.randn_like(parameter) * 0.3))
    x = exact(torch.randn(n, width))
    state = module.state_dict()
    weights, biases = state["in_proj_weight"].chunk(3), state["in_proj_bias"].chunk(3)
    layer = {m: (weights[i], biases[i]) for i, m in enumerate("qkv")}
    layer["o"] = (state["out_proj.weight"], state["out_proj.bias"])
    expected = attend(layer, x, heads, heads, causal=False)
    output, averaged = module(x[None], x[None], x[None], need_weights=True, average_attn_weights=False)
    assert torch.allclose(output[0], expected["expect.output"], atol=1e-12)
    assert torch.allclose(averaged[0], expected["expect.weights"], atol=1e-12)
    write("names_in_proj", {**state, "x": x, **expected},
          {"heads": str(heads), "case": "names_in_proj", "witness": "torch.nn.MultiheadAttention"})


def model_of_two_layers(case, prefix, names, make, heads, kv_heads, head_dim, width, bias, causal):
    """Layer 3 must be found among layers 3 and 4 and a tensor of another module."""
    x = exact(torch.randn(6, width))
    tensors = {"x": x, prefix.format(3) + "mlp.weight": exact(torch.randn(2, 2))}
    for number in (3, 4):
        layer = random_layer(heads, kv_heads, head_dim, width, bias)
        tensors.update(named(prefix.format(number), names, make(layer)))
        if number == 3:
            tensors.update(attend(layer, x, heads, kv_heads, causal))
    write(case, tensors, {"heads": str(heads), "layer": "3", "causal": str(causal), "case": case,
                          "witness": "torch, float64"})


def conv1d(layer):
    """As in GPT-2: fused, with weights [in, out]."""
    both = fused(layer, torch.arange(3 * layer["q"][0].shape[0]))
    return {m: (weight.T, bias) for m, (weight, bias) in both.items()}


def by_head(layer, heads=3):
    rows = torch.arange(3 * layer["q"][0].shape[0])
    return fused(layer, rows.view(3, heads, -1).transpose(0, 1).reshape(-1))


def main():
    torch.manual_seed(11)
    torch.set_default_dtype(torch.float64)
    multihead()
    model_of_two_layers("names_c_attn", "transformer.h.{}.attn.", {"qkv": "c_attn", "o": "c_proj"}, conv1d,
                        4, 4, 6, 24, bias=True, causal=True)
    model_of_two_layers("names_bert", "bert.encoder.layer.{}.attention.",
                        {"q": "self.query", "k": "self.key", "v": "self.value", "o": "output.dense"}, lambda layer: layer,
                        2, 2, 8, 16, bias=True, causal=False)
    model_of_two_layers("names_qkv_proj", "model.layers.{}.self_attn.", {"qkv": "qkv_proj", "o": "o_proj"},
                        lambda layer: fused(layer, torch.arange((6 + 2 * 2) * 4)), 6, 2, 4, 20, bias=False, causal=True)
    model_of_two_layers("names_query_key_value", "gpt_neox.layers.{}.attention.",
                        {"qkv": "query_key_value", "o": "dense"}, by_head, 3, 3, 6, 18, bias=True, causal=True)


if __name__ == "__main__":
    main()
