#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/pages/head_lab/head_lab_state.h"

namespace headscope::app::head_lab_page {

/// A matrix of a frame.
struct FilmBlock {
  Stage stage;
  Ink ink;
  std::string name, shape;
  float width;                            ///< in layout units
  Index slices = 1;                       ///< heads side by side
  Index lit = -1;                         ///< the selected head's slice; −1 = none
  bool used = false;                      ///< by the selected step
  bool ofKeys = false, ofQueries = true;  ///< whose row is marked
};

struct FilmFrame {
  Step step;
  std::string title;
  std::vector<FilmBlock> blocks = {};
  std::string number = {}, hint = {};
  float width = 0;      ///< in layout units
  bool broken = false;  ///< first that can't be computed; `number` = shape found, `hint` = shape expected
};

/// The content of the film: a head in detail, or what is known of a layer that can't be computed.
struct FilmReel {
  attention::AttentionConfig config;
  Index queries = 0, keys = 0;              ///< 0 = not known
  const StagePictures* pictures = nullptr;  ///< null or empty: frames without pictures
  std::vector<attention::Token> tokens;     ///< [queries] names of the rows
  std::optional<Cell> cell;                 ///< whose row and column are marked
  std::vector<FilmFrame> frames;

  /// A stage's picture; null if there is none.
  const StagePicture* picture(Stage stage) const {
    const StagePicture* one = pictures ? &(*pictures)[static_cast<std::size_t>(stage)] : nullptr;
    return one && one->values.size() > 0 ? one : nullptr;
  }
};

/// The stages that a step reads. `biased`: something is added to the scores or caps them.
std::vector<Stage> operandsOf(Step step, bool biased);

/// The sizes for laying out frames. Unknown sizes are written as letters.
struct FilmSizes {
  const attention::AttentionConfig& config;
  Index queries = 0, keys = 0, head = 0;
  bool cross = false;
};
/// Sets the frames' matrices. `frame.title` must be set.
void layOut(std::vector<FilmFrame>& frames, const FilmSizes& sizes);

/// The head's frames, with the hovered cell's numbers and what the selected step reads.
FilmReel headReel(const Scene& scene, const State& page);
/// The same frames for a `snapshot` without numbers; `fault` may be null.
FilmReel emptyReel(const Snapshot& snapshot, const LayerFault* fault);

}  // namespace headscope::app::head_lab_page
