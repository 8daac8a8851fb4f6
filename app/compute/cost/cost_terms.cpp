#include "app/compute/cost/cost_terms.h"

#include <fmt/core.h>

#include "app/compute/cost/cost_words.h"
#include "app/scene/text/byte_text.h"
#include "app/scene/text/number_text.h"

namespace headscope::app {

namespace {

using attention::Index;

std::string wholeText(Index value) {
  return countText(attention::asSize(value));
}

/// "9.6 TB/s", "1,978 TFLOP/s".
std::string rate(double each, Index gpus, const char* unit) {
  const std::string one = threeDigits(each / 1e12) + " " + unit;
  return gpus == 1 ? one : fmt::format("({} · {} GPUs)", one, gpus);
}

}  // namespace

std::string cacheTerms(const CostFigures& figures) {
  const attention::CostRequest& request = figures.request;
  if (!figures.shape.decodes) return "An encoder reads all tokens at once and keeps nothing.";
  if (figures.shape.window > 0)
    return fmt::format("{} per token and layer × {} tokens in all layers × batch {} = {}",
                       exactBytes(figures.cost.perToken / attention::asSize(figures.shape.layers)),
                       countText(attention::cachedTokens(figures.shape, request.tokens)),
                       wholeText(request.batch), fourDigitBytes(figures.cost.total));
  return fmt::format("{} per token × {} tokens × batch {} = {}", exactBytes(figures.cost.perToken),
                     wholeText(request.tokens), wholeText(request.batch), fourDigitBytes(figures.cost.total));
}

std::string reservedTerms(const CostFigures& figures) {
  const attention::CostRequest& request = figures.request;
  const Index blocks = request.tokens / request.block + (request.tokens % request.block > 0);
  return fmt::format("{} blocks of {} tokens for each of {} sequence{}: {}, {} of it empty",
                     wholeText(blocks), request.block, wholeText(request.batch),
                     request.batch == 1 ? "" : "s", fourDigitBytes(figures.cost.reserved),
                     figures.cost.reserved >= attention::kTooManyBytes
                         ? "part"
                         : fourDigitBytes(figures.cost.reserved - figures.cost.total));
}

std::string weightsTerms(const CostFigures& figures) {
  std::string text =
      fmt::format("{} parameters (norms not counted) × {} = {}", countText(figures.parameters.total),
                  bytesOfOne(figures.request.format), fourDigitBytes(figures.cost.weights));
  if (figures.request.tensorParallel > 1)
    text += fmt::format(", over {} GPUs {} each", figures.request.tensorParallel,
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
  return fmt::format("{} on each of {} GPUs: {}", what, gpus, fourDigitBytes(figures.cost.perGpu));
}

std::string holdsTerms(const attention::CacheCost& cost) {
  return fmt::format(
      "{} of weights + {} of cache = {}", fourDigitBytes(cost.weightsPerGpu), fourDigitBytes(cost.perGpu),
      fourDigitBytes(static_cast<double>(cost.weightsPerGpu) + static_cast<double>(cost.perGpu)));
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
  const auto all = static_cast<double>(gpus);
  const double bandwidth = figures.machine.bandwidth * all, flops = figures.machine.flops * all;
  const std::string memory = rate(figures.machine.bandwidth, gpus, "TB/s"),
                    processor = rate(figures.machine.flops, gpus, "TFLOP/s");
  std::string text;
  if (figures.shape.decodes)
    text = fmt::format(
        "A decode step reads {} of weights and {} of cache: ÷ {} = {}. It computes {}: ÷ {} = {}. The longer "
        "time is the limit.\n",
        fourDigitBytes(figures.decode.weightBytes), fourDigitBytes(figures.decode.cacheBytes), memory,
        secondsText(figures.decode.bytes() / bandwidth), flopsText(figures.decode.flops), processor,
        secondsText(figures.decode.flops / flops));
  if (figures.shape.isLatent()) text += latentTerms(figures.shape) + "\n";
  const double work = figures.prefill.total() * static_cast<double>(figures.request.batch);
  return text + fmt::format("{} computes {}: ÷ {} = {}.", figures.shape.decodes ? "The prefill" : "A pass",
                            flopsText(work), processor, secondsText(work / flops));
}

}  // namespace headscope::app
