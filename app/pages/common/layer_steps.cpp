#include "app/pages/common/layer_steps.h"

#include <fmt/core.h>

#include "app/scene/text/number_text.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

/// The factors of q·k: "÷ √32", "÷ √32 × 3", "× 3 sharpness", "not scaled".
std::string scaleTitle(const attention::AttentionConfig& config, const attention::MaskInput& mask) {
  const bool unscaled = config.effectiveScale() == 1 && attention::scoreFactor(config) != 1;
  std::string title;
  for (const attention::ScoreTerm& term : attention::scoreTerms()) {
    if (term.kind != attention::TermKind::factor || !term.applies(config, mask)) continue;
    if (unscaled && !term.number.member) continue;  // "not scaled × 3" would contradict itself
    title += title.empty() ? term.label(config) : " × " + roundedText(config.*term.number.member, 4);
  }
  return title;
}

/// Whether the term acts between the scale and the mask.
bool biases(const attention::ScoreTerm& term) {
  return term.adds() || term.kind == attention::TermKind::cap;
}

std::string biasTitle(const attention::AttentionConfig& config, const attention::MaskInput& mask) {
  std::string title;
  for (const attention::ScoreTerm& term : attention::scoreTerms())
    if (biases(term) && term.applies(config, mask)) title += (title.empty() ? "" : " ") + term.label(config);
  return title;
}

}  // namespace

std::vector<PipelineStep> stepsOf(const attention::AttentionConfig& config,
                                  const attention::MaskInput& mask) {
  std::vector<PipelineStep> steps{PipelineStep::input,  PipelineStep::project, PipelineStep::split,
                                  PipelineStep::dot,    PipelineStep::scale,   PipelineStep::bias,
                                  PipelineStep::mask,   PipelineStep::softmax, PipelineStep::mix,
                                  PipelineStep::concat, PipelineStep::output};
  const bool any = std::ranges::any_of(attention::scoreTerms(), [&](const attention::ScoreTerm& term) {
    return biases(term) && term.applies(config, mask);
  });
  if (!any) std::erase(steps, PipelineStep::bias);
  return steps;
}

std::string stepTitle(const attention::AttentionConfig& config, const attention::MaskInput& mask,
                      PipelineStep step) {
  switch (step) {
    case PipelineStep::input:
      return "X";
    case PipelineStep::project:
      return "Q, K, V";
    case PipelineStep::split:
      return "split into heads";
    case PipelineStep::dot:
      return "Q·Kᵀ";
    case PipelineStep::scale:
      return scaleTitle(config, mask);
    case PipelineStep::bias:
      return biasTitle(config, mask);
    case PipelineStep::mask:
      return "mask";
    case PipelineStep::softmax:
      return "softmax";
    case PipelineStep::mix:
      return "· V";
    case PipelineStep::concat:
      return "concat";
    case PipelineStep::output:
      return "· W_O";
  }
  return "";
}

std::uint32_t inkColor(const Theme& theme, Ink ink) {
  switch (ink) {
    case Ink::query:
      return theme.query;
    case Ink::key:
      return theme.key;
    case Ink::value:
      return theme.value;
    case Ink::stream:
    case Ink::map:
      return theme.text;
  }
  return theme.text;
}

render::Tint inkTint(const Theme& theme, Ink ink) {
  const std::uint32_t hue = inkColor(theme, ink);
  return {unpacked(mixed(theme.background, hue, 0.05f)), unpacked(hue),
          unpacked(mixed(theme.background, hue, 0.33f))};
}

void paintPicture(View& view, MatrixTextures& kept, const MatrixPicture& picture,
                  const attention::Matrix& values, const ImRect& area, const Look& look) {
  if (values.size() == 0) return;
  EasedTextures& textures = kept[picture.name];
  textures.set(values, view.time, !view.preferences.reducedMotion);
  const Theme& theme = *view.theme;
  render::HeatmapStyle style;
  style.background = unpacked(theme.background);
  style.masked = unpacked(mixed(theme.background, theme.panel, 0.7f));
  style.maskedHatch = unpacked(mixed(theme.background, theme.line, 0.8f));
  style.deadHatch = unpacked(theme.faint);
  style.gap = picture.gap;
  style.hatchSpacing = view.px(12);
  style.colormap = look.colormap;
  style.tint = picture.ink == Ink::map ? tintOn(theme, look.colormap) : inkTint(theme, picture.ink);
  HeatmapTile tile;
  tile.range = {picture.low, picture.high > picture.low ? picture.high : picture.low + 1};
  tile.view.target = {area.Min.x, area.Min.y, area.Max.x, area.Max.y};
  tile.view.clip = tile.view.target;
  tile.view.rows = static_cast<float>(values.rows());
  tile.view.cols = static_cast<float>(values.cols());
  Canvas list = *ImGui::GetWindowDrawList();
  view.heatmaps->draw(list, textures, style, {tile});
  if (picture.fade < 1) list.AddRectFilled(area.Min, area.Max, faded(theme.background, 1 - picture.fade));
}

float largestOf(const StagePicture& picture) {
  const float most = std::max(std::abs(picture.low), std::abs(picture.high));
  return most > 0 ? most : 1;
}

void paintMissingLayer(View& view, const Snapshot& snapshot, const ImRect& area) {
  if (!snapshot.error)
    emptyMessage(view, area, "No tokens", "Type a text on Heads, or start with the opening sentence.",
                 "Start with the opening sentence", "input.sample");
  else if (snapshot.error->waits)
    paintMessage(view, area, "No head to show yet", snapshot.error->message, view.theme->text);
  else
    paintMessage(view, area, "Can't compute this layer", snapshot.error->message, view.theme->error);
}

std::vector<Action> cellActions(const std::string& page, const std::string& where) {
  const auto move = [&](const char* id, const char* name, KeyPress keys, Index Cell::*place, Index by) {
    return Action{.id = page + "." + id,
                  .name = name + (" in " + where),
                  .shortcut = keys,
                  .repeats = true,
                  .run = [page, place, by](Scene& scene) {
                    scene.cursor.page = page;
                    // The cursor fit brings cells beyond the last one back inside.
                    scene.cursor.cell.*place = std::max<Index>(0, scene.cursor.cell.*place + by);
                    if (place == &Cell::key) scene.cursor.keyChosen = true;
                  }};
  };
  const Mods shift{.shift = true};
  return {move("query_down", "Next query", {Key::down, {}}, &Cell::query, 1),
          move("query_up", "Previous query", {Key::up, {}}, &Cell::query, -1),
          move("key_right", "Next key", {Key::right, shift}, &Cell::key, 1),
          move("key_left", "Previous key", {Key::left, shift}, &Cell::key, -1)};
}

std::string withIndex(const std::string& letter, Index index) {
  return letter + loweredDigits(index);
}

std::string cellText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "−∞" : "∞";
  const double amount = std::abs(value);
  const int digits = amount >= 999.5 ? 0 : amount >= 99.95 ? 1 : amount >= 9.995 ? 2 : 3;
  return fixedText(value, digits);
}

std::string factorText(double factor) {
  return factor > 0 && factor < 1 ? "÷ " + cellText(1 / factor) : "× " + cellText(factor);
}

std::string shapeText(Index rows, Index cols) {
  return fmt::format("{}×{}", rows, cols);
}

float placeSentence(const View& view, ImVec2 from, float width, const std::vector<CaptionPart>& parts,
                    const Canvas* list) {
  ImFont* font = view.fonts->title;
  const float line = lineHeight(font) * 1.25f, space = textWidth(font, " ");
  ImVec2 at = from + ImVec2(0, line / 2);
  for (const CaptionPart& part : parts)
    for (std::size_t i = 0; i < part.text.size();) {
      const std::size_t end = std::min(part.text.find(' ', i), part.text.size());
      const std::string word = part.text.substr(i, end - i);
      const float wide = textWidth(font, word);
      if (at.x > from.x && at.x + wide > from.x + width) at = ImVec2(from.x, at.y + line);
      if (list) paintText(*list, font, at, part.color, word);
      at.x += end < part.text.size() ? wide + space : wide;
      i = end + 1;
    }
  return at.y + line / 2 - from.y;
}

}  // namespace headscope::app
