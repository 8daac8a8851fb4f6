#pragma once

#include "app/commands/study/progress.h"

namespace headscope::app {

/// What is studied.
struct StudyReport {
  std::string model;
  std::string piece;   ///< the piece that is patched
  std::string biases;  ///< where values' biases count: "folded" or "heads"
  Index layers = 0, heads = 0;
};

/// A text's results as one line of JSON, without a line break. Numbers read back as the same float.
std::string textJson(const StudiedHeads& text, const std::string& piece);
/// The inverse. Throws if the line isn't such a text.
StudiedHeads studiedText(const std::string& line);
/// Writes the finished texts in the format of the file's extension: .csv with a row for every text and head,
/// .npz with arrays [texts, layers, heads], otherwise JSON with the heads' means, spreads and every text. A
/// patch that isn't per head has rows of its own in .csv, and its own shape in .npz. The definitions of all
/// numbers are in `definitions`, for .csv in FILE-metadata.json. Returns an Error if writing fails.
attention::Status writeStudy(const std::string& path, const StudyReport& report,
                             const StudyProgress& progress);
/// Returns an Error unless the extension is .json, .csv or .npz.
attention::Status checkStudyFile(const std::string& path);

}  // namespace headscope::app
