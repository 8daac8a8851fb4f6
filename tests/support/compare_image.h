#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>

#include "render/image.h"

namespace headscope::test {

/// How much two pictures may differ and still count as the same. Another processor or another version of the
/// rasteriser rounds differently: any tone may change by a step or two of 255, and now and then a pixel at
/// the edge of a glyph or line changes by any amount. So the limits are on how many pixels differ and how
/// many of them touch, never on the largest difference.
struct Fuzz {
  int steps = 4;    ///< of 255; a pixel counts as equal if no channel differs by more
  int pixels = 32;  ///< the maximum number of differing pixels
  int cluster = 8;  ///< the maximum that touch, diagonally too: one side of a small letter's stem
};

/// The difference between two pictures of the same size.
struct Difference {
  int pixels = 0;         ///< that differ by more than the steps
  int cluster = 0;        ///< pixels in the largest connected group of them
  int x = 0, y = 0;       ///< the first pixel of that cluster, from the top
  render::Image picture;  ///< all differences, amplified, on black

  bool within(const Fuzz& fuzz) const { return pixels <= fuzz.pixels && cluster <= fuzz.cluster; }
};
/// Throws std::invalid_argument if the sizes differ.
Difference differenceOf(const render::Image& actual, const render::Image& golden, int steps = Fuzz().steps);

/// Compares with tests/golden_images/<goldenName>.png. On a mismatch, writes the actual picture and a picture
/// of the differences to the test output folder and gives their paths in the message. With
/// HEADSCOPE_UPDATE_GOLDENS=1 in the environment, rewrites the golden image instead and fails, so that an
/// updating run is never mistaken for a checking one.
::testing::AssertionResult imagesMatch(const render::Image& actual, const std::string& goldenName,
                                       const Fuzz& fuzz = {});

/// The part of a picture between two corners, in pixels, clipped to the picture.
render::Image cropped(const render::Image& image, int left, int top, int right, int bottom);

/// Writes a PNG, creating folders as needed. Throws std::runtime_error if it can't.
void writePng(const std::string& path, const render::Image& image);
/// Throws std::runtime_error if the bytes aren't a PNG.
render::Image decodePng(std::span<const std::uint8_t> bytes);
/// Throws std::runtime_error if the file doesn't exist or isn't a PNG.
render::Image readPng(const std::string& path);

}  // namespace headscope::test
