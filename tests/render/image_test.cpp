#include "render/image.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "tests/support/compare_image.h"

namespace headscope::test {
namespace {

using render::encodePng;
using render::Image;

Image randomImage(int width, int height) {
  std::mt19937 random(3);
  Image image{width, height, {}};
  image.rgba.resize(static_cast<std::size_t>(width) * height * 4);
  for (auto& byte : image.rgba) byte = static_cast<std::uint8_t>(random());
  return image;
}

TEST(Image, PngRoundTripKeepsEveryByte) {
  for (const auto& [width, height] : {std::pair{1, 1}, {7, 3}, {3, 70}, {64, 64}}) {
    const Image image = randomImage(width, height);  // all alphas, which must not affect the colours
    const Image back = decodePng(encodePng(image));
    EXPECT_EQ(back.width, width);
    EXPECT_EQ(back.height, height);
    EXPECT_EQ(back.rgba, image.rgba);
  }
}

TEST(Image, EncodesLargeImagesInParallelParts) {
  Image image = randomImage(700, 900);  // three parts
  EXPECT_EQ(decodePng(encodePng(image)).rgba, image.rgba);
  EXPECT_EQ(encodePng(image), encodePng(image));
  const std::size_t withAlpha = encodePng(image).size();
  for (std::size_t i = 3; i < image.rgba.size(); i += 4) image.rgba[i] = 255;
  const auto opaque = encodePng(image);
  EXPECT_LT(opaque.size(), withAlpha * 4 / 5) << "no byte a pixel says that it is opaque";
  EXPECT_EQ(decodePng(opaque).rgba, image.rgba);
}

TEST(Image, FlipsRowsVertically) {
  for (const int height : {1, 2, 3}) {
    const Image image = randomImage(2, height), turned = render::imageFromBottom(2, height, image.rgba);
    for (int y = 0; y < height; ++y)
      EXPECT_TRUE(std::equal(&image.rgba[8 * y], &image.rgba[8 * y] + 8, &turned.rgba[8 * (height - 1 - y)]));
  }
}

TEST(Image, EncodingIsDeterministic) {
  const Image image = randomImage(20, 10);
  EXPECT_EQ(encodePng(image), encodePng(image));
}

TEST(Image, EncodingRefusesInvalidSizes) {
  EXPECT_THROW(encodePng({}), std::invalid_argument);
  EXPECT_THROW(encodePng({2, 2, std::vector<std::uint8_t>(15)}), std::invalid_argument);
  EXPECT_THROW(encodePng({-1, -1, std::vector<std::uint8_t>(4)}), std::invalid_argument);
}

}  // namespace
}  // namespace headscope::test
