#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/formats/safetensors.h"
#include "attention/masks/plain_rules.h"

namespace headscope::attention {

struct SafetensorsHeader;

/// A tensor that stores its heads consecutively, each [tokens, headDim] and row-major.
struct QkTensor {
  std::string name;
  DType dtype = DType::F32;
  std::vector<std::uint64_t> shape;
  Index heads = 0, tokens = 0, headDim = 0;

  std::uint64_t headBytes() const { return static_cast<std::uint64_t>(tokens * headDim) * byteSize(dtype); }
};

/// The queries and keys of one layer in a file.
struct QkLayer {
  std::string name;  ///< the layer's name in the file ("layers.3"); empty if it has none
  QkTensor q, k;
  bool queriesFromKeys = false;  ///< a cache dump: the file has no queries, q is k and keys attend to keys

  /// Sizes come from the tensors, everything else from the metadata, named as in AttentionOptions ("causal":
  /// "true", "scale": "0.125"). "rope_theta" means that q and k still need rotation. By default, a cache dump
  /// is causal, and queries fewer than keys belong to the last tokens (cacheLength = keys − queries).
  AttentionConfig config;
  PlainRules rules;  ///< causal, window and sinks

  Index queries() const { return q.tokens; }
  Index keys() const { return k.tokens; }
};

/// Finds tensors by name (qkNameOf), each [tokens, headDim], [heads, tokens, headDim] or [1, heads, tokens,
/// headDim] of F32, F16, BF16 or F64, within map_limits.h; ignores other tensors. Returns at least one layer,
/// in natural order ("layers.9" before "layers.10"). Returns an Error, prefixed by `name`, if there are no
/// keys, queries without keys, or two tensors for the same role, or if types, shapes or options don't match.
Result<std::vector<QkLayer>> findQkLayers(const SafetensorsHeader& header, const std::string& name);

}  // namespace headscope::attention
