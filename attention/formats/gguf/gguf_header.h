#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "attention/core/result.h"
#include "attention/formats/gguf/gguf_type.h"
#include "attention/formats/gguf/gguf_value.h"

namespace headscope::attention {

/// One tensor as a GGUF file declares it.
struct GgufTensor {
  const GgufType* type = nullptr;
  std::vector<std::uint64_t> shape;    ///< the dimension that lies together last, as [out, in]
  std::uint64_t begin = 0, bytes = 0;  ///< in the file
};

struct GgufHeader {
  std::map<std::string, GgufValue, std::less<>> metadata;
  std::map<std::string, GgufTensor, std::less<>> tensors;

  /// Null where there is none.
  const GgufValue* find(std::string_view key) const;
};

/// Whether a file begins as GGUF does.
bool startsAsGguf(std::span<const std::uint8_t> file);

/// Reads the front of a GGUF file of version 2 or 3 (github.com/ggml-org/ggml, docs/gguf.md), whose bytes
/// have to outlive the header. Every count, length and offset is checked against the file before anything is
/// allocated for it. Errors, each in one sentence that begins with `name`: no GGUF, another version or byte
/// order, what is cut, keys or tensors that are there twice, kinds and types without a name, lists of lists,
/// shapes that overflow or don't fit their blocks, tensors that begin off the alignment, overlap or end
/// beyond the file.
Result<GgufHeader> parseGgufHeader(std::span<const std::uint8_t> file, const std::string& name);

}  // namespace headscope::attention
