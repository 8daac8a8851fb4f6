#include "app/shell/presentation.h"

#include <algorithm>
#include <utility>

#include "app/scene/model_fit.h"
#include "app/shell/stage_overlay.h"
#include "app/shell/stage_pen.h"

namespace headscope::app {

namespace {
constexpr float kMagnified = 2;
constexpr double kMagnifySeconds = 0.2;

KeyPress letter(char key) {
  return {static_cast<Key>(key), {}};
}
}  // namespace

void Presentation::prepare(int width, int height) {
  const bool resized = std::exchange(state_.width, width) != width;
  if (std::exchange(state_.height, height) != height || resized) state_.frozen = false;
  if (!view_.present) {
    state_.blank = state_.frozen = state_.laser = state_.spotlight = state_.magnifies = state_.pen =
        state_.notes = false;
    state_.since = view_.time;
  }
  const bool points = state_.laser || state_.spotlight || state_.magnifies || state_.pen;
  if (points) ui_.showPointer();  // these tools act where the pointer rests
  if (view_.present && !points && !ImGui::IsAnyMouseDown() && view_.time - state_.movedAt > kPointerRests)
    ui_.hidePointer();
  const float wanted = state_.magnifies ? kMagnified : 1;
  const auto step = static_cast<float>((kMagnified - 1) * ImGui::GetIO().DeltaTime / kMagnifySeconds);
  if (view_.preferences.reducedMotion)
    state_.magnified = wanted;
  else
    state_.magnified += std::clamp(wanted - state_.magnified, -step, step);
  if (state_.magnified != wanted) view_.redraw(2);
  ui_.magnify(ImGui::GetIO().MousePos, state_.magnified);
  // A figure is only recorded, so its frames aren't drawn.
  ui_.freeze(state_.frozen || view_.figure);
}

void Presentation::note(const Action& action) {
  if (action.id != "stage.blank") state_.blank = false;
  if (!view_.present || !isOnStageBar(action.id) || action.id == "stage.freeze") return;
  state_.key = action.id;
  state_.keyAt = view_.time;
}

/// Requests the example texts one after another, in list order.
void Presentation::nextExample() {
  std::vector<std::string> ids;
  for (const Action& action : actions_.all())
    if (action.id.starts_with("model.example.")) ids.push_back(action.id);
  if (ids.empty()) return view_.messages.fail("The example texts aren't read yet.");
  view_.request(ids[state_.example++ % ids.size()]);
}

/// Cycles through MHA, GQA and MQA; skips GQA if the heads can't be grouped.
void Presentation::nextKind(const Scene& scene) {
  const ModelSetup& model = scene.setup.model;
  const AttentionKind now = kindOf(model);
  const bool groups = divisors(model.heads).size() > 2;
  const AttentionKind next = now == AttentionKind::mha && groups ? AttentionKind::gqa
                             : now == AttentionKind::mqa         ? AttentionKind::mha
                                                                 : AttentionKind::mqa;
  view_.request(next == AttentionKind::mha   ? "kind.mha"
                : next == AttentionKind::gqa ? "kind.gqa"
                                             : "kind.mqa");
}

std::vector<Action> Presentation::actions() {
  View& view = view_;
  const auto onStage = [this, &view](bool StageState::*what) {
    return [this, &view, what](Scene&) {
      if (!view.present) return view.say("Present first: press P.");
      state_.*what = !(state_.*what);
      state_.trail.clear();
    };
  };
  const auto action = [](const char* id, const char* name, char key, std::function<void(Scene&)> run,
                         const char* words) {
    return Action{.id = id, .name = name, .shortcut = letter(key), .words = words, .run = std::move(run)};
  };
  return {
      action(
          "stage.type", "Type a sentence over the page", 'T',
          [&view](Scene&) { view.dialog = std::make_shared<SentenceBox>(); }, "text prompt input"),
      action(
          "stage.example", "Next example text", 'E', [this](Scene&) { nextExample(); }, "sample sentence"),
      action(
          "stage.kind", "Switch between MHA, GQA and MQA", 'K', [this](Scene& scene) { nextKind(scene); },
          "grouped multi-query share keys"),
      action("stage.blank", "Darken or show the screen", 'B', onStage(&StageState::blank),
             "black blank pause"),
      action("stage.freeze", "Freeze the audience's picture, or show yours", 'F',
             onStage(&StageState::frozen), "freeze hold still"),
      action("stage.laser", "Turn the laser dot on or off", 'L', onStage(&StageState::laser), "pointer"),
      action("stage.spotlight", "Turn the spotlight on or off", 'S', onStage(&StageState::spotlight),
             "dim pointer focus"),
      action("stage.magnify", "Turn the magnifier on or off", 'Z', onStage(&StageState::magnifies),
             "zoom enlarge lens"),
      action("stage.pen", "Turn the pen on or off; Shift draws arrows", 'W', onStage(&StageState::pen),
             "write draw arrow annotate"),
      action("stage.notes", "Show or hide your notes", 'N', onStage(&StageState::notes), "speaker text"),
      {.id = "stage.lecturer",
       .name = "Open or close the lecturer's window",
       .shortcut = {Key::p, {.ctrl = true, .shift = true}},
       .whileTyping = true,
       .words = "presenter view second screen monitor notes clock",
       .run = [this](Scene&) { state_.lecturer = !state_.lecturer; }},
      {.id = "stage.erase",
       .name = "Erase what the pen drew",
       .shortcut = {Key::backspace, {}},
       .words = "clear drawing",
       .run = [](Scene& scene) { erasePen(scene); }},
  };
}

}  // namespace headscope::app
