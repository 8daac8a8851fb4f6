#include <fmt/core.h>

#include "app/pages/heads/heads_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/field_controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::heads_page {

namespace {

void quantityChoice(Scene& scene, View& view) {
  const std::string off =
      scene.setup.model.dropout > 0 ? "" : "Dropout is off, so the weights are used unchanged";
  if (!fieldChoice(view, scene, "look.quantity", {"", "", off})) return;
  RangeMode& range = scene.look.range;
  if (scene.look.quantity != Quantity::scores)
    range = RangeMode::unit;
  else if (range != RangeMode::perHead)
    range = RangeMode::shared;
}

void rangeChoice(Scene& scene, View& view) {
  const bool scores = scene.look.quantity == Quantity::scores;
  const std::string reason = scores ? "Scores have no fixed range. Choose per head or shared." : "";
  const Field& field = fieldAt("look.range");
  const bool fixedForScores =
      scores && (scene.look.range == RangeMode::unit || scene.look.range == RangeMode::logarithmic);
  int chosen = static_cast<int>(fixedForScores ? RangeMode::shared : scene.look.range);
  if (dropdown(view, "range", choicesOf(field, {"", "", reason, reason}), chosen, 0, field.help))
    scene.look.range = static_cast<RangeMode>(chosen);
}

const char* colormapField(const Look& look) {
  return look.quantity == Quantity::scores ? "look.score_colormap" : "look.colormap";
}

float choiceWidth(const Scene& scene, const View& view, const char* path) {
  const Field& field = fieldAt(path);
  const auto chosen = static_cast<std::size_t>(chosenIn(field, scene));
  return view.px(24) + textWidth(view.fonts->text, std::get<Selection>(field.control).labels[chosen]);
}

const char* quantityText(const Look& look) {
  return look.quantity == Quantity::scores    ? "score"
         : look.quantity == Quantity::dropped ? "weight after dropout"
                                              : "weight";
}

std::string rangeEnd(const Look& look, float value) {
  return look.quantity == Quantity::scores ? numberText(value, 3) : weightText(value);
}

/// The labels at a colour bar's ends and middle; head −1 = all heads.
BarLabels barLabels(const Look& look, const HeadPictures& pictures, Index head) {
  if (look.range == RangeMode::perHead && head < 0 && pictures.aroundZero == 0)
    return {look.quantity != Quantity::scores                  ? "0"
            : colormapFor(look) == render::Colormap::diverging ? "−max"
                                                               : "min",
            "of each head", "max"};
  const ValueRange range = rangeFor(look, pictures, std::max<Index>(head, 0));
  const std::string high = rangeEnd(look, range.high);
  if (range.logarithmic) return {"10⁻⁴", roundedText(0.01), high};
  const std::string middle = rangeEnd(look, (range.low + range.high) / 2);
  return {rangeEnd(look, range.low), middle == fixedText(0.5, 3) ? roundedText(0.5) : middle, high};
}

/// The room of a colour bar and the space beside it, in layout units.
constexpr float kBar = 70 + 28;

/// Draws what the selected head reads. Returns its right end.
float headerTitle(const Scene& scene, State& page, const SequenceSnapshot& sequence, const ImRect& area,
                  float y) {
  View& view = page.view;
  const float space = view.px(14);
  float x = area.Min.x;
  if (scene.cursor.focus >= 0) {
    ImGui::SetCursorScreenPos(ImVec2(area.Min.x, y - space));
    if (button(view, "back", "← All heads")) view.request("look.back");
    x = ImGui::GetItemRectMax().x + space;
  }
  Canvas list = *ImGui::GetWindowDrawList();
  const float from = x, end = area.Max.x - view.px(kBar) - choiceWidth(scene, view, "look.quantity");
  std::string whole;
  std::vector<CaptionPart> parts = page.showsWiring
                                       ? wiringSentence(*page.snapshot, sequence, view)
                                       : headSentence(scene, *page.snapshot, sequence, *view.theme);
  if (scene.cursor.focus < 0 && page.pictures.gridFactor > 1)
    parts.push_back({"  " + pooledText(page.pictures.gridFactor), view.theme->secondary});
  for (const CaptionPart& part : parts) whole += part.text;
  // Where there is little room, the sentence doesn't say what the head was planted as, then nothing but the
  // head's name.
  const auto width = [&] {
    float all = 0;
    for (const CaptionPart& part : parts) all += textWidth(view.fonts->reading, part.text);
    return all;
  };
  std::string& head = parts.front().text;
  if (width() > end - from && head.ends_with(": ")) {
    head.resize(std::min(head.find(", planted"), head.size() - 2));
    head += ": ";
    if (width() > end - from) {
      parts.resize(1);
      head.resize(head.size() - 2);
    }
  }
  for (const CaptionPart& part : parts) {
    if (end - x > view.px(12))
      x += paintText(list, view.fonts->reading, ImVec2(x, y), part.color,
                     fitted(view.fonts->reading, part.text, end - x));
  }
  const ImRect words(from, y - view.px(11), x, y + view.px(11));
  track("heads.sentence", words.Min, words.Max);
  if (x - from < textWidth(view.fonts->reading, whole) && ImGui::IsWindowHovered() &&
      words.Contains(ImGui::GetIO().MousePos))
    tooltip(view, whole);
  return x + space;
}

}  // namespace

void header(Scene& scene, State& page, const SequenceSnapshot& sequence, const ImRect& area) {
  View& view = page.view;
  const float y = area.Min.y + view.px(24), x = headerTitle(scene, page, sequence, area, y);
  // What is read and the colour bar stay. Of the choices, the colormap leaves first, then the range; Search
  // has them, too.
  std::vector<const char*> choices{"look.quantity", "look.range", colormapField(scene.look)};
  const auto controls = [&] {
    float width = 0;
    for (const char* path : choices) width += choiceWidth(scene, view, path) + view.px(8);
    return width;
  };
  while (choices.size() > 1 && area.Max.x - x - controls() < view.px(kBar)) choices.pop_back();
  const float room = area.Max.x - x - controls();
  const float barWidth = view.px(room < view.px(190) ? 70 : room < view.px(290) ? 100 : 170);
  paintColourBar(view, colormapFor(lookFor(scene.look, sequence.pictures)),
                 barLabels(scene.look, sequence.pictures, scene.cursor.focus), ImVec2(area.Max.x, y),
                 std::min(barWidth, area.GetWidth()));
  FigureLegend samples = headsLegend(scene.look, sequence, scene.cursor.focus);
  samples.caption.clear();  // the bar shows the ramp
  const float end =
      area.Max.x - barWidth - view.px(28) -
      paintLegendLine(view, *ImGui::GetWindowDrawList(), ImVec2(area.Max.x - barWidth - view.px(18), y),
                      room - barWidth - view.px(28), samples);
  // The choices are left of that, laid out from the right by their widths.
  ImGui::SetCursorScreenPos(ImVec2(std::max(x, end - controls()), y - view.px(13)));
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) ImGui::SameLine(0, view.px(8));
    if (i == 0) quantityChoice(scene, view);
    if (i == 1) rangeChoice(scene, view);
    if (i == 2) fieldChoice(view, scene, choices[i]);
  }
}

std::string figureTitle(const Scene& scene, const Snapshot& snapshot, const SequenceSnapshot& sequence,
                        const std::string& of) {
  return fmt::format("Attention {} of {}{}, {} × {}{}", quantityText(scene.look), layerPrefix(snapshot.setup),
                     of, countedText(std::ssize(sequence.queries), "query"),
                     countedText(std::ssize(sequence.keys), "key"), snapshot.causal ? ", causal" : "");
}

FigureLegend headsLegend(const Look& look, const SequenceSnapshot& sequence, Index head) {
  const HeadPictures& pictures = sequence.pictures;
  FigureLegend legend{quantityText(look), colormapFor(lookFor(look, pictures)),
                      barLabels(look, pictures, head)};
  // Every usual mask hides keys from the first or the last query.
  const attention::Stack& scores = sequence.attention.scores;
  if (scores.count() == 0 || scores.rows() == 0) return legend;
  const Index end = head < 0 ? scores.count() : head + 1;
  for (Index at = std::max<Index>(head, 0); at < end && !legend.masked; ++at)
    for (const Index row : {Index{0}, scores.rows() - 1})
      legend.masked = legend.masked || (scores[at].row(row).array() == -INFINITY).any();
  return legend;
}

void paintHeadsLegend(const View& view, Canvas list, const Look& look, const Snapshot& snapshot,
                      const SequenceSnapshot& sequence, Index head, const attention::Stack& cells, int factor,
                      ImVec2 at, float height) {
  FigureLegend legend = headsLegend(look, sequence, head);
  legend.masked = false;  // unless some cell is, as drawn
  for (Index i = 0; i < cells.count(); ++i) {
    legend.masked = legend.masked || (cells[i].array() == render::kMaskedCell).any();
    legend.dead = legend.dead || (cells[i].array() == render::kDeadCell).any();
    legend.notNumber = legend.notNumber || cells[i].hasNaN();
  }
  if (head < 0 && !snapshot.config.sinks.empty()) legend.swatches = {{"sink’s share", view.theme->secondary}};
  if (factor > 1) legend.notes = {"largest of", fmt::format("{0} × {0} cells", factor)};
  paintLegend(view, list, at, height, legend);
}

}  // namespace headscope::app::heads_page
