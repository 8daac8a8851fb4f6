#pragma once

#include <string_view>

namespace headscope::attention {

/// What a model_type means beside the fields of its config.json: one row for each.
struct ModelType {
  std::string_view name;
  /// Words: plain (two feed-forward matrices), tied (the head is the embedding table unless the file says
  /// not), positions (learned ones), encoder, pooler, biases, 4d (the feed-forward part is 4 · modelDim wide
  /// unless the file says), parallel (each layer has both an attention and a recurrent part).
  std::string_view traits = {};
  /// JSON of the fields that a file may leave out, as the type's published code has them.
  std::string_view defaults = "{}";
};

/// Null where it isn't known.
const ModelType* findModelType(std::string_view name);
bool hasTrait(const ModelType* type, std::string_view trait);

}  // namespace headscope::attention
