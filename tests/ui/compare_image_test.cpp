// Changes that a golden picture detects and those it tolerates, planted into real pages.

#include "tests/support/compare_image.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>

#include "app/platform/ui_state.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using render::Image;

std::size_t offset(const Image& image, int x, int y) {
  return 4 *
         (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x));
}

/// The largest difference between the channels of two pixels, of 255.
int apart(const Image& a, int x, int y, const Image& b, int u, int v) {
  const std::uint8_t *const first = &a.rgba[offset(a, x, y)], *const second = &b.rgba[offset(b, u, v)];
  int most = 0;
  for (int i = 0; i < 3; ++i) most = std::max(most, std::abs(int{first[i]} - int{second[i]}));
  return most;
}

void copyPixel(const Image& from, int x, int y, Image& to, int u, int v) {
  std::copy_n(&from.rgba[offset(from, x, y)], 4, &to.rgba[offset(to, u, v)]);
}

bool isNoticed(const Image& changed, const Image& image) {
  return !differenceOf(changed, image).within({});
}

/// A rectangle in pixels.
struct Area {
  int left, top, right, bottom;
};

/// The visible part of a text, in pixels of the picture.
Area areaOf(const app::DrawnText& text, const Image& image) {
  ImRect seen = text.area;
  seen.ClipWith(text.clip);
  seen.ClipWithFull(ImRect(0, 0, static_cast<float>(image.width), static_cast<float>(image.height)));
  return {static_cast<int>(seen.Min.x), static_cast<int>(seen.Min.y), static_cast<int>(seen.Max.x),
          static_cast<int>(seen.Max.y)};
}

/// A page with its texts and without.
class PlantedChanges : public testing::TestWithParam<const char*> {
 protected:
  PlantedChanges() {
    ui.session().scene().cursor.page = GetParam();
    ui.park().wait(0.5);
    app::UiState& state = app::uiState();
    state.watches = true;
    image = ui.screenshot();
    texts = state.texts;
    state.watches = state.hidesTexts = true;
    bare = ui.screenshot();
    state.hidesTexts = false;
  }
  /// The number of visible pixels of a text.
  int inked(const Area& area) const {
    int count = 0;
    for (int y = area.top; y < area.bottom; ++y)
      for (int x = area.left; x < area.right; ++x) count += apart(image, x, y, bare, x, y) > 32;
    return count;
  }
  /// The picture with one text moved right by `by` pixels, or removed if `by` is nullopt.
  Image withTextMoved(const Area& area, std::optional<int> by) const {
    Image changed = image;
    for (int y = area.top; y < area.bottom; ++y)
      for (int x = area.left; x < area.right; ++x) copyPixel(bare, x, y, changed, x, y);
    if (!by) return changed;
    for (int y = area.top; y < area.bottom; ++y)
      for (int x = area.left; x < std::min(area.right, image.width - *by); ++x)
        copyPixel(image, x, y, changed, x + *by, y);
    return changed;
  }

  UiDriver ui{1280, 720};
  Image image, bare;
  std::vector<app::DrawnText> texts;
};

TEST_P(PlantedChanges, DetectsLabelsLostOrMovedByOnePixel) {
  int labels = 0;
  for (const app::DrawnText& text : texts) {
    const Area area = areaOf(text, image);
    // A full stop has fewer pixels than the noise; a digit at the smallest size has twenty. Bars that move
    // along themselves change only at their ends.
    if (inked(area) < 16 || text.text.find_first_not_of(".,:·…-=− ") == std::string::npos) continue;
    EXPECT_TRUE(isNoticed(withTextMoved(area, std::nullopt), image)) << "lost: " << text.text;
    EXPECT_TRUE(isNoticed(withTextMoved(area, 1), image)) << "moved: " << text.text;
    ++labels;
  }
  EXPECT_GT(labels, 20);
}

/// The starting points of horizontal lines, one pixel high and at least `length` pixels of one colour long,
/// between equal rows of other colours above and below.
std::vector<std::pair<int, int>> linesOf(const Image& image, int length) {
  std::vector<std::pair<int, int>> lines;
  for (int y = 2; y + 2 < image.height; ++y)
    for (int x = 0; x + length <= image.width; ++x) {
      const auto belongs = [&](int u) {
        return apart(image, u, y, image, x, y) == 0 && apart(image, u, y, image, u, y - 1) > Fuzz().steps &&
               apart(image, u, y - 1, image, u, y + 1) == 0 && apart(image, u, y + 1, image, u, y + 2) == 0;
      };
      int end = x;
      while (end < x + length && belongs(end)) ++end;
      if (end < x + length) {
        x = end;
        continue;
      }
      lines.emplace_back(x, y);
      while (end < image.width && belongs(end)) ++end;
      x = end;
    }
  return lines;
}

TEST_P(PlantedChanges, DetectsLinesMovedByOnePixel) {
  constexpr int kLength = 8;  // the marks next to an axis
  const auto lines = linesOf(bare, kLength);
  ASSERT_GT(lines.size(), 3u);
  for (const auto& [x, y] : lines) {
    Image changed = bare;
    for (int u = x; u < x + kLength; ++u) {
      copyPixel(bare, u, y + 1, changed, u, y);
      copyPixel(bare, u, y, changed, u, y + 1);
    }
    EXPECT_TRUE(isNoticed(changed, bare)) << "the line at " << x << ", " << y;
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, PlantedChanges, testing::Values("heads", "mask", "cache", "cost", "lessons"),
                         [](const auto& info) { return std::string(info.param); });

/// The smallest cells with a gap between them, of 3 × 3 pixels, and the faintest change that isn't noise.
TEST(ComparedPictures, DetectsWrongColourOfOneCell) {
  UiDriver ui(1280, 720);
  ui.park();
  const Image image = ui.screenshot();
  const ImRect head = ui.find("head.6");
  const float side = head.GetWidth() / 12;
  for (int row = 0; row < 12; ++row)
    for (int column = 0; column < 12; ++column) {
      Image changed = image;
      const int x = static_cast<int>(head.Min.x + (static_cast<float>(column) + 0.5f) * side),
                y = static_cast<int>(head.Min.y + (static_cast<float>(row) + 0.5f) * side);
      for (int v = y - 1; v <= y + 1; ++v)
        for (int u = x - 1; u <= x + 1; ++u) {
          std::uint8_t& green = changed.rgba[offset(changed, u, v) + 1];
          green = static_cast<std::uint8_t>(green < 128 ? green + 5 : green - 5);
        }
      EXPECT_TRUE(isNoticed(changed, image)) << "the cell " << row << ", " << column;
    }
}

/// The changes seen on other processors and vector widths: tones by two steps anywhere, and single edge
/// pixels by up to 57.
TEST(ComparedPictures, ToleratesRasteriserNoise) {
  UiDriver ui(1280, 720);
  ui.park();
  const Image image = ui.screenshot();
  std::mt19937 random(5);
  for (int round = 0; round < 5; ++round) {
    Image changed = image;
    for (std::size_t i = 0; i < changed.rgba.size(); ++i)
      if (i % 4 != 3)
        changed.rgba[i] = static_cast<std::uint8_t>(
            std::clamp(int{changed.rgba[i]} + static_cast<int>(random() % 5) - 2, 0, 255));
    int edges = 0;
    while (edges < 20) {
      const int x = static_cast<int>(random() % 1278) + 1, y = static_cast<int>(random() % 720);
      if (apart(image, x, y, image, x + 1, y) < 60) continue;
      ++edges;
      for (int i = 0; i < 3; ++i) {
        std::uint8_t& tone = changed.rgba[offset(changed, x, y) + static_cast<std::size_t>(i)];
        tone = static_cast<std::uint8_t>(tone < 128 ? tone + 57 : tone - 57);
      }
    }
    const Difference found = differenceOf(changed, image);
    EXPECT_TRUE(found.within({})) << found.pixels << " pixels, " << found.cluster << " of them touch";
    EXPECT_GE(found.pixels, 15);
  }
}

/// One side of a letter's stem passes, whatever its tone. One more pixel that touches it, even at a corner,
/// doesn't.
TEST(ComparedPictures, RefusesClustersLargerThanALetterStem) {
  const Image image{40, 40, std::vector<std::uint8_t>(4 * 40 * 40, 90)};
  Image changed = image;
  for (int y = 0; y < Fuzz().cluster; ++y) changed.rgba[offset(changed, 20, 10 + y)] = 255;
  EXPECT_FALSE(isNoticed(changed, image));
  changed.rgba[offset(changed, 21, 9)] = 255;
  const Difference found = differenceOf(changed, image);
  EXPECT_FALSE(found.within({})) << "corners touch";
  EXPECT_EQ(found.cluster, Fuzz().cluster + 1);
  EXPECT_EQ(std::pair(found.x, found.y), std::pair(21, 9));
}

TEST(ComparedPictures, RefusesTooManyScatteredPixels) {
  const Image image{200, 10, std::vector<std::uint8_t>(4 * 200 * 10, 90)};
  Image changed = image;
  for (int i = 0; i <= Fuzz().pixels; ++i) changed.rgba[offset(changed, 3 * i, 5)] = 255;
  EXPECT_EQ(differenceOf(changed, image).cluster, 1);
  EXPECT_TRUE(isNoticed(changed, image));
}

TEST(ComparedPictures, RefusesDifferentSizesAndMissingPictures) {
  if (std::getenv("HEADSCOPE_UPDATE_GOLDENS")) GTEST_SKIP() << "it would make the picture";
  const Image dot{1, 1, {0, 0, 0, 255}};
  EXPECT_FALSE(imagesMatch(dot, "heatmap_dark"));
  EXPECT_FALSE(imagesMatch(dot, "no_such_picture"));
  EXPECT_THROW((void)differenceOf(dot, Image{2, 1, {0, 0, 0, 255, 0, 0, 0, 255}}), std::invalid_argument);
}

TEST(ComparedPictures, CroppingStaysInsideThePicture) {
  Image image{4, 3, std::vector<std::uint8_t>(48)};
  for (std::size_t i = 0; i < 12; ++i) image.rgba[4 * i] = static_cast<std::uint8_t>(i);
  const Image part = cropped(image, 1, 1, 9, 9);
  EXPECT_EQ(part.width, 3);
  EXPECT_EQ(part.height, 2);
  EXPECT_EQ(part.rgba[0], 5);
  EXPECT_EQ(part.rgba[4 * 3], 9);
  EXPECT_EQ(cropped(image, 5, 5, 9, 9).rgba.size(), 0u);
}

}  // namespace
}  // namespace headscope::test
