#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/kit/table.h"
#include "app/pages/head_lab/tabs/head_tabs.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/paint.h"

namespace headscope::app::head_lab_page {

using attention::Detector;
using attention::DetectorScore;

namespace {

/// The detectors that measure some head: of the others, such as next token under a causal mask, no row
/// qualifies.
std::vector<const Detector*> detectorsIn(const DetectorStudy& study) {
  std::vector<const Detector*> found;
  for (const Detector* each : attention::allDetectors())
    if (std::ranges::any_of(study.profiles, [&](const auto& head) { return head[each->name].rows > 0; }))
      found.push_back(each);
  return found;
}

/// The end of a column's colour scale: 1, or for scores with a unit, the largest of all heads.
float scaleOf(const Detector& detector, const DetectorStudy& study, bool above) {
  if (detector.unit.empty()) return 1;
  float most = 1e-6f;
  for (const attention::HeadProfile& profile : study.profiles) {
    const DetectorScore& score = profile[detector.name];
    most = std::max(most, std::abs(above ? score.above() : score.raw));
  }
  return most;
}

/// A score's position on its colour scale, 0 to 1. If `above`, 0.5 is the score of uniform attention.
float shareOf(const Detector& detector, const DetectorScore& score, bool above, float scale) {
  if (above || detector.ofMaps)
    return 0.5f + 0.5f * std::clamp((above ? score.above() : score.raw) / scale, -1.0f, 1.0f);
  return std::clamp(score.raw / scale, 0.0f, 1.0f);
}

/// ".94", "−.12", "3.4"; with one digit ".9" and "−.1".
std::string numberOf(const Detector& detector, const DetectorScore& score, bool above, int digits = 2) {
  const double value = static_cast<double>(above ? score.above() : score.raw), amount = std::abs(value);
  if (!detector.unit.empty()) digits = amount >= 99.5 ? 0 : 1;
  std::string text = fixedText(value, digits);
  if (!detector.unit.empty()) return text;
  if (text == fixedText(1, digits)) return "1";
  if (const std::size_t zero = text.starts_with("−") ? 3 : 0; text[zero] == '0') text.erase(zero, 1);
  return text;
}

/// Draws heads' weights in the spaces next to their names.
void paintPictures(const Scene& scene, State& page, const std::vector<std::pair<Index, ImRect>>& places) {
  if (places.empty() || places.front().second.GetWidth() <= 0) return;
  View& view = page.view;
  const SequenceSnapshot& sequence = page.layer->sequence();
  const HeadPictures& pictures = sequence.pictures;
  const PictureLevel& level = pictures.levelFor(places.front().second.GetWidth());
  EasedTextures& textures = page.pictures["detect.heads"];
  textures.set(level.weights, view.time, !view.preferences.reducedMotion);
  Look look = scene.look;
  look.quantity = Quantity::weights;
  std::vector<HeatmapTile> tiles;
  for (const auto& [head, area] : places) {
    const HeatTile tile{
        area, 0, 0, static_cast<float>(sequence.queries.size()), static_cast<float>(sequence.keys.size()),
        head, -1};
    tiles.push_back(pictureOf(tile, level.factor, rangeFor(look, pictures, head)));
    tiles.back().view.layer = static_cast<int>(head);
  }
  view.heatmaps->draw(*ImGui::GetWindowDrawList(), textures, styleFor(view, look), std::move(tiles));
}

/// The detectors as columns. A click on one sorts by it, a second one undoes that.
std::vector<TableColumn> columnsOf(const HeadLabCursor& at, const ScoreTable& scores,
                                   const std::vector<const Detector*>& detectors) {
  std::vector<TableColumn> columns{{"head and behaviour", 150, 196}};
  for (const Detector* each : detectors) {
    const bool chosen = at.detector == each->name;
    columns.push_back({.title = std::string(each->column.empty() ? each->title : each->column),
                       .key = std::string(each->name),
                       .shortTitle = std::string(each->shortName),
                       .help = std::string(each->help),
                       .chosen = chosen,
                       .sorts = chosen && at.order == HeadOrder::score,
                       .lit = each == scores.selected.detector || each == scores.hovered.detector});
  }
  return columns;
}

void sortBy(HeadLabCursor& at, const Detector& detector) {
  const bool undo = at.detector == detector.name && at.order == HeadOrder::score;
  at.detector = undo ? "" : std::string(detector.name);
  at.order = undo ? HeadOrder::number : HeadOrder::score;
}

void paintScore(const Scene& scene, const Theme& theme, TableView& table, const Detector& detector,
                const DetectorScore& score, float scale) {
  if (score.rows == 0) return table.empty();
  const bool above = scene.cursor.lab.aboveEven && !detector.ofMaps;
  const auto& colormap = above || detector.ofMaps ? scene.look.scoreColormap : scene.look.colormap;
  table.value(colorOn(theme, colormap, shareOf(detector, score, above, scale)),
              {numberOf(detector, score, above), numberOf(detector, score, above, 1)},
              !detector.titleOf           ? ""
              : detector.name == "stripe" ? fmt::format("key {}", score.at)
                                          : fmt::format("k = {}", score.at));
}

/// The colour scales of the columns, that of most columns first.
std::vector<FigureLegend> legendsOf(const Scene& scene, const DetectorStudy& study) {
  const bool above = scene.cursor.lab.aboveEven;
  const auto scaled = [&](std::string caption, bool around, const std::string& end) {
    return FigureLegend{std::move(caption),
                        around ? scene.look.scoreColormap : scene.look.colormap,
                        {around ? "−" + end : "0", "", end}};
  };
  std::vector<FigureLegend> legends{scaled(above ? "above uniform" : "score", above, "1")};
  for (const Detector* each : detectorsIn(study)) {
    if (!each->unit.empty())
      legends.push_back(scaled(fmt::format("{} in {}", each->title, each->unit), above,
                               fixedText(static_cast<double>(scaleOf(*each, study, above)), 1)));
    else if (each->ofMaps && !above)
      legends.push_back(scaled(std::string(each->title), true, "1"));
  }
  return legends;
}

void paintLegends(const Scene& scene, const View& view, const DetectorStudy& study, const ImRect& room) {
  float end = room.Max.x;
  for (const FigureLegend& legend : legendsOf(scene, study))
    end -= paintLegendLine(view, *ImGui::GetWindowDrawList(), ImVec2(end, room.GetCenter().y),
                           end - room.Min.x, legend);
}

}  // namespace

ScorePlace paintScores(Scene& scene, State& page, const ImRect& area, const ScoreTable& scores) {
  const std::vector<const Detector*> all = detectorsIn(scores.study);
  const auto place = [](const auto& list, const auto& one) {
    return std::ranges::find(list, one) - list.begin();
  };
  TableView table(page.view, area,
                  {.name = "detect",
                   .columns = columnsOf(scene.cursor.lab, scores, all),
                   .rows = std::ssize(scores.rows),
                   .inSight = place(scores.rows, scene.cursor.cell.head),
                   .least = 15,
                   .most = 110,
                   .note = true,
                   .none = fmt::format("No head scores {} above uniform attention here.",
                                       fixedText(scene.look.labelThreshold, 2))});
  const attention::AttentionConfig& config = scores.study.question.layer->config();
  std::vector<float> scales;
  for (const Detector* each : all) scales.push_back(scaleOf(*each, scores.study, scene.cursor.lab.aboveEven));
  std::vector<std::pair<Index, ImRect>> pictures;
  for (Index row = 0; row < std::ssize(scores.rows); ++row) {
    const Index head = scores.rows[static_cast<std::size_t>(row)];
    if (!table.row(row, fmt::format("detect.head.{}", head),
                   {std::to_string(head), head == scene.cursor.cell.head, head == scores.hovered.head}))
      continue;
    const auto& profile = scores.study.profiles[static_cast<std::size_t>(head)];
    const attention::HeadLabel label = attention::labelHead(profile, scene.look.labelThreshold);
    pictures.emplace_back(head, table.head(groupColor(*page.view.theme, config.kvHeadOf(head)), head,
                                           attention::describe(label), !label.detector));
    for (std::size_t i = 0; i < all.size(); ++i)
      paintScore(scene, *page.view.theme, table, *all[i], profile[all[i]->name], scales[i]);
  }
  paintPictures(scene, page, pictures);
  const ScorePlace &selected = scores.selected, &over = scores.hovered;
  if (std::ranges::count(all, selected.detector))
    table.mark({place(scores.rows, selected.head), place(all, selected.detector)});
  if (over.head >= 0 && over != selected)
    paintGhostOf(page.view, over.detector ? fmt::format("detect.{}.{}", over.head, over.detector->name)
                                          : fmt::format("detect.head.{}", over.head));
  paintLegends(scene, page.view, scores.study,
               table.note("heads", "Point at a score to see its cells. Click a column to sort by it."));
  const auto& hovered = table.hovered();
  if (!hovered) return {};
  const Detector* const detector =
      hovered->column >= 0 ? all[static_cast<std::size_t>(hovered->column)] : nullptr;
  if (hovered->row < 0) {
    if (table.clicked()) sortBy(scene.cursor.lab, *detector);
    return {-1, detector};
  }
  const Index head = scores.rows[static_cast<std::size_t>(hovered->row)];
  if (table.clicked()) {
    scene.cursor.cell.head = head;
    if (detector) scene.cursor.lab.detector = std::string(detector->name);
  }
  return {head, detector};
}

void paintSimilarity(Scene& scene, const State& page, const ImRect& area, const DetectorStudy& study,
                     ScorePlace& hovered) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const auto heads = std::ssize(study.order);
  if (heads == 0) return;
  const bool cosine = study.question.likeness == Similarity::cosine;
  std::string measure = cosine ? "cosine" : "1 − Jensen–Shannon";
  if (study.comparedRows < study.question.layer->sequence().queryLength)
    measure += fmt::format(", over {}", countedText(study.comparedRows, "row"));
  const std::string whole = "Similarity of two heads: " + measure;
  paintFitted(
      view, list, view.fonts->small, area.Min + ImVec2(0, view.px(6)), area.GetWidth(), theme.secondary,
      firstFitting(view.fonts->small, {whole + "; similar heads adjacent", whole, "Similarity: " + measure},
                   area.GetWidth()));
  const float top = area.Min.y + view.px(18), labels = view.px(26);
  const float size = std::floor(std::min(area.Max.y - view.px(14) - top, area.GetWidth() - labels) /
                                static_cast<float>(heads));
  if (size < 2) return;
  const ImVec2 from(area.Min.x + labels, top);
  const float bar = view.px(90), barEnd = from.x + size * static_cast<float>(heads) + view.px(16) + bar;
  if (barEnd <= area.Max.x)
    paintColourBar(view, scene.look.colormap, {"0", "", "1"}, ImVec2(barEnd, top + view.px(16)), bar);
  const auto every = static_cast<Index>(std::ceil(lineHeight(view.fonts->monoSmall) / std::max(size, 1.0f)));
  const auto litAt = std::find(study.order.begin(), study.order.end(), scene.cursor.cell.head);
  const Index litRow = litAt == study.order.end() ? -1 : litAt - study.order.begin();
  for (Index i = 0; i < heads; ++i) {
    const Index a = study.order[static_cast<std::size_t>(i)];
    const float y = from.y + size * static_cast<float>(i);
    const bool lit = a == scene.cursor.cell.head;
    const bool besideLit = litRow >= 0 && std::abs(i - litRow) < every;
    if (lit || (i % every == 0 && !besideLit)) {
      const std::uint32_t color = lit ? theme.text : theme.secondary;
      paintText(list, view.fonts->monoSmall, ImVec2(from.x - view.px(6), y + size / 2), color,
                std::to_string(a), Align::right);
      paintText(list, view.fonts->monoSmall,
                ImVec2(from.x + size * (static_cast<float>(i) + 0.5f),
                       from.y + size * static_cast<float>(heads) + view.px(8)),
                color, std::to_string(a), Align::center);
    }
    for (Index j = 0; j < heads; ++j) {
      const float x = from.x + size * static_cast<float>(j);
      const Index b = study.order[static_cast<std::size_t>(j)];
      list.AddRectFilled(ImVec2(x, y), ImVec2(x + size - (size > 6 ? 1 : 0), y + size - (size > 6 ? 1 : 0)),
                         packed(colorOn(theme, scene.look.colormap, study.likeness(a, b))));
    }
  }
  const float side = size * static_cast<float>(heads);
  const bool clicked = hitArea("detect.likeness_map", from, ImVec2(side, side));
  if (!ImGui::IsItemHovered()) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const auto place = [&](float at) { return std::clamp<Index>(static_cast<Index>(at / size), 0, heads - 1); };
  const Index row = place(mouse.y - from.y), column = place(mouse.x - from.x);
  const Index a = study.order[static_cast<std::size_t>(row)],
              b = study.order[static_cast<std::size_t>(column)];
  const ImVec2 corner = from + ImVec2(static_cast<float>(column), static_cast<float>(row)) * size;
  paintGhost(view, list, "ghost", {corner, corner + ImVec2(size, size)}, theme.text);
  tooltip(view, a == b ? fmt::format("head {}", a)
                       : fmt::format("heads {} and {}: {}", a, b, fixedText(study.likeness(a, b), 2)));
  hovered.head = a;
  if (!clicked) return;
  scene.cursor.cell.head = a;
  scene.cursor.lab.order = HeadOrder::likeness;
}

}  // namespace headscope::app::head_lab_page
