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

/// What the layers of one kind hold, as a line: "36 of 48 layers keep the tokens of a chunk of 8,192".
struct CostLayers {
  attention::CacheKind kind;
  std::string words, product, bytes;
  std::string help;  ///< what such a layer keeps, in a sentence
};
/// Empty where all layers hold the same, which costFactors() says.
std::vector<CostLayers> costLayers(const CostFigures& figures);

/// Of each layer, in the model's order where it is known.
std::vector<attention::CacheKind> layerKinds(const CostFigures& figures);

/// Three digits, or all of a whole number: "0.482", "1,978".
std::string threeDigits(double value);
/// "18.95 ms", "1,240 s".
std::string secondsText(double seconds);
/// "RTX 4090, 24 GB"; "H100 80 GB" where the name says how much it has.
std::string machineText(const attention::Machine& machine, std::string_view between);
/// What latent attention keeps of a token in a layer: "512 + 64", and the key of a sparse-attention index.
std::string latentNumbers(const attention::ModelShape& shape);
/// "2 B", "½ B".
std::string bytesOfOne(attention::NumberFormat format);

/// Whether it fits: "Fits, 31.4 GiB free", "12.3 GiB too large".
std::string verdictText(const CostFigures& figures);
/// How far it goes, and on what: "longest context 336,123, largest batch 2, on each of 2 × H200 141 GB, 90 %
/// usable".
std::string verdictReason(const CostFigures& figures);
/// Of decoding in all: "52.8 tokens/s"; of an encoder "18 ms a pass".
std::string speedText(const CostFigures& figures);
/// "at most; 52.8 for one user; waits for weights; first token after 10.2 s".
std::string speedReason(const CostFigures& figures);
/// What isn't counted as the model has it, in one line: "model_type "foo" is not known: …"; "" where all is.
std::string costNotes(const CostFigures& figures);

/// "KV cache of Llama-3.1-70B at 128 k tokens × batch 1".
std::string costSentence(const CostFigures& figures);
/// "GQA (8 kv heads for 64 heads) is ⅛ of MHA, which would need 320 GiB.", then the same in fewer and fewer
/// words, in the end none, for where there is less room.
std::vector<std::string> costExplanations(const CostFigures& figures);
/// "Each of 2 GPUs holds 85.71 GiB".
std::string costHolds(const CostFigures& figures);
/// "½ of the weights, ½ of the kv heads, in whole pages".
std::string costShare(const CostFigures& figures);

}  // namespace headscope::app
