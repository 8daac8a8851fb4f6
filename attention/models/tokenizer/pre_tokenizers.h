#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "attention/models/tokenizer/aligned_text.h"
#include "attention/models/tokenizer/json_value.h"

namespace headscope::attention {

/// A text and those parts of it that the model turns into tokens one by one, from left to right.
struct Pieces {
  AlignedText text;
  std::vector<ByteRange> ranges;
};

/// A rule that splits or rewrites pieces.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual Status apply(Pieces& pieces, const std::stop_token& stop) const = 0;
};

/// Rules in the order they are applied.
using PreTokenizers = std::vector<std::unique_ptr<const PreTokenizer>>;

/// Adds the rules of a "pre_tokenizer" to `rules`. Returns an Error naming any unsupported kind or missing
/// field, prefixed by `where`.
Status readPreTokenizers(const JsonValue& value, const std::string& where, PreTokenizers& rules);

/// Applies all rules to `text`. Without rules, the whole text is one piece.
Result<Pieces> preTokenize(const PreTokenizers& rules, AlignedText text, const std::stop_token& stop);

}  // namespace headscope::attention
