#include <fmt/core.h>

#include "app/pages/head_lab/head_lab_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"

namespace headscope::app::head_lab_page {

std::vector<Step> stepsOf(const State& page) {
  return page.layer ? stepsOf(page.layer->config(), page.layer->sequence().mask) : stepsOf({}, {});
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

float paintHoverTag(const View& view, ImVec2 leftMiddle) {
  return paintBadge(view, *ImGui::GetWindowDrawList(), leftMiddle, view.theme->secondary, "hover") +
         view.px(8);
}

void paintGhostOf(const View& view, const std::string& name) {
  if (const auto place = tracked(name))
    paintGhost(view, *ImGui::GetWindowDrawList(), "ghost", *place, view.theme->text);
}

}  // namespace headscope::app::head_lab_page
