#include <fmt/core.h>

#include <cctype>
#include <cmath>

#include "app/compute/cost/cost_figures.h"
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
  return value >= 999.5 ? countText(static_cast<std::uint64_t>(std::llround(value))) : roundedText(value, 3);
}

std::string secondsText(double seconds) {
  if (seconds >= 1000) return threeDigits(seconds) + " s";
  if (seconds >= 1) return roundedText(seconds, 4) + " s";
  if (seconds >= 1e-3) return roundedText(seconds * 1e3, 4) + " ms";
  return threeDigits(seconds * 1e6) + " µs";
}

std::string machineText(const attention::Machine& machine, std::string_view between) {
  const std::string memory = fmt::format("{} GB", roundedText(machine.memoryGb));
  const bool says = (" " + machine.name).find(" " + memory) != std::string::npos;
  return says ? machine.name : fmt::format("{}{}{}", machine.name, between, memory);
}

std::string latentNumbers(const ModelShape& shape) {
  const Index index = attention::layerGroups(shape).front().indexDim;
  return fmt::format("{} + {}{}", shape.latentDim, shape.ropeDim,
                     index > 0 ? fmt::format(" + {}", index) : "");
}

std::string bytesOfOne(attention::NumberFormat format) {
  // The bytes of 32 numbers are whole in every format.
  const auto bytes = static_cast<double>(attention::bytesOf(32, format));
  return bytes < 32 ? fractionText(attention::bytesOf(32, format), 32) + " B"
                    : roundedText(bytes / 32, 5) + " B";
}

std::vector<CostFactor> costFactors(const CostFigures& figures) {
  const ModelShape& shape = figures.shape;
  const attention::CostRequest& request = figures.request;
  std::vector<CostFactor> factors;
  if (!shape.isLatent())
    factors.push_back({"keys_values", "2", "keys, values", "Each token stores a key and a value."});
  const bool slides = shape.window > 0;  // the same window in all layers; other models have costLayers()
  if (!slides)
    factors.push_back({"layers", count(shape.layers), shape.layers == 1 ? "layer" : "layers",
                       "Each layer has its own cache."});
  if (shape.isLatent()) {
    factors.push_back(
        {"latent", countText(attention::cachedNumbers(attention::layerGroups(shape).front())),
         "latent " + latentNumbers(shape),
         "Multi-head latent attention stores one latent and one rotary key for all heads and recomputes keys "
         "and values from them, so there is no factor 2. A third number, if there is one, is the key of a "
         "sparse-attention index."});
  } else {
    factors.push_back({"kv_heads", count(shape.kvHeads), shape.kvHeads == 1 ? "kv head" : "kv heads",
                       fmt::format("{} share {}: {} is {} of MHA.", countedText(shape.heads, "query head"),
                                   countedText(shape.kvHeads, "kv head"), attentionKind(shape),
                                   fractionText(static_cast<std::uint64_t>(shape.kvHeads),
                                                static_cast<std::uint64_t>(shape.heads)))});
    factors.push_back({"head_dim", count(shape.headDim), "head dim",
                       "Numbers in one key or value; not always model dim / heads."});
  }
  factors.push_back({"dtype", bytesOfOne(request.format), attention::rowOf(request.format).name,
                     "Bytes per number. Drag sideways, or scroll with Ctrl.", CostFactor::Turns::format});
  std::string tokens = count(request.tokens), label = request.tokens == 1 ? "token" : "tokens";
  std::string help =
      "Tokens in the cache: prompt and answer. Drag sideways, or scroll with Ctrl to double or halve.";
  if (slides) {
    tokens = countText(attention::cachedTokens(shape, request.tokens));
    label = "tokens in " + countedText(shape.layers, "layer");
    help = fmt::format("{} keep{} all {} tokens, {} only the last {}: {} · {} + {} · {}.",
                       countedText(shape.globalLayers, "layer"), shape.globalLayers == 1 ? "s" : "",
                       count(request.tokens), shape.layers - shape.globalLayers, count(shape.window),
                       shape.globalLayers, count(request.tokens), shape.layers - shape.globalLayers,
                       count(std::min(request.tokens, shape.window)));
  }
  factors.push_back({"tokens", tokens, label, help, CostFactor::Turns::tokens, false});
  factors.push_back(
      {"batch", count(request.batch), "batch",
       "Sequences at once, each with its own cache. Drag sideways, or scroll with Ctrl to double or halve.",
       CostFactor::Turns::batch, false});
  return factors;
}

namespace {

/// What several layers of a kind keep, what one keeps, and an explanation.
struct KindWords {
  const char *keep, *keeps, *help;
};
KindWords wordsOf(attention::CacheKind kind) {
  using attention::CacheKind;
  switch (kind) {
    case CacheKind::full:
      return {"keep all tokens", "keeps all tokens", "Keys and values of every token."};
    case CacheKind::window:
      return {"keep a window", "keeps a window", "Keys and values of the last tokens only."};
    case CacheKind::chunk:
      return {"keep a chunk", "keeps a chunk", "Keys and values of the current chunk."};
    case CacheKind::latent:
      return {"keep a latent", "keeps a latent",
              "One latent and one rotary key per token for all heads: no factor 2."};
    case CacheKind::recurrent:
      return {"keep a state", "keeps a state", "A state of constant size, for any number of tokens."};
    case CacheKind::cross:
      return {"read the encoder", "reads the encoder",
              "Keys and values of the encoder's tokens, written once."};
    case CacheKind::shared:
      return {"share", "shares", "Nothing: they read the cache of an earlier layer."};
    case CacheKind::none:
      break;
  }
  return {"keep nothing", "keeps nothing", "No cache: an encoder's layer, or one without attention."};
}

std::string productOf(const attention::LayerGroupCost& each, const attention::CostRequest& request) {
  const attention::LayerGroup& group = each.group;
  if (group.state > 0)
    return fmt::format("{} numbers × {} B × batch {}", count(group.state),
                       group.state32 || request.format == attention::NumberFormat::fp32 ? 4 : 2,
                       count(request.batch));
  if (each.tokens == 0) return "";
  const std::uint64_t bytes = attention::bytesOf(attention::cachedNumbers(group), request.format);
  return fmt::format("{} × {} × batch {}", exactBytes(bytes), tokenCountText(each.tokens),
                     count(request.batch));
}

}  // namespace

std::vector<CostLayers> costLayers(const CostFigures& figures) {
  if (figures.layers.size() < 2 && figures.layers.front().group.state == 0) return {};
  Index all = 0;
  for (const attention::LayerGroupCost& each : figures.layers) all += each.group.layers;
  std::vector<CostLayers> lines;
  for (const attention::LayerGroupCost& each : figures.layers) {
    if (each.group.layers == 0) continue;
    const KindWords words = wordsOf(each.group.kind);
    lines.push_back({each.group.kind,
                     fmt::format("{} of {} {}", each.group.layers, countedText(all, "layer"),
                                 each.group.layers == 1 ? words.keeps : words.keep),
                     productOf(each, figures.request), fourDigitBytes(each.bytes), words.help});
  }
  return lines;
}

std::vector<attention::CacheKind> layerKinds(const CostFigures& figures) {
  std::vector<attention::CacheKind> kinds;
  for (const std::uint8_t group : figures.shape.order) kinds.push_back(figures.layers[group].group.kind);
  for (std::size_t i = 0; i < figures.layers.size(); ++i) {
    const attention::LayerGroupCost& each = figures.layers[i];
    const auto& order = figures.shape.order;
    if (std::find(order.begin(), order.end(), i) != order.end()) continue;
    kinds.insert(kinds.end(), static_cast<std::size_t>(std::min<Index>(each.group.layers, 4096)),
                 each.group.kind);
  }
  return kinds;
}

namespace {

/// "12.3 million", "1.98 billion" from ten million on; smaller numbers in full.
std::string largeCount(Index value) {
  const auto whole = static_cast<double>(value);
  if (whole < 1e7) return count(value);
  for (const auto& [unit, name] : {std::pair(1e12, " trillion"), {1e9, " billion"}})
    if (whole >= 0.9995 * unit) return threeDigits(whole / unit) + name;
  return threeDigits(whole / 1e6) + " million";
}

/// "1,978 tokens/s", also for a single token.
std::string rateText(double tokens) {
  return threeDigits(tokens) + " tokens/s";
}

}  // namespace

std::string verdictText(const CostFigures& figures) {
  if (figures.tooLarge()) return "Fits nowhere";
  const double free = figures.serving.memory.free();
  return free >= 0 ? "Fits, " + fourDigitBytes(free) + " free" : fourDigitBytes(-free) + " too large";
}

std::string verdictReason(const CostFigures& figures) {
  const Index gpus = figures.request.tensorParallel;
  const auto& context = figures.serving.longestContext;
  const auto& batch = figures.serving.largestBatch;
  std::string text;
  if (context && *context == 0 && batch && *batch == 0) {
    text = "no batch and no context fits";
  } else {
    text = context ? "longest context " + largeCount(*context) : std::string("any context");
    if (batch) text += ", largest batch " + largeCount(*batch);
  }
  return fmt::format("on {}{}; {}", gpus == 1 ? "one " : fmt::format("each of {} × ", gpus),
                     figures.machine.name, text);
}

std::string speedText(const CostFigures& figures) {
  if (!figures.fits()) return "Can't run";
  if (!figures.shape.decodes) return secondsText(figures.serving.prefillSeconds) + " a pass";
  return rateText(figures.serving.tokensPerSecond);
}

std::string speedReason(const CostFigures& figures) {
  if (!figures.fits()) return "weights and cache have to fit first";
  const attention::Serving& serving = figures.serving;
  if (!figures.shape.decodes) return "at best, for one text";
  static constexpr const char* kWaits[] = {"reading weights", "reading the cache", "computing", "the link"};
  std::string text = "at most";
  if (figures.request.batch > 1)
    text += fmt::format(", {} for each user", threeDigits(serving.tokensPerSecondForOne));
  text += fmt::format("; first token after {}; bound by {}", secondsText(serving.prefillSeconds),
                      kWaits[static_cast<std::size_t>(serving.bound)]);
  if (figures.price > 0)
    text += fmt::format(
        "; {} a million tokens",
        threeDigits(attention::costPerMillion(serving, figures.request.tensorParallel, figures.price)));
  return text;
}

std::string costNotes(const CostFigures& figures) {
  std::string all;
  for (const std::string& note : figures.shape.notes) all += (all.empty() ? "" : "; ") + note;
  return all.empty() ? all : capitalized(all) + ".";
}

std::string costSentence(const CostFigures& figures) {
  if (!figures.shape.decodes) return figures.shape.name + " keeps no cache";
  std::string name = figures.shape.name;
  if (isSynthetic(figures.shape)) name.front() = 't';  // "this layer"
  return fmt::format("KV cache of {} at {} {} × batch {}", name, tokensText(figures.request.tokens),
                     attention::nounFor(figures.request.tokens, "token"), count(figures.request.batch));
}

std::vector<std::string> costExplanations(const CostFigures& figures) {
  const ModelShape& shape = figures.shape;
  if (!shape.decodes) return {"It is an encoder: it reads all tokens at once and decodes nothing."};
  // `need` is the sentence's last clause, if it has one.
  std::string text, need;
  if (figures.tooLarge()) {
    text = "Figures stop at 2⁶³ bytes";
  } else if (attention::isHybrid(shape)) {
    text = shape.heads == 0 ? "No layer attends: the state keeps its size at any length"
                            : "If all its attention kept every token for every head, it would need " +
                                  fourDigitBytes(figures.mha);
  } else if (!shape.isLatent() && shape.window == 0 && shape.kvHeads == shape.heads) {
    text = "MHA: each head stores its own keys and values";
  } else {
    need = ", which would need " + fourDigitBytes(figures.mha);
    const std::string all = fractionText(figures.cost.total, figures.mha);
    if (shape.isLatent())
      text = fmt::format("MLA ({} numbers per layer) is {} of MHA", latentNumbers(shape), all);
    else if (shape.window > 0)
      text = fmt::format("{} with windows is {} of MHA without", attentionKind(shape), all);
    else
      text = fmt::format(
          "{} ({} for {}) is {} of MHA", attentionKind(shape), countedText(shape.kvHeads, "kv head"),
          countedText(shape.heads, "head"),
          fractionText(static_cast<std::uint64_t>(shape.kvHeads), static_cast<std::uint64_t>(shape.heads)));
  }
  std::string more;
  if (figures.request.tensorParallel > 1 && !figures.tooLarge())
    more += fmt::format(" On {} GPUs {} each.", figures.request.tensorParallel,
                        fourDigitBytes(figures.cost.perGpu));
  if (shape.contextKnown && figures.request.tokens > shape.context && !isSynthetic(shape))
    more += fmt::format(" The model was trained on up to {}.", tokensText(shape.context));
  return {text + need + "." + more, text + need + ".", text + ".", ""};
}

std::string costHolds(const CostFigures& figures) {
  const Index gpus = figures.request.tensorParallel;
  const std::string holds = figures.tooLarge() ? "more than 8 EiB" : fourDigitBytes(figures.gpuBytes());
  return gpus == 1 ? "One GPU holds " + holds : fmt::format("Each of {} GPUs holds {}", gpus, holds);
}

std::string costShare(const CostFigures& figures) {
  const Index gpus = figures.request.tensorParallel;
  if (gpus == 1) return "all weights, all kv heads in whole pages, activations";
  const std::string share = fractionText(1, static_cast<std::uint64_t>(gpus));
  if (figures.shape.isLatent())
    return share + " of the weights, the whole latent in whole pages, activations";
  if (figures.cost.copies > 1)
    return fmt::format("{} of the weights, each kv head {}: {} of copies, activations", share,
                       figures.cost.copies == 2 ? "twice" : fmt::format("on {} GPUs", figures.cost.copies),
                       fourDigitBytes(figures.cost.copiedPerGpu));
  return share + " of the weights, " + share + " of the kv heads in whole pages, activations";
}

}  // namespace headscope::app
