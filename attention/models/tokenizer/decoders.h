#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "attention/models/tokenizer/json_value.h"

namespace headscope::attention {

/// One rule on the way from tokens, as the vocabulary spells them, to text.
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Rewrites the tokens of a text, of which there may be fewer afterwards. An error where all of them would
  /// have more than `most` bytes.
  virtual Status decode(std::vector<std::string>& tokens, std::size_t most) const = 0;
  /// The bytes that one token stands for wherever it stands, which may be a part of a character. A rule that
  /// would make more than `most` of them changes nothing.
  virtual void toBytes(std::string&, std::size_t) const {}
};

/// Rules in the order in which they act.
using Decoders = std::vector<std::unique_ptr<const Decoder>>;

/// Adds the rules of a "decoder" to `rules`. Errors: kinds that are not supported, by name, and what is
/// missing; `where` stands in front.
Status readDecoders(const JsonValue& value, const std::string& where, Decoders& rules);

}  // namespace headscope::attention
