#include "render/image.h"

#include <png.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace headscope::render {
namespace {

// A file's header may claim any size; this limits how much is allocated for it.
constexpr std::uint64_t kMaxPixels = std::uint64_t{1} << 26;

/// libpng's reader state, freed on every exit path.
struct PngReader {
  png_image image{};
  PngReader() { image.version = PNG_IMAGE_VERSION; }
  ~PngReader() { png_image_free(&image); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
};

[[noreturn]] void fail(const char* doing, const png_image& image) {
  const std::string reason = image.message[0] != '\0' ? image.message : "unknown reason";
  throw std::runtime_error(std::string(doing) + ": " + reason);
}

}  // namespace

Image imageFromBottom(int width, int height, std::vector<std::uint8_t> rgba) {
  const auto stride = std::ptrdiff_t{4} * width;
  for (auto low = rgba.begin(), high = rgba.end() - stride; low < high; low += stride, high -= stride)
    std::swap_ranges(low, low + stride, high);
  return {width, height, std::move(rgba)};
}

Image decodePng(std::span<const std::uint8_t> bytes) {
  PngReader reader;
  png_image& png = reader.image;
  if (bytes.empty()) throw std::runtime_error("cannot read PNG: no bytes");
  if (!png_image_begin_read_from_memory(&png, bytes.data(), bytes.size())) fail("cannot read PNG", png);
  if (std::uint64_t{png.width} * png.height > kMaxPixels) {
    throw std::runtime_error("cannot read PNG: " + std::to_string(png.width) + " × " +
                             std::to_string(png.height) + " pixels, at most " + std::to_string(kMaxPixels) +
                             " expected");
  }
  png.format = PNG_FORMAT_RGBA;
  Image image;
  image.width = static_cast<int>(png.width);
  image.height = static_cast<int>(png.height);
  image.rgba.resize(PNG_IMAGE_SIZE(png));
  if (!png_image_finish_read(&png, nullptr, image.rgba.data(), 0, nullptr)) fail("cannot read PNG", png);
  return image;
}

}  // namespace headscope::render
