#include <fmt/core.h>

#include <system_error>

#include "attention/formats/files/file_io.h"
#include "attention/formats/quote.h"
#include "attention/models/checkpoint/checkpoint.h"

namespace headscope::attention {
namespace {

using Opens = FileKind::Opens;

/// The first refused kind that a folder holds is the one named.
constexpr FileKind kFileKinds[] = {
    {"*.safetensors", Opens::yes, "tensors: a layer's weights, recorded attention, masks"},
    {"*.npz *.npy", Opens::yes, "NumPy's arrays of numbers, in any order, and ml_dtypes' bfloat16"},
    {"*.pt *.pth", Opens::yes,
     "torch.save() of tensors, lists and dictionaries, and of transformers' outputs; no code in it is run"},
    {"*.csv *.tsv *.txt", Opens::yes, "tables of numbers, masks, tokens"},
    {"config.json", Opens::yes,
     "a Hugging Face model with model.safetensors or pytorch_model.bin, whole or in several files"},
    {"quantization_config", Opens::yes,
     "in a config.json: GPTQ of 2 to 8 bits, AWQ, bitsandbytes' nf4, fp4 and int8, compressed-tensors' int4, "
     "int8 "
     "and fp8, FP8 in blocks, NVFP4 and MXFP4 (also of Model Optimizer and Quark), HQQ of 1 to 8 bits, "
     "torchao's int8, intx and float8, MLX of 2 to 8 bits, gpt-oss's MXFP4"},
    {"adapter_config.json", Opens::yes, "a LoRA adapter of PEFT, with its model beside it or downloaded"},
    {"*.gguf", Opens::yes, "a model of llama.cpp, in one file or several", "open that file"},
    {"tokenizer.json", Opens::yes, "a tokenizer"},
    {"model_index.json", Opens::notWithoutConfig, "a pipeline of diffusers",
     "open one of its folders, such as text_encoder"},
    {"config_sentence_transformers.json", Opens::notWithoutConfig,
     "a sentence-transformers model without a config.json", "open the folder in it that has one"},
    {"params.json", Opens::notWithoutConfig, "a model as its makers published it",
     "take the Hugging Face form, with a config.json"},
    {"consolidated*.safetensors", Opens::notAsWeights, "the form their makers published",
     "take the Hugging Face form, with model.safetensors"},
    {"consolidated*.pth", Opens::notAsWeights, "the form their makers published",
     "take the Hugging Face form, with model.safetensors"},
    {"tf_model*.h5", Opens::notAsWeights, "TensorFlow's format",
     "in Python, call from_pretrained(…, from_tf=True) and save_pretrained()"},
    {"flax_model*.msgpack", Opens::notAsWeights, "Flax's format",
     "in Python, call from_pretrained(…, from_flax=True) and save_pretrained()"},
    {"*.onnx", Opens::notAsWeights, "ONNX's format", "take the model that it was exported from"},
    {"quantization_config", Opens::notAsWeights,
     "EXL2, AQLM, VPTQ, HIGGS, Quanto, EETQ, BitNet, torchao's int4 and others",
     "take the model before it was quantised, or a GGUF file"},
};

bool fits(std::string_view name, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  return star == pattern.npos
             ? name == pattern
             : name.starts_with(pattern.substr(0, star)) && name.ends_with(pattern.substr(star + 1));
}

/// The reason that a PEFT adapter can't be opened, with its base model's name if it says one.
Error adapterAlone(const std::filesystem::path& folder) {
  const auto base = adapterBase(folder);
  return fileError(folder,
                   fmt::format("is an adapter{}, whose folder wasn't found: put it beside this one",
                               base && !base->empty() ? " for " + quotedText(*base) : " for a model"));
}

}  // namespace

Error withoutConfig(const std::filesystem::path& folder) {
  if (isAdapter(folder)) return adapterAlone(folder);
  for (const FileKind& kind : kFileKinds)
    if (kind.opens == Opens::notWithoutConfig && fileExists(folder / kind.names))
      return fileError(folder, fmt::format("is {}: {}", kind.what, kind.instead));
  return fileError(folder, "has no config.json, expected a Hugging Face model folder");
}

Error withoutWeights(const std::filesystem::path& folder) {
  std::error_code code;
  const FileKind* found = nullptr;
  std::string file;
  for (const auto& entry : std::filesystem::directory_iterator(folder, code)) {
    const std::string name = entry.path().filename().string();
    for (const FileKind& kind : kFileKinds)
      if (kind.instead.size() > 0 && fits(name, kind.names) && (!found || &kind < found)) {
        found = &kind;
        file = shownPath(name);
      }
  }
  if (code) return fileError(folder, "cannot be read: " + code.message());
  if (fileExists(folder / "adapter_config.json")) return adapterAlone(folder);
  if (found)
    return fileError(folder, fmt::format("has its weights in {}, {}: {}", file, found->what, found->instead));
  return fileError(folder, "has no weights, expected model.safetensors, pytorch_model.bin or their index");
}

std::span<const FileKind> fileKinds() {
  return kFileKinds;
}

}  // namespace headscope::attention
