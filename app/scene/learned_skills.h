#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::app {

/// Something that a model was measured to have learned, as the scores.json of its folder says.
struct LearnedSkill {
  std::string title, text;                      ///< "Who got it", and a text that shows it
  std::optional<attention::Index> right, of;    ///< held-out sentences that it goes on with rightly
  std::optional<attention::Index> layer, head;  ///< the head that does most of it
  std::optional<float> score;                   ///< that head's mean weight where it should look
};

/// The skills of a model's folder; none where it has no scores.json, or one that can't be read.
std::vector<LearnedSkill> readLearnedSkills(const std::filesystem::path& folder);

}  // namespace headscope::app
