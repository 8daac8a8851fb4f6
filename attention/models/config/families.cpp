#include "attention/models/config/families.h"

#include <string>

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

}  // namespace headscope::attention
