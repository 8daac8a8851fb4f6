#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/kit/board.h"
#include "app/pages/head_lab/head_lab_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/rich_text.h"

namespace headscope::app::head_lab_page {

namespace {

/// A map with its name and shape.
struct NamedMap {
  const char* name;
  std::string shape;
  Ink ink;
  const WeightPicture& picture;
};

constexpr float kMapTitle = 28, kMapRange = 20;  ///< above and below the cells, in layout units

/// Draws the colours' scale below the cells, and after it the largest value if it is beyond that.
void scaleBelow(const View& view, Canvas list, const NamedMap& map, const ImRect& cells) {
  ImFont* const font = view.fonts->small;
  const std::string end = cellText(static_cast<double>(map.picture.colours));
  const float y = cells.Max.y + view.px(kMapRange / 2), half = view.px(4), gap = view.px(6);
  const render::Tint tint = inkTint(*view.theme, map.ink);
  float x =
      cells.Min.x + paintText(list, font, ImVec2(cells.Min.x, y), view.theme->secondary, "−" + end) + gap;
  const float wide = std::min(view.px(64), cells.GetWidth() / 4);
  const std::uint32_t low = packed(tint.low), middle = packed(*tint.middle), high = packed(tint.high);
  for (const auto& [from, to] : {std::pair(low, middle), {middle, high}}) {
    list.AddRectFilledMultiColor(ImVec2(x, y - half), ImVec2(x + wide / 2, y + half), from, to, to, from);
    x += wide / 2;
  }
  x += gap + paintText(list, font, ImVec2(x + gap, y), view.theme->secondary, end) + 2 * gap;
  const std::string most = "largest ±" + cellText(static_cast<double>(map.picture.most));
  if (map.picture.colours < map.picture.most && x + textWidth(font, most) <= cells.Max.x)
    paintText(list, font, ImVec2(x, y), view.theme->secondary, most);
}

void paintMap(Scene& scene, State& page, const ImRect& area, const NamedMap& map) {
  const View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const ImRect cells(area.Min + ImVec2(0, view.px(kMapTitle)), area.Max - ImVec2(0, view.px(kMapRange)));
  if (cells.GetWidth() < 4 || cells.GetHeight() < 4) return;
  const ImVec2 title = area.Min + ImVec2(0, view.px(12));
  const float used = view.px(12) + paintScripted(view, list, view.fonts->title, title,
                                                 inkColor(*view.theme, map.ink), map.name);
  if (textWidth(view.fonts->mono, map.shape) <= area.GetWidth() - used)
    paintText(list, view.fonts->mono, title + ImVec2(used, 0), view.theme->secondary, map.shape);
  MatrixPicture picture{std::string("weights.") + map.name, map.ink, -map.picture.colours,
                        map.picture.colours};
  paintPicture(page.view, page.pictures, picture, map.picture.values, cells, scene.look);
  scaleBelow(view, list, map, cells);
  track(picture.name, cells.Min, cells.Max);
}

/// Draws singular values as bars, the largest first; those that count towards the rank are filled.
void spectrumBars(const View& view, const ImRect& area, const attention::Spectrum& spectrum,
                  std::uint32_t color) {
  Canvas list = *ImGui::GetWindowDrawList();
  const Theme& theme = *view.theme;
  const ImRect bars(area.Min, area.Max - ImVec2(0, view.px(24)));
  if (spectrum.singular.empty() || bars.GetHeight() < view.px(20)) return;
  const auto count = static_cast<float>(spectrum.singular.size());
  const float each = std::min(bars.GetWidth() / count, view.px(32));
  const double most = std::max(spectrum.singular.front(), 1e-30);
  list.AddLine(bars.GetBL(), bars.Max, theme.line);
  for (std::size_t i = 0; i < spectrum.singular.size(); ++i) {
    const ImVec2 base = bars.GetBL() + ImVec2(each * static_cast<float>(i), 0);
    const float up = std::max(1.0f, static_cast<float>(spectrum.singular[i] / most) * bars.GetHeight());
    list.AddRectFilled(base - ImVec2(0, up),
                       base + ImVec2(std::max(1.0f, each - (each > 4 ? view.px(2) : 0)), 0),
                       static_cast<Index>(i) < spectrum.rank ? color : theme.line);
  }
  const std::string range = cellText(spectrum.singular.front()) + " to " + cellText(spectrum.singular.back());
  const std::string words = firstFitting(
      view.fonts->small, {countedText(spectrum.singular.size(), "singular value") + ", " + range, range},
      area.GetWidth());
  paintText(list, view.fonts->small, bars.GetBL() + ImVec2(0, view.px(14)), theme.secondary,
            fitted(view.fonts->small, words, area.GetWidth()));
}

std::string voWords(double eigenvalues) {
  return eigenvalues > 0.5    ? "W_VO eigenvalues: writes along what it reads"
         : eigenvalues < -0.5 ? "W_VO eigenvalues: writes against what it reads"
                              : "W_VO eigenvalues: neither";
}

/// A product of two maps, its spectrum and a description.
struct Circuit {
  NamedMap map;
  const attention::Spectrum& spectrum;
  std::string sentence;
  bool copies;
};

/// Adds a circuit: its square map, and beside it what it does, its rank and its singular values.
void circuit(Scene& scene, State& page, Board& board, const Circuit& shown) {
  constexpr PartWidth kWidths[] = {{150, 0.6f}, {130, 0.4f}};
  board.columns(kWidths, 20, [&](std::size_t i, Board& part) {
    const View& view = page.view;
    if (i == 0) {
      part.picture(
          "", {130, part.width() + kMapTitle + kMapRange}, [&scene, &page, shown](const ImRect& area) {
            const ImVec2 around(0, page.view.px(kMapTitle + kMapRange));
            const float side = std::min(area.GetWidth(), area.GetHeight() - around.y);
            paintMap(scene, page, ImRect(area.Min, area.Min + ImVec2(side, side) + around), shown.map);
          });
      return;
    }
    const WeightStudy& study = *page.weights;
    part.paragraph(view.fonts->text, shown.sentence).leaves(3);
    part.number(
            fmt::format("{} of {}", shown.spectrum.rank, study.question->question.layer->config().headDim),
            {"rank"})
        .apart(10);
    if (shown.copies)
      part.number(cellText(study.copying), {voWords(study.copying), "W_VO eigenvalues", "eigenvalues"});
    part.picture("", {56, 140, 1},
                 [&view, shown](const ImRect& area) {
                   spectrumBars(view, area, shown.spectrum, inkColor(*view.theme, shown.map.ink));
                 })
        .leaves(1);
  });
}

/// The head's maps and their products, with rank, singular values and eigenvalues.
class WeightsTab : public Tab {
 public:
  using Tab::Tab;

  void draw(Scene& scene, const ImRect& area, const Layout&) override {
    if (!page_.weights) return;
    const WeightStudy& study = *page_.weights;
    const attention::AttentionConfig& config = study.question->question.layer->config();
    const std::string shape = shapeText(config.headDim, config.modelDim),
                      square = shapeText(config.modelDim, config.modelDim);
    const NamedMap maps[] = {{"W_Q", shape, Ink::query, study.q},
                             {"W_K", shape, Ink::key, study.k},
                             {"W_V", shape, Ink::value, study.v},
                             {"W_Oᵀ", shape, Ink::stream, study.o}};
    const Circuit circuits[] = {{{"W_Q·W_Kᵀ", square, Ink::key, study.match},
                                 study.matchSpectrum,
                                 "Which directions of query and key give a large score.",
                                 false},
                                {{"W_V·W_O", square, Ink::value, study.write},
                                 study.writeSpectrum,
                                 "Which directions of its input the head writes back.",
                                 true}};
    Board board(page_.view, page_.inset(area));
    board.tiles(std::size(maps), 24, [&](std::size_t i, Board& tile) {
      tile.picture("", {96, 170, 1}, [this, &scene, map = maps[i]](const ImRect& cells) {
        paintMap(scene, page_, cells, map);
      });
    });
    board.leaves(2);
    board.tiles(std::size(circuits), 32,
                [&](std::size_t i, Board& tile) { circuit(scene, page_, tile, circuits[i]); });
    board.apart(16);
    board.show();
  }

  void ask(const Scene&) override {
    if (page_.head) page_.weights.ask(page_.head.shared(), Lane::front);
  }

  std::vector<CaptionPart> caption(const Scene&) const override {
    if (!page_.head) return {};
    return {{fmt::format("Head {}: what its queries look for, and what its output writes",
                         page_.head->question.head),
             page_.view.theme->secondary}};
  }
};

}  // namespace

std::unique_ptr<Tab> makeWeightsTab(PageServices& services, State& page) {
  return std::make_unique<WeightsTab>(services, page);
}

}  // namespace headscope::app::head_lab_page
