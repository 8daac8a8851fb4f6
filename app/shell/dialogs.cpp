#include "app/shell/dialogs.h"

#include <fmt/core.h>

#include "app/platform/track.h"
#include "app/scene/fields.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app {

namespace {

/// What the mouse does, by place. A row with an empty second part is a heading.
struct MouseLine {
  const char *keys, *does;
};
constexpr MouseLine kMouse[] = {
    {"HEADS", ""},
    {"Point", "highlights the query and key in every picture"},
    {"Click", "enlarges that head"},
    {"Wheel, drag", "zoom and move the enlarged head"},
    {"Esc", "goes back to all heads"},
    {"Right click", "opens a menu"},
    {"SLIDERS", ""},
    {"Drag", "sets a value; only valid values are reachable"},
    {"← →", "change by one step while pointing"},
    {"Wheel", "changes the value after a click, or with Ctrl"},
    {"Double click", "lets you type a value; Enter confirms"},
    {"MASK STUDIO", ""},
    {"Drag with a tool", "paints; the arrow tool moves"},
    {"Wheel", "zooms all maps at once"},
    {"Drag a layer", "moves it; a click opens it"},
    {"Point at a cell", "shows which layers mask it"},
    {"MAP", ""},
    {"Wheel, + −", "zooms from the whole head to single cells"},
    {"Drag, arrows", "moves; Home shows the whole head"},
    {"Click", "marks a query and a key"},
    {"FILES", ""},
    {"Drop .json", "opens a scene"},
    {"Drop .safetensors", "loads weights; on Map, queries and keys"},
    {"Drop .npy .csv", "loads embeddings; on Mask, a mask"},
};

void keyLine(const View& view, const std::string& keys, const std::string& what) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = view.px(22), column = view.px(140);
  Canvas list = *ImGui::GetWindowDrawList();
  paintText(list, view.fonts->monoSmall, ImVec2(at.x, at.y + height / 2), view.theme->text, keys);
  paintFitted(view, list, view.fonts->small, ImVec2(at.x + column, at.y + height / 2),
              ImGui::GetContentRegionAvail().x - column, view.theme->secondary, what);
  ImGui::Dummy(ImVec2(1, height));
}

}  // namespace

/// Whether the action has a key and belongs to a visible page.
bool ShortcutSheet::isShown(const Action& action) const {
  return action.shortcut.key != Key::none &&
         std::find(pages_.begin(), pages_.end(), action.page) != pages_.end();
}

/// Returns the action that a key triggers while those pages are visible; null if none.
const Action* ShortcutSheet::acting(const KeyPress& press) const {
  const Action* found = nullptr;
  for (const std::string& page : pages_) {
    found = actions_.pressed(press, page, false, false);
    if (found && found->page == page) break;
  }
  return found;
}

void ShortcutSheet::draw(Scene&, View& view, bool) {
  if (beginDialog(view, "shortcuts", "Keyboard and mouse", 900, 740)) {
    const float half = ImGui::GetContentRegionAvail().x / 2 - view.px(10);
    ImGui::BeginChild("keys", ImVec2(half, 0), false, ImGuiWindowFlags_NoBackground);
    const auto line = [&](const Action& info) {
      keyLine(view, shortcutText(info.shortcut), info.name);
      trackItem("shortcut." + info.id);
    };
    bool any = false;
    for (const Action& info : actions_.all()) {
      if (!isShown(info) || acting(info.shortcut) != &info) continue;
      if (!any) sectionTitle(view, "ON THIS PAGE");
      any = true;
      line(info);
    }
    if (any) gap(view, 6);
    if (any) sectionTitle(view, "EVERYWHERE AND ON OTHER PAGES");
    std::string section;
    for (const Action& info : actions_.all()) {
      if (info.shortcut.key == Key::none || isShown(info)) continue;
      if (info.page.empty() && acting(info.shortcut) != &info) continue;
      if (section != info.section) {
        if (!section.empty()) gap(view, 5);
        section = info.section;
      }
      line(info);
    }
    compat::endChild();
    ImGui::SameLine(0, view.px(20));
    ImGui::BeginChild("mouse", ImVec2(half, 0), false, ImGuiWindowFlags_NoBackground);
    for (const MouseLine& line : kMouse) {
      if (*line.does) {
        keyLine(view, line.keys, line.does);
        continue;
      }
      if (&line != kMouse) gap(view, 6);
      sectionTitle(view, line.keys);
    }
    compat::endChild();
  }
  endDialog();
}

namespace {

/// The smallest difference at which colours can be told apart at a glance, not only side by side.
constexpr float kToldApart = 10;

/// Whether the search text matches the words.
bool found(const std::string& wanted, const char* words) {
  Action named;
  named.name = words;
  return wanted.empty() || named.matches(wanted) > 0;
}

/// Shows one kind of colour vision: the three colours, the colormap, and whether they can be told apart.
void visionLine(const View& view, ColourVision vision, render::Colormap colormap) {
  const Theme& theme = *view.theme;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(30), y = at.y + height / 2;
  const Canvas list = *ImGui::GetWindowDrawList();
  paintText(list, view.fonts->text, ImVec2(at.x, y), theme.secondary,
            std::string(kColourVisionNames[static_cast<std::size_t>(vision)]));
  const std::vector<render::Color> meaning{unpacked(theme.query), unpacked(theme.key), unpacked(theme.value)};
  float x = at.x + view.px(130);
  for (const render::Color& color : meaning) {
    list.AddRectFilled(ImVec2(x, y - view.px(8)), ImVec2(x + view.px(26), y + view.px(8)),
                       packed(seenBy(vision, color)), view.px(3));
    x += view.px(30);
  }
  x += view.px(10);
  constexpr int kParts = 40;
  const float wide = view.px(160) / kParts;
  for (int i = 0; i < kParts; ++i)
    list.AddRectFilled(
        ImVec2(x + wide * static_cast<float>(i), y - view.px(8)),
        ImVec2(x + wide * static_cast<float>(i + 1), y + view.px(8)),
        packed(seenBy(vision, render::sample(colormap, (static_cast<float>(i) + 0.5f) / kParts))));
  x += view.px(172);
  const bool marks = leastDifference(vision, meaning) >= kToldApart,
             map = leastStep(vision, colormap) >= kToldApart;
  const char* verdict = marks && map ? "all distinguishable"
                        : marks      ? "two values of the colormap look alike"
                        : map        ? "two colours look alike; only their positions tell them apart"
                                     : "marks and values look alike";
  paintFitted(view, list, view.fonts->text, ImVec2(x, y), at.x + width - x,
              marks && map ? theme.text : theme.warning, verdict);
  track(fmt::format("vision.{}", static_cast<int>(vision)), at, ImVec2(at.x + width, at.y + height));
  ImGui::Dummy(ImVec2(width, height));
}

}  // namespace

bool SettingsDialog::isWanted(const PreferenceRow& row) const {
  return found(wanted_, row.label) || found(wanted_, row.help) || found(wanted_, row.words);
}

/// Requests each change as an action, the same ones that the action list has.
void SettingsDialog::row(View& view, const PreferenceRow& row) const {
  const std::string name = std::string("settings.") + row.key;
  const std::string keys = shortcutText(row.shortcut);
  const std::string help = row.help + (keys.empty() ? "" : " " + keys + ".");
  if (const auto* on = std::get_if<SwitchSetting>(&row.kind)) {
    bool value = view.preferences.*on->value;
    if (toggle(view, name, row.label, value)) view.request(row.action);
  }
  const auto* choice = std::get_if<ChoiceSetting>(&row.kind);
  const auto* list = std::get_if<ListSetting>(&row.kind);
  if (choice || list) {
    std::vector<Choice> choices;
    if (choice) choices = {{choice->off, "", "off"}, {choice->on, "", "on"}};
    if (list)
      for (const ListSetting::Choice& each : list->choices) choices.push_back({each.label, "", each.key});
    int chosen = list ? view.preferences.*list->value : view.preferences.*choice->value ? 1 : 0;
    const int before = chosen;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    paintText(*ImGui::GetWindowDrawList(), view.fonts->text, ImVec2(at.x, at.y + view.px(12)),
              view.theme->text, row.label);
    gap(view, 24);
    if (segmented(view, name, choices, chosen) && chosen != before)
      view.request(list ? row.action + std::string(".") + list->choices[static_cast<std::size_t>(chosen)].key
                        : row.action);
  }
  if (std::holds_alternative<FactorSetting>(row.kind)) {
    const std::string id = row.action;
    const float y = ImGui::GetCursorScreenPos().y + view.px(14), x = ImGui::GetCursorScreenPos().x;
    const float right = x + ImGui::GetContentRegionAvail().x;
    paintText(*ImGui::GetWindowDrawList(), view.fonts->text, ImVec2(x, y), view.theme->text,
              std::string(row.label) + "  " + settingText(row, view.preferences));
    ImGui::SetCursorScreenPos(ImVec2(right - view.px(200), y - view.px(14)));
    if (button(view, name + ".smaller", "Smaller")) view.request(id + ".smaller");
    ImGui::SameLine(0, view.px(6));
    if (button(view, name + ".larger", "Larger")) view.request(id + ".larger");
    ImGui::SameLine(0, view.px(6));
    if (button(view, name + ".normal", "100 %")) view.request(id + ".normal");
  }
  hint(view, help);
  gap(view, 4);
}

void SettingsDialog::draw(Scene& scene, View& view, bool opening) {
  if (beginDialog(view, "settings", "Settings", 640, 620)) {
    lineBox(view, "settings.search", wanted_, ImGui::GetContentRegionAvail().x, opening,
            "Search the settings");
    gap(view, 8);
    ImGui::BeginChild("rows", ImVec2(0, 0), false, ImGuiWindowFlags_NoBackground);
    bool any = false;
    for (const PreferenceRow& each : preferenceRows())
      if (isWanted(each)) {
        row(view, each);
        any = true;
      }
    constexpr const char* kVision =
        "Colormap and colour vision, colours colour-blind blind contrast safe check heatmap";
    if (found(wanted_, kVision)) {
      any = true;
      const Field& field = fieldAt("look.colormap");
      std::vector<Choice> choices;
      for (const std::string_view label : std::get<Selection>(field.control).labels)
        choices.push_back({std::string(label), "", std::string(label)});
      int chosen = chosenIn(field, scene);
      sectionTitle(view, "COLORMAP AND COLOUR VISION");
      if (dropdown(view, "settings.colormap", choices, chosen, view.px(180)))
        view.request("set.look.colormap." + choiceName(field, static_cast<std::size_t>(chosen)));
      hint(view,
           "Query, key and value colours and this scene's colormap, as people with colour-vision "
           "deficiencies see them. The next window starts with this colormap.");
      for (const ColourVision vision :
           {ColourVision::normal, ColourVision::protanopia, ColourVision::deuteranopia,
            ColourVision::tritanopia, ColourVision::greyscale})
        visionLine(view, vision, scene.look.colormap);
    }
    if (!any) hint(view, "No setting matches “" + wanted_ + "”. Ctrl+K finds everything else.");
    compat::endChild();
  }
  endDialog();
}

}  // namespace headscope::app
