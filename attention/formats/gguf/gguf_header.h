#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/projections.h"
#include "attention/core/result.h"

namespace headscope::attention {

/// How a GGUF file stores a tensor's numbers.
struct GgufType {
  std::uint32_t id = 0;           ///< in the file
  std::string_view name;          ///< "Q4_K"
  std::optional<WeightType> use;  ///< nullopt: not supported
  kernels::WeightBlock block;
};

/// Returns null if no type has this number.
const GgufType* ggufType(std::uint32_t id);

/// One metadata value of a GGUF file, a view of the file's bytes, which must outlive it.
struct GgufValue {
  /// The values are those in the file.
  enum class Kind { u8, i8, u16, i16, u32, i32, f32, flag, text, list, u64, i64, f64 };
  Kind kind = Kind::u8;
  Kind items = Kind::u8;                ///< for a list
  std::uint64_t count = 0;              ///< number of items in a list
  std::span<const std::uint8_t> bytes;  ///< without the length before a text or a list

  /// The accessors return nullopt for another kind; integers also beyond 63 bits.
  std::optional<std::int64_t> integer() const;
  std::optional<double> number() const;
  std::optional<bool> flag() const;
  std::optional<std::string_view> text() const;
  std::optional<std::vector<std::string_view>> texts() const;
  std::optional<std::vector<std::int64_t>> integers() const;
  std::optional<std::vector<double>> numbers() const;
  std::optional<std::vector<bool>> flags() const;
  /// Describes the value for messages: "12", a quoted text, "a list of 3 texts".
  std::string described() const;
};

/// Returns the size of a number of this kind; 0 for texts and lists.
std::size_t byteSize(GgufValue::Kind kind);

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
