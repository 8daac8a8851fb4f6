#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/fused_rows.h"
#include "attention/formats/safetensors_header.h"

namespace headscope::attention {

/// Names of one layer's projections in a program, without ".weight" and ".bias".
struct LayerSpelling {
  std::string_view q = {}, k = {}, v = {};
  std::string_view qkv = {};  ///< the fused projection, instead of q, k and v
  FusedRows fused = FusedRows::thirds;
  std::string_view o = {};
  char ending = '.';  ///< separator before "weight" and "bias" of q, k, v or qkv
  /// Conv1D weights are [in, out], Linear weights of the same name [out, in]; the shapes tell them apart.
  bool mayBeConv1D = false;

  /// Returns the tensor name of a projection, without the layer's prefix: "in_proj_weight", "c_attn.weight".
  std::string weight(std::string_view map) const;
  std::string bias(std::string_view map) const;
};

/// An attention layer in a file. Its tensors are named `prefix` plus the spelling's names.
struct LayerPlace {
  std::string prefix;                       ///< "transformer.h.3.attn."; may be empty
  std::optional<Index> number;              ///< 3: the last number in the prefix
  const LayerSpelling* spelling = nullptr;  ///< never null; static
};

/// Returns all attention layers of a file, by number, then in natural order of the names. Empty if there are
/// none.
std::vector<LayerPlace> findLayers(const SafetensorsHeader& header);
/// Returns the layer with this number; without a number, the only layer or the one without a prefix. Errors,
/// prefixed by `name`, list the layers in the file.
Result<LayerPlace> chooseLayer(const SafetensorsHeader& header, std::optional<Index> number,
                               const std::string& name);

}  // namespace headscope::attention
