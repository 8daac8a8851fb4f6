#include <fmt/core.h>

#include "app/compute/heads/map_scores.h"
#include "app/kit/board.h"
#include "app/pages/head_lab/map_view.h"
#include "app/pages/head_lab/tabs/head_tabs.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/paint.h"
#include "attention/core/extremes.h"

namespace headscope::app::head_lab_page {

using attention::Detector;
using attention::DetectorScore;

DetectorsTab::DetectorsTab(PageServices& services, State& page)
    : Tab(services, page), study_(page.shown, studyDetectors), targets_(page.shown, studyTargets) {}

void DetectorsTab::ask(const Scene& scene) {
  if (!page_.layer) return;
  study_.ask({page_.layer, scene.cursor.lab.reads, scene.cursor.lab.likeness}, Lane::front);
  if (!study_) return;
  const ScorePlace place = previewedPlace(scene);
  targets_.ask({study_.shared(), place.head, place.detector}, Lane::front);
}

void DetectorsTab::leave() {
  hovered_ = nextHovered_ = {};
}

ScorePlace DetectorsTab::wholePlace(const Scene& scene, ScorePlace place) const {
  const auto last = std::ssize(study_->profiles) - 1;
  if (place.head < 0) place.head = scene.cursor.cell.head;
  place.head = std::clamp<Index>(place.head, 0, last);
  if (!place.detector) place.detector = detectorCalled(scene.cursor.lab.detector);
  if (!place.detector)
    place.detector = attention::labelHead(study_->profiles[static_cast<std::size_t>(place.head)],
                                          scene.look.labelThreshold)
                         .detector;
  return place;
}

std::vector<Index> DetectorsTab::rows(const Scene& scene) const {
  const HeadLabCursor& at = scene.cursor.lab;
  const Detector* const chosen = detectorCalled(at.detector);
  const auto score = [&](Index head) {
    const DetectorScore& one = study_->profiles[static_cast<std::size_t>(head)][chosen->name];
    return one.rows == 0 ? -INFINITY : at.aboveEven ? one.above() : one.raw;
  };
  std::vector<Index> heads;
  for (Index head = 0; head < std::ssize(study_->profiles); ++head) heads.push_back(head);
  if (at.order == HeadOrder::likeness && std::ssize(study_->order) == std::ssize(heads))
    heads = study_->order;
  if (!chosen) return heads;
  if (at.order == HeadOrder::score)
    std::ranges::stable_sort(heads,
                             [&](Index a, Index b) { return attention::descends(score(a), score(b)); });
  if (at.only)
    std::erase_if(heads, [&](Index head) {
      const DetectorScore& one = study_->profiles[static_cast<std::size_t>(head)][chosen->name];
      return one.rows == 0 || !(one.above() >= scene.look.labelThreshold);
    });
  return heads;
}

void DetectorsTab::controls(Scene& scene, ControlLine& line) {
  const std::string none =
      detectorCalled(scene.cursor.lab.detector) ? "" : "Click a column to choose a detector.";
  line.list(scene, "cursor.lab.reads");
  line.list(scene, "cursor.lab.order", {"", none, ""});
  line.list(scene, "cursor.lab.likeness");
  line.toggle(scene, "cursor.lab.above_even", "", 200);
  line.toggle(scene, "cursor.lab.only", none, 200);
  line.lastSlider(scene, "look.label_threshold", 260);
}

namespace {

/// The picture's description: the score in words, and the detector's formula.
std::string sentenceOf(const DetectorStudy& study, const TargetStudy& shown, float threshold) {
  const Detector* const detector = shown.question.detector;
  const auto& profile = study.profiles[static_cast<std::size_t>(shown.question.head)];
  if (!detector) return headHelp({}, profile, threshold) + " Point at a score to see its cells.";
  const DetectorScore& score = profile[detector->name];
  if (score.rows == 0) return std::string(detector->title) + ": no row of this text qualifies.";
  std::string text = fmt::format("{} {}", attention::describe({detector, score.raw, score.at}),
                                 scoreText(*detector, score, false));
  if (!detector->ofMaps)
    text += fmt::format(" over {}, {} above uniform attention", countedText(score.rows, "row"),
                        scoreText(*detector, score, true));
  if (isOfDetectHead(*detector))
    text += fmt::format("; {} over all rows, as TransformerLens counts",
                        fixedText(double{overAllRows(score, shown.values.rows())}, 2));
  if (attention::tooFewRows(*detector, profile, threshold)) text += ": too few rows to label the head";
  return text + ". " + std::string(detector->help);
}

}  // namespace

void DetectorsTab::draw(Scene& scene, const ImRect& area, const Layout&) {
  if (!study_) return;
  View& view = page_.view;
  hovered_ = std::exchange(nextHovered_, ScorePlace{});
  Board board(view, page_.inset(area));
  board.controls([&](ControlLine& line) { controls(scene, line); });
  constexpr PartWidth kTableAndHead[] = {{0, 0.72f}, {0, 0.28f}};
  board.columns(kTableAndHead, 24, [&](std::size_t i, Board& column) {
    if (i == 0) {
      column.picture("", {200, 400, 1}, [&](const ImRect& table) {
        nextHovered_ =
            paintScores(scene, page_, table, {*study_, rows(scene), selectedPlace(scene), hovered_});
      });
      return;
    }
    column.picture("", {150, 300, 1}, [&](const ImRect& map) { picture(scene, map); });
    // Room for most sentences, so that nothing moves. On stage, the caption says it.
    const std::string words =
        targets_ ? sentenceOf(*targets_->question.study, *targets_, scene.look.labelThreshold) : "";
    const float high = linesOf(view.fonts->small, words, view.px(column.width())).size.y / view.unit;
    column.area("", {std::max(58.0f, high), std::max(80.0f, high)},
                [this, words](const ImRect& room) { sentence(words, room); });
    column.inWindow();
    column.picture("", {100, 240}, [&](const ImRect& square) {
      paintSimilarity(scene, page_, square, *study_, nextHovered_);
    });
  });
  board.show();
  if (nextHovered_ != hovered_) view.redraw(2);
}

std::vector<CaptionPart> DetectorsTab::caption(const Scene& scene) const {
  if (!study_) return {};
  const ScorePlace place = selectedPlace(scene);
  const auto& profile = study_->profiles[static_cast<std::size_t>(place.head)];
  const attention::HeadLabel label = attention::labelHead(profile, scene.look.labelThreshold);
  std::vector<CaptionPart> parts{
      {fmt::format("Head {}: {}", place.head, attention::describe(label)), page_.view.theme->text}};
  if (place.detector) {
    const DetectorScore& score = profile[place.detector->name];
    parts.push_back({score.rows == 0 ? fmt::format("   {}: no row qualifies", place.detector->title)
                                     : fmt::format("   {} {} over {}", place.detector->title,
                                                   scoreText(*place.detector, score, false),
                                                   countedText(score.rows, "row")),
                     page_.view.theme->secondary});
  }
  return parts;
}

namespace {

/// Outlines the counted cells, in two tones so that they are visible on any colour.
void markCounted(const View& view, const MapView& map, const TargetStudy& shown) {
  if (!shown.question.detector) return;
  Canvas list = *ImGui::GetWindowDrawList();
  const float wide = map.cells.GetWidth() / static_cast<float>(map.cols.count),
              high = map.cells.GetHeight() / static_cast<float>(map.rows.count);
  const float thick = std::max(1.0f, view.px(wide >= view.px(16) ? 2 : 1));
  for (Index row = map.rows.first; row < map.rows.end(); ++row)
    for (const Index col : shown.counted[static_cast<std::size_t>(row)]) {
      if (col < map.cols.first || col >= map.cols.end()) continue;
      const ImVec2 from(map.cells.Min.x + wide * static_cast<float>(col - map.cols.first),
                        map.cells.Min.y + high * static_cast<float>(row - map.rows.first));
      const ImVec2 to(from.x + wide - 1, from.y + high - 1);
      if (wide >= view.px(16))
        compat::rectOutline(list, from + ImVec2(thick, thick), to - ImVec2(thick, thick),
                            view.theme->background, 0, thick);
      compat::rectOutline(list, from, to, view.theme->text, 0, thick);
    }
}

}  // namespace

/// Paints it in the larger type that fits.
void DetectorsTab::sentence(const std::string& words, const ImRect& area) const {
  const View& view = page_.view;
  const bool fits = linesOf(view.fonts->text, words, area.GetWidth()).size.y <= area.GetHeight();
  paintParagraph(*ImGui::GetWindowDrawList(), fits ? view.fonts->text : view.fonts->small, area.Min,
                 area.GetWidth(), view.theme->secondary, words);
}

/// Draws a head's weights, with the cells outlined that make up its score.
void DetectorsTab::picture(Scene& scene, const ImRect& area) {
  if (!targets_) return;
  View& view = page_.view;
  const Theme& theme = *view.theme;
  const TargetStudy& shown = *targets_;
  const SequenceSnapshot& sequence = shown.question.study->question.layer->sequence();
  Canvas list = *ImGui::GetWindowDrawList();
  const bool previews = ScorePlace{shown.question.head, shown.question.detector} != selectedPlace(scene);
  const ImVec2 titleAt(area.Min.x, area.Min.y + view.px(10));
  float title =
      paintText(list, view.fonts->title, titleAt, theme.text, headName(shown.question.head)) + view.px(12);
  if (previews) title += paintHoverTag(view, titleAt + ImVec2(title, 0));
  const Index n = shown.values.rows(), m = shown.values.cols();
  const float left = rowNamesRoom(view, sequence.queries, 90),
              below = nameRoom(view, sequence.queries, sequence.keys).below;
  const ImRect space(area.Min.x + left, area.Min.y + view.px(46), area.Max.x, area.Max.y - below);
  if (space.GetHeight() < view.px(40) || space.GetWidth() < view.px(40)) return;
  MapView map = tokenMap(scene, page_, "detect.map", space, n, m, {5, 37});
  map.weights = true;
  paintText(list, view.fonts->small, titleAt + ImVec2(title, view.px(1)), theme.secondary,
            firstFitting(view.fonts->small, {visiblePartText(map.rows, n, map.cols, m), ""},
                         area.GetWidth() - title));
  paintMap(scene, page_, map, map.visible(shown.values));
  markCounted(view, map, shown);
  rowNames(page_, map, sequence.queries, left);
  columnNames(page_, map, sequence.keys);
  axisTitles(page_, map);
  if (const MapHit hit = hitMap(map); hit.row >= 0) {
    view.nextHover = {shown.question.head, hit.row, hit.col};
    const float value = shown.values(hit.row, hit.col);
    tooltip(view, fmt::format("{} → {}  {}", sequence.queries[static_cast<std::size_t>(hit.row)].text,
                              sequence.keys[static_cast<std::size_t>(hit.col)].text,
                              value == -INFINITY ? "masked" : cellText(static_cast<double>(value))));
    if (hit.clicked) choose(scene.cursor, {shown.question.head, hit.row, hit.col});
  }
}

const Detector* detectorCalled(std::string_view name) {
  const auto all = attention::allDetectors();
  const auto found = std::ranges::find(all, name, &Detector::name);
  return found == all.end() ? nullptr : *found;
}

std::string scoreText(const Detector& detector, const DetectorScore& score, bool above) {
  const auto value = static_cast<double>(above ? score.above() : score.raw);
  return detector.unit.empty() ? fixedText(value, 2) : fixedText(value, 1) + " " + std::string(detector.unit);
}

std::unique_ptr<Tab> makeDetectorsTab(PageServices& services, State& page) {
  return std::make_unique<DetectorsTab>(services, page);
}

}  // namespace headscope::app::head_lab_page
