"""Quantised checkpoints beside the libraries that make them: the logits of a small Llama whose weights each library
packs and unpacks itself."""

import json
from dataclasses import dataclass

import torch
import transformers
from safetensors.torch import save_file

import library

SIZES = {"vocab_size": 97, "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 128,
         "tie_word_embeddings": False}
IDS = [3, 14, 15, 92, 65, 35, 89, 79, 32, 38]


def compressed(weight, group, kind):
    """The tensors of compressed-tensors' 4-bit floats, and the weight that they stand for."""
    from compressed_tensors.compressors.mxfp4.base import MXFP4PackedCompressor
    from compressed_tensors.compressors.nvfp4.base import NVFP4PackedCompressor
    from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme

    strategy = "tensor_group" if kind == "nvfp4" else "group"
    args = QuantizationArgs(num_bits=4, type="float", symmetric=True, group_size=group, strategy=strategy)
    scheme = QuantizationScheme(targets=["Linear"], weights=args)
    most = weight.abs().reshape(weight.shape[0], -1, group).amax(-1)
    state = {"weight": weight}
    if kind == "nvfp4":
        state["weight_global_scale"] = (448 * 6 / weight.abs().max()).reshape(1)
        state["weight_scale"] = (most * state["weight_global_scale"] / 6).to(torch.float8_e4m3fn).float()
        compressor = NVFP4PackedCompressor
    else:
        state["weight_scale"] = 2 ** torch.floor(torch.log2(most / 4))
        compressor = MXFP4PackedCompressor
    packed = compressor.compress(state, scheme)
    return packed, compressor.decompress(packed, scheme)["weight"].float()


def nvfp4(linear):
    return compressed(linear.weight.data, 16, "nvfp4")


def mxfp4(linear):
    return compressed(linear.weight.data, 32, "mxfp4")


def modelopt(linear):
    packed, weight = nvfp4(linear)
    return {"weight": packed["weight_packed"], "weight_scale": packed["weight_scale"],
            "weight_scale_2": (1 / packed["weight_global_scale"]).reshape(())}, weight


def half_quadratic(bits, axis):
    def pack(linear):
        from hqq.core.quantize import BaseQuantizeConfig, HQQLinear

        config = BaseQuantizeConfig(nbits=bits, group_size=64, axis=axis)
        layer = HQQLinear(torch.nn.Linear(1, 1, bias=False), None, initialize=False)
        layer = HQQLinear(linear, config, compute_dtype=torch.float16, device="cpu", del_orig=False)
        layer.encoded_state_dict = True
        tensors = {name: value for name, value in layer.state_dict().items() if isinstance(value, torch.Tensor)}
        return tensors, layer.dequantize().float()
    return pack


def torch_ao(make):
    def pack(linear):
        from torchao.prototype.safetensors.safetensors_support import flatten_tensor_state_dict
        from torchao.quantization import quantize_

        module = torch.nn.Sequential(torch.nn.Linear(linear.in_features, linear.out_features, bias=False))
        module[0].weight.data = linear.weight.data.to(torch.bfloat16)
        quantize_(module, make())
        tensors, _ = flatten_tensor_state_dict(module.state_dict())
        return {name.removeprefix("0."): tensor for name, tensor in tensors.items()}, module[0].weight.dequantize().float()
    return pack


def int8():
    from torchao.quantization import Int8WeightOnlyConfig
    return Int8WeightOnlyConfig(version=2)


def float8():
    from torchao.quantization import Float8WeightOnlyConfig
    return Float8WeightOnlyConfig(version=2)


def intx():
    from torchao.quantization import IntxWeightOnlyConfig
    from torchao.quantization.granularity import PerGroup
    return IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(32))


def group_config(fmt, bits, group):
    return {"quant_method": "compressed-tensors", "format": fmt, "config_groups": {"group_0": {
        "targets": ["Linear"], "weights": {"num_bits": bits, "type": "float", "group_size": group}}}}


@dataclass
class Case:
    name: str
    pack: object        # what it makes of a linear layer: its tensors, and the weight that they stand for
    quantization: dict  # quantization_config
    half: torch.dtype = torch.bfloat16  # Headscope rounds to the type of the scales
    tolerance: float = library.TOLERANCE


CASES = (
    Case("nvfp4", nvfp4, group_config("nvfp4-pack-quantized", 4, 16)),
    Case("mxfp4", mxfp4, group_config("mxfp4-pack-quantized", 4, 32)),
    Case("modelopt", modelopt, {"quant_method": "modelopt", "quant_algo": "NVFP4"}),
    Case("hqq/4", half_quadratic(4, 1), {"quant_method": "hqq"}, torch.float16),
    Case("hqq/3", half_quadratic(3, 1), {"quant_method": "hqq"}, torch.float16),
    Case("hqq/8-first", half_quadratic(8, 0), {"quant_method": "hqq"}, torch.float16),
    Case("torchao/int8", torch_ao(int8), {"quant_method": "torchao"}),
    Case("torchao/float8", torch_ao(float8), {"quant_method": "torchao"}),
    Case("torchao/intx", torch_ao(intx), {"quant_method": "torchao"}),
)


def check(case, folder):
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES)).eval()
    library.randomise(model, 7)
    tensors = {name: value for name, value in model.state_dict().items() if "layers." not in name or "norm" in name}
    for path, module in model.named_modules():
        if not isinstance(module, torch.nn.Linear) or path == "lm_head":
            continue
        packed, weight = case.pack(module)
        tensors |= {f"{path}.{name}": value.contiguous() for name, value in packed.items()}
        module.weight.data = weight.to(case.half).float()
    save_file(tensors, folder / "model.safetensors")
    config = json.loads(model.config.to_json_string(use_diff=False))
    config |= {"architectures": ["LlamaForCausalLM"], "quantization_config": case.quantization}
    (folder / "config.json").write_text(json.dumps(config))
    with torch.no_grad():
        out = model(torch.tensor([IDS]))
    _, ours = library.headscope_arrays(folder, "--ids", library.listed(IDS))
    return library.differences(ours, {"logits": out.logits[0]})


if __name__ == "__main__":
    library.run_cases(CASES, check, lambda: [])
