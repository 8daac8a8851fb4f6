#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/pages/head_lab/head_lab_state.h"

namespace headscope::app::head_lab_page {

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
  std::string title;
  std::vector<FilmBlock> blocks = {};
  std::string number = {}, hint = {};
  float width = 0;  ///< layout units
  bool broken =
      false;  ///< the first that can't be computed: `number` is the shape found, `hint` the expected
};

/// What the film shows: a head taken apart, or as much as there is of a layer that can't be computed.
struct FilmReel {
  attention::AttentionConfig config;
  Index queries = 0, keys = 0;              ///< 0: not known
  const StagePictures* pictures = nullptr;  ///< null, or empty ones: frames without a picture
  std::vector<attention::Token> tokens;     ///< [queries] the rows' names
  std::optional<Cell> cell;                 ///< whose row and column are marked
  std::vector<FilmFrame> frames;

  /// Null where there is none.
  const StagePicture* picture(Stage stage) const {
    const StagePicture* one = pictures ? &(*pictures)[static_cast<std::size_t>(stage)] : nullptr;
    return one && one->values.size() > 0 ? one : nullptr;
  }
};

/// Which stages a step reads. `biased`: something is added to the scores or caps them.
std::vector<Stage> operandsOf(Step step, bool biased);

/// What frames are laid out for. Sizes that aren't known are written as letters.
struct FilmSizes {
  const attention::AttentionConfig& config;
  Index queries = 0, keys = 0, head = 0;
  bool cross = false;
};
/// Gives the steps' frames their matrices. `frame.title` is set.
void layOut(std::vector<FilmFrame>& frames, const FilmSizes& sizes);

/// The frames of the head, with the numbers of the pointed-at cell and what the lit step reads.
FilmReel headReel(const Scene& scene, const State& page);
/// The same frames without numbers, of `snapshot`, which has none; `fault` may be null.
FilmReel emptyReel(const Snapshot& snapshot, const LayerFault* fault);

}  // namespace headscope::app::head_lab_page
