#include <cfloat>
#include <charconv>

#include "app/platform/track.h"
#include "app/shell/stage.h"

namespace headscope::app {

namespace {

ImRect window() {
  return {ImVec2(0, 0), ImGui::GetIO().DisplaySize};
}

/// Returns the smallest picture or word at that point; a stroke that starts there belongs to it.
std::string thingAt(ImVec2 at) {
  std::string found;
  float least = FLT_MAX;
  for (const auto& [name, rect] : allTracked()) {
    const float size = rect.GetWidth() * rect.GetHeight();
    if (name == "stage.paper" || !rect.Contains(at) || size < 64 || size >= least) continue;
    found = name;
    least = size;
  }
  return found;
}

/// Splits "query.3" into "query" and 3; nothing if it isn't a word in a row.
std::optional<std::pair<std::string, Index>> wordIn(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || !trackedTokens(name.substr(0, dot))) return std::nullopt;
  Index at = -1;
  const char* const end = name.data() + name.size();
  const bool whole = std::from_chars(name.data() + dot + 1, end, at).ptr == end;
  return whole ? std::optional(std::pair(name.substr(0, dot), at)) : std::nullopt;
}

PenToken tokenAt(const std::vector<attention::Token>* tokens, Index at) {
  if (!tokens) return {at, 0, ""};
  const std::string& word = (*tokens)[attention::asSize(at)].text;
  return {at, std::ssize(*tokens), word.size() > kMaxStrokeName ? "" : word};
}

/// Returns the token's current index: the same word closest to its old position, counted from the start or
/// the end, so that insertions and removals on one side don't matter. A replaced word keeps its index; a
/// removed one has none.
std::optional<Index> foundAgain(const PenToken& token, const std::vector<attention::Token>* tokens) {
  if (!tokens || token.of == 0) return token.at;
  const Index n = std::ssize(*tokens);
  if (n == token.of) return token.at;
  std::optional<Index> best;
  Index least = std::numeric_limits<Index>::max();
  for (Index at = 0; at < n; ++at) {
    const Index apart = std::min(std::abs(at - token.at), std::abs((n - at) - (token.of - token.at)));
    if ((*tokens)[attention::asSize(at)].text != token.word || apart >= least) continue;
    best = at;
    least = apart;
  }
  return best;
}

ImRect cellRect(const TokenPlaces& places, Index row, Index column) {
  const ImVec2 by(places.first.GetWidth() * static_cast<float>(column),
                  places.first.GetHeight() * static_cast<float>(row));
  return {places.first.Min + by, places.first.Max + by};
}

/// Returns the cell or word at that point in what is tracked as `name`; empty if it has none.
std::vector<PenToken> cellAt(const std::string& name, ImVec2 at) {
  if (const auto word = wordIn(name)) return {tokenAt(trackedTokens(word->first)->columns, word->second)};
  const TokenPlaces* const places = trackedTokens(name);
  if (!places || places->first.GetWidth() <= 0 || places->first.GetHeight() <= 0) return {};
  const auto row = static_cast<Index>((at.y - places->first.Min.y) / places->first.GetHeight()),
             column = static_cast<Index>((at.x - places->first.Min.x) / places->first.GetWidth());
  const auto inside = [](const std::vector<attention::Token>* tokens, Index i) {
    return i >= 0 && (!tokens || i < std::ssize(*tokens));
  };
  if (!inside(places->rows, row) || !inside(places->columns, column)) return {};
  return {tokenAt(places->rows, row), tokenAt(places->columns, column)};
}

/// Returns the current place of what the stroke belongs to; nothing if it isn't on screen.
std::optional<ImRect> placeOf(const PenStroke& stroke) {
  if (stroke.on.empty()) return window();
  if (stroke.cell.empty()) return tracked(stroke.on);
  const auto word = wordIn(stroke.on);
  const TokenPlaces* const places = trackedTokens(word ? word->first : stroke.on);
  if (!places) return std::nullopt;
  const auto column = foundAgain(stroke.cell.back(), places->columns);
  if (word) return column ? tracked(word->first + "." + std::to_string(*column)) : std::nullopt;
  const auto row = foundAgain(stroke.cell.front(), places->rows);
  const auto picture = tracked(stroke.on);
  if (!row || !column || !picture) return std::nullopt;
  const ImRect cell = cellRect(*places, *row, *column);
  return picture->Overlaps(cell) ? std::optional(cell) : std::nullopt;  // not scrolled or zoomed away
}

/// Returns the point with the precision of a scene file.
PenPoint kept(ImVec2 at) {
  const auto whole = [](float value) {
    const float within = std::clamp(value, -kFarthestPoint, kFarthestPoint);
    return static_cast<float>(std::round(static_cast<double>(within) * 1e4) / 1e4);
  };
  return {whole(at.x), whole(at.y)};
}

std::size_t penPoints(const std::vector<PenStroke>& strokes) {
  std::size_t points = 0;
  for (const PenStroke& stroke : strokes) points += stroke.points.size();
  return points;
}

/// Draws with the mouse. Each line becomes a separate undo step.
void drawOn(View& view, Scene& scene, StageState& stage, float step) {
  SharedStrokes& strokes = scene.look.strokes;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (ImGui::IsItemActivated() && strokes->size() >= kMaxStrokes)
    view.messages.fail("The scene already has 500 pen lines, the maximum. Erase some to draw more.");
  else if (ImGui::IsItemActivated() && penPoints(*strokes) >= kMaxPenPoints)
    view.messages.fail(
        "The scene's pen lines have 200,000 points together, the maximum. Erase some to draw more.");
  else if (ImGui::IsItemActivated()) {
    const std::string thing = thingAt(mouse);
    strokes.edit().push_back({scene.cursor.page, thing, cellAt(thing, mouse), ImGui::GetIO().KeyShift, {}});
    stage.drawing = true;
  }
  if (!ImGui::IsItemActive()) stage.drawing = false;
  if (!stage.drawing || strokes->empty()) return;
  view.controls.continuousEdit = "stage.stroke." + std::to_string(strokes->size());
  const PenStroke& last = strokes->back();
  const std::optional<ImRect> place = placeOf(last);
  if (!place) return;
  const ImVec2 size = place->GetSize();
  const PenPoint at = kept(ImVec2((mouse.x - place->Min.x) / size.x, (mouse.y - place->Min.y) / size.y));
  const bool first = last.points.empty(), pulls = last.arrow && last.points.size() > 1;
  if (!first && std::hypot((at.x - last.points.back().x) * size.x, (at.y - last.points.back().y) * size.y) <
                    (pulls ? 0.5f : step))
    return;
  const bool full =
      last.points.size() >= kMaxStrokePoints || (!first && penPoints(*strokes) >= kMaxPenPoints);
  std::vector<PenPoint>& points = strokes.edit().back().points;
  if (pulls || full)
    points.back() = at;
  else
    points.push_back(at);
}

/// The most points of all strokes together that a frame paints: a person's drawings have fewer, but a file
/// may have a million.
constexpr std::size_t kMaxPaintedPoints = 40'000;

/// Returns how many points to advance from one painted point to the next.
std::size_t pointStep(const Scene& scene) {
  std::size_t points = 0;
  for (const PenStroke& stroke : *scene.look.strokes)
    if (stroke.page == scene.cursor.page) points += stroke.points.size();
  return 1 + points / kMaxPaintedPoints;
}

/// Paints the stroke in two tones, so that it is visible on every colormap.
void paintStroke(const View& view, Canvas list, const PenStroke& stroke, std::size_t step,
                 const std::string& name) {
  const std::optional<ImRect> place = placeOf(stroke);
  if (!place || stroke.points.empty()) return;
  std::vector<ImVec2> points;
  ImRect bounds(FLT_MAX, FLT_MAX, -FLT_MAX, -FLT_MAX);
  for (std::size_t i = 0; i < stroke.points.size();
       i = i + 1 < stroke.points.size() ? std::min(i + step, stroke.points.size() - 1) : i + 1) {
    const PenPoint point = stroke.points[i];
    points.emplace_back(place->Min.x + point.x * place->GetWidth(),
                        place->Min.y + point.y * place->GetHeight());
    bounds.Add(points.back());
  }
  const auto paint = [&](std::uint32_t color, float wide) {
    list.AddCircleFilled(points.front(), wide / 2, color, 16);
    list.AddPolyline(points.data(), static_cast<int>(points.size()), color, 0, wide);
    if (!stroke.arrow || points.size() < 2) return;
    const ImVec2 tip = points.back(), from = points.front();
    const float length = std::max(1.0f, std::hypot(tip.x - from.x, tip.y - from.y));
    const ImVec2 along((tip.x - from.x) / length, (tip.y - from.y) / length);
    const float head = view.px(9) + wide;
    const ImVec2 base(tip.x - along.x * head, tip.y - along.y * head),
        side(-along.y * head / 2, along.x * head / 2);
    list.AddTriangleFilled(ImVec2(tip.x + along.x * wide / 2, tip.y + along.y * wide / 2),
                           ImVec2(base.x + side.x, base.y + side.y), ImVec2(base.x - side.x, base.y - side.y),
                           color);
  };
  paint(view.theme->background, view.px(5.5f));
  paint(groupColor(*view.theme, 3), view.px(3));
  track(name, bounds.Min, bounds.Max);
}

}  // namespace

bool hasPen(const Scene& scene) {
  return std::ranges::count(*scene.look.strokes, scene.cursor.page, &PenStroke::page) > 0;
}

void erasePen(Scene& scene) {
  if (!hasPen(scene)) return;
  std::erase_if(scene.look.strokes.edit(),
                [&](const PenStroke& stroke) { return stroke.page == scene.cursor.page; });
}

void stagePen(View& view, Scene& scene, StageState& stage) {
  const bool draws = stage.pen && view.present;
  if (!draws && !hasPen(scene)) return;
  const ImRect all = window();
  const ImGuiWindowFlags untouched = draws ? 0 : ImGuiWindowFlags_NoInputs;
  if (beginPanel(view, "stage.paper", all, 0, 0, ImGuiWindowFlags_NoScrollWithMouse | untouched)) {
    if (view.present) ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
    if (draws) {
      ImGui::SetCursorScreenPos(all.Min);
      compat::invisibleButton("stage.paper", all.GetSize());
      drawOn(view, scene, stage, view.px(2));
    }
    const auto& strokes = *scene.look.strokes;
    const std::size_t step = pointStep(scene);
    for (std::size_t i = 0; i < strokes.size(); ++i)
      if (strokes[i].page == scene.cursor.page)
        paintStroke(view, *ImGui::GetWindowDrawList(), strokes[i], step, "stage.stroke." + std::to_string(i));
  }
  endPanel();
}

}  // namespace headscope::app
