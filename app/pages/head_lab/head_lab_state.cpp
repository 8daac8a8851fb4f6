#include "app/pages/head_lab/head_lab_state.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/compute/layer/value_range.h"
#include "app/scene/text/number_text.h"
#include "attention/core/score_terms.h"

namespace headscope::app::head_lab_page {

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

std::vector<Step> stepsOf(const attention::AttentionConfig& config, const attention::MaskInput& mask) {
  std::vector<Step> steps{Step::input, Step::project, Step::split, Step::dot,    Step::scale, Step::bias,
                          Step::mask,  Step::softmax, Step::mix,   Step::concat, Step::output};
  const bool any = std::ranges::any_of(attention::scoreTerms(), [&](const attention::ScoreTerm& term) {
    return biases(term) && term.applies(config, mask);
  });
  if (!any) std::erase(steps, Step::bias);
  return steps;
}

std::vector<Step> stepsOf(const State& page) {
  return page.layer ? stepsOf(page.layer->config(), page.layer->sequence().mask) : stepsOf({}, {});
}

std::string stepTitle(const attention::AttentionConfig& config, const attention::MaskInput& mask, Step step) {
  switch (step) {
    case Step::input:
      return "X";
    case Step::project:
      return "Q, K, V";
    case Step::split:
      return "split into heads";
    case Step::dot:
      return "Q·Kᵀ";
    case Step::scale:
      return scaleTitle(config, mask);
    case Step::bias:
      return biasTitle(config, mask);
    case Step::mask:
      return "mask";
    case Step::softmax:
      return "softmax";
    case Step::mix:
      return "· V";
    case Step::concat:
      return "concat";
    case Step::output:
      return "· W_O";
  }
  return "";
}

std::string stepTitle(const State& page, Step step) {
  return stepTitle(page.layer->config(), page.layer->sequence().mask, step);
}

BiasTerms biasTerms(const State& page) {
  const attention::AttentionConfig& config = page.layer->config();
  BiasTerms terms;
  for (const attention::ScoreTerm& term : attention::scoreTerms()) {
    if (!term.applies(config, page.layer->sequence().mask)) continue;
    terms.distance |= term.kind == attention::TermKind::distance;
    terms.cell |= term.kind == attention::TermKind::cell;
    if (term.kind == attention::TermKind::cap) terms.cap = config.softcap;
  }
  return terms;
}

void moveStep(Scene& scene, const State& page, int by) {
  Step& step = scene.cursor.lab.step;
  const std::vector<Step> steps = stepsOf(page);
  const auto at = std::find(steps.begin(), steps.end(), step);
  const int now = at == steps.end() ? 3 : static_cast<int>(at - steps.begin());
  const int last = static_cast<int>(steps.size()) - 1;
  step = steps[static_cast<std::size_t>(std::clamp(now + by, 0, last))];
}

Cell shownCell(const Scene& scene, const State& page) {
  const SequenceSnapshot& sequence = page.layer->sequence();
  Cell cell = scene.cursor.cell;
  if (page.view.hover.query >= 0) cell.query = page.view.hover.query;
  if (page.view.hover.key >= 0) cell.key = page.view.hover.key;
  const auto last = [](const auto& tokens) { return static_cast<Index>(tokens.size()) - 1; };
  return {page.head->question.head, std::clamp<Index>(cell.query, 0, last(sequence.queries)),
          std::clamp<Index>(cell.key, 0, last(sequence.keys))};
}

namespace {

Index farthest(const Eigen::Ref<const Eigen::RowVectorXf>& row) {
  Index at = 0;
  row.cwiseAbs().maxCoeff(&at);
  return at;
}

}  // namespace

Index shownDim(const State& page, const Cell& cell) {
  const Index dims = page.layer->config().headDim;
  if (page.dim >= 0) return std::min(page.dim, dims - 1);
  return farthest(page.layer->sequence().attention.headOutput[cell.head].row(cell.query));
}

Index shownColumn(const State& page, const Cell& cell) {
  const Index columns = page.layer->config().modelDim;
  if (page.column >= 0) return std::min(page.column, columns - 1);
  return farthest(page.layer->sequence().attention.output.row(cell.query));
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

void paintPicture(State& page, const Picture& picture, const attention::Matrix& values, const ImRect& area,
                  const Look& look) {
  if (values.size() == 0) return;
  View& view = page.view;
  EasedTextures& textures = page.pictures[picture.name];
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
  if (picture.ink != Ink::map) {
    const std::uint32_t hue = inkColor(theme, picture.ink);
    style.tint = render::Tint{unpacked(mixed(theme.background, hue, 0.05f)), unpacked(hue),
                              unpacked(mixed(theme.background, hue, 0.33f))};
  }
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

std::string withIndex(const std::string& letter, Index index) {
  static constexpr std::array<const char*, 10> kDigits{"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  std::string text = letter;
  for (const char digit : std::to_string(index)) text += kDigits[static_cast<std::size_t>(digit - '0')];
  return text;
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

}  // namespace headscope::app::head_lab_page
