#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "app/platform/recent_files.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// Units that an offer below the page is high.
inline constexpr float kOfferHeight = 48;

/// Once, below the living opening scene: eight heads read one sentence, and a lesson says how.
void lessonOffer(View& view, const ImRect& area);
/// There, too: what was opened before, as much as there is room for. What was clicked: one of `files`, or
/// files.size() for none of them.
std::optional<std::size_t> recentOffer(View& view, const ImRect& area, std::span<const RecentFile> files);

}  // namespace headscope::app
