#pragma once

#include <span>

#include "app/labs/common/lab.h"

namespace headscope::app {

/// Refuses a scene whose page is none of `labs`.
attention::Status checkPage(const Scene& scene, std::span<const LabRow> labs);

/// All pages, in the order of their tabs. The first is where a window begins.
std::span<const LabRow> labTable();

}  // namespace headscope::app
