#include "render/image.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <stdexcept>

namespace headscope::test {
namespace {

using render::decodePng;
using render::encodePng;
using render::Image;

Image randomImage(int width, int height) {
  std::mt19937 random(3);
  Image image{width, height, {}};
  image.rgba.resize(static_cast<std::size_t>(width) * height * 4);
  for (auto& byte : image.rgba) byte = static_cast<std::uint8_t>(random());
  return image;
}

/// The checksum at the end of every PNG chunk (PNG specification, annex D).
std::uint32_t crc(const std::uint8_t* bytes, std::size_t count) {
  std::uint32_t c = 0xffffffffu;
  for (std::size_t i = 0; i < count; ++i) {
    c ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) c = (c & 1u) != 0 ? 0xedb88320u ^ (c >> 1) : c >> 1;
  }
  return ~c;
}

void putBigEndian(std::uint8_t* at, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
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

TEST(Image, DecodingRefusesNonPngBytes) {
  EXPECT_THROW(decodePng({}), std::runtime_error);
  const std::array<std::uint8_t, 20> text{'n', 'o', 't', ' ', 'a', ' ', 'P', 'N', 'G'};
  EXPECT_THROW(decodePng(text), std::runtime_error);
}

TEST(Image, DecodingRefusesTruncatedPixels) {
  const auto bytes = encodePng(randomImage(9, 9));
  // The last 12 bytes are the empty end chunk, which readers don't need.
  for (std::size_t size = 0; size + 12 < bytes.size(); ++size) {
    EXPECT_THROW(decodePng(std::span(bytes).first(size)), std::runtime_error) << size;
  }
}

TEST(Image, DecodingSurvivesDamagedBytes) {
  const auto bytes = encodePng(randomImage(9, 9));
  int errors = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const std::uint8_t flip : {0x01, 0x80, 0xff}) {
      auto damaged = bytes;
      damaged[i] ^= flip;
      try {
        const Image image = decodePng(damaged);
        EXPECT_EQ(image.rgba.size(), std::size_t{4} * image.width * image.height);
      } catch (const std::runtime_error&) {
        ++errors;
      }
    }
  }
  EXPECT_GT(errors, static_cast<int>(bytes.size()));  // most of them, because chunks have checksums
}

TEST(Image, RefusesHugeClaimedSizeBeforeAllocating) {
  auto bytes = encodePng(randomImage(4, 4));
  // Signature 8, length 4, "IHDR" 4, then width and height; the checksum covers the name and 13 bytes.
  putBigEndian(bytes.data() + 16, 900000);
  putBigEndian(bytes.data() + 20, 900000);
  putBigEndian(bytes.data() + 29, crc(bytes.data() + 12, 17));
  try {
    decodePng(bytes);
    FAIL() << "accepted";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("900000"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace headscope::test
