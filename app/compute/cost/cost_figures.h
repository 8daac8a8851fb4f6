#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "app/compute/cost/cost_catalogue.h"
#include "app/scene/scene.h"
#include "attention/cache/serving.h"

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

/// Returns the usable bytes of memory sold as `gb` GB (10⁹ bytes): the share attention::kUsableShare.
double usableBytes(double gb);
/// Whether `bytes` fit into the usable part of `gb` GB.
bool fitsInto(double bytes, double gb);

/// Returns a scene's request, for a number of GPUs that the heads can be split over.
attention::CostRequest costRequest(const CostSetup& setup, const attention::ModelShape& shape);

/// Returns "MHA", "GQA" or "MQA".
const char* kindName(attention::Index heads, attention::Index kvHeads);
/// Returns that name for a model, "MLA", or "recurrent" if no layer attends.
const char* attentionKind(const attention::ModelShape& shape);

}  // namespace headscope::app
