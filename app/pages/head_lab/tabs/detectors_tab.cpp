#include <fmt/core.h>

#include "app/kit/control_line.h"
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

void DetectorsTab::controls(Scene& scene, const ImRect& area) {
  const std::string none =
      detectorCalled(scene.cursor.lab.detector) ? "" : "Click a column to choose a detector.";
  ControlLine line(page_.view, ImRect(area.Min, ImVec2(area.Max.x, area.Min.y + page_.view.px(26))));
  line.list(scene, "cursor.lab.reads");
  line.list(scene, "cursor.lab.order", {"", none, ""});
  line.list(scene, "cursor.lab.likeness");
  line.toggle(scene, "cursor.lab.above_even", "", 200);
  line.toggle(scene, "cursor.lab.only", none, 200);
  line.lastSlider(scene, "look.label_threshold", 260);
}

void DetectorsTab::draw(Scene& scene, const ImRect& area, const Layout&) {
  if (!study_) return;
  View& view = page_.view;
  hovered_ = std::exchange(nextHovered_, ScorePlace{});
  const float margin = page_.margin();
  const float line = page_.presents ? 0 : view.px(page_.small ? 44 : 56);  // for the controls
  const ImRect inner = page_.inset(area);
  if (!page_.presents) controls(scene, inner);
  const float side = std::round(inner.GetWidth() * (page_.small ? 0.29f : 0.32f));
  const ImRect table(inner.Min.x, inner.Min.y + line, inner.Max.x - side - margin, inner.Max.y);
  const ImRect right(inner.Max.x - side, inner.Min.y + line, inner.Max.x, inner.Max.y);
  nextHovered_ = paintScores(scene, page_, table, {*study_, rows(scene), selectedPlace(scene), hovered_});
  const float square = std::min(right.GetHeight() * 0.32f, side * 0.7f);
  picture(scene, ImRect(right.Min.x, right.Min.y, right.Max.x, right.Max.y - square - view.px(44)));
  paintSimilarity(scene, page_,
                  ImRect(right.Min.x, right.Max.y - square - view.px(24), right.Max.x, right.Max.y), *study_,
                  nextHovered_);
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
  if (attention::tooFewRows(*detector, profile, threshold)) text += ": too few rows to label the head";
  return text + ". " + std::string(detector->help);
}

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

/// Draws a head's weights, with the cells outlined that make up its score.
void DetectorsTab::picture(Scene& scene, const ImRect& area) {
  if (!targets_) return;
  View& view = page_.view;
  const Theme& theme = *view.theme;
  const TargetStudy& shown = *targets_;
  const SequenceSnapshot& sequence = shown.question.study->question.layer->sequence();
  Canvas list = *ImGui::GetWindowDrawList();
  const bool previews = ScorePlace{shown.question.head, shown.question.detector} != selectedPlace(scene);
  const bool named = !page_.presents || previews;  // else the caption names the head
  const ImVec2 titleAt(area.Min.x, area.Min.y + view.px(10));
  const std::string name = headName(shown.question.head);
  float title = named ? paintText(list, view.fonts->title, titleAt, theme.text, name) + view.px(12) : 0;
  if (previews) title += paintHoverTag(view, titleAt + ImVec2(title, 0));
  // While presenting, the caption says it.
  const float words =
      page_.presents
          ? 0
          : paintParagraph(list, page_.small ? view.fonts->small : view.fonts->text,
                           ImVec2(area.Min.x, area.Min.y + view.px(26)), area.GetWidth(), theme.secondary,
                           sentenceOf(*shown.question.study, shown, scene.look.labelThreshold));
  const Index n = shown.values.rows(), m = shown.values.cols();
  const float labels = view.px(page_.small ? 62 : 84), below = view.px(page_.small ? 62 : 78);
  // Space for the longest sentence, so that nothing moves.
  const float room = view.px(page_.presents ? 0 : page_.small ? 58 : 80);
  const float top = area.Min.y + view.px(46) + std::max(words, room);
  const float wide = area.GetWidth() - labels, high = area.Max.y - top - below;
  if (high < view.px(40) || wide < view.px(40)) return;
  const ImRect space(area.Min.x + labels, top, area.Max.x, area.Max.y - below);
  MapView map = tokenMap(scene, page_, "detect.map", space, n, m, {5, 37});
  map.weights = true;
  // Next to the title, or in its place.
  const std::string part = visiblePartText(map.rows, n, map.cols, m);
  paintFitted(view, list, view.fonts->small, titleAt + ImVec2(title, view.px(1)), area.GetWidth() - title,
              theme.secondary, part);
  if (!named && part.empty()) paintText(list, view.fonts->title, titleAt, theme.text, name);
  paintMap(scene, page_, map, map.visible(shown.values));
  markCounted(view, map, shown);
  rowNames(page_, map, sequence.queries, labels);
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
