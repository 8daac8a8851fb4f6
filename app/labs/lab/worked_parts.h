#pragma once

#include <string>

#include "app/labs/lab/lab_page.h"

namespace headscope::app {

/// A worked-out number's headline: "formula = total", and below it how it comes about. Returns where it ends.
float paintSumTitle(const View& view, const ImRect& area, const std::string& formula, double total,
                    const std::string& how);

/// The chosen query's row through an elementwise step: numbers before and after, the latter as bars.
void rowTable(const Scene& scene, LabPage& page, const ImRect& area);

}  // namespace headscope::app
