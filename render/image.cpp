#include "render/image.h"

#include <png.h>

#include <stdexcept>
#include <string>

namespace headscope::render {
namespace {

// A file may claim any size in its first bytes: nothing larger than this is allocated for it.
constexpr std::uint64_t kMaxPixels = std::uint64_t{1} << 26;

/// libpng's reader state, freed on every way out.
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

Image imageFromBottom(int width, int height, std::span<const std::uint8_t> rgba) {
  Image image{width, height, {}};
  image.rgba.reserve(rgba.size());
  const std::size_t stride = std::size_t{4} * static_cast<std::size_t>(width);
  for (std::size_t y = static_cast<std::size_t>(height); y-- > 0;) {
    const auto row = rgba.subspan(y * stride, stride);
    image.rgba.insert(image.rgba.end(), row.begin(), row.end());
  }
  return image;
}

std::vector<std::uint8_t> encodePng(const Image& image) {
  if (image.width <= 0 || image.height <= 0 ||
      image.rgba.size() != std::size_t{4} * static_cast<std::size_t>(image.width) * image.height) {
    throw std::invalid_argument("image of " + std::to_string(image.width) + " × " +
                                std::to_string(image.height) + " pixels has " +
                                std::to_string(image.rgba.size()) + " bytes");
  }
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = PNG_FORMAT_RGBA;
  png.flags = PNG_IMAGE_FLAG_FAST;  // drawn pictures need no filters, which take longer than drawing them
  // The documented upper bound spares a second compression just to learn the size.
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::vector<std::uint8_t> bytes(size);
  if (!png_image_write_to_memory(&png, bytes.data(), &size, 0, image.rgba.data(), 0, nullptr)) {
    fail("cannot write PNG", png);
  }
  bytes.resize(size);
  return bytes;
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
