#include "app/compute/cost/cost_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/scene/text/byte_text.h"
#include "app/scene/text/number_text.h"

namespace headscope::app {

namespace {

using attention::Index;
using attention::ModelShape;

std::string count(Index value) {
  return countText(static_cast<std::uint64_t>(std::max<Index>(value, 0)));
}

}  // namespace

std::string threeDigits(double value) {
  return value >= 1000 ? countText(static_cast<std::uint64_t>(std::llround(value)))
                       : fmt::format("{:.3g}", value);
}

std::string secondsText(double seconds) {
  if (seconds >= 1000) return threeDigits(seconds) + " s";
  if (seconds >= 1) return fmt::format("{:.4g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.4g} ms", seconds * 1e3);
  return fmt::format("{:.3g} µs", seconds * 1e6);
}

std::string machineText(const attention::Machine& machine, std::string_view between) {
  const std::string memory = fmt::format("{:g} GB", machine.memoryGb);
  const bool says = (" " + machine.name).find(" " + memory) != std::string::npos;
  return says ? machine.name : fmt::format("{}{}{}", machine.name, between, memory);
}

std::string bytesOfOne(attention::NumberFormat format) {
  const int bits = attention::bitsOf(format);
  return bits >= 8 ? std::to_string(bits / 8) + " B" : "½ B";
}

std::vector<CostFactor> costFactors(const CostFigures& figures) {
  const ModelShape& shape = figures.shape;
  const attention::CostRequest& request = figures.request;
  std::vector<CostFactor> factors;
  if (!shape.isLatent())
    factors.push_back({"keys_values", "2", "keys, values", "Each token stores a key and a value."});
  const bool slides = shape.window > 0;
  if (!slides)
    factors.push_back({"layers", count(shape.layers), shape.layers == 1 ? "layer" : "layers",
                       "Each layer has its own cache."});
  if (shape.isLatent()) {
    factors.push_back({"latent", count(shape.latentDim + shape.ropeDim),
                       fmt::format("latent {} + {}", shape.latentDim, shape.ropeDim),
                       "Multi-head latent attention stores one latent and one rotary key for all heads and "
                       "recomputes keys and values from them, so there is no factor 2."});
  } else {
    factors.push_back({"kv_heads", count(shape.kvHeads), shape.kvHeads == 1 ? "kv head" : "kv heads",
                       fmt::format("{} share {}: {} is {} of MHA.", countedText(shape.heads, "query head"),
                                   countedText(shape.kvHeads, "kv head"), attentionKind(shape),
                                   fractionText(static_cast<std::uint64_t>(shape.kvHeads),
                                                static_cast<std::uint64_t>(shape.heads)))});
    factors.push_back({"head_dim", count(shape.headDim), "head dim",
                       "Numbers in one key or value; not always model dim / heads."});
  }
  factors.push_back({"dtype", bytesOfOne(request.format),
                     std::string(attention::kNumberFormatNames[static_cast<std::size_t>(request.format)]),
                     "Bytes per number. Drag sideways, or scroll with Ctrl.", CostFactor::Turns::format});
  std::string tokens = count(request.tokens), label = request.tokens == 1 ? "token" : "tokens";
  std::string help =
      "Tokens in the cache: prompt and answer. Drag sideways, or scroll with Ctrl to double or halve.";
  if (slides) {
    tokens = countText(attention::cachedTokens(shape, request.tokens));
    label = fmt::format("tokens in {} layers", shape.layers);
    help = fmt::format("{} layers keep all {} tokens, {} only the last {}: {} · {} + {} · {}.",
                       shape.globalLayers, count(request.tokens), shape.layers - shape.globalLayers,
                       count(shape.window), shape.globalLayers, count(request.tokens),
                       shape.layers - shape.globalLayers, count(std::min(request.tokens, shape.window)));
  }
  factors.push_back({"tokens", tokens, label, help, CostFactor::Turns::tokens, false});
  factors.push_back(
      {"batch", count(request.batch), "batch",
       "Sequences at once, each with its own cache. Drag sideways, or scroll with Ctrl to double or halve.",
       CostFactor::Turns::batch, false});
  return factors;
}

std::string costSentence(const CostFigures& figures) {
  if (!figures.shape.decodes) return figures.shape.name + " keeps no cache";
  std::string name = figures.shape.name;
  if (isMadeHere(figures.shape)) name.front() = 't';  // "this layer"
  return fmt::format("KV cache of {} at {} token{} × batch {}", name, tokensText(figures.request.tokens),
                     figures.request.tokens == 1 ? "" : "s", count(figures.request.batch));
}

std::string costExplanation(const CostFigures& figures) {
  const ModelShape& shape = figures.shape;
  if (!shape.decodes) return "It is an encoder: it reads all tokens at once and decodes nothing.";
  std::string text;
  const std::string mha = fourDigitBytes(figures.mha);
  if (figures.tooLarge())
    text = "Figures stop at 2⁶³ bytes.";
  else if (shape.isLatent())
    text = fmt::format("MLA ({} + {} numbers a layer) is {} of MHA, which would need {}.", shape.latentDim,
                       shape.ropeDim, fractionText(figures.cost.total, figures.mha), mha);
  else if (shape.window > 0)
    text = fmt::format("{} with windows is {} of MHA without, which would need {}.", attentionKind(shape),
                       fractionText(figures.cost.total, figures.mha), mha);
  else if (shape.kvHeads == shape.heads)
    text = "MHA: each head stores its own keys and values.";
  else
    text = fmt::format(
        "{} ({} kv head{} for {} heads) is {} of MHA, which would need {}.", attentionKind(shape),
        shape.kvHeads, shape.kvHeads == 1 ? "" : "s", shape.heads,
        fractionText(static_cast<std::uint64_t>(shape.kvHeads), static_cast<std::uint64_t>(shape.heads)),
        mha);
  if (figures.request.tensorParallel > 1 && !figures.tooLarge())
    text += fmt::format(" On {} GPUs {} each.", figures.request.tensorParallel,
                        fourDigitBytes(figures.cost.perGpu));
  if (shape.contextKnown && figures.request.tokens > shape.context && !isMadeHere(shape))
    text += fmt::format(" The model was trained on up to {}.", tokensText(shape.context));
  return text;
}

std::string costHolds(const CostFigures& figures) {
  const Index gpus = figures.request.tensorParallel;
  const std::string holds = figures.tooLarge() ? "more than 8 EiB" : fourDigitBytes(figures.gpuBytes());
  return gpus == 1 ? "One GPU holds " + holds : fmt::format("Each of {} GPUs holds {}", gpus, holds);
}

std::string costShare(const CostFigures& figures) {
  const Index gpus = figures.request.tensorParallel;
  if (gpus == 1) return "all weights, all kv heads; activations not counted";
  const std::string share = fractionText(1, static_cast<std::uint64_t>(gpus));
  if (figures.shape.isLatent()) return share + " of the weights, the whole latent; activations not counted";
  if (figures.cost.copies > 1)
    return fmt::format("{} of the weights, each kv head {}; activations not counted", share,
                       figures.cost.copies == 2 ? "twice" : fmt::format("on {} GPUs", figures.cost.copies));
  return share + " of the weights, " + share + " of the kv heads; activations not counted";
}

}  // namespace headscope::app
