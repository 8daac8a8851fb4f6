#pragma once

#include <gtest/gtest.h>

#include <string>

#include "render/image.h"

namespace headscope::test {

/// How far apart two pictures may lie and still be the same one. On another processor or with another version
/// of the rasteriser numbers round otherwise: any tone by a step or two of 255, and at the edge of a glyph or
/// a line now and then a pixel by any amount. So it counts how many pixels differ and how many of them touch,
/// and never how much the worst one does.
struct Fuzz {
  int steps = 4;    ///< of 255: a pixel whose channels lie no further apart is the same
  int pixels = 32;  ///< of the others there may be as many in all
  int cluster =
      8;  ///< and as many that touch each other, corners included: one side of a small letter's stem
};

/// Of two pictures of one size.
struct Difference {
  int pixels = 0;         ///< that lie further apart than the steps
  int cluster = 0;        ///< of the most of them that touch
  int x = 0, y = 0;       ///< the first pixel of that cluster, from the top
  render::Image picture;  ///< what differs at all, amplified, on black

  bool within(const Fuzz& fuzz) const { return pixels <= fuzz.pixels && cluster <= fuzz.cluster; }
};
/// Throws std::invalid_argument where the sizes differ.
Difference differenceOf(const render::Image& actual, const render::Image& golden, int steps = Fuzz().steps);

/// Compares with tests/golden_images/<goldenName>.png. On a mismatch the actual picture and one of the
/// differences are written to the test output folder, and the message says where.
/// With HEADSCOPE_UPDATE_GOLDENS=1 in the environment the golden image is rewritten instead, and the
/// comparison fails, so that a run that updates is never mistaken for one that checks.
::testing::AssertionResult imagesMatch(const render::Image& actual, const std::string& goldenName,
                                       const Fuzz& fuzz = {});

/// The part of a picture between two corners in pixels; what reaches out of it is left away.
render::Image cropped(const render::Image& image, int left, int top, int right, int bottom);

/// Writes a PNG, making folders as needed. Throws std::runtime_error where it cannot.
void writePng(const std::string& path, const render::Image& image);
/// Throws std::runtime_error where there is no such file or it is not a PNG.
render::Image readPng(const std::string& path);

}  // namespace headscope::test
