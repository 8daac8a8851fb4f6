#include <fmt/core.h>

#include "app/pages/head_lab/head_lab_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"

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

namespace {

Cell insideHead(const State& page, const Cell& cell) {
  const SequenceSnapshot& sequence = page.layer->sequence();
  const auto last = [](const auto& tokens) { return static_cast<Index>(tokens.size()) - 1; };
  return {page.head->question.head, std::clamp<Index>(cell.query, 0, last(sequence.queries)),
          std::clamp<Index>(cell.key, 0, last(sequence.keys))};
}

Index farthest(const Eigen::Ref<const Eigen::RowVectorXf>& row) {
  Index at = 0;
  row.cwiseAbs().maxCoeff(&at);
  return at;
}

}  // namespace

Cell selectedCell(const Scene& scene, const State& page) {
  return insideHead(page, scene.cursor.cell);
}

Spot selectedSpot(const Scene& scene, const State& page) {
  const Cell cell = selectedCell(scene, page);
  const attention::AttentionResult& result = page.layer->sequence().attention;
  return {cell,
          page.dim >= 0 ? std::min(page.dim, page.layer->config().headDim - 1)
                        : farthest(result.headOutput[cell.head].row(cell.query)),
          page.column >= 0 ? std::min(page.column, page.layer->config().modelDim - 1)
                           : farthest(result.output.row(cell.query))};
}

Spot previewedSpot(const Scene& scene, const State& page) {
  const Spot selected = selectedSpot(scene, page);
  const attention::AttentionConfig& config = page.layer->config();
  const auto previewed = [](Index hovered, Index own, Index count) {
    return hovered >= 0 ? std::min(hovered, count - 1) : own;
  };
  return {insideHead(page, page.view.previewed(selected.cell)),
          previewed(page.hover.dim, selected.dim, config.headDim),
          previewed(page.hover.column, selected.column, config.modelDim)};
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

float paintHoverTag(const View& view, ImVec2 leftMiddle) {
  return paintBadge(view, *ImGui::GetWindowDrawList(), leftMiddle, view.theme->secondary, "hover") +
         view.px(8);
}

void paintGhostOf(const View& view, const std::string& name) {
  if (const auto place = tracked(name))
    paintGhost(view, *ImGui::GetWindowDrawList(), "ghost", *place, view.theme->text);
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

void PointNames::paintAxes(const std::string& first, const std::string& second) {
  Canvas list = *ImGui::GetWindowDrawList();
  ImFont* font = view_.fonts->small;
  const float half = lineHeight(font) / 2;
  const ImVec2 below(area_.Max.x - view_.px(10), area_.Max.y - view_.px(12));
  const ImVec2 above(area_.Min.x + view_.px(10), area_.Min.y + view_.px(13));
  const float wide = paintText(list, font, below, view_.theme->secondary, first + " →", Align::right);
  taken_.emplace_back(below.x - wide, below.y - half, below.x, below.y + half);
  const float used = paintText(list, font, above, view_.theme->secondary, "↑ " + second);
  taken_.emplace_back(above.x, above.y - half, above.x + used, above.y + half);
}

void PointNames::keepClear(ImVec2 at, float radius) {
  taken_.emplace_back(at.x - radius, at.y - radius, at.x + radius, at.y + radius);
}

void PointNames::keepOff(ImVec2 from, ImVec2 to) {
  lines_.emplace_back(from, to);
}

/// A line crosses a box if their extents overlap and the box's corners aren't all on one side of the line.
bool PointNames::onLine(const ImRect& box) const {
  return std::any_of(lines_.begin(), lines_.end(), [&](const auto& line) {
    const auto [a, b] = line;
    const ImRect extent(std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x), std::max(a.y, b.y));
    if (extent.Min.x > box.Max.x || extent.Max.x < box.Min.x || extent.Min.y > box.Max.y ||
        extent.Max.y < box.Min.y)
      return false;
    int left = 0;
    for (const ImVec2 corner : {box.GetTL(), box.GetTR(), box.GetBL(), box.GetBR()})
      left += (b.x - a.x) * (corner.y - a.y) - (b.y - a.y) * (corner.x - a.x) > 0 ? 1 : 0;
    return left > 0 && left < 4;
  });
}

void PointNames::keepOffDisc(ImVec2 center, float radius) {
  discs_.emplace_back(center, radius);
}

bool PointNames::onDisc(const ImRect& box) const {
  return std::any_of(discs_.begin(), discs_.end(), [&](const auto& disc) {
    const auto [center, radius] = disc;
    return std::hypot(center.x - std::clamp(center.x, box.Min.x, box.Max.x),
                      center.y - std::clamp(center.y, box.Min.y, box.Max.y)) < radius;
  });
}

bool PointNames::paint(ImVec2 at, float radius, const std::string& name, std::uint32_t color) {
  ImFont* font = view_.fonts->mono;
  const float width = textWidth(font, name), high = lineHeight(font), half = high / 2;
  const float aside = radius + view_.px(5), away = half + radius + view_.px(4);
  const float right = at.x + aside, left = at.x - aside - width, middle = at.x - width / 2;
  const ImVec2 places[] = {{right, at.y},         {left, at.y},         {middle, at.y - away},
                           {middle, at.y + away}, {right, at.y - half}, {right, at.y + half},
                           {left, at.y - half},   {left, at.y + half}};
  const auto boxAt = [&](ImVec2 place) {
    return ImRect(place.x, place.y - half, place.x + width, place.y + half);
  };
  const auto free = [&](ImVec2 place) {
    const ImRect box = boxAt(place);
    return area_.Contains(box) && std::none_of(taken_.begin(), taken_.end(),
                                               [&](const ImRect& other) { return other.Overlaps(box); });
  };
  const auto* place = std::find_if(std::begin(places), std::end(places), [&](ImVec2 each) {
    return free(each) && !onLine(boxAt(each)) && !onDisc(boxAt(each));
  });
  if (place == std::end(places)) place = std::find_if(std::begin(places), std::end(places), free);
  if (place == std::end(places)) return false;
  paintText(*ImGui::GetWindowDrawList(), font, *place, color, name);
  taken_.push_back(boxAt(*place));
  return true;
}

}  // namespace headscope::app::head_lab_page
