#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attention/core/attention.h"
#include "attention/core/config.h"
#include "attention/core/head_map.h"
#include "attention/core/mask.h"
#include "attention/core/result.h"
#include "tests/bench/measure/ceilings.h"

namespace headscope::app {

constexpr int kBenchWidth = 1920, kBenchHeight = 1080;  ///< size of the frames that are measured

/// What the command bench measures.
struct BenchShape {
  attention::AttentionConfig config;
  bool causal = false;
  attention::Index tokens = 512;
  attention::Index cached = 8192;  ///< tokens a decode step attends to
  attention::CacheType cachedAs = attention::CacheType::f32;
  attention::Index mapTokens = 32768;  ///< length of the head on the map
};

/// Parts of the benchmark that can be run alone.
struct BenchParts {
  bool forward = true, decode = true, map = true, window = true;
  bool patches = true;  ///< for a whole model
};

/// The work in one run, counted by definition, not by what a kernel happens to do.
struct BenchWork {
  enum class Kind { none, flop, bytes } kind = Kind::none;
  double amount = 0;
};

/// One line of the report, before it is measured.
struct BenchLine {
  std::string name;     ///< in JSON: "forward_weights"
  std::string meaning;  ///< in the table: "forward, all weights stored"
  BenchWork work;
};

/// Something that is run once per round and reports how long each of its lines took.
struct BenchCase {
  std::vector<BenchLine> lines;
  std::function<std::vector<double>()> run;  ///< seconds, one for each line
  BenchLine prepared{};                      ///< the line that `prepare` sets up
  /// Sets up the work of that line and returns it, to be run once; empty for some cases.
  std::function<std::function<void()>()> prepare{};
};

/// A measured line.
struct BenchRow {
  BenchLine line;
  double seconds = 0;               ///< median over the rounds
  double fastest = 0, slowest = 0;  ///< seconds
  double share = 0;                 ///< of the ceiling in its round, median; 0 if it has none
  double rate() const { return seconds > 0 ? line.work.amount / seconds : 0; }
};

struct BenchReport {
  std::string title;                ///< what was measured, in one line
  std::optional<BenchShape> shape;  ///< empty for a whole model
  int rounds = 0;
  MachineCeilings ceilings;  ///< medians
  std::vector<BenchRow> rows;
  std::string omitted;  ///< why the window was not measured, one sentence; "" if it was
  std::uint64_t peakBytes = 0;
};

/// Counts each multiply-add as two operations: projections, scores of visible pairs, weighted values, output.
double forwardFlop(const BenchShape& shape);
/// What each of `tokens` queries sees; they are the last of `keys` tokens.
attention::MaskInput benchMask(const BenchShape& shape, attention::Index tokens, attention::Index keys);
/// Each decode step of the benchmark reads a different cache. Together they exceed processor caches, so that
/// the measured share is one of the memory's bandwidth.
inline constexpr std::uint64_t kRotatedBytes = std::uint64_t{512} << 20;
attention::Index rotatedCaches(const BenchShape& shape);
/// Bytes of one of these caches.
std::uint64_t cachedBytes(const BenchShape& shape);
/// Names in options and JSON: "fp32", "fp16", "bf16".
inline constexpr std::array<const char*, 3> kCacheTypeNames{"fp32", "fp16", "bf16"};
/// The number of pairs among n tokens in which the query sees the key.
double visiblePairs(bool causal, attention::Index tokens);
/// Describes the shape in one line.
std::string benchTitle(const BenchShape& shape);
/// The memory that measuring holds at once, in bytes.
double benchBytes(const BenchShape& shape, const BenchParts& parts);

/// The forward pass and the decode step.
std::vector<BenchCase> layerCases(const BenchShape& shape, const BenchParts& parts);
/// A head of `mapTokens` tokens with random numbers.
attention::HeadField randomField(const BenchShape& shape);
/// Tile and overview of a head of `mapTokens` tokens.
BenchCase mapCase(const BenchShape& shape);
/// From the start to the first picture; from a slider to pixels, alone and while an overview of `mapTokens`
/// tokens is computed; and other frames, all at 1920×1080 in a framebuffer. Throws std::runtime_error if
/// there is no OpenGL, or if the window can't have this shape.
BenchCase windowCase(const BenchShape& shape);

/// Runs every case once per round, and starts each round with a different one.
BenchReport runBench(const BenchShape& shape, const BenchParts& parts, int rounds);

/// Runs these cases once per round, and starts each round with a different one.
BenchReport runCases(const std::vector<BenchCase>& cases, int rounds);

/// Measures a checkpoint: opening it, alone and with the first layer of `tokens` random tokens; and, of
/// `parts`, a pass over them with all attention kept, a decode step after them along with reading all weights
/// once, and patches. Returns an Error if it can't be opened or has fewer positions than tokens.
attention::Result<BenchReport> benchModel(const std::filesystem::path& folder, attention::Index tokens,
                                          const BenchParts& parts, int rounds);

/// Measures every step of the bundled lessons, from a key press to its complete picture in the window's
/// frames, and a claim over many weights. Throws std::runtime_error if there is no OpenGL, or if a lesson
/// can't be read or computed.
BenchReport benchLessons(int rounds);

/// Formats the report as an aligned table.
std::string benchTable(const BenchReport& report);
/// Formats the report as JSON; assets/manual/speed.md describes the keys.
std::string benchJson(const BenchReport& report);

/// Returns the seconds that `work` takes.
template <typename Work>
double secondsOf(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The median; for an even count, the mean of the middle two. 0 if `values` is empty.
inline double medianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// The median time of as many runs as fit into `budget` seconds, but at least one.
template <typename Work>
double medianSeconds(double budget, const Work& work) {
  std::vector<double> seconds;
  for (double spent = 0; seconds.empty() || spent < budget; spent += seconds.back())
    seconds.push_back(secondsOf(work));
  return medianOf(std::move(seconds));
}

}  // namespace headscope::app
