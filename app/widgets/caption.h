#pragma once

#include <cstdint>
#include <string>

namespace headscope::app {

/// Some words of a sentence, in a colour that means something.
struct CaptionPart {
  std::string text;
  std::uint32_t color;
  bool atEnd = false;  ///< at the right end of the line: "4 of 12"
};

}  // namespace headscope::app
