#include <fmt/core.h>

#include <system_error>

#include "attention/formats/files/file_io.h"
#include "attention/formats/quote.h"
#include "attention/models/checkpoint/checkpoint.h"
#include "attention/models/config/config_reader.h"

namespace headscope::attention {
namespace {

constexpr std::string_view kAdapterConfig = "adapter_config.json";

/// Folders of other programs, by a file that only they have.
struct OtherFolder {
  std::string_view file, says;
};
constexpr OtherFolder kWithoutConfig[] = {
    {"model_index.json",
     "is a pipeline of diffusers, expected a model: open one of its folders, such as text_encoder"},
    {"config_sentence_transformers.json",
     "is a sentence-transformers model without a config.json, expected a Hugging Face model folder: open the "
     "folder in it that has one"},
    {"params.json",
     "has the weights as their makers published them (params.json), expected the Hugging Face form with a "
     "config.json"},
};

/// Weights in other formats, by the beginning and the end of a file's name.
struct OtherWeights {
  std::string_view begin, end, says;
};
constexpr OtherWeights kOtherWeights[] = {
    {"pytorch_model", ".bin",
     ", a pickle, which could run any code; {}, as save_pretrained(…, safe_serialization=True) writes it"},
    {"", ".gguf", ", which you can open directly; {}"},
    {"consolidated", ".safetensors", ", the form their makers published; {}"},
    {"consolidated", ".pth", ", a pickle, which could run any code; {}"},
    {"tf_model", ".h5", ", in TensorFlow's format; {}, as save_pretrained() in PyTorch writes it"},
    {"flax_model", ".msgpack", ", in Flax's format; {}, as save_pretrained() in PyTorch writes it"},
    {"", ".onnx", ", in ONNX format; {}"},
};

/// The reason that a PEFT adapter can't be opened, with its base model's name if it says one.
Error isAdapter(const std::filesystem::path& folder) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 20;
  std::string base;
  if (const auto bytes = readFile(folder / kAdapterConfig, kMost)) {
    const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    const auto json = ConfigReader::parse(text, "");
    if (json && json->isText("base_model_name_or_path")) base = json->text("base_model_name_or_path", "");
  }
  return fileError(folder, fmt::format("is an adapter{}, expected a whole model: merge it in Python with "
                                       "PEFT's merge_and_unload() and save the result",
                                       base.empty() ? "" : " for " + quotedText(base)));
}

}  // namespace

Error withoutConfig(const std::filesystem::path& folder) {
  if (fileExists(folder / kAdapterConfig)) return isAdapter(folder);
  for (const OtherFolder& other : kWithoutConfig)
    if (fileExists(folder / other.file)) return fileError(folder, std::string(other.says));
  return fileError(folder, "has no config.json, expected a Hugging Face model folder");
}

Error withoutWeights(const std::filesystem::path& folder) {
  std::error_code code;
  const OtherWeights* found = nullptr;
  std::string file;
  for (const auto& entry : std::filesystem::directory_iterator(folder, code)) {
    const std::string name = entry.path().filename().string();
    for (const OtherWeights& other : kOtherWeights)
      if (name.starts_with(other.begin) && name.ends_with(other.end) && (!found || &other < found)) {
        found = &other;
        file = shownPath(name);
      }
  }
  if (code) return fileError(folder, "cannot be read: " + code.message());
  if (fileExists(folder / kAdapterConfig)) return isAdapter(folder);
  const std::string expected = "expected model.safetensors or model.safetensors.index.json";
  if (!found) return fileError(folder, "has no weights, " + expected);
  return fileError(folder, "has its weights in " + file + fmt::format(fmt::runtime(found->says), expected));
}

}  // namespace headscope::attention
