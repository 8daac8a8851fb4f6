#pragma once

#include <string>
#include <vector>

#include "attention/formats/recorded/recorded_attention.h"

namespace headscope::attention {

/// The layers of one kind of attention: a model's encoder, its decoder, or cross-attention between them.
struct RecordedLayers {
  std::string group;                  ///< "" for the only group in a file if the names don't say
  std::vector<RecordedLayer> layers;  ///< at least one, ascending
};

/// Finds recorded attention by the names and shapes of a file's tensors; ignores other tensors. Returns at
/// least one group, in the order unnamed, encoder, decoder, cross. Same errors as RecordedAttention::open(),
/// prefixed by `name`.
Result<std::vector<RecordedLayers>> findRecordedLayers(const SafetensorsHeader& header,
                                                       const std::string& name);

/// Parses the tokens of recorded attention from metadata or a file: a JSON list of texts, an object with such
/// a list under "tokens", or text with one token per line if that yields `expected`, else one per word. Drops
/// the mark of a space before a word ("Ġ", "▁"). Returns an Error, prefixed by `name`, unless there are
/// `expected` tokens; messages call them `what`.
Result<std::vector<std::string>> parseTokens(const std::string& text, Index expected, const std::string& what,
                                             const std::string& name);

}  // namespace headscope::attention
