// The part of Session that does what the person asked for by name.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/labs/map/map_room.h"
#include "app/scene/mask_rules.h"
#include "app/scene/scene_json.h"
#include "app/session.h"
#include "app/shell/panels.h"

namespace headscope::app {

void Session::handleInput(const FrameInput& input) {
  for (const InputEvent& event : input.events) {
    if (event.kind == InputEvent::Kind::drop && !event.paths.empty()) openFile(event.paths.front());
    if (event.kind != InputEvent::Kind::key || !event.down) continue;
    const bool typing = ImGui::GetIO().WantTextInput;
    if (view_.dialog != Dialog::none) {
      if (event.key == Key::escape) view_.dialog = Dialog::none;
      continue;
    }
    const bool listOpen =
        ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
    if (listOpen && event.key == Key::escape) continue;  // closes the list alone
    KeyPress press{event.key, event.mods};
    // The other spellings people expect: Ctrl+Y redoes, Ctrl++ needs Shift on many keyboards, ? asks for
    // help.
    if (press == KeyPress{Key::y, {.ctrl = true}}) press = {Key::z, {.ctrl = true, .shift = true}};
    if (press == KeyPress{Key::equal, {.ctrl = true, .shift = true}}) press.mods.shift = false;
    if (press == KeyPress{Key::slash, {.shift = true}} && !typing) press = {Key::f1, {}};
    for (const ActionInfo& info : allActions())
      if (info.shortcut == press && (info.whileTyping || !typing) &&
          (!event.repeat || info.action == Action::undo || info.action == Action::redo ||
           info.action == Action::stepForward || info.action == Action::stepBack))
        view_.request(info.action);
  }
}

void Session::perform(Action action) {
  Preferences& preferences = view_.preferences;
  const Preferences before = preferences;
  switch (action) {
    case Action::undo:
    case Action::redo:
      history_.record(scene_);
      pendingEdit_.clear();
      view_.refusal = {};
      view_.typed = {};
      action == Action::undo ? history_.undo(scene_) : history_.redo(scene_);
      break;
    case Action::stopComputing:
      // The setting that takes too long stays in the history, one undo away.
      if (!snapshot_) break;
      history_.record(scene_);
      scene_.setup = snapshot_->setup;
      history_.record(scene_);
      pendingEdit_.clear();
      break;
    case Action::resetScene:
      setScene(openingScene());
      break;
    case Action::backToGrid:
      if (view_.present && scene_.cursor.focus < 0) view_.present = false;
      if (scene_.cursor.focus < 0) view_.drawer = false;
      scene_.cursor.focus = -1;
      break;
    case Action::nextHead:
    case Action::previousHead: {
      const Index heads = headCount(), step = action == Action::nextHead ? 1 : heads - 1;
      Index& head = scene_.cursor.focus >= 0 ? scene_.cursor.focus : scene_.cursor.cell.head;
      head = (head + step) % heads;
      scene_.cursor.cell.head = head;
      break;
    }
    case Action::present:
      view_.present = !view_.present;
      break;
    case Action::toggleReceipt:
      view_.drawer = !view_.drawer;
      break;
    case Action::toggleTheme:
      preferences.light = !preferences.light;
      break;
    case Action::textLarger:
      preferences.textSize = std::min(2.0f, preferences.textSize + 0.125f);
      break;
    case Action::textSmaller:
      preferences.textSize = std::max(0.75f, preferences.textSize - 0.125f);
      break;
    case Action::textReset:
      preferences.textSize = 1;
      break;
    case Action::toggleMotion:
      preferences.reducedMotion = !preferences.reducedMotion;
      break;
    case Action::quit:
      requestQuit();
      break;
    case Action::toggleDecode:
    case Action::playDecode:
    case Action::stepForward:
    case Action::stepBack:
      performDecode(action);
      break;
    default:
      if (!performMask(action)) performDialog(action);
      break;
  }
  if (preferences != before) savePreferences(preferences);
}

void Session::performDecode(Action action) {
  const SequenceSnapshot* sequence = shownSequence(scene_, snapshot_.get());
  Cursor& cursor = scene_.cursor;
  if (!sequence || !snapshot_->causal) return;
  cursor.page = Page::heads;  // where the cache is seen
  const Index last = sequence->queryLength, prefill = std::min(scene_.setup.prefill, last);
  const bool wasDecoding = cursor.decoding;
  switch (action) {
    case Action::toggleDecode:
      cursor.decoding = !wasDecoding;
      cursor.step = prefill;
      view_.playing = false;
      break;
    case Action::playDecode:
      view_.playing = !view_.playing;
      if (view_.playing && (!wasDecoding || cursor.step >= last)) cursor.step = prefill;
      cursor.decoding = true;
      view_.playedAt = view_.time;
      break;
    case Action::stepForward:
      cursor.step = wasDecoding ? std::min(cursor.step + 1, last) : prefill;
      cursor.decoding = true;
      view_.playing = false;
      break;
    default:
      cursor.step = wasDecoding ? std::max<Index>(cursor.step - 1, prefill) : last;
      cursor.decoding = true;
      view_.playing = false;
      break;
  }
  cursor.cell.query = cursor.decoding ? cursor.step - 1 : cursor.cell.query;
}

void Session::performDialog(Action action) {
  const std::string path = std::exchange(view_.requestedPath, {});
  switch (action) {
    case Action::openScene:
      if (path.empty())
        view_.dialog = Dialog::openScene;
      else
        openFile(path);
      break;
    case Action::openWeights:
      if (path.empty())
        view_.dialog = Dialog::openWeights;
      else
        requestFile({FileRequest::Kind::weights, path});
      break;
    case Action::openMapFile:
      if (path.empty())
        view_.dialog = Dialog::openMapFile;
      else
        openMapFile(path);
      break;
    case Action::openTable:
      if (path.empty())
        view_.dialog = Dialog::openTable;
      else
        requestFile({FileRequest::Kind::table, path});
      break;
    case Action::saveScene:
      if (path_.empty())
        view_.dialog = Dialog::saveScene;
      else
        save(path_);
      break;
    case Action::saveSceneAs:
      if (path.empty())
        view_.dialog = Dialog::saveScene;
      else
        save(path);
      break;
    case Action::editTable:
      view_.dialog = Dialog::table;
      break;
    case Action::palette:
      view_.dialog = Dialog::palette;
      break;
    case Action::shortcuts:
      view_.dialog = Dialog::shortcuts;
      break;
    default:
      break;
  }
}

void Session::setScene(Scene scene, const std::filesystem::path& path) {
  history_.record(scene_);
  scene_ = std::move(scene);
  history_.record(scene_);
  saved_ = scene_;
  path_ = path;
  keptCell_ = {-1, -1, -1};
  pendingEdit_.clear();
  view_.camera = {};
  view_.refusal = {};
  view_.playing = false;
  settling_ = 3;
}

void Session::save(const std::filesystem::path& path) {
  std::filesystem::path target = path;
  if (target.extension().empty()) target += ".json";
  const attention::Status written = writeScene(target, scene_);
  if (!written) return fail(written.error().message);
  saved_ = scene_;
  path_ = target;
  notice("Saved " + target.filename().string());
}

void Session::openFile(const std::filesystem::path& path) {
  attention::Result<FileRequest> request = requestFor(path);
  if (!request) return fail(request.error().message);
  // On the map a layer's tensors are queries and keys.
  if (scene_.cursor.page == Page::map && request->kind == FileRequest::Kind::weights)
    return openMapFile(path);
  // Numbers dropped on the mask studio are a mask.
  if (scene_.cursor.page == Page::mask && request->kind == FileRequest::Kind::table)
    request->kind = FileRequest::Kind::inspectMask;
  requestFile(*std::move(request));
}

void Session::openMapFile(const std::filesystem::path& path) {
  history_.record(scene_);
  scene_.map.source = MapSource::file;
  scene_.map.file = std::filesystem::absolute(path).string();
  scene_.map.layer = 0;
  scene_.cursor.page = Page::map;
  scene_.cursor.map = {};
  history_.record(scene_);
}

Index Session::headCount() const {
  const MapState* state = map_->screen().state.get();
  const bool file = scene_.cursor.page == Page::map && scene_.map.source == MapSource::file;
  return file && state && !state->empty ? state->heads : scene_.setup.model.heads;
}

void Session::requestFile(FileRequest request) {
  request.ticket = ++ticket_;
  request.heads = scene_.setup.model.heads;
  files_.submit(std::move(request));
}

void Session::takeFile(FileAnswer answer) {
  settling_ = 3;
  if (const auto* error = std::get_if<attention::Error>(&answer.content)) return fail(error->message);
  const std::string name = answer.request.path.filename().string();
  if (auto* scene = std::get_if<Scene>(&answer.content)) {
    setScene(std::move(*scene), answer.request.path);
    return notice("Opened " + name);
  }
  if (const auto* conventions = std::get_if<Conventions>(&answer.content)) {
    view_.studio.pending = {answer.request.path.string(), *conventions, conventions->front()};
    view_.dialog = Dialog::maskConvention;
    return;
  }
  if (std::holds_alternative<Saved>(answer.content)) return notice("Saved " + name);
  history_.record(scene_);
  if (const auto* mask = std::get_if<attention::MaskFile>(&answer.content))
    addMaskFile(*mask, answer.request);
  if (const auto* weights = std::get_if<LoadedWeights>(&answer.content))
    applyWeights(*weights, std::filesystem::absolute(answer.request.path).string());
  else if (auto* table = std::get_if<attention::Table>(&answer.content))
    applyTable(std::move(*table));
  history_.record(scene_);
  notice("Loaded " + name);
}

void Session::applyWeights(const LoadedWeights& weights, const std::string& path) {
  const attention::AttentionConfig& config = weights.config;
  ModelSetup& model = scene_.setup.model;
  scene_.setup.weights.source = WeightSource::file;
  scene_.setup.weights.file = path;
  model.heads = config.heads;
  model.kvHeads = config.kvHeads;
  model.headDim = config.headDim;
  model.modelDim = config.modelDim;
  model.linked = model.headDim * model.heads == model.modelDim;
  model.bias = weights.bias;
  // What the file says of positions and masks is taken over; what it leaves open stays as it was.
  if (config.ropeTheta) {
    model.position = PositionKind::rope;
    model.ropeTheta = *config.ropeTheta;
  } else if (config.alibi) {
    model.position = PositionKind::alibi;
  } else if (model.position == PositionKind::rope && model.headDim % 2 != 0) {
    model.position = PositionKind::none;
  }
  if (config.softcap) model.softcap = *config.softcap;
  if (PlainRules rules = weights.rules; rules.causal || rules.window > 0) {
    rules.padding = hasRule(scene_.setup.mask.layers, attention::PatternKind::padding);
    rules.window = std::min(rules.window, kMaxTokens);
    rules.sinks = std::min(rules.sinks, kMaxTokens);
    scene_.setup.mask.layers = layersOf(rules);
  }
}

void Session::applyTable(attention::Table table) {
  Setup& setup = scene_.setup;
  setup.input.source = EmbeddingSource::table;
  setup.input.cross = false;
  setup.model.modelDim = table.values.cols();
  setup.input.table = std::move(table);
  neededText_.clear();
  if (setup.weights.source == WeightSource::planted) setup.weights.source = WeightSource::random;
  fitModelTo(setup.model);
}

}  // namespace headscope::app
