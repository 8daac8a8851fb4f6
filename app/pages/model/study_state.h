#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/compute/model/texts_run.h"

namespace headscope::app::model_page {

/// What the view of many texts shows, and as what.
struct StudyState {
  bool shown = false;  ///< the view of many texts is on screen
  TextsRun::Progress progress;
  std::shared_ptr<const TextFile> file;  ///< null before one was opened
  std::string name;                      ///< of the file, as the scene has it
  bool begins = false;                   ///< the file is to be studied
  std::string problem;                   ///< why it could not be read
  bool stale = false;                    ///< what is shown is of a model that was changed since

  std::size_t first = 0;  ///< the table's row at the top

  /// The texts in which the chosen head's number is largest, and what they were found for.
  struct Found {
    std::shared_ptr<const TextsStudy> study;
    std::string column;
    std::pair<Index, Index> head{-1, -1};
    bool operator==(const Found&) const = default;
  };
  Found found;
  std::vector<TextOfHead> texts;
};

}  // namespace headscope::app::model_page
