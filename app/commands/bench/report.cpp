#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "app/commands/bench/bench.h"
#include "app/scene/text/number_text.h"
#include "attention/core/noun.h"

namespace headscope::app {
namespace {

using WorkKind = BenchWork::Kind;

/// "153 GFLOP/s", "21.4 GB/s"; "" for no work.
std::string rateText(WorkKind kind, double perSecond) {
  if (kind == WorkKind::none) return "";
  return fmt::format("{:.{}f} {}", perSecond / 1e9, perSecond >= 99.5e9 ? 0 : 1,
                     kind == WorkKind::flop ? "GFLOP/s" : "GB/s");
}

/// Three digits: more would be noise, as times vary by a percent from run to run.
std::string durationText(double seconds) {
  const double ms = seconds * 1e3;
  return fmt::format("{:.{}f} ms", ms, ms >= 99.5 ? 0 : ms >= 9.95 ? 1 : ms >= 0.995 ? 2 : 3);
}

struct TableLine {
  std::string what, median, fastest, slowest, rate, share;
};

std::string padded(const std::string& text, std::size_t width, bool right) {
  std::size_t characters = 0;  // of UTF-8
  for (const char c : text) characters += (c & 0xC0) != 0x80;
  const std::string space(width > characters ? width - characters : 0, ' ');
  return right ? space + text : text + space;
}

std::string written(const TableLine& line) {
  std::string text = padded(line.what, 38, false) + padded(line.median, 11, true) +
                     padded(line.fastest, 11, true) + padded(line.slowest, 11, true) +
                     padded(line.rate, 15, true) + padded(line.share, 10, true);
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

nlohmann::ordered_json jsonOf(const BenchShape& shape) {
  return {{"model_dim", shape.config.modelDim},
          {"heads", shape.config.heads},
          {"kv_heads", shape.config.kvHeads},
          {"head_dim", shape.config.headDim},
          {"tokens", shape.tokens},
          {"causal", shape.causal},
          {"cached", shape.cached},
          {"cached_as", kCacheTypeNames[static_cast<std::size_t>(shape.cachedAs)]},
          {"map_tokens", shape.mapTokens}};
}

}  // namespace

std::string benchTable(const BenchReport& report) {
  std::string text = fmt::format("{}\n{}, {}; medians of {}\n\n", report.title,
                                 attention::counted(attention::kernelThreads(), "thread"),
                                 attention::instructionSet(), attention::counted(report.rounds, "round"));
  text += written({"", "median", "fastest", "slowest", "rate", "ceiling"});
  for (const BenchRow& row : report.rows)
    text += written({row.line.meaning, durationText(row.seconds), durationText(row.fastest),
                     durationText(row.slowest), rateText(row.line.work.kind, row.rate()),
                     row.line.work.kind == WorkKind::none ? "" : percentText(row.share)});
  text +=
      written({"ceiling of multiply-adds", "", "", "", rateText(WorkKind::flop, report.ceilings.flops), ""});
  text +=
      written({"ceiling of reading", "", "", "", rateText(WorkKind::bytes, report.ceilings.readBytes), ""});
  text += "peak memory: " + bytesText(static_cast<double>(report.peakBytes)) + "\n";
  if (!report.omitted.empty()) text += "The window was not measured: " + report.omitted + "\n";
  return text;
}

std::string benchJson(const BenchReport& report) {
  nlohmann::ordered_json json{{"format", "headscope bench"}, {"version", 1}};
  if (!report.shape) json["model"] = report.title;
  if (report.shape) json["shape"] = jsonOf(*report.shape);
  json["threads"] = attention::kernelThreads();
  json["instruction_set"] = attention::instructionSet();
  json["rounds"] = report.rounds;
  json["ceilings"] = {{"flop_per_second", report.ceilings.flops},
                      {"bytes_per_second", report.ceilings.readBytes}};
  json["rows"] = nlohmann::ordered_json::array();
  for (const BenchRow& row : report.rows) {
    nlohmann::ordered_json entry{{"name", row.line.name},
                                 {"seconds", row.seconds},
                                 {"fastest", row.fastest},
                                 {"slowest", row.slowest}};
    if (const BenchWork& work = row.line.work; work.kind != WorkKind::none) {
      const std::string unit = work.kind == WorkKind::flop ? "flop" : "bytes";
      entry[unit] = work.amount;
      entry[unit + "_per_second"] = row.rate();
      entry["share"] = row.share;
    }
    json["rows"].push_back(std::move(entry));
  }
  if (!report.omitted.empty()) json["left_out"] = {{"window", report.omitted}};
  json["peak_memory_bytes"] = report.peakBytes;
  return json.dump(2) + "\n";
}

}  // namespace headscope::app
