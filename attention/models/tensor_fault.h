#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "attention/models/model.h"

namespace headscope::attention {

/// The parts of a model that a pass used.
struct PassParts {
  bool embedding = true;  ///< tables of tokens, positions and types, and their norm
  Index layers = 0;       ///< number of layers, from the first on
  bool head = false;      ///< the final norm and the map to the vocabulary
};

/// The first NaN or infinite number in a checkpoint.
struct TensorFault {
  std::string tensor;     ///< name in the file
  std::string value, at;  ///< "NaN", "infinite", "-infinite" or "beyond 3.4·10³⁸"; indices such as "[2, 5]"
  Index layer = -1;       ///< the tensor's layer; −1: none
};

/// Checks every number of these parts, in the order in which a pass reads them and by tensor name within a
/// part. Returns nothing if all are finite, or once `stop` is requested.
std::optional<TensorFault> findTensorFault(const Model& model, const PassParts& parts,
                                           const std::stop_token& stop = {});

}  // namespace headscope::attention
