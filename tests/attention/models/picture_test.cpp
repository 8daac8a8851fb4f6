// PNG and JPEG files read as pictures, and the errors for damaged ones.

#include "attention/formats/pictures/picture.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <stop_token>

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
  const auto jpeg = checked(decodeImage(jpegBytes(flag(32, 32)), "fox"));
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
  EXPECT_THAT(faultOf(flipped), HasSubstr("is a damaged PNG: IDAT"));
  EXPECT_THAT(faultOf({png.begin(), png.begin() + static_cast<std::ptrdiff_t>(png.size() / 2)}),
              HasSubstr("truncated"));
  EXPECT_THAT(faultOf({png.begin(), png.end() - 12}), HasSubstr("truncated"));
  EXPECT_THAT(faultOf({jpeg.begin(), jpeg.end() - 9}), HasSubstr("no end-of-image"));
  FileBytes codes = jpeg;
  constexpr std::uint8_t kTables[]{0xff, 0xc4};
  const auto table = std::ranges::search(codes, kTables).begin();
  ASSERT_LT(table - codes.begin(), std::ssize(codes) - 8);
  table[5] = table[6] = 255;  // the numbers of its codes of one and of two bits
  EXPECT_THAT(faultOf(codes), HasSubstr("Huffman table"));
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

/// EXIF data, big-endian, with an orientation.
FileBytes exifWith(int orientation) {
  return {'M',  'M',  0, 42, 0, 0, 0, 8, 0, 1,
          0x01, 0x12, 0, 3,  0, 0, 0, 1, 0, static_cast<std::uint8_t>(orientation),
          0,    0,    0, 0,  0, 0};
}

void append(FileBytes& bytes, const FileBytes& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

FileBytes bigEndian(std::uint32_t value) {
  return {static_cast<std::uint8_t>(value >> 24), static_cast<std::uint8_t>(value >> 16),
          static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value)};
}

/// A PNG's chunk with its length and checksum.
FileBytes chunk(const std::string& name, const FileBytes& data) {
  FileBytes typed(name.begin(), name.end());
  append(typed, data);
  FileBytes all = bigEndian(static_cast<std::uint32_t>(data.size()));
  append(all, typed);
  append(all, bigEndian(static_cast<std::uint32_t>(crc32(0, typed.data(), static_cast<uInt>(typed.size())))));
  return all;
}

/// A PNG of one row of 8-bit indices.
FileBytes indexedPng(const FileBytes& indices, const FileBytes& palette) {
  FileBytes png{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  FileBytes header = bigEndian(static_cast<std::uint32_t>(indices.size()));
  append(header, {0, 0, 0, 1, 8, 3, 0, 0, 0});
  FileBytes row{0};
  append(row, indices);
  FileBytes packed(compressBound(row.size()));
  uLongf size = packed.size();
  EXPECT_EQ(compress(packed.data(), &size, row.data(), row.size()), Z_OK);
  packed.resize(size);
  for (const FileBytes& each :
       {chunk("IHDR", header), chunk("PLTE", palette), chunk("IDAT", packed), chunk("IEND", {})})
    append(png, each);
  return png;
}

TEST(Pictures, IndicesOfThePaletteBecomeItsColoursAndOthersAreRefused) {
  const FileBytes palette{10, 20, 30, 40, 50, 60};
  const auto picture = checked(decodeImage(indexedPng({1, 0}, palette), "fox"));
  EXPECT_EQ(picture->rgb, FileBytes({40, 50, 60, 10, 20, 30}));
  EXPECT_THAT(faultOf(indexedPng({1, 0, 2}, palette)), HasSubstr("colour 2 of a palette of 2"));
  EXPECT_THAT(faultOf(indexedPng({255, 0}, palette)), HasSubstr("colour 255 of a palette of 2"));
}

/// A progressive JPEG with a scan repeated until it has more than `scans`.
FileBytes progressiveJpeg(int scans) {
  // 8 × 8 pixels of grey in one block: each scan gives its coefficients again, as 0.
  FileBytes jpeg{0xff, 0xd8, 0xff, 0xdb, 0, 67, 0};
  jpeg.insert(jpeg.end(), 64, 1);
  append(jpeg, {0xff, 0xc2, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0});
  append(jpeg, {0xff, 0xc4, 0, 20, 0x00, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  append(jpeg, {0xff, 0xc4, 0, 20, 0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  append(jpeg, {0xff, 0xda, 0, 8, 1, 1, 0, 0, 0, 0, 0x7f});
  for (int scan = 1; scan < scans; ++scan) append(jpeg, {0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0, 0x7f});
  append(jpeg, {0xff, 0xd9});
  return jpeg;
}

TEST(Pictures, JpegsOfManyScansAreRefusedAndDecodingStops) {
  const auto few = checked(decodeImage(progressiveJpeg(20), "fox"));
  EXPECT_EQ(few->rgb, FileBytes(3 * 64, 128));
  EXPECT_THAT(faultOf(progressiveJpeg(3000)), HasSubstr("more than 100 scans"));
  std::stop_source stop;
  stop.request_stop();
  for (const FileBytes& bytes : {progressiveJpeg(20), pngBytes(patternedPicture(30, 20))}) {
    const auto stopped = decodeImage(bytes, "fox", stop.get_token());
    ASSERT_FALSE(stopped.ok());
    EXPECT_THAT(stopped.error().message, HasSubstr("stopped"));
  }
}

/// Checks where red is, which was at the upper left of a flag of 32 × 16 pixels.
void expectTurned(const FileBytes& photo, int orientation) {
  const auto picture = checked(decodeImage(photo, "fox"));
  EXPECT_EQ(picture->width, orientation < 5 ? 32 : 16);
  const bool right = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
  const bool low = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
  const Index x = right ? picture->width - 4 : 3, y = low ? picture->height - 4 : 3;
  EXPECT_GT(picture->rgb[static_cast<std::size_t>(3 * (y * picture->width + x))], 200) << orientation;
}

TEST(Pictures, AppliesExifOrientationOfJpegsAndPngs) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    FileBytes segment{0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0};
    append(segment, exifWith(orientation));
    FileBytes photo = jpegBytes(flag(32, 16));
    photo.insert(photo.begin() + 2, segment.begin(), segment.end());
    expectTurned(photo, orientation);
    // Any marker may have fill bytes before it (ITU-T T.81, B.1.1.2).
    photo.insert(photo.begin() + 2, {0xff, 0xff, 0xff});
    expectTurned(photo, orientation);
    for (const bool early : {true, false}) {
      FileBytes png = pngBytes(flag(32, 16));
      const FileBytes exif = chunk("eXIf", exifWith(orientation));
      png.insert(early ? png.begin() + 33 : png.end() - 12, exif.begin(), exif.end());
      expectTurned(png, orientation);
    }
  }
}

}  // namespace
}  // namespace headscope::attention::test
