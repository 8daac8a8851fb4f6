#include "app/commands/bench/bench.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>

#include "app/commands/bench/stopwatch.h"
#include "app/scene/text/number_text.h"
#include "attention/cache/cost.h"
#include "attention/core/attention.h"
#include "attention/core/head_map.h"

namespace headscope::app {
namespace {

using attention::MachineCeilings;

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
    ceilings.push_back(attention::measureCeilings());
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

}  // namespace headscope::app
