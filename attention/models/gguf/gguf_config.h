#pragma once

#include "attention/models/config/families.h"
#include "attention/models/gguf/gguf_source.h"

namespace headscope::attention {

/// How the GGUF files of one architecture express a family's config.json.
struct GgufFamily {
  std::string_view architecture;  ///< general.architecture
  std::string_view model;         ///< config.json's model_type
  /// Fields of config.json and the metadata they come from, "hidden_size=embedding_length …"; a trailing "?"
  /// marks optional ones. `experts` has those of a mixture; empty: not a mixture.
  std::string_view sizes, more = {};
  bool rotates = true;  ///< positions are rotated
  /// Rows of q and k are stored pair by pair, as for rotations of neighbours.
  bool paired = false;
  std::string_view experts = {};
  bool causal = true;  ///< a token sees no later one
};
std::span<const GgufFamily> ggufFamilies();
/// Returns null if the architecture isn't known. `mixture`: the file has experts; an architecture may have
/// two families.
const GgufFamily* ggufFamily(std::string_view architecture, bool mixture);

/// Returns the config.json that a GGUF file is equivalent to, which readModelConfig() checks like any other.
/// Returns an Error, naming the file and the metadata, for an unknown architecture, and for values that are
/// missing, of another type, or different between layers where that isn't allowed.
Result<std::string> ggufConfig(const GgufSource& source);

/// Records an error for metadata that change the computation in a way the family doesn't support.
void refuseUnsupported(const GgufFamily& family, GgufMetadata& metadata);

/// Notes what such a file can't say and the model's config.json does, and how it was decided.
void noteUnsaid(const GgufSource& source, ModelConfig& config);

/// Sets what files leave to their tensors: which maps and norms have biases, and whether there are token
/// types. Norms have their 1 already added.
void fitToTensors(const GgufSource& source, ModelConfig& config);

/// Returns the names of a family's tensors in a GGUF file. Files from before April 2024 have separate tensors
/// for each expert, and converters may join queries, keys and values in one tensor, or gates with the values
/// they gate.
TensorNaming ggufNaming(const Family& family, const GgufSource& source, bool paired);

}  // namespace headscope::attention
