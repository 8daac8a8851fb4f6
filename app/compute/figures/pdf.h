#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/compute/figures/drawing.h"

namespace headscope::app {

/// A PDF with a page for each drawing, which fills it: width × height points (1/72 inch). Lines stay lines,
/// and text stays text, with what its fonts need of it inside; matrices of many cells are images of `dpi`.
std::string pdfFile(const std::vector<Drawing>& pages, double width, double height, double dpi);

}  // namespace headscope::app
