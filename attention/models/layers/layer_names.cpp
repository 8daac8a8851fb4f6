#include <fmt/format.h>

#include <tuple>

#include "attention/models/layers/layer_reader.h"

namespace headscope::attention {
namespace {

constexpr LayerSpelling kSpellings[] = {
    // Llama and its descendants, attend itself; OPT, BART, CLIP, Whisper
    {.q = "q_proj", .k = "k_proj", .v = "v_proj", .o = "o_proj"},
    {.q = "q_proj", .k = "k_proj", .v = "v_proj", .o = "out_proj"},
    // torch.nn.MultiheadAttention
    {.qkv = "in_proj", .o = "out_proj", .ending = '_'},
    // GPT-2 and its reimplementations
    {.qkv = "c_attn", .o = "c_proj", .mayBeConv1D = true},
    // BERT; ViT; either one without a parent module
    {.q = "self.query", .k = "self.key", .v = "self.value", .o = "output.dense"},
    {.q = "attention.query", .k = "attention.key", .v = "attention.value", .o = "output.dense"},
    {.q = "query", .k = "key", .v = "value", .o = "dense"},
    // Phi-3; flash-attn and MPT; timm; DistilBERT
    {.qkv = "qkv_proj", .o = "o_proj"},
    {.qkv = "Wqkv", .o = "out_proj"},
    {.qkv = "qkv", .o = "proj"},
    {.q = "q_lin", .k = "k_lin", .v = "v_lin", .o = "out_lin"},
    // T5; DeepSeek's multi-head latent attention, whose maps layer_extras.h reads
    {.q = "q", .k = "k", .v = "v", .o = "o"},
    {.q = "q_b_proj", .k = "kv_b_proj", .v = "kv_b_proj", .o = "o_proj"},
    // GPT-NeoX, Pythia, BLOOM
    {.qkv = "query_key_value", .fused = FusedRows::heads, .o = "dense"},
};

/// The name of a layer's first tensor in the file.
std::string firstTensor(const LayerPlace& place) {
  return place.prefix + place.spelling->weight(place.spelling->first());
}

/// The layer's number: the last one in the name, but T5's block.3.layer.0 is layer 3.
std::optional<Index> layerNumber(std::string_view prefix) {
  std::optional<Index> number;
  bool inBlock = false;
  for (const std::string_view part : splitName(prefix)) {
    inBlock = inBlock || part == "block";
    if (const auto found = numberInName(part); found && !(inBlock && number)) number = found;
  }
  return number;
}

/// Layers without an output projection count only if no layer has one.
bool hasOutput(const SafetensorsHeader& header, const LayerPlace& place) {
  return header.tensors.contains(place.prefix + std::string(place.spelling->o) + ".weight");
}

/// Formats numbers as "3, 4, 9", or as "0 to 11" if none is missing.
std::string numbersText(const std::vector<Index>& numbers) {
  if (numbers.size() > 2 && numbers.back() - numbers.front() + 1 == static_cast<Index>(numbers.size()))
    return fmt::format("{} to {}", numbers.front(), numbers.back());
  constexpr std::size_t kMax = 12;
  if (numbers.size() > kMax)
    return fmt::format("{}, …", fmt::join(numbers.begin(), numbers.begin() + kMax, ", "));
  return fmt::format("{}", fmt::join(numbers, ", "));
}

std::string prefixesText(const std::vector<LayerPlace>& places) {
  constexpr std::size_t kMax = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(places.size(), kMax); ++i)
    text += (i > 0 ? ", " : "") + quotedText(firstTensor(places[i]));
  return text + (places.size() > kMax ? ", …" : "");
}

std::vector<Index> numbersOf(const std::vector<LayerPlace>& places) {
  std::vector<Index> numbers;
  for (const LayerPlace& place : places)
    if (place.number && (numbers.empty() || numbers.back() != *place.number))
      numbers.push_back(*place.number);
  return numbers;
}

}  // namespace

std::string LayerSpelling::weight(std::string_view map) const {
  return fmt::format("{}{}weight", map, map == o ? '.' : ending);
}

std::string LayerSpelling::bias(std::string_view map) const {
  return fmt::format("{}{}bias", map, map == o ? '.' : ending);
}

std::vector<LayerPlace> findLayers(const SafetensorsHeader& header) {
  std::vector<LayerPlace> complete, others;
  for (const auto& [tensor, entry] : header.tensors) {
    for (const LayerSpelling& spelling : kSpellings) {
      const std::string first = spelling.weight(spelling.first());
      if (!tensor.ends_with(first)) continue;
      const std::string prefix = tensor.substr(0, tensor.size() - first.size());
      if (!prefix.empty() && prefix.back() != '.') continue;
      LayerPlace place{prefix, layerNumber(prefix), &spelling};
      (hasOutput(header, place) ? complete : others).push_back(std::move(place));
    }
  }
  std::vector<LayerPlace>& found = complete.empty() ? others : complete;
  const auto before = [](const LayerPlace& a, const LayerPlace& b) {
    if (a.number != b.number) return a.number < b.number;
    if (a.prefix != b.prefix) return naturalLess(a.prefix, b.prefix);
    return a.spelling < b.spelling;
  };
  std::sort(found.begin(), found.end(), before);
  // If two spellings match the same tensor, the first in the table wins.
  const auto same = [](const LayerPlace& a, const LayerPlace& b) { return firstTensor(a) == firstTensor(b); };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  return found;
}

Result<LayerPlace> chooseLayer(const SafetensorsHeader& header, std::optional<Index> number,
                               const std::string& name) {
  const std::vector<LayerPlace> all = findLayers(header);
  if (all.empty())
    return Error{name +
                 ": has no tensor \"q_proj.weight\", expected [heads * head_dim, model_dim], and no layer "
                 "with PyTorch's names (in_proj_weight, c_attn, query, qkv_proj, …)"};
  if (all.size() == 1 && (!number || number == all[0].number)) return all[0];
  if (!number) {
    if (all[0].prefix.empty()) return all[0];  // layers without a number sort first
    return Error{fmt::format(
        "{}: holds {} attention layers ({}), expected one of them to be chosen: --layer "
        "N, or weights.layer in a scene",
        name, all.size(), numbersOf(all).size() > 1 ? numbersText(numbersOf(all)) : prefixesText(all))};
  }
  std::vector<LayerPlace> wanted;
  for (const LayerPlace& place : all)
    if (place.number == *number) wanted.push_back(place);
  if (wanted.size() == 1) return wanted[0];
  if (wanted.empty()) {
    const std::vector<Index> numbers = numbersOf(all);
    const std::string held =
        numbers.empty() ? prefixesText(all) : nounFor(numbers.size(), "layer") + " " + numbersText(numbers);
    return Error{fmt::format("{}: layer is {}, the file holds {}", name, *number, held)};
  }
  return Error{
      fmt::format("{}: holds {} attention layers of number {} ({}), expected one: save the one you want to a "
                  "separate file",
                  name, wanted.size(), *number, prefixesText(wanted))};
}

}  // namespace headscope::attention
