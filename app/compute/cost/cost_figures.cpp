#include "app/compute/cost/cost_figures.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include "app/scene/models/open_model.h"
#include "app/scene/text/number_text.h"
#include "attention/formats/quote.h"
#include "attention/models/config/model_catalogue.h"

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
      return Error{"The opened model's config.json doesn't describe its encoder, so nothing can be counted."};
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
      if ((choice.gpus == 1 || machine.link > 0) && bytes <= machine.usableBytes() &&
          (!choice.fitsGb || machine.memoryGb < *choice.fitsGb))
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

namespace {

using attention::Index;

std::string wholeText(Index value) {
  return countText(attention::asSize(value));
}

/// "9.6 TB/s", or "(4.8 TB/s · 2 GPUs)". `each`: per GPU, in B/s or FLOP/s.
std::string rate(double each, Index gpus, const char* unit) {
  const std::string one = threeDigits(each / 1e12) + " " + unit;
  return gpus == 1 ? one : fmt::format("({} · {} GPUs)", one, gpus);
}

/// The weights that a format leaves out.
std::string exceptText(const attention::WeightStorage& stored) {
  using Covers = attention::WeightFormatRow::Covers;
  switch (stored.covers) {
    case Covers::all:
      break;
    case Covers::matrices:
      return ", norms in 16";
    case Covers::layers:
      return stored.headBits == 16
                 ? ", embeddings and head in 16"
                 : fmt::format(", embeddings in 16, head in {}", roundedText(stored.headBits, 4));
    case Covers::experts:
      return ", for experts only";
  }
  return "";
}

}  // namespace

std::string cacheTerms(const CostFigures& figures) {
  const attention::CostRequest& request = figures.request;
  if (!figures.shape.decodes) return "An encoder reads all tokens at once and keeps nothing.";
  if (const std::vector<CostLayers> lines = costLayers(figures); !lines.empty()) {
    std::string text;
    for (const CostLayers& line : lines)
      text +=
          line.words + (line.product.empty() ? "" : ": " + line.product + ", in all " + line.bytes) + "\n";
    return text + fourDigitBytes(figures.cost.total) + " together";
  }
  if (figures.shape.window > 0)
    return fmt::format("{} per token and layer × {} tokens in all layers × batch {} = {}",
                       exactBytes(figures.cost.perToken / attention::asSize(figures.shape.layers)),
                       countText(attention::cachedTokens(figures.shape, request.tokens)),
                       wholeText(request.batch), fourDigitBytes(figures.cost.total));
  return fmt::format("{} per token × {} × batch {} = {}", exactBytes(figures.cost.perToken),
                     tokenCountText(request.tokens), wholeText(request.batch),
                     fourDigitBytes(figures.cost.total));
}

std::string reservedTerms(const CostFigures& figures) {
  const attention::CostRequest& request = figures.request;
  const Index blocks = request.tokens / request.block + (request.tokens % request.block > 0);
  return fmt::format("{} of {} for each of {}: {}, {} of it empty", countedText(blocks, "block"),
                     tokenCountText(request.block), countedText(request.batch, "sequence"),
                     fourDigitBytes(figures.cost.reserved),
                     figures.cost.reserved >= attention::kTooManyBytes
                         ? "part"
                         : fourDigitBytes(figures.cost.reserved - figures.cost.total));
}

std::string weightsTerms(const CostFigures& figures) {
  const attention::ModelShape& shape = figures.shape;
  const attention::WeightStorage stored = attention::storageOf(shape, figures.request);
  std::string text = fmt::format(
      "{} parameters in {}, {} bits each{} = {}, {}", countText(figures.parameters.total), stored.name,
      roundedText(stored.bits, 4), exceptText(stored), fourDigitBytes(figures.cost.weights),
      attention::isCounted(shape, figures.request) ? "as its files say" : "estimated from the sizes");
  if (figures.request.tensorParallel > 1)
    text += fmt::format("; over {} GPUs {} each", figures.request.tensorParallel,
                        fourDigitBytes(figures.cost.weightsPerGpu));
  return text;
}

std::string cachePerGpuTerms(const CostFigures& figures) {
  const Index gpus = figures.request.tensorParallel;
  if (gpus == 1) return cacheTerms(figures);
  const std::string what = figures.shape.isLatent()
                               ? std::string("The whole latent")
                               : fmt::format("{} of {}", figures.cost.kvHeadsPerGpu,
                                             countedText(figures.shape.kvHeads, "kv head"));
  return fmt::format("{} on each of {} GPUs: {} in whole pages", what, gpus,
                     fourDigitBytes(figures.cost.reservedPerGpu));
}

std::string activationTerms(const CostFigures& figures) {
  const attention::GpuMemory& memory = figures.serving.memory;
  return fmt::format(
      "{} at once × {} numbers × {} B + {} of logits = {}. For each token: two residual streams, and in the "
      "widest layer queries, keys, values and both inner rows.",
      tokenCountText(memory.rows), threeDigits(memory.numbersPerRow),
      figures.serving.math == attention::MathFormat::fp32 ? 4 : 2, fourDigitBytes(memory.logits),
      fourDigitBytes(memory.activations));
}

std::string holdsTerms(const attention::GpuMemory& memory) {
  return fmt::format("{} of weights + {} of cache + {} of activations = {}, of {} that are usable",
                     fourDigitBytes(memory.weights), fourDigitBytes(memory.cache),
                     fourDigitBytes(memory.activations), fourDigitBytes(memory.needed()),
                     fourDigitBytes(memory.usable));
}

std::string latentTerms(const attention::ModelShape& shape) {
  const Index values = shape.valueDim > 0 ? shape.valueDim : shape.headDim;
  return fmt::format(
      "Decode is counted absorbed (DeepSeek-V2, 2.1.2): W_UK is merged into the query and W_UV into the "
      "output. Per cached token and layer: 2 · {0} heads · ({1} + {2} for its score + {1} for its sum) = {3} "
      "FLOP. A prefill unpacks keys and values: 2 · {0} · ({4} + {2} + {5}) = {6} per pair.",
      shape.heads, shape.latentDim, shape.ropeDim,
      wholeText(2 * shape.heads * (2 * shape.latentDim + shape.ropeDim)), shape.headDim, values,
      wholeText(2 * shape.heads * (shape.headDim + shape.ropeDim + values)));
}

std::string timeTerms(const CostFigures& figures) {
  const Index gpus = figures.request.tensorParallel;
  const attention::Serving& serving = figures.serving;
  const std::string memory = rate(figures.machine.bandwidth, gpus, "TB/s"),
                    processor =
                        rate(serving.peak, gpus, "TFLOP/s") + " of " +
                        std::string(attention::kMathFormatNames[static_cast<std::size_t>(serving.math)]);
  const double flops = serving.peak * static_cast<double>(gpus);
  std::string text;
  if (figures.shape.decodes)
    text = fmt::format(
        "A decode step reads {} of weights and {} of cache: ÷ {} = {}. It computes {}: ÷ {} = {}. The longer "
        "time is the limit.\n",
        fourDigitBytes(figures.decode.weightBytes), fourDigitBytes(figures.decode.cacheBytes), memory,
        secondsText(serving.weightSeconds + serving.cacheSeconds), flopsText(figures.decode.flops), processor,
        secondsText(serving.processorSeconds));
  if (serving.linkSeconds > 0)
    text += fmt::format("All-reduces add {} to a step and {} to a prefill, at {} TB/s in each direction.\n",
                        secondsText(serving.linkSeconds), secondsText(serving.prefillLinkSeconds),
                        threeDigits(figures.machine.link / 2e12));
  else if (gpus > 1)
    text += "All-reduces aren't counted: the machine's link is not known.\n";
  if (figures.shape.isLatent()) text += latentTerms(figures.shape) + "\n";
  return text + fmt::format("{} of one sequence computes {}: ÷ {} = {}.",
                            figures.shape.decodes ? "The prefill" : "A pass",
                            flopsText(figures.prefill.total()), processor,
                            secondsText(figures.prefill.total() / flops));
}

}  // namespace headscope::app
