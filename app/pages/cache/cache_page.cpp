#include "app/pages/cache/cache_page.h"

#include <fmt/core.h>

#include "app/pages/common/model_facts.h"
#include "app/scene/mask_rules.h"
#include "app/scene/text/number_text.h"

namespace headscope::app::cache_page {

State::State(PageServices& services)
    : view(services.view),
      shown(services.view, services.workers, services.resources),
      field(shown, makeCacheField, {&CacheField::picture},
            [this](const FieldQuestion& next, const std::shared_ptr<const CacheField>&) {
              // Keep drawing the old bands until they have left.
              const Index kvHeads = field ? field.request().snapshot->config.kvHeads : 0;
              if (view.preferences.reducedMotion || kvHeads == 0 || kvHeads == next.snapshot->config.kvHeads)
                return;
              drawing.leaving = {std::exchange(field.picture(), {}), kvHeads, field->grain.tokens};
            }),
      proof(shown, proveDecode),
      precision(shown, studyPrecision, {&PrecisionStudy::keys, &PrecisionStudy::differences}),
      shapes(shown, studyShapes, {&ShapesStudy::weights}),
      eviction(shown, studyEviction, {&EvictionStudy::weights}),
      paging(shown, [](const PagingQuestion& question, const Resources& resources, std::stop_token stop) {
        return studyPaging(question, resources.memory, stop);
      }) {}

Page::Page(PageServices& services) : services_(services), page_(services) {}

bool Page::take(const Scene& scene) {
  page_.catchingUp = !services_.layer.upToDate(scene.setup);
  const bool newLayer = page_.snapshot != services_.layer.snapshot();
  page_.snapshot = services_.layer.snapshot();
  return page_.shown.take() || newLayer;
}

void Page::prepare(Scene& scene) {
  speed_ = scene.cost.cache.speed;
  if (!page_.snapshot || page_.snapshot->sequences.empty()) return;
  fit_.apply(scene.cursor, *page_.snapshot, true);
  if (services_.layer.upToDate(scene.setup) && !page_.snapshot->causal) {
    scene.cursor.decoding = page_.play.on = false;
    page_.filling = -1;
  }
  fitHover(services_.view.hover, scene, *page_.snapshot);
  advancePlay(scene);
}

void Page::advancePlay(Scene& scene) {
  const double now = services_.view.time, interval = 1 / std::max(speed_, 0.1);
  if (!page_.play.on || now - page_.play.since < interval) return;
  // At high speed, take several steps per frame.
  const auto steps = std::clamp<Index>(static_cast<Index>((now - page_.play.since) / interval), 1, 64);
  if (scene.cursor.cacheView == CacheView::paging) {
    const auto* study = page_.paging.get();
    const Index last = study ? std::ssize(study->steps) - 1 : 0;
    page_.pagingStep = std::min(page_.pagingStep + steps, last);
    page_.play.on = page_.pagingStep < last;
    page_.play.since = now;
    return;
  }
  for (Index i = 0; i < steps; ++i) moveDecode(scene, page_, DecodeMove::forward);
  const DecodeState state = decodeState(scene, page_);
  page_.play.on = state.now < state.tokens;
  page_.play.since = now;
}

void Page::draw(Scene& scene, const Layout& layout) {
  View& view = services_.view;
  const auto before = std::tuple(page_.drawing.bandPixels, page_.drawing.columnPixels);
  if (layout.showLeft) controls(scene, page_, layout);
  if (layout.showRight) sidePanel(scene, page_, layout);
  if (beginPanel(view, "cache.page", layout.center, 0, 0)) {
    handleKeys(scene);
    ImRect area = layout.center;
    area.Expand(ImVec2(-view.px(22), -view.px(9)));
    // What only MHA would store is a part of the field.
    Board board(view, area, layout.named.starts_with("void.") ? "field" : layout.named);
    transport(scene, page_, board);
    using AddView = void (*)(Scene&, State&, Board&);
    static constexpr AddView kViews[] = {growthView, shapesView, precisionView, evictionView, pagingView};
    kViews[static_cast<std::size_t>(scene.cursor.cacheView)](scene, page_, board);
    board.show();
  }
  endPanel();
  if (scene.cursor.cacheView != CacheView::growth) page_.drawing.motion.reset();
  if (!page_.drawing.motion.gliding(view.time)) page_.drawing.leaving = {};
  if (before != std::tuple(page_.drawing.bandPixels, page_.drawing.columnPixels)) view.redraw(2);
}

void Page::handleKeys(Scene& scene) {
  const View& view = services_.view;
  // With Shift, because the digits alone switch pages.
  for (const CacheView cacheView :
       {CacheView::growth, CacheView::shapes, CacheView::precision, CacheView::eviction, CacheView::paging}) {
    const auto digit = static_cast<Key>('1' + static_cast<int>(cacheView));
    if (!view.pressed(digit, {.shift = true})) continue;
    scene.cursor.cacheView = cacheView;
    page_.play.on = false;
  }
  const DecodeState state = decodeState(scene, page_);
  if (view.pressed(Key::right)) moveView(scene, page_, DecodeMove::forward);
  if (view.pressed(Key::left)) moveView(scene, page_, DecodeMove::back);
  if (view.pressed(Key::home)) moveView(scene, page_, DecodeMove::first);
  if (view.pressed(Key::end)) moveView(scene, page_, DecodeMove::last);
  if (scene.cursor.cacheView == CacheView::paging) return;
  if (view.pressed(Key::right, {.shift = true})) jumpDecode(scene, page_, state.now + 10);
  if (view.pressed(Key::left, {.shift = true})) jumpDecode(scene, page_, state.now - 10);
  const int fewer = view.pressed(static_cast<Key>('[')), more = view.pressed(static_cast<Key>(']'));
  if (fewer == more || scene.setup.weights.source == WeightSource::file || scene.setup.subject.opened) return;
  ModelSetup& model = scene.setup.model;
  const std::vector<Index> stops = kvHeadCounts(model, plantingSuits(scene.setup));
  const auto at = std::find(stops.begin(), stops.end(), model.kvHeads) - stops.begin();
  model.kvHeads = stops[static_cast<std::size_t>(
      std::clamp<std::ptrdiff_t>(at + more - fewer, 0, static_cast<std::ptrdiff_t>(stops.size()) - 1))];
}

void Page::ask(const Scene& scene) {
  services_.layer.ask(scene.setup, Lane::front);
  const std::shared_ptr<const Snapshot>& snapshot = services_.layer.snapshot();
  if (scene.cursor.cacheView == CacheView::paging)
    page_.paging.ask({scene.cost.cache.schedule, scene.cost.cache.block}, Lane::back);
  if (!snapshot || snapshot->sequences.empty()) return;
  askView(scene, snapshot);
}

void Page::askView(const Scene& scene, const std::shared_ptr<const Snapshot>& snapshot) {
  const auto last = static_cast<Index>(snapshot->sequences.size()) - 1;
  const Index sequence = std::clamp<Index>(scene.cursor.sequence, 0, last);
  const Index head = viewHead(scene, snapshot->config);
  const CacheSetup& cache = scene.cost.cache;
  switch (scene.cursor.cacheView) {
    case CacheView::growth:
      page_.proof.ask({snapshot, sequence, cache.chunk}, Lane::back);
      return page_.field.ask(
          {snapshot, sequence, cache.stored, page_.drawing.bandPixels, page_.drawing.columnPixels},
          Lane::front);
    case CacheView::precision:
      return page_.precision.ask({snapshot, sequence, head}, Lane::back);
    case CacheView::shapes:
      return page_.shapes.ask(shapesQuestion(scene, snapshot, sequence, head), Lane::back);
    case CacheView::eviction:
      return page_.eviction.ask(evictionQuestion(scene, snapshot, sequence, head), Lane::back);
    case CacheView::paging:
      return;
  }
}

std::size_t Page::gpuBytes() const {
  return page_.shown.gpuBytes() + page_.drawing.leaving.textures.bytes();
}

void Page::leave() {
  page_.play.on = false;
  page_.filling = -1;
  page_.drawing.motion.reset();
  page_.drawing.leaving = {};
  page_.shown.forget();  // a hidden page must not keep a snapshot alive
}

void Page::reset() {
  page_.play.on = false;
  page_.filling = -1;
  page_.drawing.motion.reset();
  fit_.reset();
}

bool Page::showsSide(const Scene& scene) const {
  const View& view = services_.view;
  // In wide windows the other views use its space; in narrow ones it is a drawer and takes no space.
  const bool drawer = ImGui::GetIO().DisplaySize.x < view.px(1500);
  return !view.present && (drawer || scene.cursor.cacheView == CacheView::growth);
}

/// The caption of a view that isn't about the cache's growth.
std::string Page::viewCaption(const Scene& scene) const {
  const CacheSetup& cache = scene.cost.cache;
  switch (scene.cursor.cacheView) {
    case CacheView::growth:
      break;
    case CacheView::shapes:
      return "One layer, cached in several shapes: bytes and output error of each.";
    case CacheView::precision:
      return "The same cache in fewer bits: bytes and output error of each type.";
    case CacheView::eviction:
      return fmt::format("Two policies that each keep {}: what they evict, and the output error.",
                         tokenCountText(cache.budget));
    case CacheView::paging:
      return fmt::format("Requests of different lengths share a pool of {}-token blocks.", cache.block);
  }
  return "";
}

FigureLegend viewLegend(const Scene& scene, const State& page) {
  const Theme& theme = *page.view.theme;
  FigureLegend legend;
  const CacheView shown = scene.cursor.cacheView;
  if (shown == CacheView::growth) legend.swatches = {{"values", theme.value}, {"keys", theme.key}};
  if (shown == CacheView::paging)
    legend.swatches = {{"contiguous", theme.line},
                       {"allocated in blocks", faded(theme.secondary, 0.55f)},
                       {"used", theme.text}};
  if (shown == CacheView::growth || shown == CacheView::paging) return legend;
  legend.caption = "weight";
  legend.colormap = scene.look.colormap;
  legend.labels = {"0", "", "1"};
  legend.masked = shown == CacheView::shapes && page.snapshot && page.snapshot->causal;
  if (shown != CacheView::precision) return legend;
  if (!page.precision) return {};
  const double most = std::max(static_cast<double>(page.precision->mostDifference), 1e-6);
  legend.caption = "|Δ weight|";
  legend.labels = {numberText(most * 1e-4, 1), "", numberText(most, 2)};
  return legend;
}

FigureLegend Page::legend(const Scene& scene) const {
  return viewLegend(scene, page_);
}

std::vector<CaptionPart> Page::caption(const Scene& scene) const {
  if (const std::string caption = viewCaption(scene); !caption.empty())
    return {{caption, services_.view.theme->secondary}};
  const DecodeState state = decodeState(scene, page_);
  if (!page_.snapshot || state.tokens == 0) return {};
  const Theme& theme = *services_.view.theme;
  const CacheBytes bytes = bytesPerToken(scene, page_.snapshot->config);
  return {{fmt::format("{} of {} cached: ", state.now, tokenCountText(state.tokens)), theme.secondary},
          {fourDigitBytes(bytes.own * static_cast<std::uint64_t>(state.now)), theme.text},
          {bytes.own == bytes.mha ? "" : fmt::format(", {} of MHA", fractionText(bytes.own, bytes.mha)),
           theme.secondary}};
}

PageStatus Page::status(const Scene& scene) const {
  PageStatus status = layerStatus(services_, scene);
  const DecodeState state = decodeState(scene, page_);
  // The paging view is about other requests than the text.
  if (page_.snapshot && state.tokens > 0 && scene.cursor.cacheView != CacheView::paging)
    status.figures.insert(status.figures.begin(),
                          {"cache",
                           fourDigitBytes(bytesPerToken(scene, page_.snapshot->config).own *
                                          static_cast<std::uint64_t>(state.now)),
                           0});
  status.shape += std::string(" · ") + attention::rowOf(scene.cost.cache.stored).name;
  return status;
}

std::optional<std::string> Page::error(const Scene& scene) const {
  if (scene.cursor.cacheView == CacheView::paging && !page_.paging.problem().empty())
    return page_.paging.problem();
  return layerError(page_.snapshot.get());
}

double Page::nextFrameIn() const {
  double next = std::numeric_limits<double>::infinity();
  if (page_.play.on) next = std::max(0.0, page_.play.since + 1 / std::max(speed_, 0.1) - services_.view.time);
  if (services_.layer.busySeconds() > 0) next = std::min(next, 0.2);
  if (page_.drawing.motion.moving(services_.view.time)) next = 0;
  return next;
}

std::vector<Action> Page::actions() {
  const auto moves = [this](DecodeMove move) {
    return [this, move](Scene& scene) {
      scene.cursor.page = "cache";
      moveView(scene, page_, move);
    };
  };
  return {{.id = "cache.play", .name = "Play or pause filling the cache", .run = moves(DecodeMove::play)},
          {.id = "cache.forward",
           .name = "Add one token to the cache",
           .repeats = true,
           .run = moves(DecodeMove::forward)},
          {.id = "cache.back",
           .name = "Remove one token from the cache",
           .repeats = true,
           .run = moves(DecodeMove::back)},
          {.id = "cache.first", .name = "Empty the cache", .run = moves(DecodeMove::first)},
          {.id = "cache.last", .name = "Fill the cache", .run = moves(DecodeMove::last)},
          {.id = "cache.precision",
           .name = "Cache: Precision, keys and values in fewer bits",
           .words = "quantize half precision float16 bfloat16 fp16 bf16 lab",
           .run =
               [](Scene& scene) {
                 scene.cursor.page = "cache";
                 scene.cursor.cacheView = CacheView::precision;
               }},
          {.id = "mask.causal",
           .name = "Turn the causal mask on or off",
           .section = "Mask",
           .shortcut = {Key::c},
           .everywhere = true,
           .words = "no mask, remove the mask, unmask, see the future, causal off, bidirectional",
           .run = [this](Scene& scene) {
             const auto& opened = scene.setup.subject.opened;
             if (opened && opened->config().causal)
               return services_.view.messages.fail(opened->name +
                                                   " was trained with a causal mask, so it stays on.");
             attention::MaskLayers& layers = scene.setup.mask.layers.edit();
             setRule(layers, attention::PatternKind::causal,
                     !hasRule(layers, attention::PatternKind::causal));
           }}};
}

}  // namespace headscope::app::cache_page
