#include <fmt/core.h>

#include "app/kit/control_line.h"
#include "app/pages/head_lab/map_view.h"
#include "app/pages/head_lab/tabs/head_tabs.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/rich_text.h"

namespace headscope::app::head_lab_page {

namespace {

std::string sentenceOf(const HeadCountStudy& study) {
  // Tokens are compared along as many directions as the rank; if that is unknown, at most the head dim.
  const auto directions = [](const HeadCountSide& side) {
    return side.spectra.empty() ? side.headDim : side.spectra.front().rank;
  };
  const Index dim = study.wide.headDim, wide = directions(study.wide);
  const std::string along = study.wide.spectra.empty() ? fmt::format("up to {}", dim)
                            : wide == dim              ? fmt::format("all {}", dim)
                                                       : fmt::format("{} of {}", wide, dim);
  return fmt::format(
      "Both have {} parameters. The wide head compares tokens along {} directions but has one attention "
      "pattern per row. The {} small heads compare along {} directions each, each with its own pattern.",
      countText(study.parameters), along, study.small.heads, directions(study.small));
}

/// Draws all heads' singular values as overlaid steps, the largest on the left; both sides share the scale.
void spectra(const View& view, const ImRect& area, const HeadCountSide& side, double most, Index widest) {
  Canvas list = *ImGui::GetWindowDrawList();
  const Theme& theme = *view.theme;
  const float base = area.Max.y - view.px(20), high = base - area.Min.y;
  list.AddLine(ImVec2(area.Min.x, base), ImVec2(area.Max.x, base), theme.line);
  const float each = area.GetWidth() / static_cast<float>(widest);
  for (std::size_t head = 0; head < side.spectra.size(); ++head) {
    const auto& values = side.spectra[head].singular;
    const std::uint32_t color =
        side.heads == 1 ? theme.text : groupColor(theme, static_cast<std::int64_t>(head));
    ImVec2 last(area.Min.x, base - static_cast<float>(values.front() / most) * high);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const ImVec2 next(area.Min.x + each * static_cast<float>(i + 1),
                        base - static_cast<float>(values[i] / most) * high);
      list.AddLine(ImVec2(last.x, next.y), next, color, std::max(1.0f, view.px(1.2f)));
      if (i > 0) list.AddLine(last, ImVec2(last.x, next.y), color, std::max(1.0f, view.px(1.2f)));
      last = next;
    }
    list.AddLine(last, ImVec2(last.x, base), color, std::max(1.0f, view.px(1.2f)));
  }
  paintScripted(view, list, view.fonts->small, ImVec2(area.Min.x, base + view.px(11)), theme.secondary,
                fmt::format("singular values of W_Q·W_Kᵀ, 1 to {}", widest), Align::left, area.GetWidth());
}

}  // namespace

HeadCountTab::HeadCountTab(PageServices& services, State& page)
    : Tab(services, page), study_(page.shown, studyHeadCounts) {}

void HeadCountTab::ask(const Scene& scene) {
  if (!page_.layer) return;
  const WeightSetup& weights = scene.setup.weights;
  const Index heads = smallHeads(page_.layer->config().modelDim, scene.cursor.lab.manyHeads);
  study_.ask({page_.layer, heads, weights.init, weights.gain, weights.seed}, Lane::front);
}

bool HeadCountTab::move(Scene& scene, int by) {
  const auto at = std::ranges::find(kManyHeads, scene.cursor.lab.manyHeads) - kManyHeads.begin();
  const auto to = std::clamp<std::ptrdiff_t>(at + by, 0, std::ssize(kManyHeads) - 1);
  scene.cursor.lab.manyHeads = kManyHeads[static_cast<std::size_t>(to)];
  return true;
}

std::vector<CaptionPart> HeadCountTab::caption(const Scene&) const {
  if (!study_) return {};
  return {{"Same number of parameters: one pattern per row, or several", page_.view.theme->secondary}};
}

std::string HeadCountTab::shape() const {
  if (!study_) return "";
  const HeadCountQuestion& asked = study_->question;
  return fmt::format("random weights, {}, gain {}, seed {} · d {}",
                     asked.init == WeightInit::normal ? "normal" : "Xavier",
                     app::shortNumber(static_cast<double>(asked.gain)), asked.seed, study_->wide.headDim);
}

void HeadCountTab::choices(Scene& scene, const ImRect& area, float) {
  if (!page_.layer) return;
  const Index dim = page_.layer->config().modelDim;
  std::vector<Choice> choices;
  for (const Index heads : kManyHeads)
    choices.push_back(
        {"against " + countedText(heads, "head"),
         dim % heads == 0 ? "" : fmt::format("{} doesn't divide the model dim, {}.", heads, dim),
         std::to_string(heads)});
  const Index shown = smallHeads(dim, scene.cursor.lab.manyHeads);
  int chosen = static_cast<int>(std::ranges::find(kManyHeads, shown) - kManyHeads.begin());
  chosen = std::min(chosen, static_cast<int>(choices.size()) - 1);
  ControlLine line(page_.view, area, ControlLine::From::right);
  if (line.list("many.heads", choices, chosen, "Number of small heads (← and →)."))
    scene.cursor.lab.manyHeads = kManyHeads[static_cast<std::size_t>(chosen)];
}

/// Draws one side: its maps, their numbers, and the singular values.
void HeadCountTab::side(const Scene& scene, const ImRect& area, const HeadCountSide& shown,
                        const char* name) {
  View& view = page_.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const std::string title = countedText(shown.heads, "head") + fmt::format(" of {}", shown.headDim);
  paintText(list, view.fonts->title, ImVec2(area.Min.x, area.Min.y + view.px(10)), theme.text, title);
  // A single map has its text on the right, several maps below them, on the same lines.
  const float below = view.px(page_.small ? 150 : 300), figures = 3 * view.px(28);
  const float mapsHigh = area.GetHeight() - view.px(42) - below;
  const bool beside = shown.heads == 1 && area.GetWidth() - mapsHigh - figures > view.px(250);
  const SequenceSnapshot& sequence = study_->question.layer->sequence();
  const float gap = shown.heads > 16 ? 4 : 10;
  const NamedGrid named =
      namedGrid(view,
                ImRect(area.Min.x, area.Min.y + view.px(42), area.Max.x - (beside ? view.px(250) : 0),
                       area.Max.y - below + (beside ? figures : 0)),
                sequence, shown.heads, {gap, gap, 0});
  const MapGrid& grid = named.grid;
  std::vector<HeatTile> tiles;
  for (Index head = 0; head < shown.heads; ++head) {
    const StagePicture& picture = shown.weights[static_cast<std::size_t>(head)];
    const ImVec2 from(
        named.area.Min.x + (grid.width + view.px(gap)) * static_cast<float>(head % grid.columns),
        named.area.Min.y + (grid.height + view.px(gap)) * static_cast<float>(head / grid.columns));
    const ImRect cells(from, ImVec2(from.x + grid.width, from.y + grid.height));
    Picture look{fmt::format("many.{}.{}", name, head), Ink::map, 0, 1};
    look.gap =
        grid.height / static_cast<float>(std::max<Index>(picture.values.rows(), 1)) >= view.px(8) ? 1.0f : 0;
    paintPicture(page_, look, picture.values, cells, scene.look);
    track(look.name, cells.Min, cells.Max);
    tiles.push_back({cells, 0, 0, static_cast<float>(sequence.queries.size()),
                     static_cast<float>(sequence.keys.size()), head, -1});
  }
  paintTokenNames(view, sequence, tiles, named, {-1, -1, -1});
  const float under = area.Max.y - below + view.px(page_.small ? 4 : 12);
  const float x = beside ? tiles.front().area.Max.x + view.px(40) : area.Min.x, width = area.Max.x - x;
  float y = under + view.px(12);
  const auto number = [&](const std::string& value, const std::string& words) {
    figure(view, view.fonts->monoTitle, ImVec2(x, y), width, value, words);
    y += view.px(28);
  };
  const bool alone = shown.heads == 1;
  number(shown.spectra.empty() ? fmt::format("at most {}", shown.headDim)
                               : std::to_string(shown.spectra.front().rank),
         alone ? "rank of W_Q·W_Kᵀ" : "rank of each W_Q·W_Kᵀ");
  number(fixedText(shown.entropy, 2), "entropy of a row, 1 = uniform");
  number(alone ? "1" : fixedText(shown.likeness, 2),
         alone ? "pattern" : "similarity of two patterns (cosine)");
  const ImRect bars(area.Min.x, under + figures + view.px(12), area.Max.x, area.Max.y);
  if (shown.spectra.empty() || bars.GetHeight() < view.px(48)) return;
  double most = 1e-30;
  for (const HeadCountSide* one : {&study_->wide, &study_->small})
    for (const auto& spectrum : one->spectra)
      if (!spectrum.singular.empty()) most = std::max(most, spectrum.singular.front());
  spectra(view, bars, shown, most, study_->wide.headDim);
}

void HeadCountTab::draw(Scene& scene, const ImRect& area, const Layout&) {
  if (!study_) return;
  View& view = page_.view;
  const ImRect inner = page_.inset(area);
  Canvas list = *ImGui::GetWindowDrawList();
  if (study_->small.heads == 1) {
    paintText(
        list, view.fonts->text, inner.Min, view.theme->secondary,
        fmt::format("The model dim, {}, can't be divided among heads: it is odd.", study_->wide.headDim));
    return;
  }
  const float words = paintParagraph(list, view.fonts->title, inner.Min, inner.GetWidth(),
                                     view.theme->secondary, sentenceOf(*study_));
  const float top = inner.Min.y + words + view.px(page_.small ? 10 : 24);
  const float half = (inner.GetWidth() - view.px(48)) / 2;
  side(scene, ImRect(inner.Min.x, top, inner.Min.x + half, inner.Max.y), study_->wide, "wide");
  side(scene, ImRect(inner.Max.x - half, top, inner.Max.x, inner.Max.y), study_->small, "small");
  paintColourBar(view, scene.look.colormap, {"0", "", "1"}, ImVec2(inner.Max.x, top + view.px(4)),
                 view.px(140));
}

std::unique_ptr<Tab> makeHeadCountTab(PageServices& services, State& page) {
  return std::make_unique<HeadCountTab>(services, page);
}

}  // namespace headscope::app::head_lab_page
