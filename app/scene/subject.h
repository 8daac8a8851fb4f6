#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::app {

using attention::Index;

struct OpenModel;

/// What stands in for a head that is switched off: nothing, or its mean over all tokens.
enum class HeadOff { zero, mean };

/// A head of a model that is switched off.
struct SwitchedHead {
  Index layer = 0, head = 0;
  HeadOff by = HeadOff::zero;
  bool operator==(const SwitchedHead&) const = default;
};

/// Which of a model's layers masks, biases, sharpness, soft-cap and dropout act on: all, or the one that is
/// looked at.
enum class EditScope { all, one };

/// What the scene's layer is: made here, or one of a model's. With a model the sizes in ModelSetup are the
/// model's, and its numbers of score terms act beside the model's own.
struct SubjectSetup {
  std::string model;  ///< the checkpoint's folder, or kLearned; empty: the layer is made here
  Index layer = 0;
  EditScope scope = EditScope::all;
  std::vector<SwitchedHead> switchedOff;
  std::vector<Index> written;  ///< ids that the model wrote behind the text

  std::shared_ptr<const OpenModel> opened;  ///< null where `model` is empty, or could not be opened:
  std::string problem;                      ///< why
  bool operator==(const SubjectSetup&) const = default;
};

/// What a scene calls the small model that comes with the program.
inline constexpr const char* kLearned = "learned";

}  // namespace headscope::app
