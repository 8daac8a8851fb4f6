#include "tests/bench/measure/bench.h"

#include <fmt/core.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "app/scene/text/number_text.h"
#include "attention/cache/kv_cache.h"
#include "attention/kernels/targets.h"

namespace headscope::app {
namespace {

/// The peak memory of this process, in bytes; 0 if the system doesn't report it.
std::uint64_t peakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (std::uint64_t kilobytes = 0; word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  return 0;
}

double ceilingOf(BenchWork::Kind kind, const MachineCeilings& ceilings) {
  if (kind == BenchWork::Kind::none) return 0;
  return kind == BenchWork::Kind::flop ? ceilings.flops : ceilings.readBytes;
}

/// `seconds` of one line in every round, and the ceilings of the same rounds.
BenchRow rowOf(const BenchLine& line, const std::vector<double>& seconds,
               const std::vector<MachineCeilings>& ceilings) {
  BenchRow row{line, medianOf(seconds), *std::min_element(seconds.begin(), seconds.end()),
               *std::max_element(seconds.begin(), seconds.end()), 0};
  if (line.work.kind == BenchWork::Kind::none) return row;
  std::vector<double> shares;
  for (std::size_t round = 0; round < seconds.size(); ++round)
    shares.push_back(line.work.amount / seconds[round] / ceilingOf(line.work.kind, ceilings[round]));
  row.share = medianOf(std::move(shares));
  return row;
}

std::vector<BenchCase> casesOf(const BenchShape& shape, const BenchParts& parts, std::string& omitted) {
  std::vector<BenchCase> cases = layerCases(shape, parts);
  if (parts.map) cases.push_back(mapCase(shape));
  if (!parts.window) return cases;
  try {
    cases.push_back(windowCase(shape));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    omitted = error.what();
  }
  return cases;
}

}  // namespace

std::string benchTitle(const BenchShape& shape) {
  const auto count = [](attention::Index value) { return countText(static_cast<std::uint64_t>(value)); };
  return "modelDim " + count(shape.config.modelDim) + ", " + count(shape.config.heads) + " heads over " +
         count(shape.config.kvHeads) + " of size " + count(shape.config.headDim) + ", " +
         count(shape.tokens) + " tokens" + (shape.causal ? ", causal" : "") + "; " + count(shape.cached) +
         " cached as " + kCacheTypeNames[static_cast<std::size_t>(shape.cachedAs)] + "; a map of " +
         count(shape.mapTokens) + " tokens";
}

double benchBytes(const BenchShape& shape, const BenchParts& parts) {
  const attention::AttentionConfig& config = shape.config;
  double bytes = 256.0 * 1024 * 1024;  // for the buffer of the read ceiling
  const auto result =
      static_cast<double>(attention::attentionResultBytes(config, shape.tokens, shape.tokens));
  if (parts.forward || parts.window)
    bytes +=
        result + sizeof(float) * (static_cast<double>(attention::parameterCount(config, true)) +
                                  static_cast<double>(shape.tokens) * static_cast<double>(config.modelDim));
  if (parts.decode)
    bytes += static_cast<double>(rotatedCaches(shape)) * static_cast<double>(cachedBytes(shape));
  if (parts.map || parts.window)
    bytes +=
        2 * static_cast<double>(attention::headMapBytes(shape.mapTokens, shape.mapTokens, config.headDim));
  return bytes;
}

BenchReport runBench(const BenchShape& shape, const BenchParts& parts, int rounds) {
  std::string omitted;
  BenchReport report = runCases(casesOf(shape, parts, omitted), rounds);
  report.shape = shape;
  report.title = benchTitle(shape);
  report.omitted = std::move(omitted);
  return report;
}

BenchReport runCases(const std::vector<BenchCase>& cases, int rounds) {
  BenchReport report;
  report.rounds = rounds;
  std::vector<MachineCeilings> ceilings;
  std::vector<std::vector<std::vector<double>>> seconds(cases.size());  // [case][line][round]
  for (int round = 0; round < rounds; ++round) {
    ceilings.push_back(measureCeilings());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const std::size_t at = (i + static_cast<std::size_t>(round)) % cases.size();
      const std::vector<double> took = cases[at].run();
      seconds[at].resize(took.size());
      for (std::size_t line = 0; line < took.size(); ++line) seconds[at][line].push_back(took[line]);
    }
  }
  for (std::size_t i = 0; i < cases.size(); ++i)
    for (std::size_t line = 0; line < cases[i].lines.size(); ++line)
      report.rows.push_back(rowOf(cases[i].lines[line], seconds[i][line], ceilings));
  std::vector<double> flops, bytes;
  for (const MachineCeilings& each : ceilings) {
    flops.push_back(each.flops);
    bytes.push_back(each.readBytes);
  }
  report.ceilings = {medianOf(std::move(flops)), medianOf(std::move(bytes))};
  report.peakBytes = peakMemory();
  return report;
}

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
                                 attention::counted(attention::kernels::sharedPool().threads(), "thread"),
                                 attention::kernels::targetName(), attention::counted(report.rounds, "round"));
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
  json["threads"] = attention::kernels::sharedPool().threads();
  json["instruction_set"] = attention::kernels::targetName();
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
