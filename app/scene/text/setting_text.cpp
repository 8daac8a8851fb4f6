#include "app/scene/text/setting_text.h"

namespace headscope::app {

NumberStyle numberStyleOf(const Preferences& preferences) {
  static const NumberStyle kSystem = systemNumberStyle();
  return preferences.numbers == 0 ? kSystem : static_cast<NumberStyle>(preferences.numbers - 1);
}

std::string settingText(const PreferenceRow& row, const Preferences& preferences) {
  if (const auto* on = std::get_if<SwitchSetting>(&row.kind)) return preferences.*on->value ? "on" : "off";
  if (const auto* choice = std::get_if<ChoiceSetting>(&row.kind))
    return preferences.*choice->value ? choice->on : choice->off;
  if (const auto* list = std::get_if<ListSetting>(&row.kind))
    return list->choices[preferences.*list->value].label;
  return roundedText(100 * preferences.*std::get<FactorSetting>(row.kind).value) + " %";
}

}  // namespace headscope::app
