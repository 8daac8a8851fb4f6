#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "attention/models/tokenizer/aligned_text.h"
#include "attention/models/tokenizer/json_value.h"

namespace headscope::attention {

/// A text and the parts of it that the model turns into tokens one by one, from left to right.
struct Pieces {
  AlignedText text;
  std::vector<ByteRange> ranges;
};

/// One rule that splits pieces, or writes them in another way.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual Status apply(Pieces& pieces, const std::stop_token& stop) const = 0;
};

/// Rules in the order in which they act.
using PreTokenizers = std::vector<std::unique_ptr<const PreTokenizer>>;

/// Adds the rules of a "pre_tokenizer" to `rules`. Errors: kinds that are not supported, by name, and what is
/// missing; `where` stands in front.
Status readPreTokenizers(const JsonValue& value, const std::string& where, PreTokenizers& rules);

/// The pieces of `text` after all rules; one of all of it without any.
Result<Pieces> preTokenize(const PreTokenizers& rules, AlignedText text, const std::stop_token& stop);

}  // namespace headscope::attention
