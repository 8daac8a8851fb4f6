// Whole heatmaps as a person sees them, compared with reviewed pictures.

#include <algorithm>

#include "tests/render/heatmap_fixture.h"
#include "tests/support/compare_image.h"

namespace headscope::test {
namespace {

using render::HeadlessContext;
using render::HeatmapPainter;
using render::HeatmapStyle;
using render::HeatmapTextures;
using render::HeatmapView;
using render::kDeadCell;
using render::kMaskedCell;

/// Softmax over rows of `score`; causal if `causal` is set.
template <typename Score>
std::vector<float> weightsOf(int n, bool causal, Score score) {
  std::vector<float> weights(static_cast<std::size_t>(n) * n, kMaskedCell);
  for (int q = 0; q < n; ++q) {
    const int keys = causal ? q + 1 : n;
    double sum = 0;
    for (int k = 0; k < keys; ++k) sum += std::exp(score(q, k));
    for (int k = 0; k < keys; ++k) {
      weights[static_cast<std::size_t>(q) * n + k] = static_cast<float>(std::exp(score(q, k)) / sum);
    }
  }
  return weights;
}

/// Heads for the previous token, the first token, a local band with a dead row and a NaN, and pronoun to
/// noun.
HeatmapTextures fourHeads(int n) {
  HeatmapTextures textures;
  textures.resize(4, n, n);
  textures.upload(0,
                  weightsOf(n, true, [](int q, int k) { return k == q - 1 ? 6.0 : 0.3 * (k % 3); }).data());
  textures.upload(1, weightsOf(n, true, [](int q, int k) { return k == 0 ? 4.5 - 0.15 * q : 0.0; }).data());
  auto band = weightsOf(n, true, [](int q, int k) { return -0.5 * (q - k) * (q - k); });
  std::fill_n(band.begin() + 3 * n, n, kDeadCell);
  band[static_cast<std::size_t>(8 * n + 2)] = std::numeric_limits<float>::quiet_NaN();
  textures.upload(2, band.data());
  textures.upload(3, weightsOf(n, false, [n](int q, int k) {
                       return 2.5 * std::sin(1.3 * q) * std::cos(0.9 * k) +
                              (q == n / 2 && k == 1 ? 4.0 : 0.0);
                     }).data());
  return textures;
}

struct Theme {
  unsigned page, panel, maskedHatch, deadHatch;
};
constexpr Theme kDark{0x0d1015, 0x12161c, 0x232a34, 0x5d6977};

HeatmapStyle styleOf(const Theme& theme, float scale) {
  HeatmapStyle style;
  style.background = rgb(theme.page);
  style.masked = rgb(theme.panel);
  style.maskedHatch = rgb(theme.maskedHatch);
  style.deadHatch = rgb(theme.deadHatch);
  style.gap = scale;
  style.hatchSpacing = 12 * scale;
  return style;
}

render::Image paintFour(int n, const Theme& theme, float scale, render::Colormap map) {
  constexpr float kSide = 252, kMargin = 20;
  const int size = static_cast<int>(scale * (2 * kSide + 3 * kMargin));
  HeadlessContext context(size, size);
  const render::Color page = rgb(theme.page);
  glClearColor(page.r, page.g, page.b, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  HeatmapPainter painter(shaderSource("heatmap.vert"), shaderSource("heatmap.frag"));
  const HeatmapTextures textures = fourHeads(n);
  HeatmapStyle style = styleOf(theme, scale);
  style.colormap = map;
  for (int head = 0; head < 4; ++head) {
    HeatmapView view;
    const float x = scale * (kMargin + static_cast<float>(head % 2) * (kSide + kMargin));
    const float y = scale * (kMargin + static_cast<float>(head / 2) * (kSide + kMargin));
    view.target = view.clip = {x, y, x + scale * kSide, y + scale * kSide};
    view.layer = head;
    view.rows = view.cols = static_cast<float>(n);
    if (head == 1) view.litRows = 3 * n / 4;
    painter.draw(textures, nullptr, 1, view, style, size, size);
  }
  return context.read();
}

TEST(HeatmapGolden, FourHeadsOnDark) {
  EXPECT_TRUE(imagesMatch(paintFour(12, kDark, 1, render::Colormap::viridis), "heatmap_dark"));
}

TEST(HeatmapGolden, FourHeadsAtTwiceTheScale) {
  EXPECT_TRUE(imagesMatch(paintFour(12, kDark, 2, render::Colormap::magma), "heatmap_dark_2x"));
}

TEST(HeatmapGolden, SmallCells) {
  EXPECT_TRUE(imagesMatch(paintFour(64, kDark, 1, render::Colormap::blues), "heatmap_small_cells"));
}

}  // namespace
}  // namespace headscope::test
