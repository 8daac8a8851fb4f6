#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/pages/head_lab/head_lab_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/rich_text.h"

namespace headscope::app::head_lab_page {

namespace {

class WeightsTab : public Tab {
 public:
  using Tab::Tab;

  void draw(Scene& scene, const ImRect& area, const Layout&) override {
    weightsView(scene, page_, area, page_.small);
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

namespace {

/// A map with its name and shape.
struct NamedMap {
  const char* name;
  std::string shape;
  Ink ink;
  const WeightPicture& picture;
};

void paintMap(Scene& scene, State& page, const ImRect& area, const NamedMap& map) {
  const View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const float y = area.Min.y + view.px(12);
  const float used = paintScripted(view, list, view.fonts->title, ImVec2(area.Min.x, y),
                                   inkColor(*view.theme, map.ink), map.name);
  paintText(list, view.fonts->mono, ImVec2(area.Min.x + used + view.px(12), y), view.theme->secondary,
            fitted(view.fonts->mono, map.shape, area.GetWidth() - used - view.px(12)));
  const ImRect cells(area.Min.x, area.Min.y + view.px(28), area.Max.x, area.Max.y - view.px(16));
  Picture picture{std::string("weights.") + map.name, map.ink, -map.picture.colours, map.picture.colours};
  paintPicture(page, picture, map.picture.values, cells, scene.look);
  std::string range = "±" + cellText(static_cast<double>(map.picture.most));
  if (map.picture.colours < map.picture.most)
    range += "; colours to ±" + cellText(static_cast<double>(map.picture.colours));
  paintText(list, view.fonts->small, ImVec2(area.Min.x, area.Max.y - view.px(5)), view.theme->secondary,
            fitted(view.fonts->small, range, area.GetWidth()));
  track(picture.name, cells.Min, cells.Max);
}

/// Draws singular values as bars, the largest first; those that count towards the rank are filled.
void spectrumBars(const View& view, const ImRect& area, const attention::Spectrum& spectrum,
                  std::uint32_t color) {
  Canvas list = *ImGui::GetWindowDrawList();
  const Theme& theme = *view.theme;
  const float high = area.GetHeight() - view.px(24), base = area.Min.y + high;
  if (spectrum.singular.empty() || high < view.px(20)) return;
  const auto count = static_cast<float>(spectrum.singular.size());
  const float each = std::min(area.GetWidth() / count, view.px(32));
  const double most = std::max(spectrum.singular.front(), 1e-30);
  list.AddLine(ImVec2(area.Min.x, base), ImVec2(area.Max.x, base), theme.line);
  for (std::size_t i = 0; i < spectrum.singular.size(); ++i) {
    const float x = area.Min.x + each * static_cast<float>(i);
    const float up = std::max(1.0f, static_cast<float>(spectrum.singular[i] / most) * high);
    const bool counts = static_cast<Index>(i) < spectrum.rank;
    list.AddRectFilled(ImVec2(x, base - up),
                       ImVec2(x + std::max(1.0f, each - (each > 4 ? view.px(2) : 0)), base),
                       counts ? color : theme.line);
  }
  const std::string range = cellText(spectrum.singular.front()) + " to " + cellText(spectrum.singular.back());
  std::string words = countedText(spectrum.singular.size(), "singular value") + ", " + range;
  if (textWidth(view.fonts->small, words) > area.GetWidth()) words = range;
  paintText(list, view.fonts->small, ImVec2(area.Min.x, base + view.px(14)), theme.secondary,
            fitted(view.fonts->small, words, area.GetWidth()));
}

std::string copyingWords(double copying) {
  return copying > 0.5    ? "copying: writes what it reads"
         : copying < -0.5 ? "copying: subtracts what it reads"
                          : "copying: neither";
}

/// A product of two maps, its spectrum and a description.
struct Circuit {
  NamedMap map;
  const attention::Spectrum& spectrum;
  std::string sentence;
  bool copies;
};

/// The side of a circuit's map as a share of its area's width.
constexpr float kCircuitMap = 0.62f;

void circuit(Scene& scene, State& page, const ImRect& area, const Circuit& shown) {
  const View& view = page.view;
  const WeightStudy& study = *page.weights;
  const float size = std::min(area.GetHeight(), area.GetWidth() * kCircuitMap);
  paintMap(scene, page, ImRect(area.Min.x, area.Min.y, area.Min.x + size - view.px(44), area.Min.y + size),
           shown.map);
  const float x = area.Min.x + size - view.px(20), width = area.Max.x - x;
  Canvas list = *ImGui::GetWindowDrawList();
  float y = area.Min.y + view.px(28);
  y += paintParagraph(list, view.fonts->text, ImVec2(x, y), width, view.theme->secondary, shown.sentence) +
       view.px(22);
  const auto headDim = study.question->question.layer->config().headDim;
  figure(view, view.fonts->monoHero, ImVec2(x, y), width,
         fmt::format("{} of {}", shown.spectrum.rank, headDim), "rank");
  y += view.px(36);
  if (shown.copies) {
    figure(view, view.fonts->monoHero, ImVec2(x, y), width, cellText(study.copying),
           page.presents ? "copying" : copyingWords(study.copying));
    y += view.px(36);
  }
  spectrumBars(view, ImRect(x, y, area.Max.x, area.Min.y + size), shown.spectrum,
               inkColor(*view.theme, shown.map.ink));
}

}  // namespace

void weightsView(Scene& scene, State& page, const ImRect& area, bool small) {
  const View& view = page.view;
  if (!page.weights) return;
  const WeightStudy& study = *page.weights;
  const attention::AttentionConfig& config = study.question->question.layer->config();
  const float space = view.px(small ? 16 : 32);
  const ImRect rest = page.inset(area);
  // The maps above get the height that the square circuits leave.
  const float half = (rest.GetWidth() - space) / 2, each = (rest.GetWidth() - 3 * space) / 4;
  const float top = std::clamp(rest.GetHeight() - space - half * kCircuitMap,
                               std::min(rest.GetHeight() * 0.3f, view.px(230)), rest.GetHeight() * 0.42f);
  const std::string shape = shapeText(config.headDim, config.modelDim);
  const NamedMap maps[] = {{"W_Q", shape, Ink::query, study.q},
                           {"W_K", shape, Ink::key, study.k},
                           {"W_V", shape, Ink::value, study.v},
                           {"W_Oᵀ", shape, Ink::stream, study.o}};
  for (int i = 0; i < 4; ++i) {
    const float x = rest.Min.x + (each + space) * static_cast<float>(i);
    paintMap(scene, page, ImRect(x, rest.Min.y, x + each, rest.Min.y + top), maps[i]);
  }
  const float below = rest.Min.y + top + space;
  const std::string square = shapeText(config.modelDim, config.modelDim);
  circuit(scene, page, ImRect(rest.Min.x, below, rest.Min.x + half, rest.Max.y),
          {{"W_Q·W_Kᵀ", square, Ink::key, study.match},
           study.matchSpectrum,
           "Which directions of query and key give a large score.",
           false});
  circuit(scene, page, ImRect(rest.Min.x + half + space, below, rest.Max.x, rest.Max.y),
          {{"W_V·W_O", square, Ink::value, study.write},
           study.writeSpectrum,
           "Which directions of its input the head writes back.",
           true});
}

}  // namespace headscope::app::head_lab_page
