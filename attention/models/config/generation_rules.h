#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

class ConfigReader;

/// Rules for continuing a text other than by the model's logits alone: fields of transformers'
/// GenerationConfig, with the meanings of its logits processors. Sampling settings (temperature, top_k,
/// top_p) aren't included: the user sets them next to Generate.
struct GenerationRules {
  double repetitionPenalty = 1;
  Index noRepeatNgram = 0;                   ///< length of token runs that may not occur twice; 0: no limit
  std::vector<std::vector<Index>> badWords;  ///< token runs that are never generated
  Index minLength = 0, minNewTokens = 0;     ///< minimum length of the whole text, and of the generated part
  std::optional<Index> forcedFirst;          ///< follows a text of one token
  std::optional<Index> maxLength;            ///< of the whole text; read only for forcedLast
  std::vector<Index> forcedLast;             ///< a text of maxLength tokens ends with one of these
  std::vector<Index> suppressed;             ///< never generated
  std::vector<Index> suppressedFirst;        ///< not generated as the first token that isn't forced
  std::vector<std::pair<Index, Index>> forced;  ///< positions in the text, and their tokens
  bool operator==(const GenerationRules&) const = default;
};

/// The text to continue.
struct WrittenText {
  std::span<const Index> ids;        ///< all tokens so far
  Index given = 0;                   ///< how many of them precede the generated ones
  std::span<const Index> endTokens;  ///< tokens that end a text
};

/// Applies the rules to the next token's logits, in transformers' order; excluded tokens get −inf. Returns
/// the field of the first rule that displaced the most likely token; "" if it is still the most likely.
std::string_view applyRules(const GenerationRules& rules, const WrittenText& text,
                            Eigen::Ref<Eigen::RowVectorXf> logits);

/// Reads the rules that `file` sets (older checkpoints have them in config.json), and adds notes saying which
/// are followed and which aren't applied. Errors stay in `json`.
GenerationRules readRules(const ConfigReader& json, const std::string& file, std::vector<std::string>& notes);

}  // namespace headscope::attention
