#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "attention/core/result.h"
#include "attention/formats/gguf/gguf_type.h"
#include "attention/formats/gguf/gguf_value.h"

namespace headscope::attention {

/// A tensor as declared in a GGUF file.
struct GgufTensor {
  const GgufType* type = nullptr;
  std::vector<std::uint64_t> shape;    ///< the contiguous dimension last, as [out, in]
  std::uint64_t begin = 0, bytes = 0;  ///< in the file
};

struct GgufHeader {
  std::map<std::string, GgufValue, std::less<>> metadata;
  std::map<std::string, GgufTensor, std::less<>> tensors;

  /// Returns null if there is no such key.
  const GgufValue* find(std::string_view key) const;
};

/// Whether a file begins like a GGUF file.
bool hasGgufMagic(std::span<const std::uint8_t> file);

/// Parses the header of a GGUF file of version 2 or 3 (github.com/ggml-org/ggml, docs/gguf.md). The file's
/// bytes must outlive the result. Every count, length and offset is checked against the file before
/// allocating for it. Returns an Error, one sentence that begins with `name`, for other formats, versions or
/// byte orders; truncation; duplicate keys or tensors; unknown kinds and types; lists of lists; shapes that
/// overflow or don't fit their blocks; and tensors that are misaligned, overlap or extend beyond the file.
Result<GgufHeader> parseGgufHeader(std::span<const std::uint8_t> file, const std::string& name);

}  // namespace headscope::attention
