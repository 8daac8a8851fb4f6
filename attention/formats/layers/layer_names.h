#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/fused_rows.h"
#include "attention/formats/safetensors_header.h"

namespace headscope::attention {

/// What programs call one layer's maps, without ".weight" and ".bias".
struct LayerSpelling {
  std::string_view q = {}, k = {}, v = {};
  std::string_view qkv = {};  ///< instead of these
  FusedRows fused = FusedRows::thirds;
  std::string_view o = {};
  char ending = '.';  ///< what stands before "weight" and "bias" of q, k, v or qkv
  /// Conv1D's weights are [in, out], Linear's under the same names [out, in]; shapes tell them apart.
  bool mayBeConv1D = false;

  /// "in_proj_weight", "c_attn.weight": of qkv, or of the one that is asked for.
  std::string weight(std::string_view map) const;
  std::string bias(std::string_view map) const;
};

/// An attention layer in a file: the names of its tensors are `prefix` + the spelling's.
struct LayerPlace {
  std::string prefix;                       ///< "transformer.h.3.attn."; may be empty
  std::optional<Index> number;              ///< 3: the last number in the prefix
  const LayerSpelling* spelling = nullptr;  ///< never null; one of a table's
};

/// All attention layers of a file, by number, then by name as people count. Empty where there are none.
std::vector<LayerPlace> findLayers(const SafetensorsHeader& header);
/// The one that is wanted: of this number, or, with nothing asked for, the only one, or the one without a
/// prefix. The errors name the layers there are. `name` stands in front of messages.
Result<LayerPlace> chooseLayer(const SafetensorsHeader& header, std::optional<Index> number,
                               const std::string& name);

}  // namespace headscope::attention
