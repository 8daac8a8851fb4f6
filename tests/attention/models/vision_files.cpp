#include "tests/attention/models/vision_files.h"

#include <algorithm>
#include <cstring>

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb_image_write.h>

namespace headscope::attention::test {
namespace {

void append(void* to, void* data, int size) {
  auto& bytes = *static_cast<std::vector<std::uint8_t>*>(to);
  const auto* const first = static_cast<const std::uint8_t*>(data);
  bytes.insert(bytes.end(), first, first + size);
}

}  // namespace

RgbImage patternedPicture(Index width, Index height) {
  RgbImage picture{width, height, {}};
  Random random(7);
  for (Index i = 0; i < 3 * width * height; ++i)
    picture.rgb.push_back(static_cast<std::uint8_t>(128 + 40 * std::clamp(random.gaussian(), -3.0f, 3.0f)));
  return picture;
}

std::vector<std::uint8_t> pngBytes(const RgbImage& picture) {
  std::vector<std::uint8_t> bytes;
  stbi_write_png_to_func(append, &bytes, static_cast<int>(picture.width), static_cast<int>(picture.height), 3,
                         picture.rgb.data(), static_cast<int>(3 * picture.width));
  return bytes;
}

std::vector<std::uint8_t> jpegBytes(const RgbImage& picture) {
  std::vector<std::uint8_t> bytes;
  stbi_write_jpg_to_func(append, &bytes, static_cast<int>(picture.width), static_cast<int>(picture.height), 3,
                         picture.rgb.data(), 95);
  return bytes;
}

VitFolder::VitFolder(Index classes)
    : tensors_(DType::F32, 5),
      plain_(smallVit(classes)),
      outcome_(plain_.run(tensors_, std::vector<Wide>(3, Wide::Zero(8, 8)))),
      folder_(plain_.config, tensors_.file()) {
  const auto png = pngBytes(patternedPicture(30, 20));
  headscope::test::putFile(folder_ / "preprocessor_config.json", plain_.processor);
  headscope::test::putFile(picture(), {reinterpret_cast<const char*>(png.data()), png.size()});
}

}  // namespace headscope::attention::test
