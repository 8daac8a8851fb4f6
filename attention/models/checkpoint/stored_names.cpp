#include <fmt/core.h>

#include "attention/formats/files/file_io.h"
#include "attention/formats/quote.h"
#include "attention/models/checkpoint/model_weights.h"

namespace headscope::attention {
namespace {

using Tensors = std::map<std::string, TensorView>;

/// A part of tensor names, and the program or model that adds it.
struct Wrapper {
  std::string_view part, by;
  bool multimodal = false;  ///< only in the text parts of multimodal models
};
constexpr Wrapper kWrappers[] = {
    {"_orig_mod.", "torch.compile adds"},
    {"module.", "DataParallel adds"},
    {"_fsdp_wrapped_module.", "FSDP adds"},
    {"_checkpoint_wrapped_module.", "activation checkpointing adds"},
    {"language_model.", "models have that also read pictures"},
    {"text_model.", "models have that also read pictures", true},
};

/// Leaves every occurrence of a part out; one that begins in the middle of a word isn't one.
std::string without(std::string name, std::string_view part) {
  for (std::size_t at = 0; (at = name.find(part, at)) != std::string::npos;)
    if (at == 0 || name[at - 1] == '.')
      name.erase(at, part.size());
    else
      ++at;
  return name;
}

/// Renames tensors. Returns whether any has a new name; one whose new name is taken keeps its own.
bool renameAll(Tensors& tensors, const std::function<std::string(const std::string&)>& renamed) {
  std::vector<std::pair<std::string, std::string>> changes;
  for (const auto& [name, tensor] : tensors)
    if (const std::string other = renamed(name); other != name) changes.emplace_back(name, other);
  bool changed = false;
  for (const auto& [name, other] : changes) {
    if (tensors.contains(other)) continue;
    auto node = tensors.extract(name);
    node.key() = other;
    tensors.insert(std::move(node));
    changed = true;
  }
  return changed;
}

/// Whether a tensor of the first layer has one of the family's prefixes after `outer`.
bool hasLayers(const Tensors& tensors, const TensorNaming& naming, const std::string& outer) {
  std::string layer(naming.names.layer);
  if (const std::size_t mark = layer.find('N'); mark != layer.npos) layer.replace(mark, 1, "0");
  return std::ranges::any_of(naming.prefixes, [&](std::string_view prefix) {
    const std::string start = outer + std::string(prefix) + layer;
    const auto first = tensors.lower_bound(start);
    return first != tensors.end() && first->first.starts_with(start);
  });
}

/// What all names begin with, such as "backbone.", if the family's names come after it; else "".
std::string outerPart(const Tensors& tensors, const TensorNaming& naming) {
  std::string outer;
  while (!hasLayers(tensors, naming, outer)) {
    // Names are sorted, so those between the first and the last begin as these two do.
    const std::size_t end = tensors.empty() ? 0 : tensors.begin()->first.find('.', outer.size()) + 1;
    if (end == 0) return "";
    outer = tensors.begin()->first.substr(0, end);
    if (!tensors.rbegin()->first.starts_with(outer)) return "";
  }
  return outer;
}

}  // namespace

void addOtherNames(const std::map<std::string, std::string>& metadata, Tensors& tensors) {
  std::vector<std::pair<std::string, TensorView>> added;
  for (const auto& [dropped, kept] : metadata)
    if (const auto tensor = tensors.find(kept); tensor != tensors.end() && !tensors.contains(dropped))
      added.emplace_back(dropped, tensor->second);
  tensors.insert(added.begin(), added.end());
}

std::vector<std::string> unwrapNames(Tensors& tensors, const TensorNaming& naming) {
  std::vector<std::string> notes;
  for (const auto& [part, by, multimodal] : kWrappers) {
    if (multimodal && !naming.multimodal) continue;
    const bool own = std::ranges::any_of(naming.prefixes, [&part = part](std::string_view prefix) {
      return prefix.find(part) != prefix.npos;
    });
    if (!own && renameAll(tensors, [&part = part](const std::string& name) { return without(name, part); }))
      notes.push_back(
          fmt::format("Tensor names hold {}, which {}. They are read without it.", quotedText(part), by));
  }
  const std::string outer = outerPart(tensors, naming);
  if (renameAll(tensors, [&](const std::string& name) { return name.substr(outer.size()); }))
    notes.push_back(
        fmt::format("All tensor names begin with {}. They are read without it.", quotedText(outer)));
  return notes;
}

Status refuseAdapters(const Tensors& tensors, const std::filesystem::path& folder) {
  for (const auto& [name, tensor] : tensors)
    for (const char* part : {".lora_", ".base_layer.", "lora_A", "lora_B", "ia3_l", "oft_r.", "vera_lambda"})
      if (name.find(part) != name.npos)
        return fileError(folder, fmt::format("has a tensor {} of a PEFT adapter, expected the merged model: "
                                             "call merge_and_unload() in Python and save the result",
                                             quotedText(name)));
  return success();
}

}  // namespace headscope::attention
