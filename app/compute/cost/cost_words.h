#pragma once

#include <string>
#include <vector>

#include "app/compute/cost/cost_figures.h"

namespace headscope::app {

// The texts of the cost page about its figures, in the window and in pictures.

/// One factor of the product that gives the cache's bytes.
struct CostFactor {
  enum class Turns { nothing, format, tokens, batch };
  std::string name, value, label, help;
  Turns turns = Turns::nothing;  ///< the part of the request that it changes
  bool perToken = true;          ///< whether it belongs under the first bracket
};
std::vector<CostFactor> costFactors(const CostFigures& figures);

/// One line on what the layers of one kind hold: "36 of 48 layers keep a chunk".
struct CostLayers {
  attention::CacheKind kind;
  std::string words, product, bytes;
  std::string help;  ///< a sentence on what such a layer keeps
};
/// Empty if all layers hold the same; costFactors() then describes them.
std::vector<CostLayers> costLayers(const CostFigures& figures);

/// Returns the kind of each layer, in the model's order if it is known.
std::vector<attention::CacheKind> layerKinds(const CostFigures& figures);

/// Formats three digits, or all digits of a whole number: "0.482", "1,978".
std::string threeDigits(double value);
/// "18.95 ms", "1,240 s".
std::string secondsText(double seconds);
/// "RTX 4090, 24 GB"; "H100 80 GB" if the name includes the memory. `between` separates the two.
std::string machineText(const attention::Machine& machine, std::string_view between);
/// Returns what latent attention stores per token and layer: "512 + 64", and the key of a sparse-attention
/// index if there is one.
std::string latentNumbers(const attention::ModelShape& shape);
/// "2 B", "½ B".
std::string bytesOfOne(attention::NumberFormat format);

/// Returns whether it fits: "Fits, 31.4 GiB free", "12.3 GiB too large".
std::string verdictText(const CostFigures& figures);
/// Returns the hardware and the limits: "on each of 2 × H200; longest context 336,123, largest batch 2".
std::string verdictReason(const CostFigures& figures);
/// Returns the total decode speed, "52.8 tokens/s", or an encoder's time, "18 ms a pass".
std::string speedText(const CostFigures& figures);
/// "at most, 52.8 for each user; first token after 10.2 s; bound by reading weights".
std::string speedReason(const CostFigures& figures);
/// Returns one line on what isn't counted as the model has it: "Model_type "foo" is not known: … ."; "" if
/// there is nothing to note.
std::string costNotes(const CostFigures& figures);

/// "KV cache of Llama-3.1-70B at 128 k tokens × batch 1".
std::string costSentence(const CostFigures& figures);
/// Returns "GQA (8 kv heads for 64 heads) is ⅛ of MHA, which would need 320 GiB.", followed by ever shorter
/// versions, the last one empty, for smaller spaces.
std::vector<std::string> costExplanations(const CostFigures& figures);
/// "Each of 2 GPUs holds 85.71 GiB".
std::string costHolds(const CostFigures& figures);
/// "½ of the weights, ½ of the kv heads in whole pages, activations".
std::string costShare(const CostFigures& figures);

}  // namespace headscope::app
