#include <fmt/core.h>

#include <cmath>

#include "app/compute/cost/cost_figures.h"
#include "app/scene/text/number_text.h"

namespace headscope::app {

namespace {

using attention::ModelShape;
using attention::PairCount;

constexpr double kGiB = 1073741824.0;

double doubleOf(Index value) {
  return static_cast<double>(value);
}

/// From 1 k tokens, or 1 for short texts, to about a million or at least twice the requested number.
PlotAxis tokenAxis(const CostFigures& figures) {
  const double tokens = doubleOf(figures.request.tokens);
  PlotAxis axis;
  axis.low = tokens < 2048 ? 1 : 1024;
  axis.high = tokens < 2048 ? 16384 : std::max(1048576.0, std::exp2(std::ceil(std::log2(tokens * 2))));
  axis.ticks = tokenTicks(axis.low, axis.high);
  axis.title = "tokens, 1 k = 1,024";
  return axis;
}

std::string hoverTokens(double tokens) {
  return countText(static_cast<std::uint64_t>(std::llround(tokens))) + " tokens";
}

/// Four points per doubling, at whole tokens.
template <typename Value>
PlotLine curve(std::string label, const PlotAxis& axis, Dash dash, Value value) {
  PlotLine line{std::move(label), {}, dash};
  const auto steps = static_cast<int>(std::ceil(4 * std::log2(axis.high / axis.low)));
  for (int i = 0; i <= steps; ++i) {
    const double x = std::round(axis.valueAt(static_cast<double>(i) / steps));
    if (!line.points.empty() && x == line.points.back().x) continue;
    if (const double y = value(x); y > 0) line.points.push_back({x, y});
  }
  return line;
}

/// Half powers of ten around everything drawn.
void fitAxis(PlotAxis& axis, const std::vector<PlotLine>& lines) {
  double low = 1e300, high = 0;
  for (const PlotLine& line : lines)
    for (const PlotPoint& point : line.points) {
      low = std::min(low, point.y);
      high = std::max(high, point.y);
    }
  if (!(high > 0)) low = 1, high = 10;
  axis.low = std::pow(10.0, std::floor(2 * std::log10(low)) / 2);
  axis.high = std::max(axis.low * 10, std::pow(10.0, std::ceil(2 * std::log10(high)) / 2));
  axis.ticks = powerTicks(axis.low, axis.high);
}

std::string hoverGiB(double gib) {
  return fourDigitBytes(gib * kGiB);
}

double cacheGiB(const ModelShape& shape, double tokens, const attention::CostRequest& request) {
  const auto whole = static_cast<Index>(std::llround(std::max(tokens, 1.0)));
  const std::uint64_t bytes = attention::cacheBytes(shape, whole, request.batch, request.format);
  // Caches too large to count are not drawn.
  return bytes >= attention::kTooManyBytes ? 0 : static_cast<double>(bytes) / kGiB;
}

/// Adds the chosen shape, the same as MHA and MQA, and two models with other solutions.
void addCacheLines(const CostFigures& figures, const CostCatalogue& catalogue, Plot& plot) {
  const ModelShape& shape = figures.shape;
  const auto add = [&](const ModelShape& each, std::string label, Dash dash, bool chosen) {
    PlotLine line = curve(std::move(label), plot.x, dash,
                          [&](double tokens) { return cacheGiB(each, tokens, figures.request); });
    line.chosen = chosen;
    line.dashedFrom = shape.contextKnown && each.context > 0 && (chosen || dash == Dash::solid)
                          ? doubleOf(shape.context)
                          : line.dashedFrom;
    plot.lines.push_back(std::move(line));
  };
  const bool plain = !shape.isLatent() && shape.window == 0 && !attention::isHybrid(shape);
  if (shape.heads > 0 && (!plain || shape.kvHeads != shape.heads))
    add(attention::withKvHeads(shape, shape.heads), fmt::format("MHA, {}", shape.heads), Dash::solid, false);
  const std::string own = plain ? fmt::format("{}, {}", attentionKind(shape), shape.kvHeads) : shape.name;
  if (shape.decodes) add(shape, own, Dash::solid, true);
  if (shape.heads > 0 && (!plain || shape.kvHeads != 1))
    add(attention::withKvHeads(shape, 1), "MQA, 1", Dash::solid, false);
  for (const auto& [name, dash] : {std::pair("Gemma-3-27B", Dash::dotted), {"DeepSeek-V3", Dash::dashDot}})
    if (const ModelShape* other = attention::findShape(catalogue.shapes, name); other && name != shape.name)
      add(*other, name, dash, false);
}

CostPlot cachePlot(const CostFigures& figures, const CostCatalogue& catalogue) {
  const ModelShape& shape = figures.shape;
  CostPlot shown;
  const bool states = std::any_of(figures.layers.begin(), figures.layers.end(),
                                  [](const auto& each) { return each.group.state > 0; });
  shown.title = states ? (shape.heads > 0 ? "Few layers grow with the tokens: a state keeps its size"
                                          : "A state keeps its size at any length")
                : !shape.decodes ? "An encoder keeps no cache; a decoder's grows"
                : shape.window > 0
                    ? (shape.globalLayers > 0 ? "Windows flatten the curve; full layers keep growing"
                                              : "Windows flatten the curve: no layer keeps all tokens")
                : shape.isLatent() ? "A latent grows more slowly"
                                   : "Memory grows with every token";
  Plot& plot = shown.plot;
  plot.x = tokenAxis(figures);
  plot.value = hoverGiB;
  plot.place = hoverTokens;
  addCacheLines(figures, catalogue, plot);
  fitAxis(plot.y, plot.lines);
  const double card = figures.machine.memoryGb * 1e9 / kGiB;
  plot.rules.push_back({card, false, "one " + machineText(figures.machine, ", ")});
  const double tokens = doubleOf(figures.request.tokens);
  plot.rules.push_back({tokens, true, ""});
  const auto mark = [&](std::uint64_t bytes, bool chosen, PlotSide side) {
    if (bytes == 0 || bytes >= attention::kTooManyBytes) return;
    const double gib = static_cast<double>(bytes) / kGiB;
    plot.marks.push_back({{tokens, gib}, fourDigitBytes(bytes), "", side, chosen, chosen});
  };
  const bool alone = shape.heads == 0 || (shape.kvHeads == shape.heads && shape.window == 0 &&
                                          !shape.isLatent() && !attention::isHybrid(shape));
  if (!alone) mark(figures.mha, false, PlotSide::aboveLeft);
  // The space right of the lines' ends is for their names.
  const bool nearEnd = tokens * 4 > plot.x.high;
  if (shape.kvHeads > 1) mark(figures.mqa, false, nearEnd ? PlotSide::below : PlotSide::right);
  if (shape.decodes) mark(figures.cost.total, true, PlotSide::aboveLeft);
  if (shape.decodes && shape.contextKnown && shape.context < plot.x.high)
    shown.notes.push_back(fmt::format("dashed: beyond the {} tokens {}", tokensText(shape.context),
                                      isSynthetic(shape) ? "computed here" : "it was trained for"));
  return shown;
}

/// The size of attention matrices if they were stored.
CostPlot matrixPlot(const CostFigures& figures) {
  const ModelShape& shape = figures.shape;
  CostPlot shown;
  Plot& plot = shown.plot;
  plot.x = tokenAxis(figures);
  plot.value = hoverGiB;
  plot.place = hoverTokens;
  const auto add = [&](const char* label, Dash dash, Index heads, bool training, bool chosen) {
    plot.lines.push_back(curve(label, plot.x, dash, [&](double n) {
      return n * n * 4 * doubleOf(shape.layers) * doubleOf(heads) * (training ? 5 : 1) / kGiB;
    }));
    plot.lines.back().chosen = chosen;
  };
  const Index heads = std::max<Index>(1, shape.heads);
  add("every head, training", Dash::dashed, heads, true, false);
  add("every head's own", Dash::solid, heads, false, true);
  add("one per layer, training", Dash::dashDot, 1, true, false);
  add("one per layer", Dash::dotted, 1, false, false);
  fitAxis(plot.y, plot.lines);
  const double card = figures.machine.memoryGb * 1e9 / kGiB;
  const double wall = std::sqrt(card * kGiB / (4 * doubleOf(shape.layers * heads)));
  shown.title = fmt::format("n² matrices fill one {} at {} tokens", figures.machine.name,
                            countText(static_cast<std::uint64_t>(wall)));
  plot.rules.push_back({card, false, "one " + machineText(figures.machine, ", ")});
  plot.rules.push_back({doubleOf(figures.request.tokens), true, ""});
  plot.marks.push_back(
      {{wall, card}, countText(static_cast<std::uint64_t>(wall)), "", PlotSide::right, true, true});
  plot.labelRoom = 168;
  shown.notes = {
      "32 bits per weight. Kernels avoid storing them by working in tiles.",
      shownProse("GPT-3, 96 layers at 2,048: 1.5 GiB with one per layer, 7.5 GiB in training (5×)")};
  return shown;
}

std::string hoverFlops(double flops) {
  return flopsText(flops);
}

std::string crossing(const std::optional<Index>& tokens) {
  return tokens ? countText(static_cast<std::uint64_t>(*tokens)) : "never";
}

CostPlot prefillPlot(const CostFigures& figures) {
  const ModelShape& shape = figures.shape;
  const bool wide = figures.parameters.activeFeedForward > 0;
  CostPlot shown;
  shown.title = figures.overtakesAll ? fmt::format("Attention passes {} at {} tokens",
                                                   wide ? "everything else" : "its projections",
                                                   crossing(figures.overtakesAll))
                                     : "Windows keep attention below everything else";
  Plot& plot = shown.plot;
  plot.x = tokenAxis(figures);
  plot.value = hoverFlops;
  plot.place = hoverTokens;
  const auto work = [&](double tokens) {
    return attention::prefillWork(shape, static_cast<Index>(std::llround(std::max(tokens, 1.0))));
  };
  plot.lines.push_back(
      curve("attention", plot.x, Dash::solid, [&](double n) { return work(n).attention(); }));
  plot.lines.back().chosen = true;
  if (wide)
    plot.lines.push_back(curve("projections + FFN", plot.x, Dash::solid, [&](double n) {
      const auto all = work(n);
      return all.projections + all.feedForward;
    }));
  plot.lines.push_back(
      curve("projections", plot.x, Dash::dashed, [&](double n) { return work(n).projections; }));
  fitAxis(plot.y, plot.lines);
  plot.rules.push_back({doubleOf(figures.request.tokens), true, ""});
  const auto mark = [&](const std::optional<Index>& at, bool bold) {
    if (!at || doubleOf(*at) > plot.x.high) return;
    plot.marks.push_back(
        {{doubleOf(*at), work(doubleOf(*at)).attention()}, crossing(at), "", PlotSide::below, true, bold});
  };
  mark(figures.overtakesProjections, !wide);
  if (wide) mark(figures.overtakesAll, true);
  plot.labelRoom = 140;
  const std::string pairs = shape.decodes ? "causal pairs, n(n+1)/2" : "all n² pairs, as in an encoder";
  const std::string textbooks =
      "one product each, as in textbooks: n = d = " + countText(static_cast<std::uint64_t>(shape.modelDim));
  shown.notes = {wide ? fmt::format("{}: {} and {}; FFN: feed-forward", pairs,
                                    crossing(figures.overtakesProjections), crossing(figures.overtakesAll))
                      : pairs,
                 shape.decodes
                     ? fmt::format("all n²: {}{}  ·  {}", crossing(figures.overtakesProjectionsAll),
                                   wide ? " and " + crossing(figures.overtakesAllAll) : "", textbooks)
                     : textbooks};
  return shown;
}

/// The cost of one more token after n others.
CostPlot decodePlot(const CostFigures& figures) {
  CostPlot shown;
  Plot& plot = shown.plot;
  plot.x = tokenAxis(figures);
  plot.value = hoverFlops;
  plot.place = hoverTokens;
  const auto at = [&](double tokens) {
    attention::CostRequest request = figures.request;
    request.tokens = static_cast<Index>(std::llround(std::max(tokens, 1.0)));
    return attention::decodeWork(figures.shape, request).flops;
  };
  if (!figures.shape.decodes) {
    shown.title = "An encoder decodes nothing";
    shown.notes = {"it processes all tokens at once, as in a prefill"};
    fitAxis(plot.y, plot.lines);
    return shown;
  }
  attention::CostRequest none = figures.request;
  none.tokens = 0;
  const double rest = attention::decodeWork(figures.shape, none).flops;
  plot.lines.push_back(curve("attention", plot.x, Dash::solid, [&](double n) { return at(n) - rest; }));
  plot.lines.back().chosen = true;
  plot.lines.push_back(curve("everything else", plot.x, Dash::dashed, [&](double) { return rest; }));
  fitAxis(plot.y, plot.lines);
  plot.rules.push_back({doubleOf(figures.request.tokens), true, ""});
  plot.labelRoom = 130;
  const double slope = at(1 << 20) > at(1 << 19) ? 1 : 0;
  shown.title = slope > 0 ? "A step's cost grows with the cache, not its square"
                          : "Windows make a step's cost constant";
  shown.notes = {
      figures.request.batch == 1
          ? std::string("one token; without the cache a step would be a prefill")
          : fmt::format("one token for each of {} sequences; without the cache a step would be a prefill",
                        figures.request.batch)};
  if (figures.shape.isLatent()) shown.notes.emplace_back("absorbed: scores and sums use the latent directly");
  return shown;
}

}  // namespace

CostPlot memoryPlot(const CostSetup& setup, const CostFigures& figures, const CostCatalogue& catalogue) {
  return setup.memory == MemoryPlot::cache ? cachePlot(figures, catalogue) : matrixPlot(figures);
}

CostPlot workPlot(const CostSetup& setup, const CostFigures& figures) {
  return setup.work == WorkPlot::prefill ? prefillPlot(figures) : decodePlot(figures);
}

namespace {

std::string hoverRate(double teraflops) {
  return threeDigits(teraflops) + " TFLOP/s";
}
std::string hoverIntensity(double intensity) {
  return threeDigits(intensity) + " FLOP per byte";
}

}  // namespace

CostPlot rooflinePlot(const CostFigures& figures) {
  const Index gpus = figures.request.tensorParallel;
  const auto rate = [&](double intensity) {
    return attention::roofline(figures.machine, gpus, intensity, figures.serving.math) / 1e12;
  };
  const double peak = figures.serving.peak * static_cast<double>(gpus) / 1e12;
  const double ridge = figures.serving.peak / figures.machine.bandwidth;
  const double decode = figures.decode.intensity();
  const double prefill = figures.prefill.total() / std::max(figures.decode.weightBytes, 1.0);
  CostPlot shown;
  const bool decodes = figures.shape.decodes;
  shown.title = std::string(decodes ? "Decode" : "An encoder") +
                ((decodes ? decode : prefill) < ridge ? " waits for memory" : " keeps the processor busy");
  shown.unit = gpus == 1 ? "TFLOP/s, " + figures.machine.name
                         : fmt::format("TFLOP/s, {} × {}", gpus, figures.machine.name);
  Plot& plot = shown.plot;
  plot.x.low = std::pow(10.0, std::floor(std::log10(std::min(decode, 1.0)) - 0.2));
  plot.x.high = std::pow(10.0, std::ceil(std::log10(std::max({prefill, ridge * 10, 1e4}))));
  plot.x.ticks = powerTicks(plot.x.low, plot.x.high);
  plot.x.title = "FLOP per byte";
  plot.y.low = std::pow(10.0, std::floor(std::log10(rate(plot.x.low))));
  plot.y.high = peak * 2.2;
  plot.y.ticks = powerTicks(plot.y.low, plot.y.high);
  plot.labelRoom = 14;
  plot.value = hoverRate;
  plot.place = hoverIntensity;
  PlotLine roof{"", {{plot.x.low, rate(plot.x.low)}, {ridge, peak}, {plot.x.high, peak}}};
  roof.chosen = true;
  plot.lines.push_back(std::move(roof));
  plot.marks.push_back(
      {{ridge, peak}, countText(static_cast<std::uint64_t>(std::llround(peak))), "", PlotSide::above});
  // Larger batches share each read of the weights.
  attention::CostRequest many = figures.request;
  for (Index batch = figures.request.batch * 4; decodes && batch <= figures.request.batch * 256; batch *= 4) {
    many.batch = batch;
    const double at = attention::decodeWork(figures.shape, many).intensity();
    const bool last = batch == figures.request.batch * 256;
    if (at > decode * 1.02)
      plot.marks.push_back({{at, rate(at)},
                            last ? "batch " + countText(static_cast<std::uint64_t>(batch)) : "",
                            "",
                            PlotSide::aboveLeft});
  }
  const double share = rate(decode) / peak;
  if (decodes)
    plot.marks.push_back({{decode, rate(decode)},
                          figures.request.batch == 1 ? "decode, 1 token"
                                                     : fmt::format("decode, batch {}", figures.request.batch),
                          secondsText(figures.serving.stepSeconds) + ", " + percentText(share) + " of peak",
                          PlotSide::right,
                          true,
                          true});
  const double prefillAt = std::min(prefill, plot.x.high / 3);
  plot.marks.push_back({{prefillAt, rate(prefill)},
                        (decodes ? "prefill, " : "all tokens, ") + tokensText(figures.request.tokens),
                        secondsText(figures.serving.prefillSeconds),
                        PlotSide::below,
                        true,
                        true});
  if (!decodes) {
    shown.notes.emplace_back("one pass over all tokens; weights without the embedding table");
    return shown;
  }
  many.batch = kMaxCostBatch * 64;
  const double limit = attention::decodeWork(figures.shape, many).intensity();
  const double tokens = figures.serving.tokensPerSecond;
  shown.notes.push_back(fmt::format("decode: at most {} tokens/s{}; weights without the embedding table",
                                    threeDigits(tokens),
                                    figures.request.batch == 1 ? "" : " of all sequences"));
  if (figures.decode.cacheBytes > 0)
    shown.notes.push_back(fmt::format("batching can't exceed {} FLOP/byte: each sequence adds its own cache",
                                      threeDigits(limit)));
  return shown;
}

}  // namespace headscope::app
