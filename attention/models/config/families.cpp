#include "attention/models/config/families.h"

#include <fmt/core.h>

#include "attention/formats/quote.h"
#include "attention/text/ascii.h"

namespace headscope::attention {

std::optional<Index> layerOf(std::string_view name, const TensorNaming& naming) {
  const std::string_view pattern = naming.names.layer, before = pattern.substr(0, pattern.find('N'));
  constexpr std::size_t kMostDigits = 9;
  for (const std::string_view prefix : naming.prefixes) {
    if (!name.starts_with(prefix) || !name.substr(prefix.size()).starts_with(before)) continue;
    const std::string_view rest = name.substr(prefix.size() + before.size());
    const std::size_t digits = rest.find_first_not_of("0123456789");
    if (digits == 0 || digits > kMostDigits || rest[digits] != '.') continue;
    return static_cast<Index>(std::stoll(std::string(rest.substr(0, digits))));
  }
  return std::nullopt;
}

std::span<const Family* const> familyTable() {
  static constexpr const Family* kFamilies[] = {
      &families::gpt2,       &families::llama,      &families::mistral,
      &families::qwen2,      &families::qwen3,      &families::gemma,
      &families::gemma2,     &families::gemma3Text, &families::gemma3,
      &families::phi3,       &families::gptNeox,    &families::opt,
      &families::bert,       &families::roberta,    &families::distilbert,
      &families::gptNeo,     &families::gptJ,       &families::phi,
      &families::olmo2,      &families::olmo3,      &families::starcoder2,
      &families::granite,    &families::smollm3,    &families::stableLm,
      &families::cohere,     &families::mixtral,    &families::qwen2Moe,
      &families::qwen3Moe,   &families::olmoe,      &families::cohere2,
      &families::glm,        &families::glm4,       &families::falcon,
      &families::bloom,      &families::mpt,        &families::gptOss,
      &families::deepSeek2,  &families::deepSeek3,  &families::xlmRoberta,
      &families::modernBert, &families::electra,    &families::vit,
      &families::deit,       &families::dinov2,     &families::dinov2WithRegisters,
      &families::clip,       &families::clipVision, &families::t5,
      &families::mt5,        &families::bart,       &families::whisper,
      &families::ministral3, &families::internLm3,  &families::iQuestCoder,
      &families::seedOss};
  return kFamilies;
}

// The message for a family that isn't computed.

namespace {

/// The family with the longest name that begins `name` or begins with it: "qwen3" for "qwen3_next". At least
/// four letters have to agree.
const Family* nearestByName(std::string_view name) {
  const std::string type = lowerCase(name);
  const Family* nearest = nullptr;
  std::size_t most = 3;
  for (const Family* family : familyTable()) {
    const auto [end, other] = std::ranges::mismatch(type, family->name);
    const auto same = static_cast<std::size_t>(end - type.begin());
    if (same <= most || same < std::min(type.size(), family->name.size())) continue;
    most = same;
    nearest = family;
  }
  return nearest;
}

struct KnownFields {
  const Family* family = nullptr;
  std::size_t known = 0, all = 0;
};

/// The family that knows the most of the file's fields, apart from those that all families share.
KnownFields nearestByFields(const ConfigReader& json) {
  std::vector<std::string> own = json.names();
  std::erase_if(own, [](const std::string& name) { return knows(kSharedFields, name); });
  KnownFields nearest;
  for (const Family* family : familyTable()) {
    const auto known = static_cast<std::size_t>(
        std::ranges::count_if(own, [&](const std::string& name) { return knows(family->fields, name); }));
    if (known > nearest.known) nearest = {family, known, own.size()};
  }
  return nearest;
}

}  // namespace

std::string unknownFamily(const ConfigReader& json, std::string_view type, std::string_view field) {
  const std::string families =
      fmt::format("of the {} families that Headscope computes.", familyTable().size());
  std::string text = type.empty()
                         ? json.at(field) + " is absent, expected one " + families
                         : json.at(field) + " " + quotedText(std::string(type)) + " is none " + families;
  if (json.isObject("pretrained_cfg") || type.starts_with("timm"))
    return text +
           " It is a model of timm; Headscope reads the vision models of transformers: vit, deit, "
           "dinov2 and clip. " +
           std::string(kRecordInstead);
  const KnownFields fields = nearestByFields(json);
  if (const Family* named = nearestByName(type))
    text += fmt::format(" The nearest by name is {}.", named->name);
  else if (fields.family && 2 * fields.known > fields.all)
    text += fmt::format(" The nearest is {}, which knows {} of its {} fields.", fields.family->name,
                        fields.known, fields.all);
  return text + " " + std::string(kRecordInstead);
}

}  // namespace headscope::attention
