#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/compute/figures/drawing.h"

namespace headscope::app {

/// Returns a PDF with one page per drawing, filling width × height points (1/72 inch). Lines stay lines and
/// text stays text, with the needed parts of its fonts embedded; large matrices become images at `dpi`.
std::string pdfFile(const std::vector<Drawing>& pages, double width, double height, double dpi);

}  // namespace headscope::app
