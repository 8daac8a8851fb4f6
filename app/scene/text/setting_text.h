#pragma once

#include <string>

#include "app/platform/preferences.h"
#include "app/scene/text/number_text.h"

namespace headscope::app {

/// The style that `numbers` selects; the system's by default.
NumberStyle numberStyleOf(const Preferences& preferences);
/// The row's value: "on", "Dark", "112.5 %".
std::string settingText(const PreferenceRow& row, const Preferences& preferences);

}  // namespace headscope::app
