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

/// By which a text is written on other than from the model's logits alone: fields of transformers'
/// GenerationConfig, with the meanings of its logits processors. How tokens are sampled (temperature, top_k,
/// top_p) is not among them: that is chosen beside Generate.
struct GenerationRules {
  double repetitionPenalty = 1;
  Index noRepeatNgram = 0;                      ///< tokens of a run that doesn't come twice; 0: any may
  std::vector<std::vector<Index>> badWords;     ///< runs of tokens that aren't written
  Index minLength = 0, minNewTokens = 0;        ///< tokens of the whole text, and of what is written
  std::optional<Index> forcedFirst;             ///< behind a text of one token
  std::optional<Index> maxLength;               ///< of the whole text; only as far as forcedLast needs it
  std::vector<Index> forcedLast;                ///< one of these is the last token of maxLength
  std::vector<Index> suppressed;                ///< never written
  std::vector<Index> suppressedFirst;           ///< not written as the first token that isn't forced
  std::vector<std::pair<Index, Index>> forced;  ///< places in the text, and their tokens
  bool operator==(const GenerationRules&) const = default;
};

/// What is written on.
struct WrittenText {
  std::span<const Index> ids;        ///< so far
  Index given = 0;                   ///< of them, before what the model wrote
  std::span<const Index> endTokens;  ///< that end a text
};

/// Applies the rules to the logits of the next token, one after another as transformers does: what a rule
/// keeps out gets −inf. Returns the field of the first rule that took the likeliest token its place; "" where
/// it is the likeliest still.
std::string_view applyRules(const GenerationRules& rules, const WrittenText& text,
                            Eigen::Ref<Eigen::RowVectorXf> logits);

/// Reads the rules that `file` sets, and says in a sentence each which are followed and which aren't applied.
/// Older checkpoints have them in config.json. Errors stay in `json`.
GenerationRules readRules(const ConfigReader& json, const std::string& file, std::vector<std::string>& notes);

}  // namespace headscope::attention
