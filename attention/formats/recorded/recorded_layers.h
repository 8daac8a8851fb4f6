#pragma once

#include <string>
#include <vector>

#include "attention/formats/recorded/recorded_attention.h"

namespace headscope::attention {

/// The layers of one kind of attention: a model's encoder, its decoder, or cross-attention between them.
struct RecordedLayers {
  std::string group;                  ///< "" for the only group in a file if the names don't say
  std::vector<RecordedLayer> layers;  ///< at least one, ascending; all with the same queries and keys
  std::vector<std::string> notes;     ///< what was assumed or left out, a sentence each
};

/// Finds recorded attention by the names and shapes of a file's tensors; ignores other tensors. Returns at
/// least one group, in the order unnamed, encoder, decoder, cross. Same errors as RecordedAttention::open(),
/// prefixed by `name`.
Result<std::vector<RecordedLayers>> findRecordedLayers(const SafetensorsHeader& header,
                                                       const std::string& name);

}  // namespace headscope::attention
