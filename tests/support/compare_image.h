#pragma once

#include <gtest/gtest.h>

#include <string>

#include "render/image.h"

namespace headscope::test {

// Limits on the difference of channels, 0..255. On one version of one rasteriser the pictures are
// identical to the bit. Another version covers the edges of glyphs and slanted lines a little
// differently: up to an eighth of a pixel, 32 of 255, on the few pixels that edges touch. A lost label or a
// shifted panel changes far more than that somewhere, a wrong tone over any area exceeds the mean.
inline constexpr double kMaxLimit = 32;
inline constexpr double kMeanLimit = 0.05;

/// Compares with tests/golden_images/<goldenName>.png. On a mismatch the actual picture and one of the
/// differences (amplified, on black) are written to the test output folder, and the message says where.
/// With HEADSCOPE_UPDATE_GOLDENS=1 in the environment the golden image is rewritten instead, and the
/// comparison fails, so that a run that updates is never mistaken for one that checks.
::testing::AssertionResult imagesMatch(const render::Image& actual, const std::string& goldenName,
                                       double maxLimit = kMaxLimit, double meanLimit = kMeanLimit);

/// Writes a PNG, making folders as needed. Throws std::runtime_error where it cannot.
void writePng(const std::string& path, const render::Image& image);
/// Throws std::runtime_error where there is no such file or it is not a PNG.
render::Image readPng(const std::string& path);

}  // namespace headscope::test
