#include "attention/models/config/families.h"

namespace headscope::attention {

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
      &families::mt5,        &families::bart,       &families::whisper};
  return kFamilies;
}

}  // namespace headscope::attention
