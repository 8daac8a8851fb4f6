#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "app/compute/cost/cost_catalogue.h"
#include "app/scene/scene.h"
#include "attention/cache/serving.h"

namespace headscope::app {

/// What scene.cost.model is where the shape is that of the layer made here, and of the model that is open.
inline constexpr const char* kThisLayer = "";
inline constexpr const char* kOpenedModel = "opened model";

/// Its longest text is what the window computes, and nothing it was trained to.
bool isMadeHere(const attention::ModelShape& shape);
/// The sizes of the layer made here, as a model of one layer.
attention::ModelShape shapeOfLayer(const Setup& setup);

/// An error that names the machines there are, where the scene's is none of them.
attention::Status checkDevice(const CostSetup& cost, const CostCatalogue& catalogue);

/// The shape that a scene's cost page is about. `config`: that of scene.cost.config, where it was read.
/// Errors: a model's or a machine's name that nobody has.
attention::Result<attention::ModelShape> costShape(const Scene& scene, const CostCatalogue& catalogue,
                                                   const std::optional<attention::ModelShape>& config);

/// The cost page's figures: everything it shows, from one request.
struct CostFigures {
  attention::ModelShape shape;
  attention::CostRequest request;  ///< its GPUs are those that the heads can be split over
  attention::Machine machine;
  attention::CacheCost cost;
  attention::ShapeParameters parameters;
  std::uint64_t mha = 0, mqa = 0;  ///< bytes of the cache with as many kv heads as heads, and with one
  std::optional<attention::Index> overtakesProjections, overtakesAll;        ///< tokens, causal pairs
  std::optional<attention::Index> overtakesProjectionsAll, overtakesAllAll;  ///< the same of n² pairs
  attention::PrefillWork prefill;
  attention::DecodeWork decode;
  std::vector<attention::LayerGroupCost> layers;  ///< what the layers of each kind hold
  attention::Serving serving;                     ///< whether it fits, and how long it takes at best
  double price = 0;                               ///< of a GPU and an hour; 0: not known

  bool tooLarge() const { return cost.total >= attention::kTooManyBytes; }
  /// Weights, cache in whole pages and activations of one GPU.
  double gpuBytes() const { return serving.memory.needed(); }
  bool fits() const { return !tooLarge() && serving.memory.fits(); }
};
CostFigures costFigures(const CostSetup& setup, const attention::ModelShape& shape,
                        const CostCatalogue& catalogue);

/// One way to spread a model: on how many GPUs, and the smallest of the machines that hold it.
struct GpuChoice {
  attention::Index gpus = 1;
  std::string reason;  ///< why it can't be; "" = it can
  attention::GpuMemory memory;
  attention::Index copies = 1;   ///< GPUs that each kv head, or the latent, lies on
  std::optional<double> fitsGb;  ///< the smallest memory that holds its share; nothing: none does
};
inline constexpr std::array<attention::Index, 5> kGpuCounts{1, 2, 4, 8, 16};
std::array<GpuChoice, 5> gpuChoices(const CostFigures& figures, const CostCatalogue& catalogue);

/// Bytes that are usable of memory sold as `gb` GB (10⁹ bytes): attention::kUsableShare of them.
double usableBytes(double gb);
/// Whether that many bytes fit into those.
bool fitsInto(double bytes, double gb);

/// The request of a scene, on as many GPUs as its heads can be split over.
attention::CostRequest costRequest(const CostSetup& setup, const attention::ModelShape& shape);

/// "MHA", "GQA" or "MQA".
const char* kindName(attention::Index heads, attention::Index kvHeads);
/// The same of a model, "MLA", or "recurrent" where no layer attends.
const char* attentionKind(const attention::ModelShape& shape);

}  // namespace headscope::app
