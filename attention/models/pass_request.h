#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "attention/masks/program.h"
#include "attention/models/pass_result.h"
#include "attention/models/patch.h"

namespace headscope::attention {

enum class LogitRows { none, last, all };

/// What a pass computes and keeps, and the user's changes to it.
struct PassRequest {
  std::optional<std::vector<Index>> layers;  ///< layers whose results are kept; nothing: all
  std::optional<std::vector<Index>> heads;   ///< heads whose weights are kept in these layers; nothing: all
  bool weights = true;
  bool projections = false;  ///< q, k, v and the heads' outputs
  bool input = false;        ///< the input of the inspected attention
  bool hidden = false, between = false, mlp = false;
  LogitRows logits = LogitRows::last;
  std::optional<Index> logitRow = {};  ///< for LogitRows::last: use this row of the pass instead
  /// Number of layers to compute; nothing: all. With fewer there are no logits, and the tokens aren't kept.
  std::optional<Index> depth = {};

  std::vector<AttentionEdit> edits;
  std::vector<Patch> patches;  ///< in every run
  /// Runs the text several times at once, each with these patches after those above; every result [n, …]
  /// becomes [runs · n, …], run by run. Needs the whole text in one pass, and doesn't keep it. Empty: one
  /// run, which is kept.
  std::vector<std::vector<Patch>> runs;
  /// The result of the same pass without `runs`, hidden states included. Layers before the first patch are
  /// then neither recomputed nor reported. Null: all layers are computed.
  std::shared_ptr<const PassResult> own = nullptr;
  /// For masks that need them: the structure of the whole text, its number of unpadded tokens (nothing: all),
  /// and its index in a batch.
  std::optional<TextStructure> structure;
  std::optional<Index> unpadded = {};
  Index sequence = 0;
  MaskSources sources;  ///< for masks that name paintings or files

  /// For a decoder that reads an encoder: the encoder's output for the other text [m, modelDim], final norm
  /// included (encoded()). Required in the first pass of a text, optional in later ones.
  std::shared_ptr<const Matrix> memory = nullptr;

  /// Called with every layer as soon as it is computed, first to last, on the calling thread.
  std::function<void(const std::shared_ptr<const LayerResult>&)> onLayer;
};

}  // namespace headscope::attention
