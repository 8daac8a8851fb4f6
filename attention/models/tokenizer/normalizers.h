#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "attention/models/tokenizer/aligned_text.h"
#include "attention/models/tokenizer/json_value.h"

namespace headscope::attention {

/// A rule that rewrites text before it is split: a normal form, lower case, "▁" for a space.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual Result<AlignedText> apply(const AlignedText& text, const std::stop_token& stop) const = 0;
};

/// Rules in the order they are applied.
using Normalizers = std::vector<std::unique_ptr<const Normalizer>>;

/// The most rules that one part of a tokenizer may have.
inline constexpr std::size_t kMaxRules = 64;

/// Adds the rules of a "normalizer" to `rules`. Returns an Error naming any unsupported kind or missing
/// field, prefixed by `where`.
Status readNormalizers(const JsonValue& value, const std::string& where, Normalizers& rules);

/// Applies all rules to `text`.
Result<AlignedText> normalize(const Normalizers& rules, AlignedText text, const std::stop_token& stop);

}  // namespace headscope::attention
