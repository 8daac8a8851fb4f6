#include "app/pages/model/model_page.h"

#include <fmt/core.h>

#include "app/pages/model/model_answers.h"
#include "app/pages/model/overview/overview_parts.h"
#include "app/scene/text/number_text.h"
#include "attention/formats/tensor_source.h"

namespace headscope::app::model_page {

Page::Page(PageServices& services)
    : services_(services),
      page_(services),
      opener_(services, page_),
      bundled_(services, page_, opener_),
      texts_(services, page_, bundled_),
      watch_(services) {}

std::vector<Action> Page::actions() {
  std::vector<Action> all = opener_.actions([this](Scene& scene) { bundled_.open(scene); });
  for (auto&& more : {pairActions(), texts_.actions(), playActions(page_), headActions(page_),
                      switchActions(page_), filterActions(page_), moveActions(page_)}) {
    std::vector<Action> shown = bundled_.onShown(more);
    all.insert(all.end(), std::make_move_iterator(shown.begin()), std::make_move_iterator(shown.end()));
  }
  return all;
}

bool Page::take(const Scene& scene) {
  return bundled_.isShown(scene) ? takeShown(bundled_.shownScene(scene)) : takeShown(scene);
}

bool Page::takeShown(const Scene& scene) {
  const Setup& setup = scene.setup;
  const auto& opened = setup.subject.opened;
  const bool stack = isStack(setup), wasStack = std::exchange(stack_, stack);
  if ((std::exchange(opened_, opened) != opened || wasStack != stack) && !keepsPicture_) forgetModel();
  keepsPicture_ = false;
  page_.model.opened = opened;
  page_.model.config = opened ? &opened->config() : nullptr;
  const bool slow = page_.study.busySeconds() > 0.3;
  if (slow && !stack) page_.takeArriving();  // quick studies arrive whole
  const bool any = page_.shown.take();
  if (stack) showStack(page_, setup);
  takeCompared(scene);
  return texts_.take() || any || slow;
}

void Page::arrange(Document& own) {
  if (watch_.renew(own.scene().setup.subject, opened_.get())) keepsPicture_ = true;
}

void Page::prepare(Scene& scene) {
  page_.model.example = bundled_.isShown(scene);
  if (page_.model.config) bundled_.onShown(scene, [this](Scene& shown) { prepareShown(shown); });
}

void Page::prepareShown(Scene& scene) {
  advanceWriting(scene, page_);
  if (!page_.ready()) return page_.pictures.show(scene, page_);
  Cursor& cursor = scene.cursor;
  const bool awaits = page_.writing.followsLast || page_.awaitedCell;
  if (awaits && page_.study->question == modelQuestion(scene.setup, cursor.sequence)) {
    if (std::exchange(page_.writing.followsLast, false)) cursor.cell.query = page_.queries() - 1;
    if (page_.awaitedCell) {
      cursor.cell = *std::exchange(page_.awaitedCell, std::nullopt);
      cursor.keyChosen = true;
    }
  }
  fitCursor(cursor);
  page_.pictures.show(scene, page_);
}

/// Keeps what is selected and what is hovered inside the model and its text. A key that nobody chose becomes
/// the row's largest weight.
void Page::fitCursor(Cursor& cursor) {
  const attention::ModelConfig& config = *page_.model.config;
  const Index lastQuery = page_.queries() - 1, lastKey = page_.keys() - 1;
  Index& at = cursor.model.layer;
  Cell& cell = cursor.cell;
  at = std::clamp<Index>(at, 0, config.layerCount() - 1);
  cursor.model.stop = std::clamp<Index>(cursor.model.stop, -1, config.layerCount());
  if (cursor.model.detector == "best offset") cursor.model.detector = "n back";  // its name in older scenes
  cell = {std::clamp<Index>(cell.head, 0, config.heads - 1), std::clamp<Index>(cell.query, 0, lastQuery),
          std::clamp<Index>(cell.key, 0, lastKey)};
  const LayerSummary* layer = page_.studied(at);
  if (layer && !cursor.keyChosen)
    cell.key = std::max<Index>(0, strongestKey(layer->weights[cell.head].row(cell.query), lastKey + 1));
  Crosshair& hover = services_.view.hover;
  if (hover.head >= config.heads || hover.query > lastQuery || hover.key > lastKey ||
      (hover.head >= 0 && !page_.studied(page_.head.hoverLayer)))
    hover = {};
  page_.head.previewed = {hover.head >= 0 ? page_.head.hoverLayer : at, services_.view.previewed(cell)};
}

void Page::draw(Scene& scene, const Layout& layout) {
  bundled_.onShown(scene, [&](Scene& shown) { drawShown(shown, layout); });
}

void Page::drawShown(Scene& scene, const Layout& whole) {
  View& view = services_.view;
  const Layout layout = divided(page_, whole);
  const auto sizes = std::pair(page_.pictures.rowPixels, page_.pictures.headCell);
  sidePanel(scene, page_, layout);
  if (!page_.model.config) openingPanel(page_.view, page_.opening, layout.center);
  opener_.takeChoice();
  if (!page_.model.config) return;
  if (layout.presents) return drawPresented(scene, page_, layout);
  ImRect above = layout.center, below = layout.center;
  above.Max.y = below.Min.y = std::round(layout.center.Max.y - stripHeight(page_, layout));
  overviewPanel(scene, page_, above);
  if (below.GetHeight() > 0) stripPanel(scene, page_, below, foldsStrip(page_, layout));
  changeToken(scene, page_);
  headPanel(scene, page_, layout, true);
  if (sizes != std::pair(page_.pictures.rowPixels, page_.pictures.headCell)) view.redraw(2);
}

std::string fullPath(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::absolute(path, ignored).lexically_normal().string();
}

bool Page::open(const NamedFile& file, const Requester& requester, const Outcome& outcome) {
  const std::string path = fullPath(file.path);
  if (isPictureName(file.path) && !file.folder) {
    opener_.openPicture(path, requester, outcome);
    return true;
  }
  const std::string ending = recordedFile(file.path.string()).path.extension().string();
  const bool here = file.page == "model";
  // Outside the view of many texts, a .txt file holds embeddings.
  if (ending == ".jsonl" || (ending == ".txt" && here && page_.texts.shown)) {
    texts_.open(file.path, requester, outcome);
    return true;
  }
  // On other pages these files hold a layer's weights or embeddings; here they hold recorded attention.
  const bool recorded = here && attention::isTensorFile(recordedFile(file.path.string()).path);
  if (!recorded && !file.folder && ending != ".gguf") return false;
  const auto& opened = page_.model.opened;
  if (recorded && opened && opened->sources && !opened->model->source()) {  // encoder output
    const auto taken = requester.edit("features", [&](Scene& scene) {
      if (scene.setup.subject.opened == opened) scene.setup.subject.features = path;
    });
    taken ? outcome.done("Reading " + modelName(path)) : outcome.fail(taken.error().message);
    return true;
  }
  opener_.open(path, requester, outcome);
  return true;
}

void Page::leave() {
  page_.writing.on = false;
  page_.details.cancel();
  page_.pairs.cancel();
  page_.writing.edit = {};
}

void Page::reset() {
  page_.writing.on = false;
  page_.writing.edit = {};
  page_.writing.stripFrom = -1;
  page_.opening.problem.clear();
}

bool Page::showsSide(const Scene& scene) const {
  return scene.setup.subject.opened != nullptr || isStack(scene.setup) || bundled_.isShown(scene);
}

PageStatus Page::status(const Scene&) const {
  PageStatus status;
  if (page_.study && services_.view.showTimings)
    status.figures.push_back({"forward", timeText(page_.study->seconds), 0});
  if (page_.study)
    status.figures.push_back({"attention shown", bytesText(static_cast<double>(page_.study->bytes)), 0});
  if (page_.study) status.notFinite = page_.study->notFinite;
  if (page_.study && page_.model.opened && page_.model.opened->model)
    status.figures.push_back({"cache",
                              bytesText(static_cast<double>(page_.study->tokens()) *
                                        static_cast<double>(page_.model.opened->model->cacheBytesPerToken())),
                              420});
  if (page_.model.config)
    status.shape = fmt::format("{} · {} × {} heads{}",
                               page_.model.isSynthetic() ? "synthetic" : page_.model.opened->name,
                               page_.model.config->layerCount(), page_.model.config->heads,
                               page_.model.config->causalHeads() ? " · causal" : "");
  else
    status.shape = "no model";
  status.busySeconds = page_.study.busySeconds();
  const Index layers = page_.model.config ? page_.model.config->layerCount() : 0;
  status.busyWords =
      page_.run.arrived < layers && status.busySeconds > 0.3
          ? fmt::format("layer {} of {}, {}", page_.run.arrived, layers, timeText(status.busySeconds))
          : "computing for " + timeText(status.busySeconds);
  return status;
}

std::optional<std::string> Page::error(const Scene& scene) const {
  if (const std::string problem = page_.study.problem(); !problem.empty()) return problem;
  const SubjectSetup& subject = scene.setup.subject;
  return subject.problem.empty() ? std::nullopt : std::optional(subject.problem);
}

double Page::nextFrameIn() const {
  double next = std::numeric_limits<double>::infinity();
  const double now = services_.view.time;
  if (page_.study.busySeconds() > 0 || page_.pairs.busySeconds() > 0) next = 0.1;
  if (opened_ && opened_->recorded) next = std::min(next, RecordedWatch::kInterval);
  if (page_.texts.progress.runs) next = std::min(next, 0.2);
  if (page_.writing.on) next = std::min(next, std::max(0.01, page_.writing.wroteAt + kWriteInterval - now));
  return next;
}

namespace {
constexpr float kStripHeight = 250;  // units, including all rows
}

/// Gives the large head the width that the thumbnails don't need. In a narrow window, a picture without
/// predictions gets the large head too if the thumbnails keep at least 600 units of width and seven tenths of
/// their size.
Layout divided(const State& page, Layout layout) {
  const View& view = page.view;
  if (layout.narrow && !layout.showRight && !layout.presents && page.picture() && !page.model.predicts()) {
    const auto pitch = [&](float right) {
      const ImRect map(0, 0, right - layout.center.Min.x - view.px(40),
                       layout.center.GetHeight() - view.px(14));
      return planMap(page.view, page.model, page.zoom, map).fit;
    };
    if (layout.right.Min.x - layout.center.Min.x < view.px(600) ||
        pitch(layout.right.Min.x) < 0.7f * pitch(layout.center.Max.x))
      return layout;
    layout.narrow = false;
    layout.showRight = true;
    layout.center.Max.x = layout.right.Min.x;
    return layout;
  }
  if (layout.narrow || layout.presents || !layout.showRight || !page.model.config) return layout;
  const float height = layout.center.GetHeight() - stripHeight(page, layout) - view.px(kAroundOverview);
  const float width = layout.right.Max.x - layout.center.Min.x - view.px(40);
  const float most = std::min(view.px(620), width - view.px(760));  // the strip keeps room for its words
  for (float right = most; right > layout.right.GetWidth(); right -= view.px(4)) {
    const ImRect area(0, 0, width - right, height), wide(0, 0, width - layout.right.GetWidth(), height);
    const auto pitch = [&](const ImRect& map) { return planMap(page.view, page.model, page.zoom, map).fit; };
    if (pitch(area) < pitch(wide)) continue;
    layout.center.Max.x = layout.right.Min.x = std::round(layout.right.Max.x - right);
    break;
  }
  return layout;
}

float stripHeight(const State& page, const Layout& layout) {
  const View& view = page.view;
  // Pictures have no text, and a low window has no room for it.
  if (page.model.readsPictures() || (!layout.presents && layout.center.GetHeight() < view.px(330))) return 0;
  const bool tokensAlone = page.model.config && !page.model.config->family;  // no predictions
  return view.px(layout.presents ? 36 : tokensAlone ? 96 : foldsStrip(page, layout) ? 148 : kStripHeight);
}

bool foldsStrip(const State& page, const Layout& layout) {
  const View& view = page.view;
  if (layout.presents || layout.center.GetHeight() < view.px(700)) return true;
  if (!page.model.config) return false;
  if (!page.model.config->family) return true;  // no rows of predictions
  const float high = layout.center.GetHeight() - view.px(kStripHeight) - view.px(72);
  return high / static_cast<float>(page.model.config->layerCount()) < view.px(26);
}

// Presenting the model page, and its caption.

namespace {
constexpr std::size_t kPresentedGuesses = 3;
constexpr float kGuessesHeight = 117;  // units, for these
}  // namespace

/// Lays out the thumbnails above the predictions, the large head next to them, and the text along the bottom.
void drawPresented(Scene& scene, State& page, Layout layout) {
  View& view = page.view;
  if (isFigure(view)) return overviewPanel(scene, page, layout.center);
  // Grids and bars name the tokens themselves. They cover all heads, so they also take the large head's
  // space.
  const bool answers = scene.cursor.model.view != ModelView::heads && page.model.answers();
  const float strip = std::round(layout.center.Max.y - (answers ? 0 : stripHeight(page, layout)));
  const float right = layout.showRight ? layout.right.Max.x : layout.center.Max.x;
  const ImRect text(layout.center.Min.x, strip, right, layout.center.Max.y);
  if (answers) {
    layout.center.Max.x = right;
    return overviewPanel(scene, page, layout.center, layout.named);
  }
  const bool guesses = page.ready() && scene.cursor.model.view == ModelView::heads &&
                       scene.compare.other.empty() && !page.model.isSynthetic() && page.model.opened &&
                       page.model.opened->model && (!page.model.readsPictures() || page.model.classifies());
  ImRect above = layout.center, below = layout.center;
  above.Max.y = below.Min.y = std::round(strip - (guesses ? view.px(kGuessesHeight) : 0));
  below.Max.y = layout.right.Max.y = strip;
  overviewPanel(scene, page, above, layout.named);
  if (guesses) {
    if (beginPanel(view, "model.guesses", below, 20, 2, ImGuiWindowFlags_NoScrollWithMouse)) {
      Rows rows(view);
      predictionSection(rows, scene, page, kPresentedGuesses);
    }
    endPanel();
  }
  if (!page.model.readsPictures()) stripPanel(scene, page, text, true);
  headPanel(scene, page, layout, false);
}

FigureLegend Page::legend(const Scene& scene) const {
  if (!page_.ready()) return {};
  const auto of = [&](const GridFigure& figure) { return gridLegend(figure, gridStyle(scene, figure)); };
  const ModelCursor& cursor = scene.cursor.model;
  if (cursor.view == ModelView::heads)
    return {"weight", shownColours(scene, page_), shownLabels(scene, page_)};
  if (cursor.view == ModelView::patch && page_.headGrid.newest() && !scene.compare.other.empty())
    return of(patchFigure(page_.headGrid.request(), *page_.headGrid, {}));
  if (cursor.view == ModelView::lens && page_.lens.newest())
    return of(lensFigure(page_.lens.request(), *page_.lens, [](Index) { return std::string(); }));
  const auto& study = page_.texts.progress.study;
  if (cursor.view == ModelView::study && cursor.study.shape == StudyShape::map && study)
    return of(shownMap(scene, *study));
  return {};
}

std::vector<CaptionPart> Page::caption(const Scene& scene) const {
  const bool model = page_.model.opened && page_.model.opened->model;
  if (model && scene.cursor.model.view == ModelView::study)
    return studyCaption(scene, page_.view, page_.texts);
  if (model && scene.cursor.model.view != ModelView::heads && page_.pair) return pairCaption(scene, page_);
  const Cell& cell = scene.cursor.cell;
  if (!page_.ready() || cell.query >= page_.queries() || cell.key >= page_.keys()) return {};
  if (std::vector<CaptionPart> did = changeCaption(scene, page_); !did.empty()) return did;
  const LayerSummary* layer = page_.studied(scene.cursor.model.layer);
  if (!layer) return {};
  const Theme& theme = *services_.view.theme;
  return {{fmt::format("Layer {}, head {}: ", scene.cursor.model.layer, cell.head), theme.text},
          {"“" + page_.queryToken(cell.query) + "”", theme.query},
          {scene.cursor.keyChosen ? " looks at " : " looks most at ", theme.text},
          {"“" + page_.keyToken(cell.key) + "”", theme.key},
          {": " + weightText(layer->weights.at(cell.head, cell.query, cell.key)) + ".", theme.text}};
}

}  // namespace headscope::app::model_page
