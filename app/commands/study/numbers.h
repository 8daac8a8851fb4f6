#pragma once

#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "app/compute/model/text_study.h"

namespace headscope::app {

// The numbers that a study writes beside a head's columns, and what each is.

inline constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

/// A text's numbers that aren't per head.
template <typename Text>
auto numbersOf(Text& text) {
  return std::array{std::pair("logit_difference", &text.difference),
                    std::pair("other_logit_difference", &text.otherDifference),
                    std::pair("answer_log_probability", &text.logProbability),
                    std::pair("other_answer_log_probability", &text.otherLogProbability)};
}

/// The largest weights of a text, with their places.
std::array<std::pair<const char*, attention::Matrix>, 3> strongestOf(const StudiedHeads& text);
/// The standard deviation with ÷ (N − 1), not ÷ N; NaN for one text.
attention::Matrix sampleDeviation(const HeadColumn& column);
/// The definition of each number, by its name in the file; `piece` is patched, and values' `biases` are
/// "folded" or "heads".
std::vector<std::pair<std::string, std::string>> definitionsOf(const std::string& piece,
                                                               const std::string& biases);

}  // namespace headscope::app
