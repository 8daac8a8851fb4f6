#pragma once

#include "app/commands/study/progress.h"

namespace headscope::app {

/// What is studied.
struct StudyReport {
  std::string model;
  std::string piece;  ///< the piece that is patched
  Index layers = 0, heads = 0;
};

/// One text as a line of JSON, without a line break.
std::string textLine(const StudyReport& report, const StudiedHeads& text);
/// Writes the finished texts in the format of the file's extension: .csv with a row for every text and head,
/// .npz with arrays [texts, layers, heads], otherwise JSON with the heads' means, spreads and every text. A
/// patch that isn't per head has rows of its own in .csv, and its own shape in .npz. Returns an Error if
/// writing fails.
attention::Status writeStudy(const std::string& path, const StudyReport& report,
                             const StudyProgress& progress);
/// Returns an Error unless the extension is .json, .csv or .npz.
attention::Status checkStudyFile(const std::string& path);

}  // namespace headscope::app
