#include "app/session.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "app/compute/cache_picture.h"
#include "app/labs/map/map_room.h"
#include "app/scene/scene_json.h"
#include "app/shell/panels.h"
#include "app/widgets/layout.h"
#include "app/widgets/style.h"
#include "attention/core/memory.h"

namespace headscope::app {

namespace {
constexpr double kPlayInterval = 0.7;  // seconds a decode step stays before the next
constexpr double kEditSettles = 0.45;  // seconds after which a drag or a burst of typing is one step
constexpr double kNoticeSeconds = 4;
}  // namespace

bool View::pressed(Key key, Mods mods) const {
  if (ImGui::GetIO().WantTextInput) return false;
  return std::any_of(input.events.begin(), input.events.end(), [&](const InputEvent& event) {
    return event.kind == InputEvent::Kind::key && event.down && event.key == key && event.mods == mods;
  });
}

Session::Session(Ui& ui, const Limits& limits, std::function<void()> wake)
    : ui_(ui),
      limits_(limits),
      scene_(openingScene()),
      history_(scene_),
      saved_(scene_),
      files_([](const FileRequest& request, std::stop_token) { return readRequested(request); }, wake),
      studies_([](const MaskQuestion& question, std::stop_token stop) { return studyMask(question, stop); },
               wake),
      headStudies_(
          [](const HeadQuestion& question, std::stop_token stop) { return studyHead(question, stop); }, wake),
      reaches_([](const ReachQuestion& question, std::stop_token stop) { return studyReach(question, stop); },
               wake),
      map_(std::make_unique<MapRoom>(limits, wake)),
      job_(
          [limits](const Setup& setup, std::stop_token stop) { return computeSnapshot(setup, limits, stop); },
          wake, attention::releaseIdleMemory) {
  view_.heatmaps = &heatmaps_;
  view_.memoryLimit = limits.memoryBytes;
}

Session::~Session() = default;

void Session::frame(int width, int height, float scale, double elapsed) {
  view_.time += elapsed;
  const auto start = std::chrono::steady_clock::now();
  applyStyle(scale);
  const render::Color back = unpacked(view_.theme->background);
  const Theme* const themeBefore = view_.theme;
  ui_.frame(width, height, elapsed, {back.r, back.g, back.b}, [&](const FrameInput& input) {
    heatmaps_.beginFrame(width, height, view_.time);
    drawPanels(input, static_cast<float>(width), static_cast<float>(height));
  });
  if (view_.theme != themeBefore) settling_ = 3;
  if (view_.showTimings)
    view_.drawSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  settling_ = std::max(0, settling_ - 1);
}

void Session::applyStyle(float scale) {
  view_.theme = view_.preferences.light ? &lightTheme() : &darkTheme();
  view_.unit = scale * view_.preferences.textSize;
  ui_.setScale(view_.unit);
  if (const std::string text = scene_.setup.input.text + *scene_.setup.input.contextText;
      text != neededText_) {
    ui_.needText(text);
    for (const std::string& name : scene_.setup.input.table->names) ui_.needText(name);
    neededText_ = text;
  }
  view_.fonts = &ui_.fonts();
}

void Session::drawPanels(const FrameInput& input, float width, float height) {
  applyImGuiStyle(view_);
  takeResults();
  view_.input = input;
  view_.hover = view_.nextHover;
  view_.nextHover = {};
  view_.continuousEdit.clear();
  view_.busySeconds = job_.busySeconds();
  if (map_->beginFrame(view_, quickFrames_)) settling_ = 3;
  view_.catchingUp = !snapshot_ || snapshot_->setup != scene_.setup;
  view_.undoSteps = history_.undoSteps();
  view_.canUndo = history_.canUndo() || history_.differs(scene_);
  view_.canRedo = history_.canRedo();
  view_.dirty = !sameDocument(scene_, saved_);
  view_.gpuBytes = heatmaps_.bytes() + map_->gpuBytes();
  view_.sceneName = path_.empty() ? "untitled" : path_.filename().string();
  if (!input.events.empty()) settling_ = 3;
  const Scene before = scene_;
  handleInput(input);
  advancePlay();
  keepCursorInside();
  showPictures();
  showMasks();
  const Layout layout = layoutFor(view_, width, height, scene_.cursor);
  const Snapshot* snapshot = snapshot_.get();
  const auto sizes = std::pair(view_.gridPixels, view_.focusCell);
  topBar(scene_, snapshot, view_, layout);
  if (scene_.cursor.page == Page::mask) {
    layersPanel(scene_, snapshot, view_, layout);
    studioPanel(scene_, snapshot, view_, layout);
    insightPanel(scene_, snapshot, view_, layout);
  } else if (scene_.cursor.page == Page::map) {
    mapControls(scene_, view_, layout);
    mapPanel(scene_, view_, layout);
  } else {
    sidePanel(scene_, snapshot, view_, layout);
    headsPanel(scene_, snapshot, view_, layout);
    cachePanel(scene_, snapshot, view_, layout);
    receiptPanel(scene_, snapshot, view_, layout);
  }
  statusLine(scene_, snapshot, view_, layout);
  dialogs(scene_, snapshot, view_);
  const std::vector<Action> requests = std::move(view_.requests);
  view_.requests.clear();
  recordHistory(before);
  for (const Action action : requests) perform(action);
  submitIfChanged();
  askAboutMasks();
  map_->endFrame(scene_);
  if (before.cursor.map != scene_.cursor.map || map_->unfinished()) settling_ = std::max(settling_, 2);
  if (sizes != std::pair(view_.gridPixels, view_.focusCell)) settling_ = std::max(settling_, 2);
  if (view_.nextHover != view_.hover) settling_ = std::max(settling_, 2);
  if (!requests.empty()) settling_ = 3;
}

void Session::takeResults() {
  if (auto latest = job_.latest(); latest && latest != snapshot_) {
    snapshot_ = std::move(latest);
    shown_.sequence = nullptr;
    settling_ = 3;
  }
  if (auto latest = studies_.latest(); latest && latest != study_) {
    study_ = std::move(latest);
    settling_ = 3;
  }
  if (auto latest = headStudies_.latest(); latest && latest != headStudy_) {
    headStudy_ = std::move(latest);
    settling_ = 3;
  }
  if (auto latest = reaches_.latest(); latest && latest != reachStudy_) {
    reachStudy_ = std::move(latest);
    settling_ = 3;
  }
  view_.studio.study = study_.get();
  view_.studio.reach = reachStudy_.get();
  view_.studio.headStudy = headStudy_.get();
  if (auto answer = files_.latest(); answer && answer->request.ticket != answered_) {
    answered_ = answer->request.ticket;
    takeFile(*answer);
  }
}

void Session::showPictures() {
  const SequenceSnapshot* sequence = shownSequence(scene_, snapshot_.get());
  if (!sequence) return;
  const bool ease = !view_.preferences.reducedMotion;
  using Surface = HeatmapLayer::Surface;
  const PictureLevel& level = sequence->pictures.levelFor(view_.gridPixels);
  int focusFactor = 1;
  while (view_.focusCell * static_cast<float>(focusFactor) < 1) focusFactor *= 2;
  view_.gridFactor = level.factor;
  view_.focusFactor = focusFactor;
  const Quantity quantity = scene_.look.quantity;
  const Shown wanted{sequence, quantity, scene_.cursor.focus, level.factor, focusFactor};
  if (wanted == shown_) return;
  const auto start = std::chrono::steady_clock::now();
  heatmaps_.surface(Surface::grid).set(level.of(quantity), view_.time, ease);
  heatmaps_.surface(Surface::cache).set(cachePicture(sequence->attention), view_.time, ease);
  if (scene_.cursor.focus >= 0) {
    const attention::Matrix head = drawHead(sequence->attention, scene_.cursor.focus, quantity, focusFactor);
    attention::Stack one(1, head.rows(), head.cols());
    one[0] = head;
    heatmaps_.surface(Surface::focus).set(one, view_.time, ease && shown_.focus == wanted.focus);
  }
  shown_ = wanted;
  uploadSeconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Session::keepCursorInside() {
  Cursor& cursor = scene_.cursor;
  if (!snapshot_ || snapshot_->sequences.empty()) return;
  cursor.sequence =
      std::clamp<Index>(cursor.sequence, 0, static_cast<Index>(snapshot_->sequences.size()) - 1);
  const SequenceSnapshot& sequence = *shownSequence(scene_, snapshot_.get());
  const auto n = static_cast<Index>(sequence.queries.size()), m = static_cast<Index>(sequence.keys.size());
  const bool ownHeads = cursor.page == Page::map && scene_.map.source == MapSource::file;
  const Index heads = ownHeads ? headCount() : snapshot_->config.heads;
  cursor.focus = std::clamp<Index>(cursor.focus, -1, heads - 1);
  // While a text is typed anew it is short for a moment; the place comes back when there is room for it
  // again.
  if (cursor.cell != keptCell_) wantedCell_ = cursor.cell;
  cursor.cell.head = std::clamp<Index>(wantedCell_.head, 0, heads - 1);
  cursor.cell.query = std::clamp<Index>(wantedCell_.query, 0, sequence.queryLength - 1);
  cursor.cell.key = std::clamp<Index>(wantedCell_.key, 0, sequence.keyLength - 1);
  if (cursor.page == Page::map) return;
  if (view_.hover.query >= n) view_.hover.query = -1;
  if (view_.hover.key >= m) view_.hover.key = -1;
  if (!snapshot_->config.causal || snapshot_->setup.input.cross) cursor.decoding = view_.playing = false;
  cursor.step = std::clamp<Index>(cursor.step, 1, sequence.queryLength);
  if (cursor.decoding) {  // what is not in the cache yet can't be looked at
    cursor.cell.query = std::min(cursor.cell.query, cursor.step - 1);
    cursor.cell.key = std::min(cursor.cell.key, cursor.step - 1);
  }
  keptCell_ = cursor.cell;
  view_.decodedRows = cursor.decoding ? cursor.step : -1;
}

void Session::recordHistory(const Scene& before) {
  const bool changed = !sameDocument(scene_, before);
  if (changed) {
    view_.error.clear();
    view_.notice.clear();
    view_.refusal = {};
    if (!pendingEdit_.empty() && pendingEdit_ != view_.continuousEdit) history_.record(before);
    if (view_.continuousEdit.empty()) {
      history_.record(scene_);
      pendingEdit_.clear();
    } else {
      pendingEdit_ = view_.continuousEdit;
      pendingAt_ = view_.time;
    }
    return;
  }
  if (!pendingEdit_.empty() && !ImGui::IsMouseDown(0) && view_.time - pendingAt_ > kEditSettles) {
    history_.record(scene_);
    pendingEdit_.clear();
  }
}

void Session::submitIfChanged() {
  if (snapshot_ && snapshot_->setup == scene_.setup && job_.latest() == snapshot_) {
    // Back to what is shown already: whatever is still being computed is of no use any more.
    if (anySubmitted_ && submitted_ != scene_.setup) job_.cancel();
    submitted_ = scene_.setup;
    anySubmitted_ = true;
    return;
  }
  const bool underWay = job_.busySeconds() > 0 || job_.latest() != snapshot_;
  if (anySubmitted_ && submitted_ == scene_.setup && underWay) return;
  submitted_ = scene_.setup;
  anySubmitted_ = true;
  job_.submit(submitted_);
}

double Session::nextFrameIn() const {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  if (settling_ > 0 || heatmaps_.moving()) return 0;
  double next = kNever;
  const auto within = [&](double seconds) { next = std::min(next, std::max(seconds, 0.01)); };
  if (view_.playing) within(view_.playedAt + kPlayInterval - view_.time);
  if (!pendingEdit_.empty()) within(pendingAt_ + kEditSettles + 0.02 - view_.time);
  if (view_.studio.expressionTyped >= 0)
    within(view_.studio.expressionTyped + kTypingRests + 0.02 - view_.time);
  if (const double rested = view_.time - view_.resting.since; rested < kHelpDelay)
    within(kHelpDelay + 0.02 - rested);
  if (!view_.notice.empty()) within(view_.noticeAt + kNoticeSeconds - view_.time);
  if (job_.busySeconds() > 0 || map_->busy()) within(0.2);  // the progress past half a second has to appear
  return next;
}

void Session::settle() {
  for (int round = 0; round < 4; ++round) {
    submitIfChanged();
    askAboutMasks();
    files_.finish();
    studies_.finish();
    job_.finish();
    headStudies_.finish();
    reaches_.finish();
    map_->finish();
    takeResults();
    keepCursorInside();
  }
}

void Session::advancePlay() {
  if (!view_.notice.empty() && view_.time - view_.noticeAt > kNoticeSeconds) view_.notice.clear();
  if (!view_.playing || view_.time - view_.playedAt < kPlayInterval) return;
  performDecode(Action::stepForward);
  view_.playing = true;
  view_.playedAt = view_.time;
  const SequenceSnapshot* sequence = shownSequence(scene_, snapshot_.get());
  if (!sequence || scene_.cursor.step >= sequence->queryLength) view_.playing = false;
}

std::string Session::title() const {
  return (path_.empty() ? std::string("untitled") : path_.filename().string()) +
         (sameDocument(scene_, saved_) ? "" : " •") + " — Headscope";
}

void Session::requestQuit() {
  const bool dirty = !sameDocument(scene_, saved_);
  if (dirty && view_.dialog != Dialog::discard)
    view_.dialog = Dialog::discard;
  else
    quit_ = true;
  settling_ = 3;
}

void Session::notice(const std::string& text) {
  view_.notice = text;
  view_.noticeAt = view_.time;
  view_.error.clear();
}

void Session::fail(const std::string& text) {
  view_.error = text;
}

}  // namespace headscope::app
