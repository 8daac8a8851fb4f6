#include "app/compute/cost/cost_figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/scene/models/open_model.h"
#include "attention/formats/quote.h"
#include "attention/models/config/model_catalogue.h"
#include "attention/models/config/model_shape_reader.h"

namespace headscope::app {

using attention::CostRequest;
using attention::Error;
using attention::Machine;
using attention::ModelShape;
using attention::PairCount;

namespace {
constexpr const char *kOneLayer = "This layer", *kLayers = "These layers";
}

bool isSynthetic(const ModelShape& shape) {
  return shape.name == kOneLayer || shape.name == kLayers;
}

ModelShape shapeOfLayer(const Setup& setup) {
  const ModelSetup& model = setup.model;
  ModelShape shape;
  shape.name = isStack(setup) ? kLayers : kOneLayer;
  shape.layers = isStack(setup) ? layerCount(setup) : 1;
  shape.modelDim = model.modelDim;
  shape.heads = model.heads;
  shape.kvHeads = model.kvHeads;
  shape.headDim = model.headDim;
  shape.context = kMaxTokens;
  shape.source = isStack(setup) ? "synthetic layers: attention only" : "synthetic layer: attention only";
  return shape;
}

attention::Status checkDevice(const CostSetup& cost, const CostCatalogue& catalogue) {
  if (attention::findMachine(catalogue.machines, cost.device)) return attention::success();
  std::vector<std::string> names;
  for (const Machine& machine : catalogue.machines) names.push_back(machine.name);
  return Error{fmt::format("cost.device is {}, expected one of {}", attention::quotedText(cost.device),
                           fmt::join(names, ", "))};
}

attention::Result<ModelShape> costShape(const Scene& scene, const CostCatalogue& catalogue,
                                        const std::optional<ModelShape>& config) {
  const CostSetup& cost = scene.cost;
  if (const auto device = checkDevice(cost, catalogue); !device) return device.error();
  if (!cost.config.empty() && config) return *config;
  if (cost.model == kThisLayer) return shapeOfLayer(scene.setup);
  if (cost.model == kOpenedModel && scene.setup.subject.opened) {
    const OpenModel& opened = *scene.setup.subject.opened;
    if (opened.config().reads() && !opened.pairShape)
      return Error{
          "The opened model's config.json doesn't say what its encoder has: nothing can be counted."};
    ModelShape shape = opened.pairShape ? *opened.pairShape
                       : opened.model   ? attention::shapeOf(*opened.model)
                                        : attention::shapeOf(opened.config());
    shape.name = opened.name;
    shape.source = "the opened model";
    return shape;
  }
  if (const ModelShape* found = attention::findModel(catalogue.shapes, cost.model)) return *found;
  return Error{"There is no model " + attention::quotedText(cost.model) + " here."};
}

CostRequest costRequest(const CostSetup& setup, const ModelShape& shape) {
  return {setup.tokens,  setup.batch, setup.format, setup.block, attention::nearestSplit(shape, setup.gpus),
          setup.weights, setup.math};
}

CostFigures costFigures(const CostSetup& setup, const ModelShape& shape, const CostCatalogue& catalogue) {
  CostFigures figures;
  figures.shape = shape;
  figures.request = costRequest(setup, shape);
  figures.price = setup.price;
  const Machine* machine = attention::findMachine(catalogue.machines, setup.device);
  figures.machine = machine ? *machine : catalogue.machines.back();
  figures.cost = attention::cacheCost(shape, figures.request);
  figures.layers = attention::layerCosts(shape, figures.request);
  figures.parameters = attention::parametersOf(shape);
  const auto with = [&](attention::Index kvHeads) {
    return attention::cacheBytes(attention::withKvHeads(shape, kvHeads), setup.tokens, setup.batch,
                                 setup.format);
  };
  figures.mha = with(shape.heads);
  figures.mqa = with(1);
  figures.overtakesProjections = attention::attentionOvertakes(shape, false, PairCount::causal);
  figures.overtakesAll = attention::attentionOvertakes(shape, true, PairCount::causal);
  figures.overtakesProjectionsAll = attention::attentionOvertakes(shape, false, PairCount::all);
  figures.overtakesAllAll = attention::attentionOvertakes(shape, true, PairCount::all);
  figures.prefill = attention::prefillWork(shape, setup.tokens);
  figures.decode = attention::decodeWork(shape, figures.request);
  figures.serving = attention::serve(shape, figures.request, figures.machine);
  return figures;
}

double usableBytes(double gb) {
  return attention::kUsableShare * gb * 1e9;
}

bool fitsInto(double bytes, double gb) {
  return bytes <= usableBytes(gb);
}

std::array<GpuChoice, 5> gpuChoices(const CostFigures& figures, const CostCatalogue& catalogue) {
  std::array<GpuChoice, 5> choices;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    GpuChoice& choice = choices[i];
    choice.gpus = kGpuCounts[i];
    const auto fits = attention::splits(figures.shape, choice.gpus);
    if (!fits) {
      choice.reason = fits.error().message + ".";
      continue;
    }
    CostRequest request = figures.request;
    request.tensorParallel = choice.gpus;
    choice.memory = attention::gpuMemory(figures.shape, request, figures.machine);
    choice.copies = attention::cacheCost(figures.shape, request).copies;
    const double bytes = choice.memory.needed();
    for (const Machine& machine : catalogue.machines)
      if (fitsInto(bytes, machine.memoryGb) && (!choice.fitsGb || machine.memoryGb < *choice.fitsGb))
        choice.fitsGb = machine.memoryGb;
  }
  return choices;
}

const char* kindName(attention::Index heads, attention::Index kvHeads) {
  if (kvHeads == heads) return "MHA";
  return kvHeads == 1 ? "MQA" : "GQA";
}

const char* attentionKind(const ModelShape& shape) {
  if (shape.isLatent()) return "MLA";
  if (shape.heads == 0) return "recurrent";
  return kindName(shape.heads, shape.kvHeads);
}

}  // namespace headscope::app
