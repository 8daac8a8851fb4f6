"""headscope.record() on random models of transformers: the weights are the library's own, q and k explain them, and the
model is left as it was."""
import sys

import headscope
import numpy as np
import torch
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM

SMALL = dict(hidden_size=64, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2, intermediate_size=96,
             vocab_size=100, eos_token_id=99, pad_token_id=0)
SIZED = dict(SMALL, head_dim=16)
# Decoders: kind, sizes, and whether q and k alone explain the weights.
DECODERS = [
    ("llama", SMALL, True),
    ("mistral", SMALL, True),
    ("phi3", SMALL, True),
    ("qwen3", SIZED, True),
    ("gemma2", SIZED, True),  # its soft-cap of 50 changes nothing at these sizes
    ("gpt2", dict(n_embd=64, n_layer=3, n_head=4, vocab_size=100, eos_token_id=99), True),
    ("gpt_neox", dict(SMALL), True),
    ("opt", dict(SMALL, ffn_dim=96, word_embed_proj_dim=64), True),
    ("gpt_oss", dict(SIZED, num_local_experts=4), False),  # sinks
    ("bloom", dict(hidden_size=64, n_layer=3, n_head=4, vocab_size=100), None),  # a function of its own: no q and k
    ("lfm2", dict(SMALL, layer_types=["conv", "full_attention", "conv"]), True),
]
IDS = [1, 2, 3, 4, 5, 6, 7]


def model_of(make, kind, sizes):
    torch.manual_seed(0)
    return make.from_config(AutoConfig.for_model(kind, **sizes))


def library_layers(model):
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    found = model.eval()(torch.tensor([IDS]), output_attentions=True).attentions
    model.set_attn_implementation(before)
    return [layer[0].detach().numpy() for layer in found if layer is not None]


def explained(found, layer):
    """softmax(q·kᵀ·scale) under a causal mask."""
    q = found.q[layer]
    k = np.repeat(found.k[layer], len(q) // len(found.k[layer]), axis=0)
    scores = np.where(np.tril(np.ones((q.shape[1], k.shape[1]))) > 0, q @ k.transpose(0, 2, 1) * found.scale[layer], -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def check_decoder(kind, sizes, explains):
    model = model_of(AutoModelForCausalLM, kind, sizes)
    model.train()
    before = model.config._attn_implementation
    found = headscope.record(model, IDS)
    assert model.training and model.config._attn_implementation == before
    own = [layer for layer in found.layers if layer is not None]
    for mine, library in zip(own, library_layers(model), strict=True):
        assert np.abs(mine - library).max() < 1e-6
    assert found.tokens == [str(id) for id in IDS]
    assert (found.q is None) == (explains is None)
    if explains:
        layer = next(i for i, layer in enumerate(found.layers) if layer is not None)
        assert np.abs(explained(found, layer) - found.layers[layer]).max() < 1e-5
    generated = headscope.record_generation(model, IDS[:4], max_new_tokens=3, min_new_tokens=3, do_sample=False)
    assert [layer is None for layer in generated.layers] == [layer is None for layer in found.layers]
    layer = next(layer for layer in generated.layers if layer is not None)
    assert generated.prompt == 4 and layer.shape == (4, 6, 6) and np.abs(layer.sum(-1) - 1).max() < (1e-5 if explains else 1)


def check_encoders():
    bert = model_of(AutoModel, "bert", dict(SMALL, num_hidden_layers=2))
    assert headscope.record(bert, {"input_ids": [IDS]}).shape == (2, 4, 7, 7)
    sizes = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, image_size=32, patch_size=8)
    picture = headscope.record(model_of(AutoModel, "vit", sizes), {"pixel_values": torch.zeros(1, 3, 32, 32)})
    assert picture.shape == (2, 4, 17, 17) and picture.tokens is None
    for kind, sizes in (("t5", dict(d_model=64, num_layers=2, num_heads=4, d_ff=96, d_kv=16, decoder_start_token_id=0)),
                        ("bart", dict(d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                                      decoder_attention_heads=4, encoder_ffn_dim=96, decoder_ffn_dim=96))):
        both = headscope.record(model_of(AutoModel, kind, dict(sizes, vocab_size=100)), IDS, decoder_inputs=[0, 5])
        assert set(both.groups) == {"encoder", "decoder", "cross"} and both.groups["cross"][0].shape == (4, 2, 7), kind
        both.save(f"{kind}.safetensors")
        assert headscope.load(f"{kind}.safetensors").tokens == both.tokens


def check_refusals():
    model = model_of(AutoModelForCausalLM, "llama", SMALL)
    for call, expected in (
            (lambda: headscope.record(model, "a text"), "expected token ids, or a tokenizer as well"),
            (lambda: headscope.record(model, [[1, 2], [3, 4]]), "inputs is a batch of 2, expected one text")):
        try:
            call()
        except ValueError as error:
            assert expected in str(error), error
        else:
            raise AssertionError("nothing was refused")


def main():
    checks = {kind: lambda row=row: check_decoder(*row) for row in DECODERS for kind in row[:1]}
    checks.update(encoders=check_encoders, refusals=check_refusals)
    failed = 0
    for name, check in checks.items():
        try:
            check()
            print(f"{name}: passed")
        except Exception as error:  # the other families go on
            failed += 1
            print(f"{name}: FAILED: {type(error).__name__}: {error}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
