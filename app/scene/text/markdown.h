#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/scene/text/rich_text.h"

namespace headscope::app {

/// A part of a Markdown text that is set below the one before.
struct MarkdownBlock {
  enum class Kind { heading, paragraph, item, code, row };
  Kind kind = Kind::paragraph;
  int level = 0;                             ///< of a heading from 1; of an item how deep it is, from 1
  std::vector<RichSpan> spans;               ///< of all but code and rows
  std::string text;                          ///< of code; of a heading its words
  std::vector<std::vector<RichSpan>> cells;  ///< of a row
  int table = -1;                            ///< of a row: which table of the text it belongs to
};

/// CommonMark with tables. Pictures and HTML are left out, emphasis is bold.
std::vector<MarkdownBlock> parseMarkdown(std::string_view text);

/// How GitHub names the place of a heading in addresses: "What models cost" is "what-models-cost".
std::string anchorOf(std::string_view heading);

}  // namespace headscope::app
