// PNG and JPEG files read as pictures, and the errors for damaged ones.

#include "attention/formats/pictures/picture.h"

#include <gtest/gtest.h>

#include "attention/formats/pictures/exif_orientation.h"
#include "tests/attention/models/vision_files.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

using FileBytes = std::vector<std::uint8_t>;

std::string faultOf(const FileBytes& bytes) {
  const auto picture = decodeImage(bytes, "fox");
  if (picture.ok()) return "";
  EXPECT_THAT(picture.error().message, StartsWith("fox: "));
  EXPECT_EQ(picture.error().message.find('\n'), std::string::npos);
  return picture.error().message;
}

/// The left half red, the right half blue, the lowest row green.
RgbImage flag(Index width, Index height) {
  RgbImage picture{width, height, {}};
  for (Index y = 0; y < height; ++y)
    for (Index x = 0; x < width; ++x) {
      const bool low = y >= height / 2, left = x < width / 2;
      for (const int c : {left && !low ? 250 : 5, low ? 250 : 5, !left && !low ? 250 : 5})
        picture.rgb.push_back(static_cast<std::uint8_t>(c));
    }
  return picture;
}

TEST(Pictures, DecodesPngExactlyAndJpegClosely) {
  const RgbImage picture = patternedPicture(30, 20);
  EXPECT_EQ(*decodeImage(pngBytes(picture), "fox"), picture);
  const auto jpeg = decodeImage(jpegBytes(flag(32, 32)), "fox");
  ASSERT_TRUE(jpeg.ok()) << jpeg.error().message;
  EXPECT_EQ(jpeg->width, 32);
  EXPECT_NEAR(jpeg->rgb[3 * (8 * 32 + 4)], 250, 12);
  EXPECT_NEAR(jpeg->rgb[3 * (8 * 32 + 28) + 2], 250, 12);
}

TEST(Pictures, DamagedFilesGiveOneLineErrors) {
  const FileBytes png = pngBytes(patternedPicture(30, 20)), jpeg = jpegBytes(patternedPicture(32, 32));
  EXPECT_THAT(faultOf({}), HasSubstr("not a PNG or JPEG"));
  EXPECT_THAT(faultOf({'G', 'I', 'F', '8', '9', 'a'}), HasSubstr("not a PNG or JPEG"));
  FileBytes flipped = png;
  flipped[png.size() / 2] ^= 4;
  EXPECT_THAT(faultOf(flipped), HasSubstr("checksum"));
  EXPECT_THAT(faultOf({png.begin(), png.begin() + static_cast<std::ptrdiff_t>(png.size() / 2)}),
              HasSubstr("chunk of"));
  EXPECT_THAT(faultOf({png.begin(), png.end() - 12}), HasSubstr("no IEND"));
  EXPECT_THAT(faultOf({jpeg.begin(), jpeg.end() - 9}), HasSubstr("no end-of-image"));
  FileBytes codes = jpeg;
  constexpr std::uint8_t kTables[]{0xff, 0xc4};
  const auto table = std::ranges::search(codes, kTables).begin();
  ASSERT_LT(table - codes.begin(), std::ssize(codes) - 8);
  table[5] = table[6] = 255;  // the numbers of its codes of one and of two bits
  EXPECT_THAT(faultOf(codes), HasSubstr("has a Huffman table of"));
  EXPECT_THAT(faultOf(codes), HasSubstr("expected at most 256"));
  FileBytes empty{0xff, 0xd8, 0xff, 0xda, 0, 2, 0xff, 0xd9};
  EXPECT_THAT(faultOf(empty), HasSubstr("damaged JPEG"));
}

TEST(Pictures, RefusesOversizedPicturesBeforeAllocating) {
  // A JPEG's size is only in its header, which here says 65,500 × 65,500.
  FileBytes jpeg = jpegBytes(patternedPicture(32, 32));
  const std::vector<std::uint8_t> frame{0xff, 0xc0};
  const auto at = std::search(jpeg.begin(), jpeg.end(), frame.begin(), frame.end());
  ASSERT_NE(at, jpeg.end());
  for (const int byte : {5, 7}) {
    at[byte] = 0xff;
    at[byte + 1] = 0xdc;
  }
  EXPECT_THAT(faultOf(jpeg), HasSubstr("65500 × 65500 pixels"));
}

TEST(Pictures, AppliesExifOrientation) {
  const FileBytes plain = jpegBytes(flag(32, 16));
  EXPECT_EQ(exifOrientation(plain), 1);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    FileBytes exif{0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0,
                   'M',  'M',  0, 42, 0,   0,   0,   8,   0, 1,
                   0x01, 0x12, 0, 3,  0,   0,   0,   1,   0, static_cast<std::uint8_t>(orientation),
                   0,    0,    0, 0,  0,   0};
    FileBytes photo = plain;
    photo.insert(photo.begin() + 2, exif.begin(), exif.end());
    EXPECT_EQ(exifOrientation(photo), orientation);
    const auto picture = decodeImage(photo, "fox");
    ASSERT_TRUE(picture.ok()) << picture.error().message;
    EXPECT_EQ(picture->width, orientation < 5 ? 32 : 16);
    // The new place of red, which was at the upper left.
    const bool right = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
    const bool low = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
    const Index x = right ? picture->width - 4 : 3, y = low ? picture->height - 4 : 3;
    EXPECT_GT(picture->rgb[static_cast<std::size_t>(3 * (y * picture->width + x))], 200) << orientation;
  }
}

}  // namespace
}  // namespace headscope::attention::test
