#pragma once

#include "app/compute/cost/cost_catalogue.h"
#include "app/compute/plots/plot_data.h"
#include "app/scene/scene.h"

namespace headscope::app {

/// Values of scene.cost.model for the synthetic layer's shape and for the opened model's.
inline constexpr const char* kThisLayer = "";
inline constexpr const char* kOpenedModel = "opened model";

/// Whether the shape is synthetic. Its context is then what the window can compute, not what it was trained
/// for.
bool isSynthetic(const attention::ModelShape& shape);
/// Returns the sizes of the synthetic layers as a model.
attention::ModelShape shapeOfLayer(const Setup& setup);

/// Returns an Error that lists the available machines unless the scene's is one of them.
attention::Status checkDevice(const CostSetup& cost, const CostCatalogue& catalogue);

/// Returns the shape on a scene's cost page. `config`: the shape read from scene.cost.config, if any. Returns
/// an Error if the name of the model or machine is unknown.
attention::Result<attention::ModelShape> costShape(const Scene& scene, const CostCatalogue& catalogue,
                                                   const std::optional<attention::ModelShape>& config);

/// Everything the cost page shows, computed from one request.
struct CostFigures {
  attention::ModelShape shape;
  attention::CostRequest request;  ///< its GPU count is one that the heads can be split over
  attention::Machine machine;
  attention::CacheCost cost;
  attention::ShapeParameters parameters;
  std::uint64_t mha = 0, mqa = 0;  ///< bytes of the cache with one kv head per head, and with one kv head
  std::optional<attention::Index> overtakesProjections, overtakesAll;        ///< in tokens, for causal pairs
  std::optional<attention::Index> overtakesProjectionsAll, overtakesAllAll;  ///< the same for n² pairs
  attention::PrefillWork prefill;
  attention::DecodeWork decode;
  std::vector<attention::LayerGroupCost> layers;  ///< what the layers of each kind hold
  attention::Serving serving;                     ///< whether it fits, and how long it takes at best
  double price = 0;                               ///< of a GPU-hour; 0 = unknown

  bool tooLarge() const { return cost.total >= attention::kTooManyBytes; }
  /// Returns the bytes on one GPU: weights, cache in whole pages, and activations.
  double gpuBytes() const { return serving.memory.needed(); }
  bool fits() const { return !tooLarge() && serving.memory.fits(); }
};
CostFigures costFigures(const CostSetup& setup, const attention::ModelShape& shape,
                        const CostCatalogue& catalogue);

/// One number of GPUs to spread a model over, and the smallest machine that holds it.
struct GpuChoice {
  attention::Index gpus = 1;
  std::string reason;  ///< why it is impossible; "" = it is possible
  attention::GpuMemory memory;
  attention::Index copies = 1;   ///< number of GPUs that hold each kv head, or the latent
  std::optional<double> fitsGb;  ///< the smallest memory that holds its share; null if none does
};
inline constexpr std::array<attention::Index, 5> kGpuCounts{1, 2, 4, 8, 16};
std::array<GpuChoice, 5> gpuChoices(const CostFigures& figures, const CostCatalogue& catalogue);

/// Returns a scene's request, for a number of GPUs that the heads can be split over.
attention::CostRequest costRequest(const CostSetup& setup, const attention::ModelShape& shape);

/// Returns "MHA", "GQA" or "MQA".
const char* kindName(attention::Index heads, attention::Index kvHeads);
/// Returns that name for a model, "MLA", or "recurrent" if no layer attends.
const char* attentionKind(const attention::ModelShape& shape);

/// A plot of the cost page with its texts: the finding as a title, the unit, and notes on what is counted.
struct CostPlot {
  std::string title, unit;
  Plot plot;
  std::vector<std::string> notes;
};

/// Bytes of the cache, or of n² matrices, by tokens, as the scene says.
CostPlot memoryPlot(const CostSetup& setup, const CostFigures& figures, const CostCatalogue& catalogue);
/// Operations of a prefill or of a decode step, by tokens.
CostPlot workPlot(const CostSetup& setup, const CostFigures& figures);
/// Operations per second by operations per byte: prefill and decode on the machine's roofline (Williams et
/// al. 2009).
CostPlot rooflinePlot(const CostFigures& figures);

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

// The terms of a figure on the cost page, with their numbers, shown when the pointer is on it.

/// "327,680 B per token × 131,072 tokens × batch 1 = 40 GiB".
std::string cacheTerms(const CostFigures& figures);
/// "8,192 blocks of 16 tokens for each of 1 sequence: 40 GiB, 0 B of it empty".
std::string reservedTerms(const CostFigures& figures);
/// "70,553,706,496 parameters in bf16, 16 bits each = 131.4 GiB, estimated from the sizes; over 2 GPUs 65.71
/// GiB each".
std::string weightsTerms(const CostFigures& figures);
/// "4 of 8 kv heads on each of 2 GPUs: 20 GiB in whole pages".
std::string cachePerGpuTerms(const CostFigures& figures);
/// "8,192 tokens at once × 50,176 numbers × 2 B + 1 MiB of logits = 785 MiB. …"
std::string activationTerms(const CostFigures& figures);
/// "65.71 GiB of weights + 20 GiB of cache + 785 MiB of activations = 86.48 GiB, of … that are usable".
std::string holdsTerms(const attention::GpuMemory& memory);
/// How operations of latent attention are counted: "Decode is counted absorbed (DeepSeek-V2, 2.1.2): …".
std::string latentTerms(const attention::ModelShape& shape);
/// "A decode step reads 131.3 GiB of weights and 40 GiB of cache: ÷ 9.6 TB/s = 19.2 ms. …"
std::string timeTerms(const CostFigures& figures);

}  // namespace headscope::app
