#include "app/commands/cost/output.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/commands/cost/engine.h"
#include "app/scene/text/number_text.h"

namespace headscope::app {
namespace {

using attention::Index;
using attention::ModelShape;
using attention::NumberFormat;
using Json = nlohmann::ordered_json;

std::string count(Index value) {
  return countText(static_cast<std::uint64_t>(value));
}

/// A whole number, or null if it is too large to count.
Json bytesJson(std::uint64_t bytes) {
  return bytes >= attention::kTooManyBytes ? Json(nullptr) : Json(bytes);
}

/// The same for an average, such as over the experts that a batch reaches.
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
  if (shape.isLatent())
    return fmt::format("{} · ({} latent) · {}", countedText(shape.layers, "layer"), latentNumbers(shape),
                       bytesOfOne(format));
  return fmt::format("2 · {} · {} · {} · {}", countedText(shape.layers, "layer"),
                     countedText(shape.kvHeads, "kv head"), shape.headDim, bytesOfOne(format));
}

std::string headsText(const ModelShape& shape) {
  std::string text =
      fmt::format("{}, model dim {}", countedText(shape.layers, "layer"), count(shape.modelDim));
  if (shape.heads == 0) return text + ", no attention";
  text += ", " + countedText(shape.heads, "head");
  return text + (shape.isLatent()
                     ? " over a latent of " + latentNumbers(shape)
                     : fmt::format(" over {} of {}", countedText(shape.kvHeads, "kv head"), shape.headDim));
}

/// A count of tokens or sequences; null if any number fits.
Json limitJson(const std::optional<Index>& limit) {
  return limit ? Json(*limit) : Json(nullptr);
}

}  // namespace

std::string_view kindName(attention::CacheKind kind) {
  return attention::kCacheKindNames[static_cast<std::size_t>(kind)];
}

CostReport costReport(CostFigures figures, const CostCatalogue& catalogue) {
  CostReport report{.figures = std::move(figures), .warnings = {}};
  report.gpus = gpuChoices(report.figures, catalogue);
  const ModelShape& shape = report.figures.shape;
  const attention::CacheCost& cost = report.figures.cost;
  const Index tokens = report.figures.request.tokens;
  for (const std::string& note : shape.notes) report.warnings.push_back(shape.name + ": " + note);
  if (shape.contextKnown && tokens > shape.context)
    report.warnings.push_back(fmt::format("{} was trained on up to {} tokens; computing {} anyway",
                                          shape.name, count(shape.context), count(tokens)));
  if (!shape.decodes)
    report.warnings.push_back(shape.name + " is an encoder: it reads all tokens at once and keeps no cache");
  if (cost.total >= attention::kTooManyBytes || cost.reserved >= attention::kTooManyBytes)
    report.warnings.push_back(fmt::format(
        "{} more than 8 EiB (2^63 bytes), too large to show",
        cost.total >= attention::kTooManyBytes ? "the cache is" : "what is reserved in whole blocks is"));
  if (report.figures.request.tensorParallel > 1 && report.figures.machine.link <= 0)
    report.warnings.push_back(report.figures.machine.name + " has no link_gb: all-reduces aren't counted");
  return report;
}

std::string costTable(const CostReport& report) {
  const CostFigures& figures = report.figures;
  const ModelShape& shape = figures.shape;
  const attention::CostRequest& request = figures.request;
  const attention::CacheCost& cost = figures.cost;
  std::string text = fmt::format("{}, from {}\n  {}\n", shape.name, shape.source, headsText(shape));
  const auto row = [&](const std::string& name, const std::string& value, const std::string& note = "") {
    text += fmt::format("{:<16}{}{}\n", name, value, note.empty() ? "" : "   " + note);
  };
  row("verdict", verdictText(figures), verdictReason(figures));
  row("speed", speedText(figures), speedReason(figures));
  row("cache", bytesBoth(cost.total),
      fmt::format("{} × batch {}, {}", tokenCountText(request.tokens), count(request.batch),
                  attention::rowOf(request.format).name));
  const std::vector<CostLayers> lines = costLayers(figures);
  for (const CostLayers& line : lines)
    row("  " + std::string(kindName(line.kind)), line.bytes,
        line.words + (line.product.empty() ? "" : ": " + line.product));
  row("per token", bytesBoth(cost.perToken),
      lines.empty() ? factors(shape, request.format) : "while no window is full");
  row("reserved", bytesBoth(cost.reserved),
      cost.reserved >= attention::kTooManyBytes
          ? ""
          : fmt::format("in blocks of {}, {} wasted", request.block, bytesBoth(cost.reserved - cost.total)));
  row("weights", bytesBoth(cost.weights), weightsTerms(figures));
  if (request.tensorParallel > 1) {
    std::string share = fmt::format("of {} GPUs", request.tensorParallel);
    if (cost.copies > 1)
      share +=
          fmt::format(", {} on {} of them: {} of copies", shape.isLatent() ? "the latent" : "each kv head",
                      cost.copies, fourDigitBytes(cost.copiedPerGpu));
    row("cache per GPU", bytesBoth(cost.reservedPerGpu), share);
    row("weights per GPU", bytesBoth(cost.weightsPerGpu));
  }
  row("activations", fourDigitBytes(figures.serving.memory.activations), activationTerms(figures));
  row("prefill", flopsText(figures.prefill.total()),
      fmt::format(
          "attention {}, projections {}, feed-forward {}{}", flopsText(figures.prefill.attention()),
          flopsText(figures.prefill.projections), flopsText(figures.prefill.feedForward),
          request.batch > 1 ? fmt::format("; of one of the {} sequences", count(request.batch)) : ""));
  if (shape.decodes)
    row("decode step", flopsText(figures.decode.flops),
        fmt::format("reads {}: {} FLOP/byte", fourDigitBytes(figures.decode.bytes()),
                    threeDigits(figures.decode.intensity())));
  return text + "\n" + timeTerms(figures) + "\n" + (report.engine ? engineTable(report) : "");
}

namespace {

Json layersJson(const CostFigures& figures) {
  Json list = Json::array();
  for (const attention::LayerGroupCost& each : figures.layers) {
    if (each.group.layers == 0) continue;
    list.push_back({{"kind", kindName(each.group.kind)},
                    {"layers", each.group.layers},
                    {"kv_heads", each.group.kvHeads},
                    {"tokens", each.tokens},
                    {"span", each.group.span},
                    {"state", each.group.state},
                    {"bytes", bytesJson(each.bytes)},
                    {"reserved_bytes", bytesJson(each.reserved)},
                    {"reserved_bytes_per_gpu", bytesJson(each.reservedPerGpu)}});
  }
  return list;
}

/// The page's tiles: the number of GPUs, and the smallest memory among the machines that hold a share.
Json choicesJson(const CostReport& report) {
  Json list = Json::array();
  for (const GpuChoice& choice : report.gpus) {
    if (choice.reason.empty())
      list.push_back({{"gpus", choice.gpus},
                      {"bytes_per_gpu", bytesJson(choice.memory.needed())},
                      {"smallest_memory_gb", choice.fitsGb ? Json(*choice.fitsGb) : Json(nullptr)},
                      {"copies", choice.copies}});
    else
      list.push_back({{"gpus", choice.gpus}, {"reason", choice.reason}});
  }
  return list;
}

Json machineJson(const CostFigures& figures) {
  const attention::Machine& machine = figures.machine;
  const attention::GpuMemory& memory = figures.serving.memory;
  return {{"device", machine.name},
          {"memory_bytes", machine.memoryGb * 1e9},
          {"usable_share", machine.usableShare},
          {"usable_bytes", bytesJson(memory.usable)},
          {"weight_bytes", bytesJson(memory.weights)},
          {"cache_bytes", bytesJson(memory.cache)},
          {"activation_bytes", bytesJson(memory.activations)},
          {"bandwidth", machine.bandwidth},
          {"multiplies", attention::kMathFormatNames[static_cast<std::size_t>(figures.serving.math)]},
          {"flops", figures.serving.peak},
          {"link", machine.link}};
}

void addServing(const CostFigures& figures, Json& json) {
  const attention::Serving& serving = figures.serving;
  const bool decodes = figures.shape.decodes;
  const auto orNull = [&](double value) { return decodes ? Json(value) : Json(nullptr); };
  json["fits"] = figures.fits();
  const double free = serving.memory.free();
  json["free_bytes_per_gpu"] = std::abs(free) < 0x1p62 ? Json(std::llround(free)) : Json(nullptr);
  json["longest_context"] = limitJson(serving.longestContext);
  json["largest_batch"] = limitJson(serving.largestBatch);
  json["prefill_seconds"] = serving.prefillSeconds;
  json["decode_seconds"] = orNull(serving.stepSeconds);
  json["decode_tokens_per_second"] = orNull(serving.tokensPerSecond);
  json["decode_tokens_per_second_per_user"] = orNull(serving.tokensPerSecondForOne);
  json["bound"] =
      decodes ? Json(attention::kBoundNames[static_cast<std::size_t>(serving.bound)]) : Json(nullptr);
  json["all_reduce_seconds"] = {{"decode", serving.linkSeconds}, {"prefill", serving.prefillLinkSeconds}};
  json["cost_per_million_tokens"] =
      figures.price > 0 && decodes
          ? Json(attention::costPerMillion(serving, figures.request.tensorParallel, figures.price))
          : Json(nullptr);
}

}  // namespace

std::string costJson(const CostReport& report) {
  const CostFigures& figures = report.figures;
  const ModelShape& shape = figures.shape;
  const attention::CostRequest& request = figures.request;
  const attention::CacheCost& cost = figures.cost;
  Json json;
  json["model"] = Json::parse(shapeJson(shape));
  json["request"] = {
      {"tokens", request.tokens},
      {"batch", request.batch},
      {"dtype", attention::rowOf(request.format).name},
      {"weights_dtype", attention::storageOf(shape, request).name},
      {"activations_dtype", attention::kMathFormatNames[static_cast<std::size_t>(figures.serving.math)]},
      {"block", request.block},
      {"tensor_parallel", request.tensorParallel}};
  addServing(figures, json);
  json["layers"] = layersJson(figures);
  const bool wasteCounts = cost.reserved < attention::kTooManyBytes;
  json["cache"] = {{"bytes_per_token", bytesJson(cost.perToken)},
                   {"bytes", bytesJson(cost.total)},
                   {"reserved_bytes", bytesJson(cost.reserved)},
                   {"wasted_bytes", wasteCounts ? Json(cost.reserved - cost.total) : Json(nullptr)},
                   {"bytes_per_gpu", bytesJson(cost.perGpu)},
                   {"reserved_bytes_per_gpu", bytesJson(cost.reservedPerGpu)},
                   {"copies", cost.copies},
                   {"copied_bytes_per_gpu", bytesJson(cost.copiedPerGpu)}};
  json["weights"] = {{"parameters", figures.parameters.total},
                     {"active_parameters", figures.parameters.active},
                     {"counted", shape.countedBytes > 0},
                     {"bytes", bytesJson(cost.weights)},
                     {"bytes_per_gpu", bytesJson(cost.weightsPerGpu)}};
  json["gpu"] = machineJson(figures);
  json["tensor_parallel_choices"] = choicesJson(report);
  json["compared"] = {{"mha_bytes", bytesJson(figures.mha)}, {"mqa_bytes", bytesJson(figures.mqa)}};
  json["attention_overtakes"] = {{"projections", limitJson(figures.overtakesProjections)},
                                 {"everything", limitJson(figures.overtakesAll)}};
  json["prefill"] = {{"projection_flops", figures.prefill.projections},
                     {"feed_forward_flops", figures.prefill.feedForward},
                     {"attention_flops", figures.prefill.attention()},
                     {"softmax_flops", figures.prefill.softmax},
                     {"flops", figures.prefill.total()}};
  json["decode"] = nullptr;
  if (shape.decodes)
    json["decode"] = {{"flops", figures.decode.flops},
                      {"weight_bytes_read", bytesJson(figures.decode.weightBytes)},
                      {"cache_bytes_read", bytesJson(figures.decode.cacheBytes)}};
  if (report.engine) json["llama_cpp"] = Json::parse(engineJson(report));
  json["warnings"] = report.warnings;
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string machineTable(const CostCatalogue& catalogue) {
  std::string text = fmt::format("{:<16}{:>10}{:>8}{:>9}{:>9}{:>9}{:>9}{:>11}  {}\n", "device", "memory GB",
                                 "TB/s", "16 bits", "fp8", "int8", "fp4", "link GB/s", "published in");
  const auto tera = [](double value) {
    return value > 0 ? fmt::format("{:.5g}", value / 1e12) : std::string("–");
  };
  for (const attention::Machine& each : catalogue.machines)
    text += fmt::format("{:<16}{:>10g}{:>8.4g}{:>9}{:>9}{:>9}{:>9}{:>11g}  {}\n", each.name, each.memoryGb,
                        each.bandwidth / 1e12, tera(each.flops), tera(each.fp8), tera(each.int8),
                        tera(each.fp4), each.link / 1e9, each.source);
  return text;
}

std::string listTable(const CostCatalogue& catalogue) {
  std::string text =
      fmt::format("{:<26}{:>7}{:>8}{:>7}{:>9}{:>9}{:>9}{:>14}  {}\n", "model", "layers", "dim", "heads",
                  "kv heads", "head dim", "context", "bf16 per token", "published in");
  for (const ModelShape& shape : catalogue.shapes)
    text += fmt::format("{:<26}{:>7}{:>8}{:>7}{:>9}{:>9}{:>9}{:>14}  {}\n", shape.name, shape.layers,
                        shape.modelDim, shape.heads,
                        shape.isLatent() ? fmt::format("{}+{}", shape.latentDim, shape.ropeDim)
                                         : std::to_string(shape.kvHeads),
                        shape.headDim, shape.context,
                        fourDigitBytes(attention::cacheCost(shape, {}).perToken), shape.source);
  return text;
}

std::string listJson(const CostCatalogue& catalogue) {
  Json list = Json::array();
  for (const ModelShape& shape : catalogue.shapes) list.push_back(Json::parse(shapeJson(shape)));
  return list.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace headscope::app
