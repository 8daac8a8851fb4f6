#pragma once

#include "attention/models/config/families.h"
#include "attention/models/gguf/gguf_source.h"

namespace headscope::attention {

/// How a GGUF file of one architecture says what a family's config.json says.
struct GgufFamily {
  std::string_view architecture;  ///< general.architecture
  std::string_view model;         ///< config.json's model_type
  /// "hidden_size=embedding_length …": fields of config.json and the metadata they are; "?" ends those that
  /// may be absent. `experts` are those of a mixture, which a family with them is.
  std::string_view sizes, more = {};
  bool rotates = true;  ///< positions are rotated
  /// Rows of q and k lie in the order of rotations that turn neighbours, pair by pair.
  bool paired = false;
  std::string_view experts = {};
};
std::span<const GgufFamily> ggufFamilies();
/// Null where it isn't known. `mixture`: the file has experts; an architecture may be two families.
const GgufFamily* ggufFamily(std::string_view architecture, bool mixture);

/// The config.json that a GGUF file stands for, which readModelConfig() checks as any other. Errors name the
/// file and the metadata: an architecture that isn't known, what is missing, of another kind, or differs
/// between layers where it may not.
Result<std::string> ggufConfig(const GgufSource& source);

/// What GGUF files call the tensors of a family. `expertsApart`: each expert's are tensors of their own, as
/// in files of before April 2024.
TensorNaming ggufNaming(const Family& family, bool paired, bool expertsApart);
bool hasExpertsApart(const GgufSource& source);

}  // namespace headscope::attention
