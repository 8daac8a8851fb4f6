#pragma once

#include <string>

#include "app/platform/preferences.h"
#include "app/scene/text/number_text.h"

namespace headscope::app {

/// What `numbers` asks for; as the system writes them by default.
NumberStyle numberStyleOf(const Preferences& preferences);
/// "on", "Dark", "112.5 %": what the row has.
std::string settingText(const PreferenceRow& row, const Preferences& preferences);

}  // namespace headscope::app
