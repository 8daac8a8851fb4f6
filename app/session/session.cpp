#include "app/session/session.h"

#include <fmt/core.h>

#include "app/compute/layer/mask_inputs.h"
#include "app/scene/models/scene_model.h"
#include "app/scene/text/manual.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/drawing_paint.h"
#include "attention/core/machine.h"

namespace headscope::app {

namespace {
constexpr double kNoticeSeconds = 4;

/// For the last row of a hall, the smallest type on stage (15 units) is set in 20 of 720 lines: its lines,
/// from the highest to the lowest letter, take 25.
float presentingUnit(int height) {
  return static_cast<float>(height / 720.0 * 25 / 15);
}
}  // namespace

Session::Session(Ui& ui, const Limits& limits, std::function<void()> wake, std::span<const PageRow> rows)
    : ui_(ui),
      services_(limits, wake, attention::releaseIdleMemory),
      workspace_(services_, rows),
      files_(services_, workspace_),
      links_(services_, workspace_),
      closing_(services_, workspace_, files_),
      offer_(services_, workspace_, files_),
      presentation_(ui, services_.view, actions_),
      exports_(services_, wake, [this] { return workspace_.shownLesson(); }) {
  ui_.typesetter().onAnswer(std::move(wake));
  services_.view.heatmaps = &heatmaps_;
  pages().make(services_);
  actions_.add(files_.actions(), "Scene");
  actions_.add(closing_.actions(), "Scene");
  actions_.add(editActions(), "Edit");
  actions_.add(links_.actions(), "Scene");
  actions_.add(windowActions(), "View");
  actions_.add(presentation_.actions(), "Present");
  for (const PageRow& row : pages().rows()) {
    actions_.add(pages().named(std::string(row.info.key)).actions(), row.info.name, row.info.key);
  }
  actions_.add(exports_.actions(), "Picture");
  actions_.add(settingActions(), "Appearance");
  actions_.add(helpActions(), "Help");
  actions_.add(fieldActions(services_.view), "Settings");
  services_.files.read<Glossary>(
      "glossary", [] { return readGlossary(); },
      [&view = services_.view](attention::Result<Glossary> read) {
        if (!read) return view.messages.fail(read.error().message);
        view.glossary = std::make_shared<const Glossary>(*std::move(read));
      });
}

std::optional<std::string> Session::error() const {
  if (const auto error = workspace_.shown().error(own().scene())) return error;
  const Page* stage = workspace_.onStage();
  return stage ? stage->error(scene()) : std::nullopt;
}

void Session::frame(int width, int height, float scale, double elapsed) {
  View& view = services_.view;
  ui_.makeCurrent();
  view.time += elapsed;
  const auto start = std::chrono::steady_clock::now();
  prepareView(scale, height);
  presentation_.prepare(width, height);
  const render::Color back = unpacked(view.theme->background);
  Page *const page = &workspace_.shown(), *const stage = workspace_.onStage();
  const bool recorded = view.pictureWanted && !view.dialog;
  ui_.record(recorded);
  ui_.frame(width, height, elapsed, {back.r, back.g, back.b}, [&](const FrameInput& input) {
    heatmaps_.beginFrame(width, height, view.time);
    drawFrame(input, static_cast<float>(width), static_cast<float>(height));
  });
  if (recorded) handOverPicture(width, height);
  act(page, stage);
  if (view.showTimings)
    drawSeconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  view.framesToDraw = std::max(0, view.framesToDraw - 1);
}

void Session::handOverPicture(int width, int height) {
  View& view = services_.view;
  Drawing drawing = frameDrawing(view, ui_.recorded(), heatmaps_, width, height);
  if (drawing.title.empty()) drawing.title = title();
  std::exchange(view.pictureWanted, {})(std::move(drawing));
}

Drawing Session::sheet(int width, int height, float unit,
                       const std::function<void(const View&, Canvas)>& paint) {
  View& view = services_.view;
  ui_.makeCurrent();
  view.unit = unit;
  view.theme = view.preferences.light ? &lightTheme() : &darkTheme();
  ui_.setScale(unit);
  view.fonts = &ui_.fonts();
  ui_.record(true);
  ui_.frame(width, height, 0, {1, 1, 1},
            [&](const FrameInput&) { paint(view, *ImGui::GetBackgroundDrawList()); });
  Drawing drawing = frameDrawing(view, ui_.recorded(), heatmaps_, width, height);
  ui_.record(false);
  return drawing;
}

void Session::prepareView(float scale, int height) {
  View& view = services_.view;
  const bool light = view.preferences.light,
             strong = !view.figure && (view.present || view.preferences.highContrast);
  const Theme* theme = strong ? &strongTheme(light) : light ? &lightTheme() : &darkTheme();
  if (theme != std::exchange(view.theme, theme)) view.redraw();
  view.unit = scale * view.preferences.textSize;
  if (view.present && !view.figure) view.unit = std::max(view.unit, presentingUnit(height));
  ui_.setScale(view.unit);
  view.fonts = &ui_.fonts();
  setNumberStyle(numberStyleOf(view.preferences));
}

/// On stage nothing is smaller than text. The fonts are known once a frame has begun.
void Session::chooseType() {
  View& view = services_.view;
  if (!view.present || view.figure) return;
  stageFonts_ = ui_.fonts();
  stageFonts_.small = stageFonts_.text;
  stageFonts_.smallBold = stageFonts_.bold;
  stageFonts_.monoSmall = stageFonts_.mono;
  view.fonts = &stageFonts_;
}

void Session::drawFrame(const FrameInput& input, float width, float height) {
  View& view = services_.view;
  chooseType();
  applyImGuiStyle(view);
  if (takeAnswers() || !input.events.empty()) view.redraw();
  if (!view.messages.notice.empty() && view.time - view.messages.noticeAt > kNoticeSeconds)
    view.messages.notice.clear();
  view.input = input;
  view.hover = std::exchange(view.nextHover, {});
  view.controls.continuousEdit.clear();
  view.pictures.shown.clear();
  Page& page = workspace_.shown();
  page.arrange(own());
  const std::shared_ptr<Document> document = workspace_.working();
  const Scene before = document->scene();
  const std::optional<Scene> beside =
      document == workspace_.own() ? std::nullopt : std::optional(own().scene());
  Page* stage = workspace_.onStage();
  handleInput(input);
  page.prepare(own().scene());
  if (stage) stage->prepare(scene());
  shareSubject(scene());
  WindowState window{own().path().empty() ? "" : own().name(), own().dirty(),
                     workspace_.undoTarget(false).canUndo(), workspace_.undoTarget(true).canRedo(),
                     workspace_.undoTarget(false).undoSteps()};
  window.gpuBytes = pages().gpuBytes();
  window.drawSeconds = view.showTimings ? drawSeconds_ : 0;
  const Layout layout = windowLayout(width, height);
  if (layout.presents) stageSpotlight(view, presentation_.state());
  const std::size_t shownAt = pages().at(own().scene().cursor.page);
  if (!layout.presents)
    topBar(view, layout, window, actions_, pages().rows(), pages().tabs(own().scene(), shownAt), shownAt);
  stage = drawPages(page, stage, layout);
  if (!view.figure) offer_.draw(layout, width);
  if (layout.presents && !view.figure)
    captionLine(view, layout, view.preferences.captions ? page.headline(own().scene()) : "",
                !view.preferences.captions    ? std::vector<CaptionPart>()
                : stage && page.stagesViews() ? stage->caption(scene())
                                              : page.caption(own().scene()),
                stage ? stage->legend(scene()) : page.legend(own().scene()), status(stage).notFinite);
  else if (!view.figure)
    statusLine(view, layout, window, status(stage));
  if (const std::shared_ptr<Dialog> dialog = view.dialog) dialog->frame(scene(), view);
  menu_.draw(view, actions_);
  paintPointerMessage(view);
  if (!layout.presents || page.travels()) fade_.stop();
  fade_.draw(view, !services_.workers.busy());
  stagePen(view, scene(), presentation_.state());
  if (layout.presents) stageOverlay(scene(), view, presentation_.state(), layout, actions_);
  if (layout.presents && presentation_.state().notes)
    stageNotes(view, page.notes(own().scene()), ImRect(0, layout.status.Max.y, width, height));
  revealControl();
  focusRing(view);
  if (ui_.pointerHidden() || (layout.presents && presentation_.state().laser))
    ImGui::SetMouseCursor(ImGuiMouseCursor_None);
  fitAdditive(before.setup.input, scene().setup);
  forgetWritten(before.setup, scene().setup);
  forgetAlignment(before, scene());
  if (document->note(before, view.controls.continuousEdit, ImGui::IsMouseDown(0), view.time)) {
    view.messages.clearAfterEdit();
    view.controls.refusal = {};
  }
  if (beside) own().note(*beside, view.controls.continuousEdit, ImGui::IsMouseDown(0), view.time);
  if (view.nextHover != view.hover) view.redraw(2);
}

/// Runs the actions requested in this frame, after it is drawn: actions may delete what its pictures show.
void Session::act(Page* page, Page* stage) {
  for (const std::string& id : std::exchange(services_.view.requests, {})) {
    View& view = services_.view;
    const bool fades = view.present && !view.preferences.reducedMotion && !presentation_.state().frozen;
    if (ViewFade::walks(id)) {
      view.walk();
      if (fades)
        fade_.begin(presentation_.state().width, presentation_.state().height, view.time, view.walkSeconds);
    }
    perform(id);
  }
  const Cursor& cursor = own().scene().cursor;
  const auto shown = std::tuple(cursor.page, cursor.lesson.lesson, cursor.lesson.step, cursor.view);
  if (std::exchange(cameUp_, shown) != shown) {
    ui_.restPointer();
    services_.view.hover = services_.view.nextHover = {};
  }
  for (Page* left : {page, stage})
    if (left && left != &workspace_.shown() && left != workspace_.onStage()) left->leave();
  ask();
  makeRoom();
  closing_.recovery().offer();
  closing_.recovery().note();
}

void Session::ask() {
  workspace_.shown().ask(own().scene());
  if (Page* stage = workspace_.onStage()) stage->ask(scene());
  layerShown_ = services_.layer.takeAsked();
}

/// Frees memory if what is shown waits for it: drops pictures of other pages, which can be computed again.
void Session::makeRoom() {
  if (!services_.resources.memory.hasWaiters()) return;
  for (const auto& page : pages())
    if (page.get() != &workspace_.shown() && page.get() != workspace_.onStage()) page->releaseMemory();
  if (!layerShown_) services_.layer.forget();
  services_.view.redraw();  // in the next frame, the pages see that the layer is gone
}

/// The status of the page that shows what is being worked on: `stage`, or the window's own if that is null.
/// If it is staged, adds that the window's own scene is kept. A figure being drawn takes precedence over
/// computations.
PageStatus Session::status(const Page* stage) const {
  PageStatus status = (stage ? *stage : workspace_.shown()).status(scene());
  if (const auto& wish = services_.view.figureWanted) {
    status.busySeconds = services_.view.time - wish->since;
    const std::string page =
        wish->pages.size() > 1 ? fmt::format("page {} of {} of ", wish->drawn + 1, wish->pages.size()) : "";
    status.busyWords = "drawing " + page + wish->name + " for " + timeText(status.busySeconds);
    status.canStop = status.hasPicture = true;
  }
  if (workspace_.onStage() && !workspace_.shown().stagesViews())
    status.facts.push_back("Your own scene, " + own().name() + ", is kept");
  if (status.hint.empty()) status.hint = pages().info((stage ? scene() : own().scene()).cursor.page).hint;
  return status;
}

/// Whether the strip stands below `page`. When presented, the picture has its height, except during a decode,
/// which fills it, and next to a lesson, which may speak of it.
bool Session::showsStrip(const Page& page, bool inLesson) {
  return page.showsStrip(scene()) && (!services_.view.present || inLesson || scene().cursor.decoding);
}

/// The areas of the window's parts, with space at the sides for the page's panels.
Layout Session::windowLayout(float width, float height) {
  const Page& page = workspace_.shown();
  if (services_.view.present && presentation_.state().notes)
    height -= notesHeight(services_.view, page.notes(own().scene()), width, height);
  if (workspace_.onStage()) return layoutFor(services_.view, width, height, false, false);
  const bool hasSide = !pages().info(own().scene().cursor.page).side.empty() && page.showsSide(scene());
  if (services_.view.figure) return layoutFor(services_.view, width, height, false, false);
  const float offer = offer_.height();
  Layout layout = layoutFor(services_.view, width, height - offer, hasSide, showsStrip(page, false));
  layout.status.Translate(ImVec2(0, offer));
  return layout;
}

Page* Session::drawPages(Page& page, Page* stage, const Layout& layout) {
  if (stage) {
    const bool hasSide = !pages().info(scene().cursor.page).side.empty() && stage->showsSide(scene());
    const Layout inner = page.stageLayout(layout, hasSide, showsStrip(*stage, !page.stagesViews()));
    if (inner.center.GetWidth() > 0)
      stage->draw(scene(), inner);
    else
      stage = nullptr;
  }
  page.draw(own().scene(), layout);
  return stage;
}

void Session::perform(const std::string& id) {
  View& view = services_.view;
  const Action action = actionNamed(id);  // held: an action may add others
  // What is on a page of the window is not on the stage of a lesson or talk. Held, since the action may take
  // it off the stage.
  const bool onPage = action.kind == ActionKind::control || action.kind == ActionKind::model;
  const std::shared_ptr<Document> document = onPage ? workspace_.own() : workspace_.working();
  const Scene before = document->scene();
  const Preferences preferences = view.preferences;
  action.run(document->scene());
  // An action's change is a separate undo step.
  if (!sameDocument(before, document->scene())) document->record();
  if (view.preferences != preferences) services_.keepPreferences();
  view.redraw();
}

bool Session::takeAnswers() {
  bool any = services_.layer.take();
  any = services_.files.take() || any;
  any = exports_.take() || any;
  for (const PageRow& row : pages().rows()) {
    Page& page = pages().named(std::string(row.info.key));
    any = page.take(scene()) || any;
    actions_.add(page.moreActions(), row.info.name, row.info.key);
  }
  if (any && view().dialog && view().dialog->name() == "palette") gatherPlaces();
  return takeFonts() || any;
}

bool Session::takeFonts() {
  if (!ui_.typesetter().take()) return false;
  std::string missing;
  for (const std::string& script : ui_.typesetter().takeMissing())
    missing += (missing.empty() ? "" : " or ") + script;
  if (!missing.empty()) {
    services_.view.say("No installed font has " + missing + ". Tokens are shown by number.");
    services_.view.messages.outlastsEdits = true;
  }
  return true;
}

double Session::nextFrameIn() const {
  const View& view = services_.view;
  if (view.framesToDraw > 0 || heatmaps_.moving()) return 0;
  if (closing_.begun()) return 0.05;
  double next = std::min(workspace_.working()->secondsToStep(view.time), workspace_.shown().nextFrameIn());
  next = std::min(next, own().secondsToStep(view.time));
  if (const Page* stage = workspace_.onStage()) next = std::min(next, stage->nextFrameIn());
  if (view.dialog) next = std::min(next, view.dialog->nextFrameIn());
  if (view.present) next = std::min(next, stageFrameIn(presentation_.state(), view.time));
  if (const double rested = view.time - view.controls.resting.since; rested < kHelpDelay)
    next = std::min(next, kHelpDelay + 0.02 - rested);
  for (const AdjustedControl& each : view.controls.adjusted)
    if (each.at + kAdjustedSeconds > view.time)
      next = std::min(next, each.at + kAdjustedSeconds + 0.02 - view.time);
  if (view.figureWanted) next = std::min(next, 0.2);
  if (!view.told.text.empty())
    next = std::min(next, view.told.since + kPointerMessageSeconds + 0.02 - view.time);
  if (!view.messages.notice.empty())
    next = std::min(next, view.messages.noticeAt + kNoticeSeconds - view.time);
  return std::max(next, 0.01);
}

bool Session::settle() {
  ui_.makeCurrent();
  bool changed = false;
  // Answers may have to be requested one by one, such as a model's heads switched off in turn.
  constexpr int kLeast = 4, kMax = 20'000;
  for (int round = 0, still = 0; round < kLeast || still < 2; ++round) {
    if (round == kMax)
      throw std::runtime_error(fmt::format("The page isn't complete after {} answers.", kMax));
    ask();
    services_.files.finish();
    services_.folders.finish();
    ui_.typesetter().finish();
    bool any = false;
    while (!services_.workers.finished(std::chrono::milliseconds(10))) {
      makeRoom();
      any = takeAnswers() || any;
    }
    any = takeAnswers() || any;
    changed = changed || any;
    still = any ? 0 : still + 1;
    workspace_.shown().arrange(own());
    workspace_.shown().prepare(own().scene());
    if (Page* stage = workspace_.onStage()) stage->prepare(scene());
  }
  return changed;
}

bool Session::busy() {
  return services_.workers.busy() || services_.files.busy() || ui_.typesetter().busy() ||
         services_.view.framesToDraw > 0;
}

bool Session::stop(std::chrono::milliseconds within) {
  closing_.recovery().write();
  services_.workers.stop();
  services_.files.stop();
  return services_.workers.finished(within) && services_.files.stopped(within / 4);
}

std::string Session::title() const {
  return own().name() + (own().dirty() ? " •" : "") + " — Headscope";
}

}  // namespace headscope::app
