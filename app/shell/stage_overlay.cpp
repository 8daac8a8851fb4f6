#include "app/platform/track.h"
#include "app/scene/mask_rules.h"
#include "app/scene/model_fit.h"
#include "app/scene/models/open_model.h"
#include "app/shell/stage.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app {

namespace {

constexpr double kTrailSeconds = 0.35;

/// What a lecturer can do without leaving the page: an action, its word on the bar and when its key is
/// pressed, and whether it is on (null = not a switch).
struct StageKey {
  const char* action;
  std::string (*word)(const Scene& scene);
  bool (*on)(const Scene& scene, const StageState& stage);
};

constexpr std::array<StageKey, 15> kStageKeys{{
    {"stage.type", [](const Scene&) { return std::string("Type"); }, nullptr},
    {"stage.example", [](const Scene&) { return std::string("Example"); }, nullptr},
    {"mask.causal", [](const Scene&) { return std::string("Causal"); },
     [](const Scene& scene, const StageState&) {
       const auto& opened = scene.setup.subject.opened;
       return (opened && opened->config().causal) ||
              hasRule(scene.setup.mask.layers, attention::PatternKind::causal);
     }},
    {"stage.kind",
     [](const Scene& scene) {
       const AttentionKind kind = kindOf(scene.setup.model);
       return std::string(kind == AttentionKind::mha ? "MHA" : kind == AttentionKind::gqa ? "GQA" : "MQA");
     },
     nullptr},
    {"head.next_named", [](const Scene&) { return std::string("Next head"); }, nullptr},
    {"model.next_named", [](const Scene&) { return std::string("Next head"); }, nullptr},
    {"model.switch", [](const Scene&) { return std::string("Off/on"); }, nullptr},
    {"stage.notes", [](const Scene&) { return std::string("Notes"); },
     [](const Scene&, const StageState& stage) { return stage.notes; }},
    {"stage.blank", [](const Scene&) { return std::string("Dark"); }, nullptr},
    {"stage.freeze", [](const Scene&) { return std::string("Freeze"); }, nullptr},
    {"stage.laser", [](const Scene&) { return std::string("Laser"); },
     [](const Scene&, const StageState& stage) { return stage.laser; }},
    {"stage.spotlight", [](const Scene&) { return std::string("Spot"); },
     [](const Scene&, const StageState& stage) { return stage.spotlight; }},
    {"stage.magnify", [](const Scene&) { return std::string("Zoom"); },
     [](const Scene&, const StageState& stage) { return stage.magnifies; }},
    {"stage.pen", [](const Scene&) { return std::string("Pen"); },
     [](const Scene&, const StageState& stage) { return stage.pen; }},
    {"stage.erase", [](const Scene&) { return std::string("Erase"); }, nullptr},
}};

/// Returns "Causal off".
std::string stateWords(const StageKey& key, const Scene& scene, const StageState& stage) {
  return key.word(scene) + (!key.on ? "" : key.on(scene, stage) ? " on" : " off");
}

/// Returns the entries whose keys work on the current page.
std::vector<const StageKey*> keysHere(const Scene& scene, const ActionTable& actions) {
  std::vector<const StageKey*> here;
  for (const StageKey& key : kStageKeys) {
    const Action& action = actions.find(key.action);
    if (action.id == "stage.erase" && !hasPen(scene)) continue;
    if (actions.pressed(action.shortcut, scene.cursor.page, false, false) == &action) here.push_back(&key);
  }
  return here;
}

/// Shows a key and its word in a pill at the end of the caption line, where it covers no picture.
void keyPill(const View& view, Canvas list, const ImRect& line, const std::string& key,
             const std::string& word) {
  ImFont* font = view.fonts->title;
  const float letter = textWidth(font, key), pad = view.px(14), gap = view.px(10);
  const float high = std::min(view.px(17), line.GetHeight() / 2 - 1);
  const float half = (letter + gap + textWidth(font, word)) / 2 + pad;
  const ImVec2 center(line.Max.x - view.px(14) - half, line.GetCenter().y);
  const ImVec2 from(center.x - half, center.y - high), to(center.x + half, center.y + high);
  list.AddRectFilled(from, to, view.theme->text, view.px(8));
  paintText(list, font, ImVec2(from.x + pad, center.y), view.theme->background, key);
  paintText(list, font, ImVec2(from.x + pad + letter + gap, center.y), view.theme->background, word);
  track("stage.key", from, to);
}

/// Shows buttons in place of the caption while the mouse is there, so that they cover no picture.
void bar(const Scene& scene, View& view, const StageState& stage, const Layout& layout,
         const ActionTable& actions) {
  const std::vector<const StageKey*> keys = keysHere(scene, actions);
  ImFont* font = view.fonts->small;
  const float pad = view.px(6), space = view.px(5), high = view.px(26);
  float wide = pad;
  std::vector<float> widths;
  for (const StageKey* key : keys) {
    const std::string letter = shortcutText(actions.find(key->action).shortcut);
    widths.push_back(textWidth(view.fonts->smallBold, letter) + space + textWidth(font, key->word(scene)) +
                     2 * pad);
    wide += widths.back();
  }
  const float left = std::round(layout.status.GetCenter().x - (wide + pad) / 2),
              top = std::round(layout.status.GetCenter().y - high / 2);
  const ImRect area(left, top, left + wide + pad, top + high);
  if (beginPanel(view, "stage.bar", layout.status, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
    Canvas list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(layout.status.Min, layout.status.Max, view.theme->background);
    list.AddRectFilled(area.Min, area.Max, view.theme->raised, view.px(7));
    float x = area.Min.x + pad;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const StageKey& key = *keys[i];
      const std::string name = "stage." + std::string(key.action);
      if (hitArea(name, ImVec2(x, area.Min.y), ImVec2(widths[i], high))) view.request(key.action);
      if (ImGui::IsItemHovered()) tooltip(view, actions.find(key.action).name);
      const bool lit = ImGui::IsItemHovered() || (key.on && key.on(scene, stage));
      const float y = area.GetCenter().y;
      const float letter = paintText(list, view.fonts->smallBold, ImVec2(x + pad, y), view.theme->text,
                                     shortcutText(actions.find(key.action).shortcut));
      paintText(list, font, ImVec2(x + pad + letter + space, y),
                lit ? view.theme->text : view.theme->secondary, key.word(scene));
      x += widths[i];
    }
    track("stage.bar", area.Min, area.Max);
  }
  endPanel();
}

/// Paints a dot at the pointer, and a trail where it came from.
void laser(const View& view, StageState& stage, Canvas list, ImVec2 at) {
  std::vector<StageState::Spot>& trail = stage.trail;
  if (trail.empty() || trail.back().at.x != at.x || trail.back().at.y != at.y)
    trail.push_back({at, view.time});
  trail.back().time = view.time;
  std::erase_if(trail, [&](const StageState::Spot& spot) {
    return view.time - spot.time > kTrailSeconds && &spot != &trail.back();
  });
  const std::uint32_t color = groupColor(*view.theme, 3);
  for (std::size_t i = 1; i < trail.size(); ++i) {
    const auto left = static_cast<float>(1 - (view.time - trail[i].time) / kTrailSeconds);
    if (left > 0) list.AddLine(trail[i - 1].at, trail[i].at, faded(color, left), view.px(5) * left);
  }
  list.AddCircleFilled(at, view.px(6), color, 24);
  list.AddCircle(at, view.px(6), 0xFFFFFFFF, 24, view.px(1.2f));
  track("stage.laser.dot", ImVec2(at.x - view.px(6), at.y - view.px(6)),
        ImVec2(at.x + view.px(6), at.y + view.px(6)));
}

bool inWindow(ImVec2 at) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  return at.x >= 0 && at.y >= 0 && at.x < screen.x && at.y < screen.y;
}

/// Darkens the screen. Says how to return, faintly and for as long as the pointer would be shown.
void dark(const View& view, const StageState& stage, Canvas list, const Layout& layout) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  list.AddRectFilled(ImVec2(0, 0), screen, 0xFF000000);
  track("stage.dark", ImVec2(0, 0), screen);
  // Takes the click that lights the screen, which nobody aimed at what is hidden.
  ImGui::SetNextWindowPos(ImVec2(0, 0));
  ImGui::SetNextWindowSize(screen);
  ImGui::Begin("stage.cover", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBackground |
                   ImGuiWindowFlags_NoFocusOnAppearing);
  ImGui::End();
  if (view.time - std::max(stage.movedAt, stage.keyAt) < kPointerRests)
    paintText(list, view.fonts->text, ImVec2(screen.x / 2, layout.status.GetCenter().y),
              IM_COL32(150, 150, 150, 255), "Any key shows the picture again", Align::center);
}

}  // namespace

void stageSpotlight(const View& view, const StageState& stage) {
  const ImVec2 at = ImGui::GetIO().MousePos, screen = ImGui::GetIO().DisplaySize;
  if (!stage.spotlight || !inWindow(at)) return;
  const float radius = view.px(90), reach = screen.x + screen.y;
  Canvas list = *ImGui::GetForegroundDrawList();
  list.AddCircle(at, radius + reach / 2, IM_COL32(0, 0, 0, 170), 128, reach);
}

std::vector<KeyHint> stageWords(const Scene& scene, const StageState& stage, const ActionTable& actions) {
  std::vector<KeyHint> words;
  for (const StageKey* key : keysHere(scene, actions))
    words.push_back({shortcutText(actions.find(key->action).shortcut), stateWords(*key, scene, stage)});
  return words;
}

bool isOnStageBar(const std::string& action) {
  return std::any_of(kStageKeys.begin(), kStageKeys.end(),
                     [&](const StageKey& key) { return key.action == action; });
}

bool isStageKey(const Action& action) {
  return action.page.empty() && isOnStageBar(action.id);
}

void stageOverlay(const Scene& scene, View& view, StageState& stage, const Layout& layout,
                  const ActionTable& actions) {
  const ImVec2 at = ImGui::GetIO().MousePos, screen = ImGui::GetIO().DisplaySize;
  Canvas list = *ImGui::GetForegroundDrawList();
  const bool near = inWindow(at) && at.y > screen.y * 0.8f && view.time - stage.movedAt < kPointerRests;
  if (near && !view.dialog && !stage.blank) bar(scene, view, stage, layout, actions);
  if (stage.laser && inWindow(at)) laser(view, stage, list, at);
  if (view.preferences.pressedKeys && view.time - stage.keyAt < kKeyShown) {
    const auto key = std::find_if(kStageKeys.begin(), kStageKeys.end(),
                                  [&](const StageKey& each) { return each.action == stage.key; });
    if (key != kStageKeys.end())
      keyPill(view, list, layout.status, shortcutText(actions.find(key->action).shortcut),
              stateWords(*key, scene, stage));
  }
  if (stage.blank) dark(view, stage, list, layout);
}

double stageFrameIn(const StageState& stage, double now) {
  double next = std::numeric_limits<double>::infinity();
  const auto until = [&](double moment) {
    if (moment > now) next = std::min(next, moment + 0.02 - now);
  };
  until(stage.movedAt + kPointerRests);
  until(stage.keyAt + kKeyShown);
  if (stage.blank) until(stage.keyAt + kPointerRests);
  return stage.laser && stage.trail.size() > 1 ? std::min(next, 1.0 / 60) : next;
}

void SentenceBox::draw(Scene& scene, View& view, bool opening) {
  InputSetup& input = scene.setup.input;
  if (opening) typed_ = *input.text;
  if (beginDialog(view, "sentence", "Sentence", 700, 112, true)) {
    const std::string before = typed_;
    Fonts large = *view.fonts;  // so that the hall can read along
    large.text = large.hero;
    const Fonts* const usual = std::exchange(view.fonts, &large);
    const bool entered = lineBox(view, "stage.sentence", typed_, ImGui::GetContentRegionAvail().x, opening,
                                 "Type a sentence for the heads to read");
    view.fonts = usual;
    if (typed_ != before) {
      input.source = EmbeddingSource::text;
      input.text = typed_;
      view.controls.continuousEdit = "stage.sentence";
    }
    if (entered) view.dialog.reset();
  }
  endDialog();
}

namespace {

constexpr float kNotesPad = 12, kNotesMargin = 22;

/// Notes in large type if they fit into the given height, otherwise in small type.
struct SetNotes {
  std::string text;
  ImFont* font;
  TextLines lines;
};
SetNotes setNotes(const View& view, const std::string& notes, float width, float most) {
  const std::string text = notes.empty() ? "No notes for this view." : notes;
  const float room = width - 2 * view.px(kNotesMargin);
  TextLines lines = linesOf(view.fonts->text, text, room);
  if (lines.size.y <= most) return {text, view.fonts->text, std::move(lines)};
  return {text, view.fonts->small, linesOf(view.fonts->small, text, room)};
}

float mostHeight(float height) {
  return height / 3;
}

}  // namespace

float notesHeight(const View& view, const std::string& notes, float width, float height) {
  const float pads = 2 * view.px(kNotesPad), most = mostHeight(height);
  return std::round(std::min(setNotes(view, notes, width, most - pads).lines.size.y + pads, most));
}

void stageNotes(const View& view, const std::string& notes, const ImRect& area) {
  const float pad = view.px(kNotesPad);
  const SetNotes set = setNotes(view, notes, area.GetWidth(), area.GetHeight() - 2 * pad);
  const Canvas list = *ImGui::GetForegroundDrawList();
  list.AddRectFilled(area.Min, area.Max, view.theme->raised);
  list.PushClipRect(area.Min, area.Max, true);
  paintLines(list, set.font, ImVec2(area.Min.x + view.px(kNotesMargin), area.Min.y + pad),
             notes.empty() ? view.theme->secondary : view.theme->text, set.lines, set.text);
  list.PopClipRect();
  track("stage.notes.text", area.Min, area.Max);
}

}  // namespace headscope::app
