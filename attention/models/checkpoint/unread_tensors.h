#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/models/checkpoint/checkpoint.h"
#include "attention/models/config/model_config.h"

namespace headscope::attention {

/// Tensors that a file may have without changing what is computed.
struct UnreadTensors {
  /// The families whose files have them, with "#encoder" for the encoder of a pair; "": any family's.
  std::string_view families;
  std::string_view names;  ///< full names; a * stands for any text
  std::string_view why;    ///< what they are
  bool ofLayers = false;   ///< also in a layer; otherwise a layer's tensor isn't one of them
  bool causalMask = false;  ///< only if the shape is a causal mask's
};
std::span<const UnreadTensors> unreadTensors();

/// Returns notes, one sentence each, that name the tensors that aren't read. Returns an Error for one that
/// may change the result: a tensor of a layer, or of a head that `predicts`, that isn't among unreadTensors().
Result<std::vector<std::string>> checkUnread(const Checkpoint& checkpoint, const ModelConfig& config,
                                             const TensorNaming& naming, bool predicts,
                                             const std::function<bool(const TensorView&)>& isRead);

}  // namespace headscope::attention
