#include "app/pages/mask/mask_page.h"

#include <fmt/core.h>

#include <numeric>

#include "app/pages/common/model_facts.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"

namespace headscope::app::mask_page {

namespace {

/// The finest level with no more cells than pixels per side, else the coarsest. At level i, 2^i cells per
/// side are pooled into one.
std::size_t levelFor(const StudiedMask& mask, float pixels) {
  const auto longer = [&](std::size_t level) {
    return static_cast<float>(std::max(mask.levels[level].rows(), mask.levels[level].cols()));
  };
  std::size_t level = 0;
  while (level + 1 < mask.levels.size() && longer(level) > pixels) ++level;
  return level;
}

/// Counts a study in the budget for as long as it exists.
template <class Study>
Study counted(Study study, const Resources& resources) {
  study.memory = resources.memory.count(bytesOf(study));
  return study;
}

}  // namespace

State::State(PageServices& services)
    : view(services.view),
      shown(services.view, services.workers, services.resources),
      study(shown,
            [](const MaskQuestion& question, Resources& resources, std::stop_token stop) {
              return counted(studyMask(question, resources.inputs, stop), resources);
            }),
      headStudy(shown, [](const HeadQuestion& question, Resources& resources,
                          std::stop_token stop) { return counted(studyHead(question, stop), resources); }),
      reach(shown, [](const ReachQuestion& question, Resources& resources, std::stop_token stop) {
        return counted(studyReach(question, stop), resources);
      }) {}

Page::Page(PageServices& services) : services_(services), page_(services) {}

bool Page::take(const Scene&) {
  const bool studied = page_.shown.take(), computed = page_.snapshot != services_.layer.snapshot();
  page_.snapshot = services_.layer.snapshot();
  const std::array<std::string, 3> problems{page_.study.problem(), page_.headStudy.problem(),
                                            page_.reach.problem()};
  for (std::size_t i = 0; i < problems.size(); ++i)
    if (std::exchange(told_[i], problems[i]) != problems[i] && !problems[i].empty())
      services_.view.messages.fail(problems[i]);
  return studied || computed;
}

void Page::prepare(Scene& scene) {
  walk(scene);
  if (services_.view.dialog) page_.token = -1;  // what is chosen in a dialog wasn't chosen in a menu
  if (page_.snapshot && !page_.snapshot->sequences.empty()) {
    fit_.apply(scene.cursor, *page_.snapshot, false);
    fitHover(services_.view.hover, scene, *page_.snapshot);
  }
  showMasks(scene);
}

/// While presenting, the arrow keys or a clicker step through the heads, and nobody paints.
void Page::walk(Scene& scene) {
  View& view = services_.view;
  if (!view.present) return;
  page_.brush.tool = PaintTool::look;
  const bool forward = view.pressed(Key::right) || view.pressed(Key::down);
  const bool back = view.pressed(Key::left) || view.pressed(Key::up);
  const Index count = heads(scene);
  if (forward != back) scene.cursor.cell.head = (scene.cursor.cell.head + (forward ? 1 : count - 1)) % count;
}

void Page::draw(Scene& scene, const Layout& layout) {
  const float pixels = page_.mapPixels;
  const Snapshot* snapshot = page_.snapshot.get();
  layersPanel(scene, snapshot, page_, layout);
  studioPanel(scene, snapshot, page_, layout);
  insightPanel(scene, snapshot, page_, layout);
  if (pixels != page_.mapPixels) services_.view.redraw(2);
}

void Page::ask(const Scene& scene) {
  // The masks come first because the weights shown with them take longer.
  const StudioCursor& studio = scene.cursor.studio;
  page_.study.ask({scene.setup, scene.cursor.sequence, scene.cursor.cell.head, studio.blockSize},
                  Lane::front);
  services_.layer.ask(scene.setup, Lane::back);
  const MaskStudy* study = page_.study.get();
  if (study && study->mask.formula && !study->geometry.cross)
    page_.reach.ask(
        {study->mask.formula, studio.allHeads ? -1 : study->mask.variant, studio.layers, studio.residual},
        Lane::back);
  const SequenceSnapshot* sequence = shownSequence(scene, page_.snapshot.get());
  if (!sequence || studio.tab == StudioTab::mask) return;
  page_.headStudy.ask({page_.snapshot, scene.cursor.sequence,
                       std::min(scene.cursor.cell.head, page_.snapshot->config.heads - 1)},
                      Lane::back);
}

void Page::leave() {
  page_.study.cancel();
  page_.reach.cancel();
  // A hidden page must not keep a snapshot alive: the budget has space for the shown one and the next.
  page_.headStudy.forget();
  drawn_ = {};
}

void Page::reset() {
  page_.camera = {};
  fit_.reset();
}

void Page::show(Surface surface, const attention::Matrix& values) {
  View& view = services_.view;
  if (values.size() > 0) page_.surface(surface).set(values, view.time, !view.preferences.reducedMotion);
}

void Page::showPair() {
  const MaskStudy* study = page_.study.get();
  const StudiedMask* a = study && study->mask.formula ? &study->mask : nullptr;
  const StudiedMask* b = study && study->other && study->other->formula ? &*study->other : nullptr;
  if (!a && !b) return;
  // Both cover the same tokens, so their levels have the same sizes.
  const std::size_t level = levelFor(a ? *a : *b, page_.mapPixels);
  page_.maskFactor = 1 << level;
  if (a) show(Surface::mask, a->levels[level]);
  if (b) show(Surface::otherMask, b->levels[level]);
  if (a && b && !page_.compareWeights)
    show(Surface::difference, maskDifference(a->levels[level], b->levels[level]));
}

void Page::showMasks(const Scene& scene) {
  const Index sequenceAt = scene.cursor.sequence, headAt = scene.cursor.cell.head;
  if (Drawn wanted{page_.snapshot, page_.study.shared(), page_.headStudy.shared(), page_.reach.shared(),
                   sequenceAt, headAt, page_.mapPixels, scene.cursor.studio.editsOther, page_.compareWeights};
      std::exchange(drawn_, wanted) == wanted)
    return;
  showPair();
  if (const StudiedMask* edited = editedStudy(scene, page_); edited && edited->formula)
    page_.surface(Surface::maskStrip)
        .set(edited->thumbnails, page_.view.time, !page_.view.preferences.reducedMotion);
  if (page_.reach) show(Surface::reach, page_.reach->picture);
  if (const HeadStudy* study = page_.headStudy.get()) {
    show(Surface::bias, study->bias.values);
    show(Surface::effect, study->effect.values);
    if (page_.compareWeights) show(Surface::difference, study->difference.values);
  }
  const SequenceSnapshot* sequence = shownSequence(scene, page_.snapshot.get());
  if (!sequence) return;
  const Index head = std::min(headAt, page_.snapshot->config.heads - 1);
  const PictureLevel& level = sequence->pictures.levelFor(page_.mapPixels);
  page_.weightsFactor = level.factor;
  show(Surface::weights, level.weights[head]);
  if (sequence->other)
    show(Surface::otherWeights, sequence->other->pictures.levelFor(page_.mapPixels).weights[head]);
}

PageStatus Page::status(const Scene& scene) const {
  return layerStatus(services_, scene);
}

std::optional<std::string> Page::error(const Scene&) const {
  return layerError(page_.snapshot.get());
}

double Page::nextFrameIn() const {
  double next = std::numeric_limits<double>::infinity();
  if (page_.expression.typedAt >= 0) next = page_.expression.typedAt + kTypingRests + 0.02 - page_.view.time;
  if (services_.layer.busySeconds() > 0) next = std::min(next, 0.2);
  return next;
}

std::size_t Page::gpuBytes() const {
  return std::accumulate(page_.surfaces.begin(), page_.surfaces.end(), std::size_t{0},
                         [](std::size_t sum, const EasedTextures& each) { return sum + each.bytes(); });
}

namespace {

/// The number of keys that a query sees.
Index seenBy(const attention::MaskFormula& mask, Index variant, Index query) {
  attention::KeyRuns runs;
  mask.visibleRuns(variant, query, runs);
  Index seen = 0;
  for (const attention::KeyRun& run : runs) seen += run.end - run.begin;
  return seen;
}

bool editsOther(const Scene& scene) {
  return scene.cursor.studio.editsOther && scene.setup.mask.compare;
}

}  // namespace

FigureLegend maskLegend(const Scene& scene, const State& page) {
  const StudioTab tab = scene.cursor.studio.tab;
  if (!page.study || tab == StudioTab::biases) return {};
  FigureLegend legend;
  if (tab != StudioTab::compare || !scene.setup.mask.compare || !page.compareWeights)
    legend.swatches = {{"visible", packed(maskStyle(page.view).tint->high)}};
  legend.masked = true;
  return legend;
}

FigureLegend Page::legend(const Scene& scene) const {
  return maskLegend(scene, page_);
}

/// What the selected query sees.
std::vector<CaptionPart> Page::caption(const Scene& scene) const {
  const Theme& theme = *page_.view.theme;
  const StudiedMask* mask = editedStudy(scene, page_);
  if (!mask || !mask->formula) return {};
  const LineTokens& line = *page_.study->line();
  const Cell& cell = scene.cursor.cell;
  const Index query = std::clamp<Index>(cell.query, 0, std::ssize(line.queries) - 1);
  const Index key = std::clamp<Index>(cell.key, 0, std::ssize(line.keys) - 1);
  // The stage has no room for what the formula's letters stand for.
  const std::string formula = page_.view.present          ? "."
                              : mask->formulaText.empty() ? ": all visible"
                                                          : ": " + mask->formulaText;
  const bool explains = !page_.view.present && !mask->formulaLegend.empty();
  return {{tokenOrPosition(line.queries, query), theme.query},
          {mask->formula->visible(mask->variant, query, key) ? " sees " : " doesn't see ", theme.text},
          {tokenOrPosition(line.keys, key), theme.key},
          {fmt::format(", and {} of {} overall{}", seenBy(*mask->formula, mask->variant, query),
                       countedText(std::ssize(line.keys), "key"), formula),
           theme.text},
          {explains ? "   " + mask->formulaLegend : "", theme.secondary}};
}

std::string tokenOrPosition(const std::vector<attention::Token>& tokens, Index position) {
  return position >= 0 && position < std::ssize(tokens)
             ? "“" + tokens[static_cast<std::size_t>(position)].text + "”"
             : std::to_string(position);
}

const SharedLayers& shownLayers(const Scene& scene) {
  return editsOther(scene) ? scene.setup.mask.other : scene.setup.mask.layers;
}

attention::MaskLayers& editedLayers(Scene& scene) {
  return (editsOther(scene) ? scene.setup.mask.other : scene.setup.mask.layers).edit();
}

const StudiedMask* editedStudy(const Scene& scene, const State& page) {
  if (!page.study || !page.study->line()) return nullptr;
  if (editsOther(scene)) return page.study->other ? &*page.study->other : nullptr;
  return &page.study->mask;
}

MaskedText maskedText(const State& page) {
  if (page.study && page.study->line()) {
    const attention::MaskGeometry& geometry = page.study->geometry;
    return {std::max<Index>(2, std::max(geometry.queries, geometry.keys)), &geometry};
  }
  const Snapshot* snapshot = page.snapshot.get();
  if (!snapshot || snapshot->sequences.empty()) return {};
  return {std::max<Index>(2, std::ssize(snapshot->sequences.front().keys)), nullptr};
}

render::HeatmapStyle maskStyle(const View& view) {
  render::HeatmapStyle style = styleFor(view, Look{});
  const Theme& theme = *view.theme;
  style.tint = render::Tint{unpacked(mixed(theme.background, theme.text, theme.light ? 0.18f : 0.22f)),
                            unpacked(mixed(theme.background, theme.text, theme.light ? 0.62f : 0.8f))};
  return style;
}

render::HeatmapStyle signedStyle(const View& view) {
  return styleFor(view, render::Colormap::diverging);
}

void verdictTooltip(State& page, const StudiedMask& mask, Index query, Index key) {
  // Use the layers from which the mask was compiled: the scene's may have changed already.
  const MaskStudy& study = *page.study;
  const attention::MaskLayers& layers =
      &mask == &study.mask ? study.question.setup.mask.layers : study.question.setup.mask.other;
  const auto word = [](const std::vector<attention::Token>& tokens, Index at) {
    return tokens[static_cast<std::size_t>(at)].text;
  };
  std::string text = word(study.line()->queries, query) + " → " + word(study.line()->keys, key) + ": " +
                     (mask.formula->visible(mask.variant, query, key) ? "visible" : "masked");
  for (std::size_t i = 0; i < std::min(layers.size(), mask.layers.size()); ++i) {
    if (!mask.layers[i]) continue;
    const attention::MaskFormula& layer = *mask.layers[i];
    const Index variant = layer.variantOf(std::min(study.question.head, layer.heads() - 1));
    const bool shows = layer.visible(variant, query, key);
    text += (shows ? "\n•  " : "\n–  ") + layerTitle(layers[i]) + (shows ? " shows it" : " masks it");
  }
  tooltip(page.view, text);
}

}  // namespace headscope::app::mask_page
