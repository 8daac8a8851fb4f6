#pragma once

#include <string>
#include <vector>

#include "app/compute/model/text_study.h"

namespace headscope::app {

/// A study of many texts: what was studied, and each text's numbers in the file's order.
struct StudyReport {
  std::string model;
  std::string piece;  ///< the piece that was patched
  Index layers = 0, heads = 0;
  std::vector<StudiedHeads> texts;
};

/// One text as a line of JSON, without a line break.
std::string textLine(const StudyReport& report, const StudiedHeads& text);
/// Writes everything in the format of the file's extension: .csv with a row for every text and head, .npz
/// with arrays [texts, layers, heads], otherwise JSON with the heads' means, spreads and every text. Returns
/// an Error if writing fails.
attention::Status writeStudy(const std::string& path, const StudyReport& report);
/// Returns an Error unless the extension is .json, .csv or .npz.
attention::Status checkStudyFile(const std::string& path);

}  // namespace headscope::app
