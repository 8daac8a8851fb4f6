#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/formats/safetensors.h"
#include "attention/masks/plain_rules.h"

namespace headscope::attention {

struct SafetensorsHeader;

/// A tensor whose heads lie one after the other, each [tokens, headDim] and row-major.
struct QkTensor {
  std::string name;
  DType dtype = DType::F32;
  std::vector<std::uint64_t> shape;
  Index heads = 0, tokens = 0, headDim = 0;

  std::uint64_t headBytes() const { return static_cast<std::uint64_t>(tokens * headDim) * byteSize(dtype); }
};

/// What a file has for one layer.
struct QkLayer {
  std::string name;  ///< by which the file tells layers apart ("layers.3"); empty where it has no name for it
  QkTensor q, k;
  bool queriesFromKeys = false;  ///< a cache dump: no queries in the file, q is k and keys attend to keys

  /// Sizes as the tensors have them, everything else as the metadata says by the names of AttentionOptions
  /// ("causal": "true", "scale": "0.125"); "rope_theta" asks for a rotation that q and k have yet to get.
  /// Where the metadata is silent, a cache dump is causal, and where there are fewer queries than keys, they
  /// belong to the last tokens (cacheLength = keys − queries).
  AttentionConfig config;
  PlainRules rules;  ///< causal, window and sinks

  Index queries() const { return q.tokens; }
  Index keys() const { return k.tokens; }
};

/// Finds tensors by name (qkNameOf), each [tokens, headDim], [heads, tokens, headDim] or
/// [1, heads, tokens, headDim] of F32, F16, BF16 or F64, within map_limits.h; other tensors are passed over.
/// At least one layer, in the order people count: "layers.9" before "layers.10". Errors: no keys, queries
/// without keys, two tensors for the same, and types, shapes and options that don't fit together. `name`
/// stands in front of messages.
Result<std::vector<QkLayer>> findQkLayers(const SafetensorsHeader& header, const std::string& name);

}  // namespace headscope::attention
