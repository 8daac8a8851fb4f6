#include <fmt/core.h>

#include <ranges>

#include "attention/formats/json_tree.h"
#include "attention/formats/quote.h"
#include "attention/models/config/shape_parts.h"
#include "attention/text/ascii.h"

namespace headscope::attention {

namespace {

/// The key of the object with the text model, or with the object that has it; "" if there is none.
std::string keyOfText(const ConfigReader& json) {
  for (const char* layers : {"num_hidden_layers", "num_layers", "n_layers", "n_layer"})
    if (json.has(layers)) return "";
  for (const char* key : {"text_config", "llm_config", "language_config", "thinker_config",
                          "language_model_config", "text_cfg", "llm"})
    if (json.isObject(key)) return key;
  return "";
}

/// Adds "vision" for an object vision_config, unless it describes the text model or how weights are stored.
void addOthers(const ConfigReader& json, std::string_view text, std::vector<std::string>& models) {
  static constexpr std::string_view kParts =
      "attn_config ffn_config quantization_config generation_config compression_config "
      "per_layer_config";
  static constexpr std::string_view kEnd = "_config";
  for (const std::string& name : json.names())
    if (name.ends_with(kEnd) && name != text && json.isObject(name) && !isListed(kParts, name)) {
      models.push_back(name.substr(0, name.size() - kEnd.size()));
      std::replace(models.back().begin(), models.back().end(), '_', ' ');
    }
}

/// Whether a field says how weights are stored, in which blocks and groups.
bool isStorage(std::string_view path) {
  return path.starts_with("quantization") || path.starts_with("compression_config");
}

/// Whether a field may change what is cached or how much is computed, by its name.
bool speaksOfAttention(std::string_view name) {
  static constexpr std::string_view kOf =
      "attention attn head kv layer window sliding group shar block cla_ latent mem_len";
  // Norms, positions, factors, training and the like change values, not how many there are.
  static constexpr std::string_view kNot =
      "norm eps drop init std bias rope rotary scal cap soft impl 32 upcast prune multip temper "
      "loss dtype backend flash sdpa kernel embedding alpha beta factor parallel clip relative "
      "tie label router version freez position gradient topk";
  static constexpr std::string_view kNames = "n_group num_expert_group block_dim block_type block_use_swiglu";
  if (ignores(kSharedFields, name) || isListed(kNames, name)) return false;
  const std::string lower = lowerCase(name);
  const auto has = [&](std::string_view part) { return lower.find(part) != lower.npos; };
  return anyListed(kOf, has) && !anyListed(kNot, has);
}

}  // namespace

TextModel textPart(const ConfigReader& root) {
  TextModel part{root};
  std::vector<std::string> models;
  for (std::string key = keyOfText(root);; key = keyOfText(part.json)) {
    addOthers(part.json, key, models);
    if (key.empty()) break;
    part.json = part.json.object(key);
    part.nested = true;
  }
  for (std::size_t i = 0; i < models.size(); ++i)
    part.others += (i == 0 ? "" : i + 1 == models.size() ? " and " : ", ") + models[i];
  return part;
}

std::string unreadOfAttention(const ConfigReader& json) {
  std::string all;
  for (const std::string& path : json.unread())
    if (!isStorage(path) && speaksOfAttention(path.substr(path.rfind('.') + 1)))
      all += (all.empty() ? "" : ", ") + quotedText(path);
  return all;
}

// Sizes by their names, and what types imply.

const char* SizeFinder::first(Keys keys) const {
  const char* found = nullptr;
  for (const char* key : keys)
    if (json_.has(key) && !found) found = key;
  return found;
}

Index SizeFinder::sizeOf(const char* key, Index least, Index most) const {
  if (!json_.isList(key)) return json_.size(key, {}, least, most);
  const std::vector<Index> each = json_.tokens(key);
  const bool same = !each.empty() && std::ranges::count(each, each[0]) == std::ssize(each);
  if (!same || each[0] < least || each[0] > most)
    json_.refuse(key, fmt::format("a list of {}", each.size()),
                 fmt::format("one whole number from {} to {} for all layers", least, most));
  return same ? std::clamp(each[0], least, most) : least;
}

Index SizeFinder::optional(Keys keys, Index defaultValue, Index most) const {
  const char* const key = first(keys);
  return key ? sizeOf(key, 0, most) : defaultValue;
}

Index SizeFinder::needed(const char* what, Keys keys, Index most) {
  if (const char* const key = first(keys)) return sizeOf(key, 1, most);
  std::string names;
  for (auto key = keys.begin(); key != keys.end(); ++key)
    names += (key == keys.begin() ? "" : key + 1 == keys.end() ? " or " : ", ") + std::string(*key);
  missing_ += (missing_.empty() ? "" : "; ") + fmt::format("{} ({})", what, names);
  return 1;
}

Index SizeFinder::assumed(const char* what, Keys keys, Index usual, Index most) {
  if (const char* const key = first(keys)) return sizeOf(key, 0, most);
  assumed_ += (assumed_.empty() ? "" : "; ") + fmt::format("{} (taken as {})", what, usual);
  return usual;
}

const CatalogueType* findModelType(std::string_view name) {
  static const std::vector<CatalogueType> kTypes = [] {
    std::vector<CatalogueType> all;
    const auto sections = nlohmann::json::parse(catalogueText("model_types"));
    const auto text = [](const nlohmann::json& row, const char* key) {
      return row.contains(key) ? row[key].dump() : "{}";
    };
    for (const auto& section : sections)
      for (const auto& row : section)
        for (const auto& type : row["types"])
          all.push_back({type, row.value("traits", ""), text(row, "defaults"), text(row, "sizes")});
    return all;
  }();
  const auto found = std::ranges::find(kTypes, name, &CatalogueType::name);
  return found == kTypes.end() ? nullptr : &*found;
}

bool hasTrait(const CatalogueType* type, std::string_view trait) {
  return type && isListed(type->traits, trait);
}

bool isType(const CatalogueType* type, std::string_view names) {
  return type && isListed(names, type->name);
}

}  // namespace headscope::attention
