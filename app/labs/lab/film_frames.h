#pragma once

#include <string>
#include <vector>

#include "app/labs/lab/lab_page.h"

namespace headscope::app {

/// One matrix of a frame.
struct FilmBlock {
  Stage stage;
  Ink ink;
  std::string name, shape;
  float width;                            ///< layout units
  Index slices = 1;                       ///< heads that lie side by side
  Index lit = -1;                         ///< the slice that is the chosen head's
  bool used = false;                      ///< by the lit step
  bool ofKeys = false, ofQueries = true;  ///< whose row is marked
};

struct FilmFrame {
  Step step;
  std::vector<FilmBlock> blocks;
  std::string number, hint;
  float width = 0;  ///< layout units
};

/// Which stages a step reads. `biased`: something is added to the scores or caps them.
std::vector<Stage> operandsOf(Step step, bool biased);
/// The frames of all steps, with the numbers of `cell` and what the step `shown` reads.
std::vector<FilmFrame> framesOf(const LabPage& page, Step shown, const Cell& cell);

}  // namespace headscope::app
