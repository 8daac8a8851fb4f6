#include <fmt/core.h>

#include "app/platform/track.h"
#include "app/scene/model_fit.h"
#include "app/shell/stage.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/draw_text.h"

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
  if (!view_.present || !isOnStageBar(action.id) || action.id == "stage.freeze") return;
  state_.key = action.id;
  state_.keyAt = view_.time;
}

/// Requests the example texts one after another, in list order.
void Presentation::nextExample() {
  std::vector<std::string> ids;
  for (const Action& action : actions_.all())
    if (action.id.starts_with("model.example.")) ids.push_back(action.id);
  if (ids.empty()) return view_.messages.fail("The example texts aren't loaded yet.");
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
          "stage.kind", "Switch between MHA, GQA and MQA", 'K',
          [this](Scene& scene) {
            // The hall sees which heads share.
            if (view_.present && scene.cursor.page == "heads") scene.cursor.wiring = true;
            nextKind(scene);
          },
          "grouped multi-query share keys"),
      action("stage.blank", "Darken the screen; any key shows it again", 'B', onStage(&StageState::blank),
             "black blank pause"),
      action("stage.freeze", "Freeze or unfreeze the audience's picture", 'F', onStage(&StageState::frozen),
             "freeze hold still"),
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

namespace {

/// Returns the largest area at the top left of `area` with the picture's proportions.
ImRect fitInto(const ImRect& area, const LecturerPicture& picture) {
  const float scale = std::min(area.GetWidth() / picture.width, area.GetHeight() / picture.height);
  return {area.Min, ImVec2(area.Min.x + std::round(picture.width * scale),
                           area.Min.y + std::round(picture.height * scale))};
}

ImRect paintPicture(const View& view, Canvas list, const char* name, const ImRect& area,
                    const std::optional<LecturerPicture>& picture, const std::string& otherwise) {
  const ImRect place = fitInto(area, picture.value_or(LecturerPicture{}));
  list.AddRectFilled(place.Min, place.Max, view.theme->raised);
  if (picture)
    list.AddImage(compat::textureId(picture->texture), place.Min, place.Max, ImVec2(0, 1), ImVec2(1, 0));
  else
    paintText(list, view.fonts->text, place.GetCenter(), view.theme->secondary, otherwise, Align::center);
  track(name, place.Min, place.Max);
  return place;
}

/// Paints keys and their effects, wrapping lines.
void paintKeys(const View& view, Canvas list, const ImRect& area, const std::vector<KeyHint>& keys) {
  const float line = view.px(30), space = view.px(8);
  float x = area.Min.x, y = area.Min.y + line / 2;
  for (const KeyHint& each : keys) {
    const float key = textWidth(view.fonts->mono, each.key);
    const float wide = key + space + textWidth(view.fonts->reading, each.word) + view.px(22);
    if (x > area.Min.x && x + wide > area.Max.x) {
      x = area.Min.x;
      y += line;
    }
    if (y + line / 2 > area.Max.y) return;
    paintText(list, view.fonts->mono, ImVec2(x, y), view.theme->secondary, each.key);
    paintText(list, view.fonts->reading, ImVec2(x + key + space, y), view.theme->text, each.word);
    x += wide;
  }
}

/// Scrolls if the notes are longer than their area.
void paintNotes(const View& view, const ImRect& area, const std::string& notes) {
  if (beginPanel(view, "lecturer.notes", area, 0, 0)) {
    const std::string text = notes.empty() ? "No notes for this view." : notes;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float wide = area.GetWidth() - view.px(16);
    // Notes are read at a glance, so use the largest type that needs no scrolling.
    ImFont* const font = linesOf(view.fonts->hero, text, wide).size.y <= area.GetHeight() - view.px(8)
                             ? view.fonts->hero
                             : view.fonts->title;
    const float high = paintParagraph(*ImGui::GetWindowDrawList(), font, at, wide,
                                      notes.empty() ? view.theme->secondary : view.theme->text, text);
    ImGui::Dummy(ImVec2(1, high));
    track("lecturer.notes", at, ImVec2(area.Max.x, at.y + high));
  }
  endPanel();
}

}  // namespace

std::string elapsedText(double seconds) {
  const auto whole = static_cast<long>(std::max(0.0, seconds));
  const long hours = whole / 3600, minutes = whole / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60)
                   : fmt::format("{}:{:02}", minutes, whole % 60);
}

void lecturerView(View& view, const LecturerState& state, float width, float height) {
  const Theme& theme = *view.theme;
  const float pad = view.px(20), top = view.px(56);
  const ImRect all(0, 0, width, height);
  if (beginPanel(view, "lecturer", all, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    const Canvas list = *ImGui::GetWindowDrawList();
    float right = width - pad;
    right -= paintText(list, view.fonts->hero, ImVec2(right, top / 2), theme.text, state.clock, Align::right);
    right -= view.px(28);
    right -= paintText(list, view.fonts->hero, ImVec2(right, top / 2), theme.secondary, state.elapsed,
                       Align::right);
    const std::string title = state.title.empty() ? "What the audience sees" : state.title;
    paintFitted(view, list, view.fonts->title, ImVec2(pad, top / 2), right - 2 * pad, theme.text, title);
    // The hall's picture gets the height that the keys leave; next view and notes get the remaining width, at
    // least a third.
    const LecturerPicture shape = state.hall.value_or(LecturerPicture{});
    const float high = (height - top) * 0.78f, fits = high * shape.width / shape.height + pad * 1.5f;
    const float middle = std::round(std::clamp(fits, width * 0.5f, width * 0.68f));
    const ImRect hall =
        paintPicture(view, list, "lecturer.hall", ImRect(pad, top, middle - pad / 2, top + high), state.hall,
                     "The audience's window isn't drawn yet");
    const char* veil = state.blank    ? "The audience's screen is dark"
                       : state.frozen ? "The audience still sees this picture"
                                      : nullptr;
    float y = hall.Max.y + view.px(10);
    if (veil) {
      paintText(list, view.fonts->bold, ImVec2(pad, y + view.px(10)), theme.warning, veil);
      y += view.px(28);
    }
    paintKeys(view, list, ImRect(pad, y, middle - pad / 2, height - pad / 2), state.keys);
    const float left = middle + pad / 2;
    paintText(list, view.fonts->text, ImVec2(left, top + view.px(8)), theme.secondary,
              state.hasNext ? "Next" : "");
    float below = top;
    if (state.hasNext)
      below = paintPicture(view, list, "lecturer.next",
                           ImRect(left, top + view.px(22), width - pad, top + (height - top) * 0.42f),
                           state.next, "Drawing…")
                  .Max.y +
              view.px(16);
    paintNotes(view, ImRect(left, below, width - pad, height - pad), state.notes);
  }
  endPanel();
}

bool ViewFade::walks(const std::string& action) {
  constexpr std::array kWalks{"talk.next",   "talk.back",   "talk.space",   "talk.first", "talk.last",
                              "lesson.next", "lesson.back", "lesson.first", "lesson.last"};
  return std::find(kWalks.begin(), kWalks.end(), action) != kWalks.end();
}

void ViewFade::begin(int width, int height, double now, double seconds) {
  if (seconds < kMinSeconds) return stop();
  if (picture_.width() != width || picture_.height() != height) picture_ = render::Picture(width, height);
  picture_.copyBound(width, height);
  beganAt_ = now;
  seconds_ = seconds;
  readyAt_ = -1;
}

void ViewFade::draw(View& view, bool ready) {
  if (!active()) return;
  // The first frames still show the old view.
  const double waited = view.time - beganAt_;
  if (readyAt_ < 0 && ((ready && waited > 0.05) || waited > kMaxWaiting)) readyAt_ = view.time;
  const double gone = readyAt_ < 0 ? 0 : (view.time - readyAt_) / seconds_;
  if (gone >= 1) return stop();
  const auto t = static_cast<float>(gone);
  const float left = 1 - t * t * (3 - 2 * t);
  const Canvas list = *ImGui::GetForegroundDrawList();
  list.AddImage(compat::textureId(picture_.texture()), ImVec2(0, 0), ImGui::GetIO().DisplaySize, ImVec2(0, 1),
                ImVec2(1, 0), faded(0xFFFFFFFF, left));
  view.redraw(2);  // one is used up by this frame
}

}  // namespace headscope::app
