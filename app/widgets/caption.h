#pragma once

#include <cstdint>
#include <string>

namespace headscope::app {

/// A part of a sentence, in a meaningful colour.
struct CaptionPart {
  std::string text;
  std::uint32_t color;
  bool atEnd = false;  ///< right-aligned, such as "4 of 12"
};

}  // namespace headscope::app
