#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::attention {

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

}  // namespace headscope::attention
