#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "attention/models/model.h"

namespace headscope::attention {

/// What of a model a pass went through.
struct PassParts {
  bool embedding = true;  ///< tables of tokens, positions and types, and their norm
  Index layers = 0;       ///< the first so many
  bool head = false;      ///< the final norm and the map to the vocabulary
};

/// The first number of a checkpoint that is NaN or infinite.
struct TensorFault {
  std::string tensor;     ///< as the file has it
  std::string value, at;  ///< "NaN", "infinite" or "-infinite"; "[2, 5]"
  Index layer = -1;       ///< that it belongs to; −1: to none
};

/// Looks through those parts in the order in which a pass reads them, within one in the order of names. Reads
/// every number of them. Nothing where all are finite, and once `stop` is requested.
std::optional<TensorFault> findTensorFault(const Model& model, const PassParts& parts,
                                           const std::stop_token& stop = {});

}  // namespace headscope::attention
