#include "app/pages/model/model_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "app/pages/model/answer_views.h"
#include "app/pages/model/overview/overview_parts.h"
#include "app/scene/text/number_text.h"
#include "attention/models/sampling.h"

namespace headscope::app::model_page {

namespace {

constexpr float kStripHeight = 250;      // units, with all its rows
constexpr double kWriteInterval = 0.12;  // seconds a written token stays the last, so that one can follow

}  // namespace

Page::Page(PageServices& services)
    : services_(services),
      page_(services.view),
      run_(services.workers, services.resources),
      predictions_(services.workers, services.resources),
      heads_(services.workers, services.resources),
      pairs_(services.workers, services.resources),
      texts_(services.workers, services.resources),
      watch_(services) {
  readExamples();
}

bool Page::take(const Scene& scene) {
  return showsExample(scene) ? takeShown(exampleOf(scene)) : takeShown(scene);
}

bool Page::takeShown(const Scene& scene) {
  const Setup& setup = scene.setup;
  const auto& opened = setup.subject.opened;
  const bool stack = isStack(setup), wasStack = std::exchange(stack_, stack);
  if ((std::exchange(opened_, opened) != opened || wasStack != stack) && !keepsPicture_) forgetModel();
  keepsPicture_ = false;
  page_.model.opened = opened;
  page_.model.config = opened ? &opened->config() : nullptr;
  page_.run.busySeconds = run_.busySeconds();
  bool any = false;
  if (page_.run.busySeconds > 0.3) {
    if (!stack) run_.takeArriving(opened.get(), page_);  // what is quick comes whole
    any = true;
  }
  if ((opened || stack) && run_.take(page_)) {
    if (stack) page_.head.copying.clear();  // the weights may be others
    any = true;
  }
  if (stack) takeStack(setup);
  any = predictions_.take(scene, page_.predicted) || any;
  any = heads_.take(page_.head, page_.model.opened) || any;
  any = takePair(scene) || any;
  any = takeTexts() || any;
  return any;
}

void Page::arrange(Document& own) {
  if (watch_.renew(own.scene().setup.subject, opened_.get())) keepsPicture_ = true;
}

void Page::prepare(Scene& scene) {
  page_.model.example = showsExample(scene);
  if (page_.model.config) onShown(scene, [this](Scene& shown) { prepareShown(shown); });
}

void Page::prepareShown(Scene& scene) {
  advanceWriting(scene);
  if (!page_.ready()) return page_.pictures.show(scene, page_);
  if (page_.writing.followsLast &&
      page_.study->question == modelQuestion(scene.setup, scene.cursor.sequence)) {
    scene.cursor.cell.query = page_.queries() - 1;
    page_.writing.followsLast = false;
    lookAtStrongest(scene.cursor);
  }
  if (page_.awaitedCell && page_.study->question == modelQuestion(scene.setup, scene.cursor.sequence)) {
    scene.cursor.cell = *std::exchange(page_.awaitedCell, std::nullopt);
    page_.head.restingSince = services_.view.time;
  }
  fitCursor(scene);
  page_.pictures.show(scene, page_);
}

/// All that is looked at is there.
void Page::fitCursor(Scene& scene) {
  Crosshair& hover = services_.view.hover;
  Cursor& cursor = scene.cursor;
  const Index lastQuery = page_.queries() - 1, last = page_.keys() - 1;
  hover.query = std::min(hover.query, lastQuery);
  hover.key = std::min(hover.key, last);
  const Spot before{cursor.model.layer, cursor.cell.head, cursor.cell.query};
  pointer_.follow(cursor, page_.view, page_.head);
  cursor.model.layer = std::clamp<Index>(cursor.model.layer, 0, page_.model.config->layerCount() - 1);
  cursor.model.stop = std::clamp<Index>(cursor.model.stop, -1, page_.model.config->layerCount());
  if (cursor.model.detector == "best offset") cursor.model.detector = "n back";  // as older scenes call it
  cursor.cell.head = std::clamp<Index>(cursor.cell.head, 0, page_.model.config->heads - 1);
  cursor.cell.query = std::clamp<Index>(cursor.cell.query, 0, lastQuery);
  cursor.cell.key = std::clamp<Index>(cursor.cell.key, 0, last);
  if (before != Spot{cursor.model.layer, cursor.cell.head, cursor.cell.query})
    page_.head.restingSince = services_.view.time;
}

bool writeOn(Scene& scene, const ModelStudy& study) {
  const GenerationSetup& setup = scene.generation;
  if (study.lastLogits.size() == 0) return false;
  const attention::ModelConfig& config = study.opened->config();
  if (study.tokens() >= config.positionLimit().value_or(kMaxTokens) || study.tokens() >= kMaxTokens)
    return false;
  const auto ends = [&](Index id) {
    return std::find(config.endTokens.begin(), config.endTokens.end(), id) != config.endTokens.end();
  };
  if (study.tokens() > study.text.typed && ends(study.text.ids.back())) return false;
  Eigen::RowVectorXf logits = study.lastLogits.row(0);
  applyRules(config.generation, {study.text.ids, study.text.given, config.endTokens}, logits);
  const auto id =
      attention::chooseToken(logits, {setup.temperature, setup.topK, setup.topP, setup.seed}, study.tokens());
  if (!id) return false;
  scene.setup.subject.written.push_back(*id);
  return true;
}

void Page::advanceWriting(Scene& scene) {
  View& view = services_.view;
  if (!page_.writing.on) return;
  view.controls.continuousEdit = "writing";  // what is written in one go is one step of undo
  if (view.time - page_.writing.wroteAt < kWriteInterval || !page_.study || !page_.run.problem.empty() ||
      !run_.upToDate(modelQuestion(scene.setup)))
    return;
  page_.writing.on = page_.writing.followsLast = writeOn(scene, *page_.study);
  page_.writing.wroteAt = view.time;
  page_.writing.stripFrom = -1;
}

/// What thumbnails of all heads leave of the page's width goes to the large one. Where a picture's stay at
/// least seven tenths as large without the room for predictions, which there are none of, it stands there
/// even in a narrow window.
Layout Page::divided(Layout layout) const {
  const View& view = services_.view;
  if (layout.narrow && !layout.showRight && !layout.presents && page_.picture() && !page_.model.predicts()) {
    const auto pitch = [&](float right) {
      const ImRect map(0, 0, right - layout.center.Min.x - view.px(40),
                       layout.center.GetHeight() - view.px(6));
      return planMap(page_.view, page_.model, page_.zoom, map, false).fit;
    };
    if (layout.right.Min.x - layout.center.Min.x < view.px(600) ||
        pitch(layout.right.Min.x) < 0.7f * pitch(layout.center.Max.x))
      return layout;
    layout.narrow = false;
    layout.showRight = true;
    layout.center.Max.x = layout.right.Min.x;
    return layout;
  }
  if (layout.narrow || layout.presents || !layout.showRight || !page_.model.config) return layout;
  const float height = layout.center.GetHeight() - stripHeight(layout) - view.px(6 + 44);
  const float width = layout.right.Max.x - layout.center.Min.x - view.px(40), most = view.px(620);
  for (float right = most; right > layout.right.GetWidth(); right -= view.px(4)) {
    const ImRect area(0, 0, width - right, height), wide(0, 0, width - layout.right.GetWidth(), height);
    const auto pitch = [&](const ImRect& map) {
      return planMap(page_.view, page_.model, page_.zoom, map, false).fit;
    };
    if (pitch(area) < pitch(wide)) continue;
    layout.center.Max.x = layout.right.Min.x = std::round(layout.right.Max.x - right);
    break;
  }
  return layout;
}

float Page::stripHeight(const Layout& layout) const {
  const View& view = services_.view;
  if (page_.model.readsPictures()) return 0;                                   // there is no text to write on
  const bool tokensAlone = page_.model.config && !page_.model.config->family;  // nothing says what comes next
  return view.px(layout.presents ? 36 : tokensAlone ? 96 : foldsStrip(layout) ? 148 : kStripHeight);
}

/// In low windows, and where many layers would leave thumbnails no room.
bool Page::foldsStrip(const Layout& layout) const {
  const View& view = services_.view;
  if (layout.presents || layout.center.GetHeight() < view.px(700)) return true;
  if (!page_.model.config) return false;
  if (!page_.model.config->family) return true;  // recorded: it has no rows
  const float high = layout.center.GetHeight() - view.px(kStripHeight) - view.px(72);
  return high / static_cast<float>(page_.model.config->layerCount()) < view.px(26);
}

void Page::draw(Scene& scene, const Layout& layout) {
  onShown(scene, [&](Scene& shown) { drawShown(shown, layout); });
}

void Page::drawShown(Scene& scene, const Layout& whole) {
  View& view = services_.view;
  const Layout layout = divided(whole);
  const auto sizes = std::pair(page_.pictures.rowPixels, page_.pictures.headCell);
  sidePanel(scene, page_, layout);
  if (!page_.model.config) openingPanel(scene, page_.view, page_.opening, layout.center);
  if (!page_.opening.wanted.empty())
    openModelAt(std::exchange(page_.opening.wanted, {}), services_.asker(), Outcome(view));
  if (!page_.opening.forgotten.empty()) changeRecent(std::exchange(page_.opening.forgotten, {}), false);
  if (!page_.model.config) return;
  if (layout.presents) return drawPresented(scene, layout);
  ImRect above = layout.center, below = layout.center;
  above.Max.y = below.Min.y = std::round(layout.center.Max.y - stripHeight(layout));
  overviewPanel(scene, page_, above, layout.presents);
  if (!page_.model.readsPictures()) stripPanel(scene, page_, below, foldsStrip(layout));
  changeToken(scene);
  headPanel(scene, page_, layout);
  if (sizes != std::pair(page_.pictures.rowPixels, page_.pictures.headCell)) view.redraw(2);
}

void Page::leave() {
  page_.writing.on = false;
  predictions_.cancel();
  heads_.cancel();
  pairs_.cancel();
  page_.writing.edit = {};
}

void Page::reset() {
  page_.writing.on = page_.head.held = false;
  page_.writing.edit = {};
  page_.writing.stripFrom = -1;
  page_.run.problem.clear();
  page_.opening.problem.clear();
}

bool Page::showsSide(const Scene& scene) const {
  return scene.setup.subject.opened != nullptr || isStack(scene.setup) || showsExample(scene);
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
    status.shape =
        fmt::format("{} · {} × {} heads{}", page_.model.madeHere() ? "synthetic" : page_.model.opened->name,
                    page_.model.config->layerCount(), page_.model.config->heads,
                    page_.model.config->causalHeads() ? " · causal" : "");
  else
    status.shape = "no model";
  status.busySeconds = page_.run.busySeconds;
  const Index layers = page_.model.config ? page_.model.config->layerCount() : 0;
  status.busyWords =
      page_.run.arrived < layers && page_.run.busySeconds > 0.3
          ? fmt::format("layer {} of {}, {}", page_.run.arrived, layers, timeText(page_.run.busySeconds))
          : "computing for " + timeText(page_.run.busySeconds);
  return status;
}

std::optional<std::string> Page::error(const Scene& scene) const {
  if (!page_.run.problem.empty()) return page_.run.problem;
  const SubjectSetup& subject = scene.setup.subject;
  return subject.problem.empty() ? std::nullopt : std::optional(subject.problem);
}

double Page::nextFrameIn() const {
  double next = std::numeric_limits<double>::infinity();
  const double now = services_.view.time;
  if (page_.run.busySeconds > 0 || page_.pair.busySeconds > 0) next = 0.1;
  if (opened_ && opened_->recorded) next = std::min(next, RecordedWatch::kInterval);
  if (page_.texts.progress.runs) next = std::min(next, 0.2);
  if (page_.writing.on) next = std::min(next, std::max(0.01, page_.writing.wroteAt + kWriteInterval - now));
  if (const double rest = page_.head.restingSince + HeadAnswers::kRestSeconds + 0.01 - now;
      rest > 0 && page_.ready())
    next = std::min(next, rest);
  return next;
}

}  // namespace headscope::app::model_page
