#include "attention/formats/pictures/exif_orientation.h"

#include <algorithm>
#include <optional>
#include <string_view>

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

/// Returns the orientation in the first directory, or 1.
int orientationOf(std::span<const std::uint8_t> tiff) {
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

}  // namespace

int exifOrientation(std::span<const std::uint8_t> jpeg) {
  constexpr std::string_view kExif("Exif\0\0", 6);
  if (jpeg.size() < 4 || jpeg[0] != 0xff || jpeg[1] != 0xd8) return 1;
  // Each segment has a marker and a length that includes itself.
  for (std::size_t at = 2; jpeg.size() - at >= 4 && jpeg[at] == 0xff && jpeg[at + 1] != 0xda;) {
    const std::size_t length = std::size_t{jpeg[at + 2]} << 8 | jpeg[at + 3];
    if (length < 2 || length > jpeg.size() - at - 2) return 1;
    const auto body = jpeg.subspan(at + 4, length - 2);
    if (jpeg[at + 1] == 0xe1 && body.size() >= kExif.size() &&
        std::equal(kExif.begin(), kExif.end(), body.begin(),
                   [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; }))
      return orientationOf(body.subspan(kExif.size()));
    at += 2 + length;
  }
  return 1;
}

}  // namespace headscope::attention
