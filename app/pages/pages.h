#pragma once

#include <span>

#include "app/pages/common/page.h"

namespace headscope::app {

/// Returns an Error if the scene's page is not in `rows`.
attention::Status checkPage(const Scene& scene, std::span<const PageRow> rows);

/// All pages in tab order. A new window opens the first.
std::span<const PageRow> pageTable();

}  // namespace headscope::app
