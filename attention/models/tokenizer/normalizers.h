#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "attention/models/tokenizer/aligned_text.h"
#include "attention/models/tokenizer/json_value.h"

namespace headscope::attention {

/// One rule that rewrites text before it is split: a normal form, lower case, a space written as "▁".
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual Result<AlignedText> apply(const AlignedText& text, const std::stop_token& stop) const = 0;
};

/// Rules in the order in which they act.
using Normalizers = std::vector<std::unique_ptr<const Normalizer>>;

/// A part of a tokenizer consists of at most so many rules.
inline constexpr std::size_t kMostRules = 64;

/// Adds the rules of a "normalizer" to `rules`. Errors: kinds that are not supported, by name, and what is
/// missing; `where` stands in front.
Status readNormalizers(const JsonValue& value, const std::string& where, Normalizers& rules);

/// `text` after all rules.
Result<AlignedText> normalize(const Normalizers& rules, AlignedText text, const std::stop_token& stop);

}  // namespace headscope::attention
