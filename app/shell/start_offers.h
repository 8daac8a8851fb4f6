#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "app/platform/recent_files.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// The height of an offer below the page, in layout units.
inline constexpr float kOfferHeight = 48;

/// Offers the first lesson, once, below the opening scene.
void lessonOffer(View& view, const ImRect& area);
/// Offers recent files in the same place, as many as fit. Returns the index of the clicked file, or
/// files.size() if the offer was declined.
std::optional<std::size_t> recentOffer(View& view, const ImRect& area, std::span<const RecentFile> files);

}  // namespace headscope::app
