#include "attention/formats/pictures/picture.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "attention/formats/pictures/exif_orientation.h"

namespace {

/// No picture within kMaxImagePixels needs a larger allocation; data that unpacks to more is damaged.
constexpr std::size_t kMaxAtOnce = std::size_t{8} << 25;

void* allocateBounded(std::size_t bytes) {
  return bytes > kMaxAtOnce ? nullptr : std::malloc(bytes);
}
void* reallocateBounded(void* old, std::size_t bytes) {
  return bytes > kMaxAtOnce ? nullptr : std::realloc(old, bytes);
}

}  // namespace

#define STBI_MALLOC(bytes) allocateBounded(bytes)
#define STBI_REALLOC(old, bytes) reallocateBounded(old, bytes)
#define STBI_FREE(old) std::free(old)
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb_image.h>

namespace headscope::attention {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::array<std::uint8_t, 8> kPngMagic{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr std::array<std::uint8_t, 3> kJpegMagic{0xff, 0xd8, 0xff};

bool beginsWith(Bytes bytes, Bytes magic) {
  return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

std::uint32_t bigEndian(Bytes bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | bytes[at + i];
  return value;
}

/// Computes the checksum of a PNG chunk (PNG specification, annex D).
std::uint32_t crc(Bytes bytes) {
  std::uint32_t sum = ~std::uint32_t{0};
  for (const std::uint8_t byte : bytes) {
    sum ^= byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0xedb88320u : 0);
  }
  return ~sum;
}

/// Checks a PNG's chunks, which the decoder doesn't. Returns what is wrong, or "".
std::string pngFault(Bytes bytes) {
  constexpr std::uint32_t kEnd = 0x49454e44;  // IEND
  for (std::size_t at = kPngMagic.size();;) {
    if (bytes.size() - at < 12) return "is truncated: it has no IEND chunk";
    const std::uint32_t length = bigEndian(bytes, at);
    if (length > bytes.size() - at - 12)
      return fmt::format("has a chunk of {} bytes, expected at most the {} that are left", length,
                         bytes.size() - at - 12);
    if (crc(bytes.subspan(at + 4, length + 4)) != bigEndian(bytes, at + 8 + length))
      return fmt::format("is damaged: the checksum of the chunk at byte {} is wrong", at);
    if (bigEndian(bytes, at + 4) == kEnd) return "";
    at += 12 + length;
  }
}

/// Returns the number of codes in the largest of the Huffman tables from byte `at` to `end` (ITU-T T.81,
/// B.2.4.2).
int mostCodes(Bytes bytes, std::size_t at, std::size_t end) {
  int most = 0;
  while (at < end) {
    int codes = 0;
    for (std::size_t i = 1; i <= 16 && at + i < bytes.size(); ++i) codes += bytes[at + i];
    most = std::max(most, codes);
    at += 17 + static_cast<std::size_t>(codes);
  }
  return most;
}

/// Checks a JPEG's Huffman tables. Returns what is wrong, or "". The decoder overruns its own table if one
/// has more than 256 codes.
std::string tableFault(Bytes bytes) {
  constexpr int kTables = 0xc4, kMaxCodes = 256;
  for (std::size_t at = 2; at + 3 < bytes.size();) {
    const int marker = bytes[at + 1];
    // Data between markers is a scan, or something the decoder skips too.
    if (bytes[at] != 0xff || marker == 0 || marker == 0xff || (marker >= 0xd0 && marker <= 0xd7)) {
      ++at;
      continue;
    }
    const std::size_t length = std::size_t{bytes[at + 2]} << 8 | bytes[at + 3];
    if (marker == kTables)
      if (const int codes = mostCodes(bytes, at + 4, at + 2 + length); codes > kMaxCodes)
        return fmt::format("has a Huffman table of {} codes, expected at most {}", codes, kMaxCodes);
    at += 2 + length;
  }
  return "";
}

/// Checks a JPEG. One without an end marker is truncated and would decode to grey.
std::string jpegFault(Bytes bytes) {
  constexpr std::array<std::uint8_t, 2> kEnd{0xff, 0xd9}, kScan{0xff, 0xda};
  const auto end = std::find_end(bytes.begin(), bytes.end(), kEnd.begin(), kEnd.end());
  const auto scan = std::search(bytes.begin(), bytes.end(), kScan.begin(), kScan.end());
  if (end == bytes.end() || scan == bytes.end() || end < scan)
    return "is truncated: it has no end-of-image marker";
  return tableFault(bytes);
}

/// Rotates or mirrors a picture according to its EXIF orientation.
RgbImage turned(const RgbImage& from, int orientation) {
  if (orientation < 2) return from;
  const bool swapped = orientation >= 5;
  RgbImage to{swapped ? from.height : from.width, swapped ? from.width : from.height, {}};
  to.rgb.resize(from.rgb.size());
  const bool fromRight = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool fromBottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  for (Index y = 0; y < to.height; ++y)
    for (Index x = 0; x < to.width; ++x) {
      Index column = swapped ? y : x, row = swapped ? x : y;
      if (fromRight) column = from.width - 1 - column;
      if (fromBottom) row = from.height - 1 - row;
      std::copy_n(from.rgb.begin() + 3 * (row * from.width + column), 3,
                  to.rgb.begin() + 3 * (y * to.width + x));
    }
  return to;
}

}  // namespace

bool isPicture(Bytes bytes) {
  return beginsWith(bytes, kPngMagic) || beginsWith(bytes, kJpegMagic);
}

Result<RgbImage> decodeImage(Bytes bytes, const std::string& name) {
  if (!isPicture(bytes)) return Error{name + ": is not a PNG or JPEG picture"};
  if (bytes.size() > kMaxImageBytes)
    return Error{fmt::format("{}: has {} bytes, expected at most {}", name, bytes.size(), kMaxImageBytes)};
  const bool png = beginsWith(bytes, kPngMagic);
  if (const std::string fault = png ? pngFault(bytes) : jpegFault(bytes); !fault.empty())
    return Error{name + ": " + fault};
  int width = 0, height = 0, channels = 0;
  const int size = static_cast<int>(bytes.size());
  const auto undecodable = [&] {
    return Error{fmt::format("{}: is a damaged {}: {}", name, png ? "PNG" : "JPEG", stbi_failure_reason())};
  };
  if (stbi_info_from_memory(bytes.data(), size, &width, &height, &channels) == 0) return undecodable();
  if (width < 1 || height < 1 || Index{width} * height > kMaxImagePixels)
    return Error{
        fmt::format("{}: has {} × {} pixels, expected at most {}", name, width, height, kMaxImagePixels)};
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load_from_memory(bytes.data(), size, &width, &height, &channels, 3), stbi_image_free);
  if (!pixels) return undecodable();
  RgbImage picture{width, height, {}};
  picture.rgb.assign(pixels.get(), pixels.get() + Index{3} * width * height);
  return turned(picture, exifOrientation(bytes));
}

}  // namespace headscope::attention
