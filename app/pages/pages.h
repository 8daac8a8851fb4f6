#pragma once

#include <span>

#include "app/pages/common/page.h"

namespace headscope::app {

/// Refuses a scene whose page is none of `rows`.
attention::Status checkPage(const Scene& scene, std::span<const PageRow> rows);

/// All pages, in the order of their tabs. The first is where a window begins.
std::span<const PageRow> pageTable();

}  // namespace headscope::app
