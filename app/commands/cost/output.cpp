#include "app/commands/cost/output.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/scene/text/byte_text.h"
#include "app/scene/text/number_text.h"

namespace headscope::app {
namespace {

using attention::Index;
using attention::ModelShape;
using attention::NumberFormat;
using Json = nlohmann::ordered_json;

std::string_view formatName(NumberFormat format) {
  return attention::kNumberFormatNames[static_cast<std::size_t>(format)];
}

std::string count(Index value) {
  return countText(static_cast<std::uint64_t>(value));
}

/// A whole number, or null where it is none that can be counted.
Json bytesJson(std::uint64_t bytes) {
  return bytes >= attention::kTooManyBytes ? Json(nullptr) : Json(bytes);
}

/// The same of what is counted on average, as the experts that a batch reaches.
Json bytesJson(double bytes) {
  return bytes >= 0x1p63 ? Json(nullptr) : Json(static_cast<std::uint64_t>(std::llround(bytes)));
}

/// "42,949,672,960 B = 40 GiB".
std::string bytesBoth(std::uint64_t bytes) {
  if (bytes >= attention::kTooManyBytes) return fourDigitBytes(bytes);
  return bytes < 1024 ? exactBytes(bytes) : exactBytes(bytes) + " = " + fourDigitBytes(bytes);
}

/// "2 · 80 layers · 8 kv heads · 128 · 2 B".
std::string factors(const ModelShape& shape, NumberFormat format) {
  const int bits = attention::bitsOf(format);
  const std::string bytes = bits >= 8 ? std::to_string(bits / 8) : "½";
  if (shape.isLatent())
    return fmt::format("{} layers · ({} latent + {} rotary) · {} B", shape.layers, shape.latentDim,
                       shape.ropeDim, bytes);
  return fmt::format("2 · {} layers · {} kv heads · {} · {} B", shape.layers, shape.kvHeads, shape.headDim,
                     bytes);
}

std::string headsText(const ModelShape& shape) {
  std::string text =
      fmt::format("{} layers, model dim {}, {} heads", shape.layers, count(shape.modelDim), shape.heads);
  text += shape.isLatent() ? fmt::format(" over a latent of {} + {}", shape.latentDim, shape.ropeDim)
                           : fmt::format(" over {} kv heads of {}", shape.kvHeads, shape.headDim);
  if (shape.window > 0)
    text += fmt::format(", window {} in {} layers", count(shape.window), shape.layers - shape.globalLayers);
  return text;
}

}  // namespace

CostReport costReport(const ModelShape& shape, const attention::CostRequest& request) {
  CostReport report{shape,
                    request,
                    attention::cacheCost(shape, request),
                    attention::parametersOf(shape),
                    attention::prefillWork(shape, request.tokens),
                    attention::decodeWork(shape, request),
                    {}};
  if (shape.contextKnown && request.tokens > shape.context)
    report.warnings.push_back(fmt::format("{} was trained to {} tokens; computing {} anyway", shape.name,
                                          count(shape.context), count(request.tokens)));
  if (!shape.decodes)
    report.warnings.push_back(shape.name + " is an encoder: it reads all tokens at once and keeps no cache");
  if (report.cost.total >= attention::kTooManyBytes || report.cost.reserved >= attention::kTooManyBytes)
    report.warnings.push_back(fmt::format("{} more than 8 EiB (2^63 bytes), which has no figure here",
                                          report.cost.total >= attention::kTooManyBytes
                                              ? "the cache is"
                                              : "what is reserved in whole blocks is"));
  return report;
}

std::string costTable(const CostReport& report) {
  const auto& [shape, request, cost, parameters, prefill, decode, warnings] = report;
  std::string text = fmt::format("{}\n  {}\n", shape.name, headsText(shape));
  const auto row = [&](const char* name, const std::string& value, const std::string& note = "") {
    text += fmt::format("{:<16}{}{}\n", name, value, note.empty() ? "" : "   " + note);
  };
  row("cache", bytesBoth(cost.total),
      fmt::format("{} tokens × batch {}, {}", count(request.tokens), count(request.batch),
                  formatName(request.format)));
  row("per token", bytesBoth(cost.perToken), factors(shape, request.format));
  row("reserved", bytesBoth(cost.reserved),
      cost.reserved >= attention::kTooManyBytes
          ? ""
          : fmt::format("in blocks of {}, {} wasted", request.block, bytesBoth(cost.reserved - cost.total)));
  row("weights", bytesBoth(cost.weights), count(static_cast<Index>(parameters.total)) + " parameters");
  if (request.tensorParallel > 1) {
    std::string share = fmt::format("of {} GPUs", request.tensorParallel);
    if (cost.copies > 1)
      share +=
          fmt::format(", {} on {} of them", shape.isLatent() ? "the latent" : "each kv head", cost.copies);
    row("cache per GPU", bytesBoth(cost.perGpu), share);
    row("weights per GPU", bytesBoth(cost.weightsPerGpu));
  }
  row("prefill", flopsText(prefill.total()),
      fmt::format(
          "attention {}, projections {}, feed-forward {}{}", flopsText(prefill.attention()),
          flopsText(prefill.projections), flopsText(prefill.feedForward),
          request.batch > 1 ? fmt::format("; of one of the {} sequences", count(request.batch)) : ""));
  if (shape.decodes)
    row("decode step", flopsText(decode.flops),
        fmt::format("reads {}: {:.3g} FLOP/byte", fourDigitBytes(decode.bytes()), decode.intensity()));
  return text + "\n" + shape.source + "\n";
}

std::string costJson(const CostReport& report) {
  const auto& [shape, request, cost, parameters, prefill, decode, warnings] = report;
  Json json;
  json["model"] = Json::parse(shapeJson(shape));
  json["request"] = {{"tokens", request.tokens},
                     {"batch", request.batch},
                     {"dtype", formatName(request.format)},
                     {"block", request.block},
                     {"tensor_parallel", request.tensorParallel}};
  const bool wasteCounts = cost.reserved < attention::kTooManyBytes;
  json["cache"] = {{"bytes_per_token", bytesJson(cost.perToken)},
                   {"bytes", bytesJson(cost.total)},
                   {"reserved_bytes", bytesJson(cost.reserved)},
                   {"wasted_bytes", wasteCounts ? Json(cost.reserved - cost.total) : Json(nullptr)},
                   {"bytes_per_gpu", bytesJson(cost.perGpu)},
                   {"reserved_bytes_per_gpu", bytesJson(cost.reservedPerGpu)},
                   {"copies", cost.copies}};
  json["weights"] = {{"parameters", parameters.total},
                     {"bytes", bytesJson(cost.weights)},
                     {"bytes_per_gpu", bytesJson(cost.weightsPerGpu)}};
  json["prefill"] = {{"projection_flops", prefill.projections},
                     {"feed_forward_flops", prefill.feedForward},
                     {"attention_flops", prefill.attention()},
                     {"softmax_flops", prefill.softmax},
                     {"flops", prefill.total()}};
  json["decode"] = nullptr;
  if (shape.decodes)
    json["decode"] = {{"flops", decode.flops},
                      {"weight_bytes_read", bytesJson(decode.weightBytes)},
                      {"cache_bytes_read", bytesJson(decode.cacheBytes)}};
  json["warnings"] = warnings;
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string listTable(const CostCatalogue& catalogue) {
  std::string text =
      fmt::format("{:<18}{:>7}{:>8}{:>7}{:>9}{:>9}{:>9}{:>14}  {}\n", "model", "layers", "dim", "heads",
                  "kv heads", "head dim", "context", "bf16 per token", "published in");
  for (const ModelShape& shape : catalogue.shapes)
    text += fmt::format("{:<18}{:>7}{:>8}{:>7}{:>9}{:>9}{:>9}{:>14}  {}\n", shape.name, shape.layers,
                        shape.modelDim, shape.heads,
                        shape.isLatent() ? fmt::format("{}+{}", shape.latentDim, shape.ropeDim)
                                         : std::to_string(shape.kvHeads),
                        shape.headDim, shape.context,
                        fourDigitBytes(attention::cacheBytes(shape, 1, 1, NumberFormat::bf16)), shape.source);
  return text;
}

std::string listJson(const CostCatalogue& catalogue) {
  Json list = Json::array();
  for (const ModelShape& shape : catalogue.shapes) list.push_back(Json::parse(shapeJson(shape)));
  return list.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace headscope::app
