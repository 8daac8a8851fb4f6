#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "attention/models/tokenizer/json_value.h"

namespace headscope::attention {

/// A step in turning tokens, as the vocabulary spells them, into text.
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Rewrites the tokens of a text, possibly into fewer. Returns an Error if together they would have more
  /// than `most` bytes.
  virtual Status decode(std::vector<std::string>& tokens, std::size_t most) const = 0;
  /// Rewrites one token into the bytes it stands for regardless of its position, possibly part of a
  /// character. Changes nothing if there would be more than `most` bytes.
  virtual void toBytes(std::string&, std::size_t) const {}
};

/// Rules in the order they are applied.
using Decoders = std::vector<std::unique_ptr<const Decoder>>;

/// Adds the rules of a "decoder" to `rules`. Returns an Error naming any unsupported kind or missing field,
/// prefixed by `where`.
Status readDecoders(const JsonValue& value, const std::string& where, Decoders& rules);

}  // namespace headscope::attention
