#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::attention {

/// One value of a GGUF file's metadata, where it lies in the file, whose bytes have to outlive it.
struct GgufValue {
  /// With the numbers they have in the file.
  enum class Kind { u8, i8, u16, i16, u32, i32, f32, flag, text, list, u64, i64, f64 };
  Kind kind = Kind::u8;
  Kind items = Kind::u8;                ///< of a list
  std::uint64_t count = 0;              ///< of a list's items
  std::span<const std::uint8_t> bytes;  ///< without the lengths before a text or a list

  /// Nothing where it is of another kind; a whole number also where it is beyond 63 bits.
  std::optional<std::int64_t> integer() const;
  std::optional<double> number() const;
  std::optional<bool> flag() const;
  std::optional<std::string_view> text() const;
  std::optional<std::vector<std::string_view>> texts() const;
  std::optional<std::vector<std::int64_t>> integers() const;
  std::optional<std::vector<double>> numbers() const;
  /// For messages: "12", a quoted text, "a list of 3 texts".
  std::string described() const;
};

/// Bytes of a number of that kind; 0 for texts and lists.
std::size_t byteSize(GgufValue::Kind kind);

}  // namespace headscope::attention
