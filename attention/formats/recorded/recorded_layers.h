#pragma once

#include <string>
#include <vector>

#include "attention/formats/recorded/recorded_attention.h"

namespace headscope::attention {

/// The layers of one attention of a model: of its encoder, its decoder, or from the one to the other.
struct RecordedLayers {
  std::string group;                  ///< "" where a file has one alone that says nothing of it
  std::vector<RecordedLayer> layers;  ///< at least one, ascending
};

/// Finds recorded attention by the names and shapes of a file's tensors; others are passed over. At least one
/// group, in the order encoder, decoder, cross. Errors as RecordedAttention::open() has them. `name` stands
/// in front of messages.
Result<std::vector<RecordedLayers>> findRecordedLayers(const SafetensorsHeader& header,
                                                       const std::string& name);

/// The tokens of recorded attention, as metadata or a file of their own have them: a JSON list of texts, an
/// object with such a list under "tokens", or text, a token a line where that makes `expected`, else a token
/// a word. The mark of a space before a word ("Ġ", "▁") is left out. An error unless there are as many as
/// `expected`. `name` stands in front of messages.
Result<std::vector<std::string>> parseTokens(const std::string& text, Index expected, const std::string& what,
                                             const std::string& name);

}  // namespace headscope::attention
