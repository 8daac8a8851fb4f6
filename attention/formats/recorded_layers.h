#pragma once

#include <string>
#include <vector>

#include "attention/formats/recorded_attention.h"

namespace headscope::attention {

/// Finds the layers of recorded attention by the names and shapes of a file's tensors; others are passed
/// over. At least one, ascending. Errors as RecordedAttention::open() has them. `name` stands in front of
/// messages.
Result<std::vector<RecordedLayer>> findRecordedLayers(const SafetensorsHeader& header,
                                                      const std::string& name);

/// The tokens of recorded attention, as metadata or a file of their own have them: a JSON list of texts, an
/// object with such a list under "tokens", or text, a token a line where that makes `expected`, else a token
/// a word. The mark of a space before a word ("Ġ", "▁") is left out. An error unless there are as many as
/// `expected`. `name` stands in front of messages.
Result<std::vector<std::string>> parseTokens(const std::string& text, Index expected, const std::string& what,
                                             const std::string& name);

}  // namespace headscope::attention
