#pragma once

#include <string>
#include <vector>

#include "app/compute/model/text_study.h"

namespace headscope::app {

/// A study of many texts: what was asked, and each text's numbers in the file's order.
struct StudyReport {
  std::string model;
  std::string piece;  ///< that was patched
  Index layers = 0, heads = 0;
  std::vector<StudiedHeads> texts;
};

/// One text as a line of JSON, without a line end.
std::string textLine(const StudyReport& report, const StudiedHeads& text);
/// Everything by the file's ending: .json with the heads' means and spreads and every text, .csv with a row
/// for every text and head, .npz with arrays [texts, layers, heads]. Errors: another ending, those of
/// writing.
attention::Status writeStudy(const std::string& path, const StudyReport& report);
/// Why no study can go to that file; success if it can.
attention::Status checkStudyFile(const std::string& path);

}  // namespace headscope::app
