#include "app/commands/cost/engine.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/scene/text/number_text.h"

namespace headscope::app {
namespace {

using attention::Index;
using Json = nlohmann::ordered_json;

Json wholeBytes(double bytes) {
  return bytes >= 0x1p63 ? Json(nullptr) : Json(static_cast<std::uint64_t>(std::llround(bytes)));
}

double tokensPerSecond(const CostFigures& figures, double stepSeconds) {
  return static_cast<double>(figures.request.batch) / stepSeconds;
}

}  // namespace

std::string engineTable(const CostReport& report) {
  const LlamaCppReport& engine = *report.engine;
  const attention::Offloading& split = engine.split;
  const CostFigures& figures = report.figures;
  std::string text = "\nllama.cpp\n";
  const auto row = [&](const std::string& name, const std::string& value, const std::string& note) {
    text += fmt::format("{:<16}{}   {}\n", name, value, note);
  };
  row("verdict", split.fits ? "Fits" : "Does not fit",
      fmt::format("{} of {} on one {}: {} of {} usable; {} in the system's memory", split.gpuLayers,
                  countedText(split.layers, "layer"), figures.machine.name, fourDigitBytes(split.gpuBytes),
                  fourDigitBytes(figures.serving.memory.usable), fourDigitBytes(split.systemBytes)));
  row("speed", fmt::format("{} tokens/s", threeDigits(tokensPerSecond(figures, split.seconds))),
      fmt::format("at most: a step reads {} on the GPU at {:.4g} GB/s, then {} at {:.4g} GB/s",
                  fourDigitBytes(split.gpuRead), figures.machine.bandwidth / 1e9,
                  fourDigitBytes(split.systemRead), engine.settings.systemBandwidth / 1e9));
  row("keys", fourDigitBytes(engine.memory.keys), std::string(attention::rowOf(engine.settings.keys).name));
  row("values", fourDigitBytes(engine.memory.values),
      std::string(attention::rowOf(engine.settings.values).name));
  if (engine.memory.states > 0) row("states", fourDigitBytes(engine.memory.states), "32 bits a number");
  for (const attention::LlamaCppLayers& each : engine.memory.layers)
    if (each.cells > 0)
      row("  " + std::string(kindName(each.group.kind)), fourDigitBytes(each.keys + each.values),
          fmt::format("{} of {} cells a sequence", countedText(each.group.layers, "layer"),
                      countText(static_cast<std::uint64_t>(each.cells))));
  row("compute buffer", fourDigitBytes(engine.memory.compute),
      fmt::format("for {} tokens at once", engine.settings.ubatch));
  return text;
}

std::string engineJson(const CostReport& report) {
  const LlamaCppReport& engine = *report.engine;
  const attention::LlamaCppSettings& settings = engine.settings;
  const attention::Offloading& split = engine.split;
  Json layers = Json::array();
  for (const attention::LlamaCppLayers& each : engine.memory.layers)
    layers.push_back({{"kind", kindName(each.group.kind)},
                      {"layers", each.group.layers},
                      {"cells", each.cells},
                      {"key_bytes", each.keys},
                      {"value_bytes", each.values},
                      {"state_bytes", each.states}});
  return Json{{"cache_type_k", attention::rowOf(settings.keys).name},
              {"cache_type_v", attention::rowOf(settings.values).name},
              {"ubatch", settings.ubatch},
              {"swa_full", settings.fullWindows},
              {"flash_attention", settings.flashAttention},
              {"key_bytes", engine.memory.keys},
              {"value_bytes", engine.memory.values},
              {"state_bytes", engine.memory.states},
              {"compute_bytes", wholeBytes(engine.memory.compute)},
              {"layers", layers},
              {"gpu_layers", split.gpuLayers},
              {"fits", split.fits},
              {"gpu_bytes", wholeBytes(split.gpuBytes)},
              {"system_bytes", wholeBytes(split.systemBytes)},
              {"gpu_bytes_read", wholeBytes(split.gpuRead)},
              {"system_bytes_read", wholeBytes(split.systemRead)},
              {"system_bandwidth", settings.systemBandwidth},
              {"decode_seconds", split.seconds},
              {"decode_tokens_per_second", tokensPerSecond(report.figures, split.seconds)}}
      .dump();
}

namespace {

/// The weights' formats that are compared: as published, and common quantisations.
constexpr attention::WeightFormat kCompared[] = {attention::WeightFormat::published,
                                                 attention::WeightFormat::fp8, attention::WeightFormat::q8_0,
                                                 attention::WeightFormat::q4_k_m};

attention::Serving servedBy(const CostFigures& figures, const attention::Machine& machine,
                            attention::WeightFormat weights) {
  attention::CostRequest request = figures.request;
  request.weights = weights;
  return attention::serve(figures.shape, request, machine);
}

}  // namespace

std::string fitsTable(const CostFigures& figures, const CostCatalogue& catalogue) {
  std::string text =
      fmt::format("{}: longest context at batch {} with a cache in {}; tokens/s at {} at most\n{:<20}{:>9}",
                  figures.shape.name, figures.request.batch, attention::rowOf(figures.request.format).name,
                  tokenCountText(figures.request.tokens), "device", "GB");
  for (const attention::WeightFormat weights : kCompared)
    text += fmt::format("{:>22}", attention::rowOf(weights).name);
  text += "\n";
  for (const attention::Machine& machine : catalogue.machines) {
    text += fmt::format("{:<20}{:>9g}", machine.name, machine.memoryGb);
    for (const attention::WeightFormat weights : kCompared) {
      const attention::Serving served = servedBy(figures, machine, weights);
      const std::string most =
          served.longestContext ? countText(static_cast<std::uint64_t>(*served.longestContext)) : "any";
      text += fmt::format("{:>22}", served.longestContext == Index{0} ? "–"
                                    : !served.memory.fits()
                                        ? most
                                        : fmt::format("{}, {}/s", most, threeDigits(served.tokensPerSecond)));
    }
    text += "\n";
  }
  return text;
}

std::string fitsJson(const CostFigures& figures, const CostCatalogue& catalogue) {
  Json list = Json::array();
  for (const attention::Machine& machine : catalogue.machines)
    for (const attention::WeightFormat weights : kCompared) {
      const attention::Serving served = servedBy(figures, machine, weights);
      list.push_back(
          {{"device", machine.name},
           {"memory_gb", machine.memoryGb},
           {"weights_dtype", attention::rowOf(weights).name},
           {"fits", served.memory.fits()},
           {"needed_bytes", wholeBytes(served.memory.needed())},
           {"longest_context", served.longestContext ? Json(*served.longestContext) : Json(nullptr)},
           {"decode_tokens_per_second",
            served.memory.fits() ? Json(served.tokensPerSecond) : Json(nullptr)}});
    }
  return list.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace headscope::app
