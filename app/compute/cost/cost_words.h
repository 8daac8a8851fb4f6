#pragma once

#include <string>
#include <vector>

#include "app/compute/cost/cost_figures.h"

namespace headscope::app {

// What the cost page says of its figures: in the window and in pictures.

/// One factor of the product that makes the bytes: its number, what it is, and where it comes from.
struct CostFactor {
  enum class Turns { nothing, format, tokens, batch };
  std::string name, value, label, help;
  Turns turns = Turns::nothing;  ///< what of the request it is
  bool perToken = true;          ///< belongs under the first bracket
};
std::vector<CostFactor> costFactors(const CostFigures& figures);

/// Three digits, or all of a whole number: "0.482", "1,978".
std::string threeDigits(double value);
/// "18.95 ms", "1,240 s".
std::string secondsText(double seconds);
/// "RTX 4090, 24 GB"; "H100 80 GB" where the name says how much it has.
std::string machineText(const attention::Machine& machine, std::string_view between);
/// "2 B", "½ B".
std::string bytesOfOne(attention::NumberFormat format);

/// "KV cache of Llama-3.1-70B at 128 k tokens × batch 1".
std::string costSentence(const CostFigures& figures);
/// "GQA (8 kv heads for 64 heads) is ⅛ of MHA, which would need 320 GiB."
std::string costExplanation(const CostFigures& figures);
/// "Each of 2 GPUs holds 85.71 GiB".
std::string costHolds(const CostFigures& figures);
/// "½ of the weights, ½ of the kv heads; activations not counted".
std::string costShare(const CostFigures& figures);

}  // namespace headscope::app
