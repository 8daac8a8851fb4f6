#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/compute/cost/cost_plot.h"
#include "app/compute/cost/cost_words.h"
#include "app/scene/text/byte_text.h"
#include "app/scene/text/number_text.h"

namespace headscope::app {

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
