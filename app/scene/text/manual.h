#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"

namespace headscope::app {

/// A chapter of the manual: a Markdown file of assets/manual/.
struct Chapter {
  std::string key;  ///< its file's name without the ending; a page's chapter has the page's key
  std::string title;
  std::string text;  ///< Markdown
};

/// All chapters in reading order. An error names a file that is missing.
attention::Result<std::vector<Chapter>> readManual();

/// The chapter that is called so, by its key or its title in any case; null if there is none.
const Chapter* findChapter(const std::vector<Chapter>& manual, std::string_view topic);

/// Markdown in which every table between `<!-- table: NAME -->` and `<!-- end -->` is the one that `table`
/// gives for NAME. An error names a table that doesn't end.
attention::Result<std::string> withTables(std::string_view text,
                                          const std::function<std::string(std::string_view)>& table);

}  // namespace headscope::app
