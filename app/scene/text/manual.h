#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"

namespace headscope::app {

/// A chapter of the manual: a Markdown file of assets/manual/.
struct Chapter {
  std::string key;  ///< its file's name without the extension; a page's chapter has the page's key
  std::string title;
  std::string text;  ///< Markdown
};

/// Reads all chapters in reading order. Returns an Error if a file is missing.
attention::Result<std::vector<Chapter>> readManual();

/// Finds a chapter by its key or title, in any case; null if there is none.
const Chapter* findChapter(const std::vector<Chapter>& manual, std::string_view topic);

/// Returns the Markdown with every table between `<!-- table: NAME -->` and `<!-- end -->` replaced by
/// table(NAME). Returns an Error if a table has no end.
attention::Result<std::string> withTables(std::string_view text,
                                          const std::function<std::string(std::string_view)>& table);

}  // namespace headscope::app
