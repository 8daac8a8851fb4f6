#include <optional>

#include "attention/formats/pictures/picture.h"

namespace headscope::attention {
namespace {

/// Reads integers of a TIFF structure in its byte order; returns nullopt beyond its end.
struct TiffReader {
  std::span<const std::uint8_t> bytes;
  bool littleEndian;

  std::optional<std::uint32_t> number(std::size_t at, std::size_t size) const {
    if (at > bytes.size() || bytes.size() - at < size) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | bytes[at + (littleEndian ? size - 1 - i : i)];
    return value;
  }
};

}  // namespace

int exifOrientation(std::span<const std::uint8_t> tiff) {
  constexpr std::uint32_t kOrientation = 0x0112;
  if (tiff.size() < 8) return 1;
  const TiffReader reader{tiff, tiff[0] == 'I'};
  const std::size_t directory = reader.number(4, 4).value_or(0);
  const std::uint32_t entries = reader.number(directory, 2).value_or(0);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::size_t at = directory + 2 + 12 * std::size_t{i};
    const auto tag = reader.number(at, 2);
    if (!tag) return 1;
    if (*tag != kOrientation) continue;
    const std::uint32_t value = reader.number(at + 8, 2).value_or(1);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace headscope::attention
