#include "app/pages/mask/mask_page.h"

#include <fmt/core.h>

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

/// The answer's value; null if there is no answer or it is an error.
template <class Answered>
auto valueOf(const std::shared_ptr<const Answered>& answer) {
  return answer && answer->value.ok() ? &*answer->value : nullptr;
}

/// Counts a study in the budget for as long as it exists.
template <class Study>
attention::Result<Study> counted(Study study, const MemoryBudget& memory) {
  study.memory = memory.count(bytesOf(study));
  return study;
}

}  // namespace

Page::Page(PageServices& services)
    : services_(services),
      page_(services.view),
      study_(services.workers,
             [&shared = services.resources](const MaskQuestion& question, std::stop_token stop) {
               return counted(studyMask(question, shared.inputs, stop), shared.memory);
             }),
      headStudy_(services.workers,
                 [&shared = services.resources](const HeadQuestion& question, std::stop_token stop) {
                   return counted(studyHead(question, stop), shared.memory);
                 }),
      reach_(services.workers,
             [&shared = services.resources](const ReachQuestion& question, std::stop_token stop) {
               return counted(studyReach(question, stop), shared.memory);
             }) {}

bool Page::take(const Scene&) {
  Shown newest;
  newest.snapshot = services_.layer.snapshot();
  newest.study = study_.current();
  newest.headStudy = headStudy_.current();
  newest.reach = reach_.current();
  if (newest == taken_) return false;
  const auto note = [&](const auto& before, const auto& now) {
    if (now && now != before && !now->value.ok()) services_.view.messages.fail(now->value.error().message);
  };
  note(taken_.study, newest.study);
  note(taken_.headStudy, newest.headStudy);
  note(taken_.reach, newest.reach);
  taken_ = std::move(newest);
  page_.snapshot = taken_.snapshot;
  page_.study = valueOf(taken_.study);
  page_.headStudy = valueOf(taken_.headStudy);
  page_.reach = valueOf(taken_.reach);
  return true;
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

/// While presenting, the arrow keys or a clicker step through the heads.
void Page::walk(Scene& scene) {
  View& view = services_.view;
  if (!view.present) return;
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
  study_.ask({scene.setup, scene.cursor.sequence, scene.cursor.cell.head, studio.blockSize}, Lane::front);
  services_.layer.ask(scene.setup, Lane::back);
  const MaskStudy* study = page_.study;
  if (study && study->mask.formula && !study->geometry.cross)
    reach_.ask(
        {study->mask.formula, studio.allHeads ? -1 : study->mask.variant, studio.layers, studio.residual},
        Lane::back);
  const SequenceSnapshot* sequence = shownSequence(scene, page_.snapshot.get());
  if (!sequence || studio.tab == StudioTab::mask) return;
  headStudy_.ask({page_.snapshot, scene.cursor.sequence,
                  std::min(scene.cursor.cell.head, page_.snapshot->config.heads - 1)},
                 Lane::back);
}

void Page::leave() {
  study_.cancel();
  reach_.cancel();
  // A hidden page must not keep a snapshot alive: the budget has space for the shown one and the next.
  headStudy_.forget();
  shown_ = {};
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
  const MaskStudy* study = page_.study;
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
  Shown wanted = taken_;
  wanted.sequence = scene.cursor.sequence;
  wanted.head = scene.cursor.cell.head;
  wanted.pixels = page_.mapPixels;
  wanted.editsOther = scene.cursor.studio.editsOther;
  wanted.compareWeights = page_.compareWeights;
  if (wanted == shown_) return;
  shown_ = std::move(wanted);
  showPair();
  if (const StudiedMask* edited = page_.study ? editedStudy(scene, page_) : nullptr;
      edited && edited->formula)
    page_.surface(Surface::maskStrip)
        .set(edited->thumbnails, page_.view.time, !page_.view.preferences.reducedMotion);
  if (page_.reach) show(Surface::reach, page_.reach->picture);
  if (page_.headStudy) {
    show(Surface::bias, page_.headStudy->bias.values);
    show(Surface::effect, page_.headStudy->effect.values);
    if (page_.compareWeights) show(Surface::difference, page_.headStudy->difference.values);
  }
  const SequenceSnapshot* sequence = shownSequence(scene, page_.snapshot.get());
  if (!sequence) return;
  const Index head = std::min(scene.cursor.cell.head, page_.snapshot->config.heads - 1);
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
  std::size_t total = 0;
  for (const EasedTextures& surface : page_.surfaces) total += surface.bytes();
  return total;
}

namespace {

std::string quoted(const std::vector<attention::Token>& tokens, Index at) {
  return "“" + tokens[static_cast<std::size_t>(at)].text + "”";
}

/// The number of keys that a query sees.
Index seenBy(const attention::MaskFormula& mask, Index variant, Index query) {
  attention::KeyRuns runs;
  mask.visibleRuns(variant, query, runs);
  Index seen = 0;
  for (const attention::KeyRun& run : runs) seen += run.end - run.begin;
  return seen;
}

}  // namespace

std::vector<CaptionPart> captionOf(const Scene& scene, const State& page) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  const MaskStudy* study = page.study;
  if (!study || !study->line()) return {};
  const StudiedMask* mask = editedStudy(scene, page);
  if (!mask || !mask->formula) return {};
  const LineTokens& line = *study->line();
  const auto last = [](const auto& tokens) { return static_cast<Index>(tokens.size()) - 1; };
  const Cell& chosen = scene.cursor.cell;
  const Index query =
      std::clamp<Index>(view.hover.query >= 0 ? view.hover.query : chosen.query, 0, last(line.queries));
  const Index key = std::clamp<Index>(view.hover.key >= 0 ? view.hover.key : chosen.key, 0, last(line.keys));
  const bool visible = mask->formula->visible(mask->variant, query, key);
  return {{quoted(line.queries, query), theme.query},
          {visible ? " sees " : " doesn't see ", theme.text},
          {quoted(line.keys, key), theme.key},
          {fmt::format(", and {} of {} overall: {}", seenBy(*mask->formula, mask->variant, query),
                       countedText(std::ssize(line.keys), "key"),
                       mask->formulaText.empty() ? "all visible" : mask->formulaText),
           theme.text},
          {mask->formulaLegend.empty() ? "" : "   " + mask->formulaLegend, theme.secondary}};
}

using attention::Layer;

namespace {

bool editsOther(const Scene& scene) {
  return scene.cursor.studio.editsOther && scene.setup.mask.compare;
}

}  // namespace

const SharedLayers& shownLayers(const Scene& scene) {
  return editsOther(scene) ? scene.setup.mask.other : scene.setup.mask.layers;
}

attention::MaskLayers& editedLayers(Scene& scene) {
  return (editsOther(scene) ? scene.setup.mask.other : scene.setup.mask.layers).edit();
}

const StudiedMask* editedStudy(const Scene& scene, const State& page) {
  const MaskStudy* study = page.study;
  if (!study || !study->line()) return nullptr;
  if (editsOther(scene)) return study->other ? &*study->other : nullptr;
  return &study->mask;
}

MaskedText maskedText(const State& page) {
  if (page.study && page.study->line()) {
    const attention::MaskGeometry& geometry = page.study->geometry;
    return {std::max<Index>(2, std::max(geometry.queries, geometry.keys)), &geometry};
  }
  const Snapshot* snapshot = page.snapshot.get();
  if (!snapshot || snapshot->sequences.empty()) return {};
  return {std::max<Index>(2, static_cast<Index>(snapshot->sequences.front().keys.size())), nullptr};
}

render::HeatmapStyle maskStyle(const View& view) {
  render::HeatmapStyle style = styleFor(view, Look{});
  const Theme& theme = *view.theme;
  style.tint = render::Tint{unpacked(mixed(theme.background, theme.text, theme.light ? 0.18f : 0.22f)),
                            unpacked(mixed(theme.background, theme.text, theme.light ? 0.62f : 0.8f))};
  return style;
}

render::HeatmapStyle signedStyle(const View& view) {
  Look look;
  look.quantity = Quantity::scores;
  look.scoreColormap = render::Colormap::diverging;
  return styleFor(view, look);
}

void verdictTooltip(State& page, const StudiedMask& mask, Index query, Index key) {
  View& view = page.view;
  // Use the layers from which the mask was compiled: the scene's may have changed already.
  const MaskSetup& studied = page.study->question.setup.mask;
  const attention::MaskLayers& layers = &mask == &page.study->mask ? studied.layers : studied.other;
  const LineTokens& line = *page.study->line();
  const auto word = [](const std::vector<attention::Token>& tokens, Index at) {
    return tokens[static_cast<std::size_t>(at)].text;
  };
  const attention::MaskFormula& whole = *mask.formula;
  std::string text = word(line.queries, query) + " → " + word(line.keys, key) + ": " +
                     (whole.visible(mask.variant, query, key) ? "visible" : "masked");
  for (std::size_t i = 0; i < std::min(layers.size(), mask.layers.size()); ++i) {
    if (!mask.layers[i]) continue;
    const attention::MaskFormula& alone = *mask.layers[i];
    const Index variant = alone.variantOf(std::min(page.study->question.head, alone.heads() - 1));
    text += std::string("\n") + (alone.visible(variant, query, key) ? "•  " : "–  ") + layerTitle(layers[i]) +
            (alone.visible(variant, query, key) ? " shows it" : " masks it");
  }
  tooltip(view, text);
}

}  // namespace headscope::app::mask_page
