#include <fmt/core.h>

#include "app/kit/board.h"
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

}  // namespace

HeadCountTab::HeadCountTab(PageServices& services, State& page)
    : Tab(services, page), study_(page.shown, studyHeadCounts) {}

void HeadCountTab::ask(const Scene& scene) {
  if (!page_.layer) return;
  const WeightSetup& weights = scene.setup.weights;
  const Index heads = smallHeads(page_.layer->config().modelDim, scene.cursor.lab.manyHeads);
  study_.ask({page_.layer, heads, weights.init, weights.gain, weights.seed}, Lane::front);
}

void HeadCountTab::move(Scene& scene, int by) {
  const auto at = std::ranges::find(kManyHeads, scene.cursor.lab.manyHeads) - kManyHeads.begin();
  const auto to = std::clamp<std::ptrdiff_t>(at + by, 0, std::ssize(kManyHeads) - 1);
  scene.cursor.lab.manyHeads = kManyHeads[static_cast<std::size_t>(to)];
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

/// Draws all heads' singular values as overlaid steps, the largest on the left; both sides share the scale.
void HeadCountTab::spectrum(const ImRect& area, const HeadCountSide& side) {
  const View& view = page_.view;
  if (area.GetHeight() < view.px(40)) return;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  double most = 1e-30;
  for (const HeadCountSide* one : {&study_->wide, &study_->small})
    for (const auto& each : one->spectra)
      if (!each.singular.empty()) most = std::max(most, each.singular.front());
  const Index widest = study_->wide.headDim;
  const float thick = std::max(1.0f, view.px(1.2f));
  const ImVec2 zero = area.GetBL() - ImVec2(0, view.px(20));
  const ImVec2 scale(area.GetWidth() / static_cast<float>(widest), area.GetHeight() - view.px(20));
  const auto at = [&](std::size_t i, double value) {
    return zero + scale * ImVec2(static_cast<float>(i), -static_cast<float>(value / most));
  };
  list.AddLine(zero, at(static_cast<std::size_t>(widest), 0), theme.line);
  for (std::size_t head = 0; head < side.spectra.size(); ++head) {
    const auto& values = side.spectra[head].singular;
    const std::uint32_t color =
        side.heads == 1 ? theme.text : groupColor(theme, static_cast<std::int64_t>(head));
    for (std::size_t i = 0; i < values.size(); ++i) {
      list.AddLine(at(i, values[i]), at(i + 1, values[i]), color, thick);
      list.AddLine(at(i + 1, values[i]), at(i + 1, i + 1 < values.size() ? values[i + 1] : 0), color, thick);
    }
  }
  paintScripted(view, list, view.fonts->small, area.GetBL() - ImVec2(0, view.px(9)), theme.secondary,
                fmt::format("singular values of W_Q·W_Kᵀ, 1 to {}", widest), Align::left, area.GetWidth());
}

/// Draws all heads' patterns in a grid, with the tokens' names.
void HeadCountTab::maps(const Scene& scene, const ImRect& area, const HeadCountSide& shown) {
  const View& view = page_.view;
  const SequenceSnapshot& sequence = study_->question.layer->sequence();
  const float gap = shown.heads > 16 ? 4 : 10;
  const ImRect below(area.Min + ImVec2(0, view.px(20)), area.Max);  // the name of the rows' axis
  NamedGrid named = namedGrid(view, below, sequence, shown.heads, {gap, gap, 0});
  if (named.room.x == 0) named = namedGrid(view, area, sequence, shown.heads, {gap, gap, 0});
  const MapGrid& grid = named.grid;
  const ImVec2 size(grid.width, grid.height), step = size + ImVec2(view.px(gap), view.px(gap));
  std::vector<HeatTile> tiles;
  for (Index head = 0; head < shown.heads; ++head) {
    const StagePicture& picture = shown.weights[static_cast<std::size_t>(head)];
    const ImVec2 from = named.area.Min + step * ImVec2(static_cast<float>(head % grid.columns),
                                                       static_cast<float>(head / grid.columns));
    const ImRect cells(from, from + size);
    MatrixPicture look{fmt::format("many.{}.{}", &shown == &study_->wide ? "wide" : "small", head), Ink::map,
                       0, 1};
    look.gap =
        grid.height / static_cast<float>(std::max<Index>(picture.values.rows(), 1)) >= view.px(8) ? 1.0f : 0;
    paintPicture(page_.view, page_.pictures, look, picture.values, cells, scene.look);
    track(look.name, cells.Min, cells.Max);
    tiles.push_back({cells, 0, 0, static_cast<float>(sequence.queries.size()),
                     static_cast<float>(sequence.keys.size()), head, -1});
  }
  paintTokenNames(view, sequence, tiles, named, {-1, -1, -1});
}

/// Adds one side: its maps, their numbers, and the singular values.
void HeadCountTab::side(const Scene& scene, Board& board, const HeadCountSide& shown) {
  board.title(countedText(shown.heads, "head") + fmt::format(" of {}", shown.headDim));
  if (&shown == &study_->small)
    board.atEnd(140, [this, &scene](const ImRect& area) {
      paintColourBar(page_.view, scene.look.colormap, {"0", "", "1"}, ImVec2(area.Max.x, area.GetCenter().y),
                     area.GetWidth());
    });
  board.picture("", {150, 340, 1}, [this, &scene, &shown](const ImRect& area) { maps(scene, area, shown); });
  constexpr PartWidth kWidths[] = {{220, 0.4f}, {120, 0.6f}};
  board.columns(kWidths, 24, [this, &shown](std::size_t i, Board& part) {
    const auto& spectra = shown.spectra;
    const bool single = shown.heads == 1;
    if (i == 0) {
      part.number(
          spectra.empty() ? fmt::format("at most {}", shown.headDim) : std::to_string(spectra.front().rank),
          {single ? "rank of W_Q·W_Kᵀ" : "rank of each W_Q·W_Kᵀ", single ? "rank" : "rank of each"});
      part.number(fixedText(shown.entropy, 2),
                  {"entropy of a row, 1 = uniform", "entropy, 1 = uniform", "entropy"})
          .leaves(3);
      part.number(single ? "1" : fixedText(shown.likeness, 2),
                  single ? std::vector<std::string>{"pattern"}
                         : std::vector<std::string>{"similarity of two patterns (cosine)",
                                                    "similarity of two patterns", "similarity"});
    } else if (!spectra.empty()) {
      part.picture("", {60, 84, 0.3f}, [this, &shown](const ImRect& area) { spectrum(area, shown); })
          .leaves(2);
    }
  });
}

void HeadCountTab::draw(Scene& scene, const ImRect& area, const Layout&) {
  if (!study_) return;
  const Fonts& fonts = *page_.view.fonts;
  Board board(page_.view, page_.inset(area));
  if (study_->small.heads == 1) {
    board.paragraph(fonts.text, fmt::format("The model dim, {}, can't be divided among heads: it is odd.",
                                            study_->wide.headDim));
  } else {
    board.paragraph(fonts.title, sentenceOf(*study_)).leaves(1);
    board.tiles(
        2, 48, [&](std::size_t i, Board& tile) { side(scene, tile, i == 0 ? study_->wide : study_->small); });
  }
  board.show();
}

std::unique_ptr<Tab> makeHeadCountTab(PageServices& services, State& page) {
  return std::make_unique<HeadCountTab>(services, page);
}

}  // namespace headscope::app::head_lab_page
