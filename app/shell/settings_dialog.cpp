#include "app/shell/settings_dialog.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/platform/track.h"
#include "app/scene/fields.h"
#include "app/scene/text/setting_text.h"
#include "app/widgets/colour_vision.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app {

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
  const char* verdict = marks && map ? "told apart"
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
