#pragma once

#include "app/scene/recovery_store.h"

namespace headscope::app {

/// The text of a recovery file, as RecoveryStore describes it.
std::string formatRecovery(const std::vector<KeptScene>& scenes, RecoveryStore::Clock::time_point now);
/// Reads such a text into `recovery`, within the limits of scenes. Returns an Error for anything else.
attention::Status parseRecovery(std::string_view text, Recovery& recovery);

}  // namespace headscope::app
