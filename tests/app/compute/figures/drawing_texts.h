#pragma once

#include <string>
#include <variant>
#include <vector>

#include "app/compute/figures/drawing.h"

namespace headscope::test {

/// The lines of text in a drawing, in order.
inline std::vector<std::string> textsOf(const app::Drawing& drawing) {
  std::vector<std::string> texts;
  for (const app::Shape& shape : drawing.shapes)
    if (const auto* text = std::get_if<app::TextRun>(&shape)) texts.push_back(text->text);
  return texts;
}

}  // namespace headscope::test
