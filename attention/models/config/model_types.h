#pragma once

#include <string_view>

namespace headscope::attention {

/// What a model_type implies beyond the fields of its config.json.
struct ModelType {
  std::string_view name;
  /// Words: plain (two feed-forward matrices), tied (the head is the embedding table unless the file says
  /// otherwise), positions (learned), encoder, pooler (its own, or a head's d × d map), dense (such a map,
  /// but only in a class with a head), biases, 4d (the feed-forward part is 4 · modelDim wide unless the file
  /// says otherwise), t5 (an encoder–decoder with T5's fields), parallel (each layer has both an attention
  /// and a recurrent part), twice (num_layers counts pairs of layers with one mixture), repeated (layers
  /// share weights), memory (caches hidden states), waves (convolutions before the first layer).
  std::string_view traits = {};
  /// JSON defaults for fields that a file may leave out, from the type's published code.
  std::string_view defaults = "{}";
};

/// Returns null if the type isn't known.
const ModelType* findModelType(std::string_view name);
bool hasTrait(const ModelType* type, std::string_view trait);

}  // namespace headscope::attention
