#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/scene/text/rich_text.h"

namespace headscope::app {

/// A block of a Markdown text, set below the one before.
struct MarkdownBlock {
  enum class Kind { heading, paragraph, item, code, row };
  Kind kind = Kind::paragraph;
  int level = 0;                             ///< of a heading, from 1; of an item, its depth from 1
  std::vector<RichSpan> spans;               ///< except in code and rows
  std::string text;                          ///< of code; of a heading, its words
  std::vector<std::vector<RichSpan>> cells;  ///< of a row
  int table = -1;                            ///< of a row: the index of its table in the text
};

/// Parses CommonMark with tables. Leaves out pictures and HTML; emphasis becomes bold.
std::vector<MarkdownBlock> parseMarkdown(std::string_view text);

/// Returns the anchor that GitHub gives a heading: "What models cost" is "what-models-cost".
std::string anchorOf(std::string_view heading);

}  // namespace headscope::app
