#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/compute/model/texts_run.h"

namespace headscope::app::model_page {

/// State of the view of many texts.
struct StudyState {
  bool shown = false;  ///< the view is on screen
  TextsRun::Progress progress;
  std::shared_ptr<const TextFile> file;  ///< null before one is opened
  std::string name;                      ///< CompareSetup::texts of `file`, or of the one being read
  bool begins = false;                   ///< the run over the file starts when the view is next shown
  std::string problem;                   ///< why the file can't be read
  bool stale = false;                    ///< the model has changed since the results were computed

  std::size_t first = 0;  ///< the table's top row

  /// The key of `texts`: the texts with the chosen head's largest values in a column.
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
